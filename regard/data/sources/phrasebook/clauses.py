"""Clauses: a subject and a predicate in a tense, with negation, adverbs and adverbials of place and time."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from regard.data.sources.phrasebook import adverbials
from regard.data.sources.phrasebook.complements import Rule
from regard.data.sources.phrasebook.determiners import ANY, EVERY
from regard.data.sources.phrasebook.draw import Draw
from regard.data.sources.phrasebook.entries import Verb
from regard.data.sources.phrasebook.lexicon import of_kinds
from regard.data.sources.phrasebook.nominal import HUMAN, NounPhrase, common, somebody, style_of
from regard.data.sources.phrasebook.predicates import DEVOIR, POUVOIR, VOULOIR, chain, predicate_of, speakable
from regard.data.sources.phrasebook.pronouns import EN
from regard.data.sources.phrasebook.verbal import (
    CAN,
    CONDITIONAL,
    FUTURE,
    GOING_TO,
    NE_ALONE,
    NEVER,
    NO_LONGER,
    NOT,
    NOT_YET,
    PAST,
    PAST_PROGRESSIVE,
    PAST_STATE,
    PERFECT,
    PLUPERFECT,
    PRESENT,
    PROGRESSIVE,
    USED_TO,
    WAS_THEN,
    Negation,
    Predicate,
    Tense,
    VerbGroup,
    fitting,
    realise,
)
from regard.data.sources.phrasebook.words import Tokens, Word, en, fr


class Clause(NamedTuple):
    """A clause in both languages."""

    en: Tokens
    fr: Tokens


TENSES: dict[str, tuple[Tense, ...]] = {
    "present": (PRESENT,) * 5 + (PROGRESSIVE,) * 3,
    "past": (PAST,) * 6 + (PAST_PROGRESSIVE,) * 2 + (PERFECT, PERFECT, USED_TO),
    "future": (FUTURE,) * 3 + (GOING_TO,) * 2,
    "had": (PLUPERFECT,),
    "would": (CONDITIONAL,),
    "ongoing": (WAS_THEN,),
}
SPHERES = ("present",) * 4 + ("past",) * 4 + ("future",) * 2
NEGATIONS: dict[Tense, tuple[Negation, ...]] = {
    PRESENT: (NOT, NOT, NOT, NEVER, NEVER, NO_LONGER),
    PERFECT: (NOT, NOT_YET, NOT_YET, NEVER),
    PAST: (NOT, NOT, NOT, NEVER),
    FUTURE: (NOT, NOT, NEVER),
    PAST_STATE: (NOT, NOT, NO_LONGER),
}
ANIMALS, THINGS = of_kinds("animal"), tuple(
    noun for noun in of_kinds("thing event plant heavens food groceries idea text") if speakable(noun)
)  # fmt: skip

EVERYBODY = (
    en("everybody", "PRON"),
    tuple(fr(word, tag) for word, tag in (("tout", "ADJ"), ("le", "DET"), ("monde", "NOUN"))),
)
SOMEBODY = (en("somebody", "PRON"), (fr("quelqu'un", "PRON"),))
NOBODY = (en("nobody", "PRON"), (fr("personne", "PRON"),))


def anybody(draw: Draw) -> tuple[NounPhrase, bool]:
    """ "everybody", "somebody" or "nobody"; the last makes the French verb negative."""
    word, words = draw.pick((EVERYBODY, SOMEBODY, NOBODY))
    key = draw.key()
    phrase = NounPhrase([(word, key)], [(part, key) for part in words], 2, 0, (), HUMAN, pronoun=True)
    return phrase, word is NOBODY[0]


def subject(draw: Draw) -> NounPhrase:
    """Somebody, an animal or a thing that something can be said of."""
    chance = draw.random()
    if chance < 0.78:
        return somebody(draw)
    if chance < 0.88:
        return common(draw, draw.pick(ANIMALS))
    noun = draw.pick(THINGS)
    return common(draw, noun, style_of(noun, ANY))


def _can(draw: Draw, who: NounPhrase, about: Tense) -> tuple[Predicate, Tense]:
    """ "can swim", "must leave", "should rest", "would like to sing"."""
    word, entry, tense = draw.pick(MODALS[about])
    made = Predicate(draw, entry, who)
    if word is None:
        return chain(draw, made, who, "to", None), tense
    made.modal = word
    return chain(draw, made, who, "", None), tense


MODALS: dict[Tense, tuple[tuple[Word | None, Verb, Tense], ...]] = {
    PRESENT: (
        (CAN, POUVOIR, PRESENT),
        (CAN, POUVOIR, PRESENT),
        (en("must", "AUX"), DEVOIR, PRESENT),
        (en("must", "AUX"), DEVOIR, PRESENT),
        (en("should", "AUX"), DEVOIR, CONDITIONAL),
        (None, VOULOIR, CONDITIONAL),
    ),
    PAST: ((en("could", "AUX"), POUVOIR, PAST_STATE),),
}


def middle_adverb(draw: Draw, tense: Tense, made: Predicate) -> adverbials.Adverbial | None:
    """ "often", "already", "probably": what stands in the middle of the verb group."""
    if not draw.rich(0.16):
        return None
    if tense is PRESENT and made.modal is None:
        return draw.pick(adverbials.OFTEN[-1:] if made.verb.state else adverbials.OFTEN).use(draw)
    if tense in (PERFECT, PLUPERFECT):
        return draw.pick(adverbials.ALREADY).use(draw)
    return draw.pick(adverbials.PROBABLY).use(draw) if tense is FUTURE else None


LASTING = frozenset("sleep work cry dance sing walk swim travel wait run rest stay laugh cook".split())


def manner(draw: Draw, made: Predicate) -> None:
    """How: at the end of the English predicate, straight after the French verb ("mange lentement la pomme")."""
    choices = adverbials.MANNERS.get(made.verb.lemma)
    apart = made.chained or any(word is EN for word, _ in made.clitics)
    if choices and not apart and draw.rich(0.25):
        english, french = draw.pick(choices).use(draw)
        made.en += english
        made.fr = french + made.fr
        made.last = None


def ending(draw: Draw, made: Predicate, tense: Tense) -> tuple[Tokens, Tokens]:
    """Where and when: in this order on both sides."""
    english: Tokens = []
    french: Tokens = []
    parts = []
    if not made.placed and draw.rich(0.2):
        parts.append(adverbials.place(draw))
    if draw.rich(0.35):
        if made.verb.lemma in LASTING and tense in (PAST, FUTURE) and draw.chance(0.4):
            parts.append(adverbials.lasting(draw))
        else:
            when = time_of(draw, made, tense)
            if when is not None:
                parts.append(when)
    for left, right in parts:
        english += left
        french += right
    return english, french


def time_of(draw: Draw, made: Predicate, tense: Tense) -> adverbials.Adverbial | None:
    """A time that fits the tense, or none where the tense or the verb wants none."""
    if tense is PROGRESSIVE:
        return adverbials.time(draw, "now")
    if "timeless" in made.verb.marks:
        return None
    if made.verb.state:
        return draw.pick(STATE_TIMES[tense.sphere]).use(draw) if tense.sphere in STATE_TIMES else None
    if tense is PRESENT:
        return None if made.verb.plain else adverbials.time(draw, "present")
    if tense.sphere in ("past", "future"):
        return adverbials.time(draw, tense.sphere)
    return adverbials.time(draw, "present") if tense is USED_TO else None


# A state lasts: it was so last year, not at half past three.
STATE_TIMES = {"past": adverbials.YESTERDAY, "future": adverbials.TOMORROW}


# A relative clause for the noun phrase at the end of a predicate; it is an argument because relative clauses are
# made of clauses.
Relate = Callable[[Draw, NounPhrase], tuple[Tokens, Tokens]]


class Said(NamedTuple):
    """A clause before it is put together: for questions, which move its parts."""

    subject: NounPhrase
    group: VerbGroup
    tail: tuple[Tokens, Tokens]


def say(
    draw: Draw,
    who: NounPhrase,
    tenses: tuple[Tense, ...],
    negative: bool = False,
    rule: Rule | None = None,
    asking: int = 0,
    modal: bool = True,
    end: bool = True,
    relate: Relate | None = None,
) -> Said:
    """Say something of a subject in one of these tenses."""
    if who.en and who.en[0][0] is EVERY.en[0][0]:
        negative = False  # "every man does not sleep": not all of them, or none?
    denied = negative
    tense = draw.pick(tenses)
    if (
        modal
        and rule is None
        and who.kinds & HUMAN
        and tense in MODALS
        and not (asking and negative)
        and draw.chance(0.12)
    ):
        made, tense = _can(draw, who, tense)
    else:
        made = (rule or predicate_of)(draw, who, negative)
        while asking and made.negation is not None:  # "does he eat nothing?" is seldom asked
            made = (rule or predicate_of)(draw, who, negative)
        if made.verb.state and tense in (FUTURE, GOING_TO) and (not who.kinds & HUMAN or draw.chance(0.6)):
            tense = PRESENT  # "will be intelligent" is seldom said
        tense = proper(fitting(tense, made.verb), made, who, negative or bool(asking))
        if tense is USED_TO or "must" in made.verb.marks:
            denied = False
    negation = draw.pick(NEGATIONS.get(tense, (NOT,))) if denied and made.negation is None else None
    if negation is NEVER and made.verb.state:
        negation = NOT
    if negation in (NEVER, NOT_YET):
        end = False  # "never went there four months ago" is no sense
    adverb = None if denied or asking or made.negation is not None else middle_adverb(draw, tense, made)
    if adverb is None and not denied:  # "mange aussi lentement" would be "eats as slowly"
        manner(draw, made)
    if relate is not None and made.last is not None and draw.rich(0.13):
        more, plus = relate(draw, made.last)
        made.en, made.fr = made.en + more, made.fr + plus
        end = False  # an adverbial would seem to belong to the relative clause
    group = realise(draw, made, tense, who, negation, adverb, asking)
    if adverb is not None and tense is PRESENT:
        end = False  # "rarely … every day"
    return Said(who, group, ending(draw, made, tense) if end else ([], []))


def proper(tense: Tense, made: Predicate, who: NounPhrase, supported: bool) -> Tense:
    """Avoid what English cannot tell apart: "they read" is the present, so the past becomes "they were reading"."""
    if tense is PAST and made.verb.ambiguous and who.person != 2 and not supported:
        return PAST_PROGRESSIVE
    return tense


def put(said: Said) -> Clause:
    """The clause as a statement."""
    who, group, tail = said
    return Clause(who.en + group.en + tail[0], who.fr + group.fr + tail[1])


def of_anybody(draw: Draw, sphere: str) -> Clause:
    """ "Nobody sleeps", "personne ne dort"."""
    who, nobody = anybody(draw)
    tense = draw.pick(TENSES[sphere])
    made = predicate_of(draw, who, nobody)
    tense = fitting(tense, made.verb)
    if nobody:
        made.negation = (NE_ALONE, who.en[0][1])
    group = realise(draw, made, tense, who)
    return put(Said(who, group, ([], []) if nobody else ending(draw, made, tense)))
