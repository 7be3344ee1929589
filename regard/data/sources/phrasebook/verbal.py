"""Verb groups: a predicate becomes the English and the French verb with everything that clusters round it.

English moves its auxiliaries and needs "do"; French puts clitics before the verb, wraps it in "ne … pas", and makes
participles agree. A tense is a pair: what English says and what French answers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from regard.data.sources.phrasebook.draw import Draw
from regard.data.sources.phrasebook.entries import Verb
from regard.data.sources.phrasebook.lexicon import BE, HAVE
from regard.data.sources.phrasebook.nominal import NounPhrase
from regard.data.sources.phrasebook.pronouns import RANK, REFLEXIVE
from regard.data.sources.phrasebook.words import NE, Tokens, Word, en, fr


@dataclass(frozen=True, eq=False)
class Tense:
    """An English tense and the French one that translates it; `sphere` is the time that adverbs must agree with."""

    en: str
    fr: str
    sphere: str


PRESENT = Tense("present", "present", "present")
PROGRESSIVE = Tense("progressive", "present", "present")
PAST = Tense("past", "perfect", "past")
PAST_STATE = Tense("past", "imperfect", "past")  # also of every verb after "if"
PAST_PROGRESSIVE = Tense("past progressive", "imperfect", "past")
WAS_THEN = Tense(
    "past progressive", "imperfect", "past"
)  # what was so when something was said: "said that he was eating"
USED_TO = Tense("used", "imperfect", "once")
PERFECT = Tense("perfect", "perfect", "done")
PLUPERFECT = Tense("pluperfect", "pluperfect", "done")
FUTURE = Tense("future", "future", "future")
GOING_TO = Tense("going", "near", "future")
CONDITIONAL = Tense("conditional", "conditional", "open")
PRESENT_FOR_FUTURE = Tense("present", "future", "future")  # after "when": "when he comes", "quand il viendra"


def fitting(tense: Tense, verb: Verb) -> Tense:
    """The tense that this verb can have: states have no progressive, and their past is an imparfait."""
    if verb.state:
        if tense is PROGRESSIVE:
            return PRESENT
        if tense in (PAST, PAST_PROGRESSIVE, WAS_THEN, PERFECT, PLUPERFECT, USED_TO):
            return PAST_STATE
        if tense is GOING_TO:
            return FUTURE
    elif verb.plain:
        if tense is PROGRESSIVE:
            return PRESENT
        if tense is PAST_PROGRESSIVE:
            return PAST
        if tense is WAS_THEN:
            return PLUPERFECT
    return tense


@dataclass(frozen=True, eq=False)
class Negation:
    """English words (after the auxiliary, or with "do" where `supported`) and French ones (after the finite verb)."""

    en: tuple[Word, ...]
    fr: tuple[Word, ...]
    supported: bool


NOT = Negation((en("not", "PART"),), (fr("pas", "ADV"),), True)
NOT_YET = Negation((en("not", "PART"), en("yet", "ADV")), (fr("pas", "ADV"), fr("encore", "ADV")), True)
NEVER = Negation((en("never", "ADV"),), (fr("jamais", "ADV"),), False)
NO_LONGER = Negation((en("no", "ADV"), en("longer", "ADV")), (fr("plus", "ADV"),), False)
NOTHING = Negation((), (fr("rien", "PRON"),), False)
NE_ALONE = Negation((), (), False)


class Predicate:
    """A verb with its complements, still without tense and subject.

    `clitics` stand before the French verb; `agreement` is the form of an object that precedes it, with which the
    participle agrees; `en` and `fr` are what follows the verb; `last` is a noun phrase at its very end.
    """

    __slots__ = ("verb", "key", "clitics", "agreement", "en", "fr", "last", "negation", "modal", "placed", "chained")

    def __init__(self, draw: Draw, verb: Verb, subject: NounPhrase) -> None:
        self.verb = verb
        self.key = key = draw.key()
        self.clitics: Tokens = [(REFLEXIVE[subject.person], key)] if verb.reflexive else []
        self.agreement: int | None = None
        self.en: Tokens = [(word, key) for word in verb.particle] if verb.particle else []
        self.fr: Tokens = [(word, key) for word in verb.extra] if verb.extra else []
        self.last: NounPhrase | None = None
        self.negation: tuple[Negation, int] | None = None
        self.modal: Word | None = None
        self.chained = False  # whether another verb hangs on it
        # Whether it says already where, or wants no place.
        self.placed = verb.state or verb.link is not None or "placed" in verb.marks

    def add_clitic(self, word: Word, key: int) -> None:
        """Put a clitic at its place among the others."""
        self.clitics.append((word, key))
        if len(self.clitics) > 1:
            self.clitics.sort(key=lambda token: RANK[token[0]])


_AM, _IS, _ARE, _WAS, _WERE = (en(form, "AUX") for form in ("am", "is", "are", "was", "were"))
BE_NOW = (_AM, _ARE, _IS, _ARE, _ARE, _ARE)
BE_THEN = (_WAS, _WERE, _WAS, _WERE, _WERE, _WERE)
_HAVE, _HAS, _HAD = (en(form, "AUX") for form in ("have", "has", "had"))
_DO, _DOES, _DID = (en(form, "AUX") for form in ("do", "does", "did"))
_WILL, _WOULD = en("will", "AUX"), en("would", "AUX")
_GOING, _USED, TO = en("going", "VERB"), en("used", "VERB"), en("to", "PART")
CANNOT = en("cannot", "AUX")
CAN = en("can", "AUX")
THIRD = 2


def _english_parts(predicate: Predicate, tense: Tense, person: int, helper: int) -> tuple[Tokens, Tokens]:
    """(auxiliaries, main verb): the first auxiliary is what moves in a question and what "not" follows."""
    verb, key, name = predicate.verb, predicate.key, tense.en
    if predicate.modal is not None:
        return [(predicate.modal, key)], []
    if name == "present":
        if verb.be:
            return [(BE_NOW[person], key)], []
        return [], [(verb.third if person == THIRD else verb.base, key)]
    if name == "past":
        return ([(BE_THEN[person], key)], []) if verb.be else ([], [(verb.past, key)])
    if name == "progressive":
        return [(BE_NOW[person], key)], [(verb.ing, key)]
    if name == "past progressive":
        return [(BE_THEN[person], key)], [(verb.ing, key)]
    if name == "perfect":
        return [(_HAS if person == THIRD else _HAVE, helper)], [(verb.participle, key)]
    if name == "pluperfect":
        return [(_HAD, helper)], [(verb.participle, key)]
    if name == "future":
        return [(_WILL, key)], [(verb.base, key)]
    if name == "conditional":
        return [(_WOULD, key)], [(verb.base, key)]
    if name == "going":
        return [(BE_NOW[person], helper)], [(_GOING, helper), (TO, helper), (verb.base, key)]
    assert name == "used", name
    return [], [(_USED, key), (TO, key), (verb.base, key)]


def _supported(predicate: Predicate, tense: Tense, person: int, key: int) -> tuple[Tokens, Tokens]:
    """ "does eat", "did eat": what "not" and questions need where there is no other auxiliary."""
    word = _DID if tense.en == "past" else _DOES if person == THIRD else _DO
    return [(word, key)], [(predicate.verb.base, predicate.key)]


class VerbGroup(NamedTuple):
    """The verb group of a clause: `front` moves before the subject in a question; tails are included."""

    front: Tokens
    en: Tokens
    fr: Tokens


def realise(
    draw: Draw,
    predicate: Predicate,
    tense: Tense,
    subject: NounPhrase,
    negation: Negation | None = None,
    adverb: tuple[Tokens, Tokens] | None = None,
    asking: int = 0,
) -> VerbGroup:
    """The verb of a clause in both languages with its complements; `asking` is the key of a question's particle."""
    person = subject.person
    helper = draw.key() if tense.en in ("perfect", "pluperfect", "going") else predicate.key
    denial = predicate.negation
    if denial is None and negation is not None:
        denial = (negation, draw.key())
    auxiliaries, main = _english_parts(predicate, tense, person, helper)
    if not auxiliaries and (asking or (denial is not None and denial[0].supported)):
        key = denial[1] if denial is not None and denial[0].supported and not asking else 0
        auxiliaries, main = _supported(predicate, tense, person, key)
    middle: Tokens = []
    if denial is not None:
        if auxiliaries and auxiliaries[0][0] is CAN and denial[0] is NOT:
            auxiliaries = [(CANNOT, auxiliaries[0][1] | denial[1])]
        else:
            middle = [(word, denial[1]) for word in denial[0].en]
    if adverb is not None:
        middle += adverb[0]
    front: Tokens = []
    if asking:
        (word, key), *auxiliaries = auxiliaries
        front = [(word, key | asking)]
    group = _french_group(predicate, tense, subject, denial, adverb[1] if adverb else [], helper)
    return VerbGroup(front, [*auxiliaries, *middle, *main, *predicate.en], group + predicate.fr)


def _french_group(
    predicate: Predicate,
    tense: Tense,
    subject: NounPhrase,
    denial: tuple[Negation, int] | None,
    adverb: Tokens,
    helper: int,
) -> Tokens:
    verb, key, person = predicate.verb, predicate.key, subject.person
    group: Tokens = []
    middle: Tokens = adverb
    if denial is not None:
        negation, no = denial
        group.append((NE, no))
        middle = [(word, no) for word in negation.fr] + adverb
    if tense.fr == "near":
        return [*group, (GO[person], helper), *middle, *predicate.clitics, (verb.infinitive, key)]
    group += predicate.clitics
    if tense.fr in verb.simple:
        return [*group, (verb.simple[tense.fr][person], key), *middle]
    auxiliary = (ETRE if verb.with_etre else AVOIR)[tense.fr][person]
    return [*group, (auxiliary, helper), *middle, (participle(predicate, subject), key)]


ETRE = {"perfect": BE.simple["present"], "pluperfect": BE.simple["imperfect"]}
AVOIR = {
    "perfect": tuple(fr(word.text, "AUX") for word in HAVE.simple["present"]),
    "pluperfect": tuple(fr(word.text, "AUX") for word in HAVE.simple["imperfect"]),
}
GO = tuple(fr(form, "VERB") for form in "vais vas va allons allez vont".split())


def participle(predicate: Predicate, subject: NounPhrase) -> Word:
    """With être it agrees with the subject, with avoir with an object that stands before it."""
    if predicate.verb.with_etre:
        form = subject.form if predicate.agreement is None else predicate.agreement
    else:
        form = predicate.agreement or 0
    return predicate.verb.agreeing[form]


def infinitive(predicate: Predicate) -> tuple[Tokens, Tokens]:
    """The bare infinitive with its complements on both sides; clitics stand before the French one."""
    key = predicate.key
    return (
        [(predicate.verb.base, key), *predicate.en],
        [*predicate.clitics, (predicate.verb.infinitive, key), *predicate.fr],
    )


def gerund(predicate: Predicate) -> tuple[Tokens, Tokens]:
    """English -ing where French has an infinitive: "stops eating", "arrête de manger"."""
    english, french = infinitive(predicate)
    return [(predicate.verb.ing, predicate.key), *english[1:]], french
