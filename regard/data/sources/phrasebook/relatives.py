"""Relative clauses: who and that (qui, que), where (où), whose (dont)."""

from __future__ import annotations

from functools import cache

from regard.data.sources.phrasebook.clauses import Said, put, say
from regard.data.sources.phrasebook.complements import intransitive
from regard.data.sources.phrasebook.determiners import THE
from regard.data.sources.phrasebook.draw import Draw, Partners
from regard.data.sources.phrasebook.entries import Noun, Verb
from regard.data.sources.phrasebook.lexicon import PERSON_KINDS, of_kinds
from regard.data.sources.phrasebook.nominal import HUMAN, NounPhrase, build, somebody
from regard.data.sources.phrasebook.predicates import rules_of_doing
from regard.data.sources.phrasebook.states import describing
from regard.data.sources.phrasebook.verbal import (
    FUTURE,
    PAST,
    PERFECT,
    PLUPERFECT,
    PRESENT,
    PROGRESSIVE,
    Predicate,
    Tense,
)
from regard.data.sources.phrasebook.words import Tokens, en, fr

WHO, WHOM, THAT, WHOSE = (en(word, "PRON") for word in ("who", "whom", "that", "whose"))
WHERE = en("where", "ADV")
QUI, QUE_REL, OU, DONT = fr("qui", "PRON"), fr("que", "PRON", "qu'"), fr("où", "PRON"), fr("dont", "PRON")

# What may be told of somebody, by the time of the main clause.
BESIDE: dict[str, tuple[Tense, ...]] = {
    "present": (PRESENT, PRESENT, PAST, PERFECT, PROGRESSIVE),
    "past": (PAST, PAST, PLUPERFECT),
    "future": (PRESENT, PAST, PERFECT, FUTURE),
}


@cache
def _done_by_people(noun: Noun) -> Partners[Verb]:
    """The verbs of which the noun is the object and somebody the subject."""

    def human(verbs: tuple[Verb, ...]) -> tuple[Verb, ...]:
        return tuple(each for each in verbs if each.subjects & PERSON_KINDS and not each.general)

    return Partners(human(noun.verbs.kept), human(noun.verbs.held))


BELONGINGS = of_kinds("house car dog cat horse brother sister father mother son daughter hat coat")


def relate(draw: Draw, phrase: NounPhrase, sphere: str) -> tuple[Tokens, Tokens]:
    """A relative clause for an open noun phrase."""
    draw.later = True
    noun = phrase.nouns[0]
    tenses = BESIDE[sphere]
    chance = draw.random()
    if noun.kinds & HUMAN and chance < 0.12:
        return _whose(draw, tenses)
    if noun.rest and chance < 0.35:
        return _where(draw, tenses)
    if chance < 0.55 and _done_by_people(noun).kept:
        return _object(draw, phrase, noun, tenses)
    return _subject(draw, phrase, tenses) if rules_of_doing(phrase) else ([], [])


def _subject(draw: Draw, phrase: NounPhrase, tenses: tuple[Tense, ...]) -> tuple[Tokens, Tokens]:
    """ "the man who sleeps", "l'homme qui dort"."""
    key = draw.key()
    who = NounPhrase(
        [(WHO if phrase.kinds & HUMAN else THAT, key)],
        [(QUI, key)],
        phrase.person,
        phrase.form,
        phrase.nouns,
        phrase.kinds,
    )
    who.adjective = phrase.adjective
    rule = draw.pick(rules_of_doing(phrase))
    clause = put(say(draw, who, tenses, draw.chance(0.12), rule, end=draw.chance(0.3)))
    return clause.en, clause.fr


def _object(draw: Draw, phrase: NounPhrase, noun: Noun, tenses: tuple[Tense, ...]) -> tuple[Tokens, Tokens]:
    """ "the apples that he bought", "les pommes qu'il a achetées"."""
    entry = draw.partner(_done_by_people(noun))

    def without_object(inner: Draw, subject: NounPhrase, negative: bool) -> Predicate:
        made = Predicate(inner, entry, subject)
        made.agreement = phrase.form
        return made

    key = draw.key()
    said: Said = say(draw, somebody(draw), tenses, draw.chance(0.12), without_object, end=draw.chance(0.25))
    clause = put(said)
    return [(WHOM if phrase.kinds & HUMAN else THAT, key), *clause.en], [(QUE_REL, key), *clause.fr]


def _where(draw: Draw, tenses: tuple[Tense, ...]) -> tuple[Tokens, Tokens]:
    """ "the house where Paul works", "la maison où Paul travaille"."""
    key = draw.key()
    clause = put(say(draw, somebody(draw), tenses, False, intransitive, end=False))
    return [(WHERE, key), *clause.en], [(OU, key), *clause.fr]


def _whose(draw: Draw, tenses: tuple[Tense, ...]) -> tuple[Tokens, Tokens]:
    """ "the man whose car is red", "l'homme dont la voiture est rouge"."""
    key = draw.key()
    noun = draw.pick(BELONGINGS)
    owned = build(draw, noun, 0, THE, 0.0)
    # English has no article after "whose": the French one is linked to it.
    owned.en, owned.fr = owned.en[1:], [(owned.fr[0][0], key), *owned.fr[1:]]
    clause = put(say(draw, owned, tenses, False, describing, end=False))
    return [(WHOSE, key), *clause.en], [(DONT, key), *clause.fr]
