"""Predicates: anything that can be said of a subject, and one verb that hangs on another."""

from __future__ import annotations

from functools import cache

from regard.data.sources.phrasebook.activities import caring, hurting, motion, owning, playing
from regard.data.sources.phrasebook.complements import (
    Rule,
    able,
    acting,
    giving,
    intransitive,
    oblique,
    transitive,
    voided,
)
from regard.data.sources.phrasebook.draw import Draw
from regard.data.sources.phrasebook.entries import Noun, verb
from regard.data.sources.phrasebook.lexicon import CONTROL, INTRANSITIVE, OBLIQUE, TRANSITIVE
from regard.data.sources.phrasebook.nominal import HUMAN, NounPhrase
from regard.data.sources.phrasebook.states import describing, feeling, trade
from regard.data.sources.phrasebook.verbal import TO, Predicate, gerund, infinitive
from regard.data.sources.phrasebook.words import DE, A, Word


def control(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """A verb with another in the infinitive: "wants to buy a car", "veut acheter une voiture"."""
    entry, joint, joint_fr = draw.pick(CONTROL)
    predicate = Predicate(draw, entry, subject)
    return chain(draw, predicate, subject, joint, _JOINTS[joint_fr])


_JOINTS: dict[str, Word | None] = {"": None, "à": A, "de": DE}


def chain(draw: Draw, predicate: Predicate, subject: NounPhrase, joint: str, joint_fr: Word | None) -> Predicate:
    """Hang a second verb on the first."""
    before = draw.used_held_out
    inner = draw.pick(CHAINED)(draw, subject, False)
    while inner.verb.state or inner.verb.base is predicate.verb.base:
        draw.used_held_out = before  # what is thrown away was not used
        inner = draw.pick(CHAINED)(draw, subject, False)
    english, french = gerund(inner) if joint == "ing" else infinitive(inner)
    key = draw.key()
    if joint == "to":
        predicate.en.append((TO, key))
    if joint_fr is not None:
        predicate.fr.append((joint_fr, key if joint == "to" else predicate.key))
    predicate.en += english
    predicate.fr += french
    predicate.last = inner.last
    predicate.placed = inner.placed
    predicate.chained = True
    return predicate


POUVOIR, DEVOIR = (verb("be", name, "human", "state modal") for name in ("pouvoir", "devoir"))
VOULOIR = verb("like", "vouloir", "human", "state")
CHAINED: tuple[Rule, ...] = (
    intransitive,
    intransitive,
    transitive,
    transitive,
    transitive,
    transitive,
    giving,
    oblique,
    motion,
    playing,
    caring,
)

HUMAN_RULES: tuple[Rule, ...] = (
    (intransitive,) * 10 + (transitive,) * 28 + (giving,) * 8 + (oblique,) * 8 + (motion,) * 8 + (control,) * 10
    + (describing,) * 8 + (feeling,) * 4 + (owning,) * 4 + (playing, caring) * 2 + (voided, hurting)
)  # fmt: skip
# Of people who are not named by their trade: "the butcher is a lawyer" would be odd.
WHO_RULES: tuple[Rule, ...] = HUMAN_RULES + (trade,) * 5


@cache
def _rules_of(noun: Noun) -> tuple[Rule, ...]:
    """What a noun that is no person can do or be, repeated by weight."""
    rules: list[Rule] = [describing] * 3 if noun.said.kept else []
    for rule, verbs, weight in ((intransitive, INTRANSITIVE, 2), (transitive, TRANSITIVE, 4), (oblique, OBLIQUE, 2)):
        if able(verbs, noun.kinds):
            rules += [rule] * weight
    return tuple(rules)


DOING: tuple[Rule, ...] = (intransitive, intransitive, acting, acting, acting, giving, oblique, motion, owning, feeling)


def rules_of_doing(phrase: NounPhrase) -> tuple[Rule, ...]:
    """What it can do, for relative clauses: what it is might contradict the main clause."""
    if phrase.kinds & HUMAN:
        return DOING
    return tuple(rule for rule in _rules_of(phrase.nouns[0]) if rule is not describing)


def speakable(noun: Noun) -> bool:
    """Whether anything can be said of a noun."""
    return bool(noun.kinds & HUMAN or _rules_of(noun))


def predicate_of(draw: Draw, subject: NounPhrase, negative: bool = False) -> Predicate:
    """Anything that can be said of this subject."""
    if subject.kinds & HUMAN:
        known = subject.nouns and "family" not in subject.nouns[0].kinds
        return draw.pick(HUMAN_RULES if known else WHO_RULES)(draw, subject, negative)
    return draw.pick(_rules_of(subject.nouns[0]))(draw, subject, negative)
