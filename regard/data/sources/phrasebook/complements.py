"""Verbs with their complements: a direct object, a receiver, a preposition; as noun phrases or as clitics.

Each rule makes a predicate for a subject that is known. Whether the verb will be negated is known too, because French
says "pas de pain" for "any bread".
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from regard.data.sources.phrasebook.determiners import ANY, GENERIC, KNOWN, NEGATED, PAIRED, Style
from regard.data.sources.phrasebook.draw import Draw
from regard.data.sources.phrasebook.entries import Noun, Verb
from regard.data.sources.phrasebook.lexicon import GIVING, INTRANSITIVE, OBLIQUE, PERSON_KINDS, TRANSITIVE
from regard.data.sources.phrasebook.nominal import (
    NOBODYS,
    NUMBERS,
    SOMEBODYS,
    NounPhrase,
    common,
    joined,
    named,
    owned,
    person,
    style_of,
)
from regard.data.sources.phrasebook.pronouns import EN, IT, OBJECTS, RECEIVERS, STRONG, Pronoun
from regard.data.sources.phrasebook.verbal import NE_ALONE, NOTHING, Predicate
from regard.data.sources.phrasebook.words import A, en, fr

Rule = Callable[[Draw, NounPhrase, bool], Predicate]

TO_ADP, OF = en("to", "ADP"), en("of", "ADP")
WE_AND_I = (0, 3)


@cache
def able(verbs: tuple[Verb, ...], kinds: frozenset[str]) -> tuple[Verb, ...]:
    """The verbs that a subject of these kinds can have."""
    return tuple(entry for entry in verbs if entry.subjects & kinds)


@cache
def takes_people(entry: Verb) -> bool:
    return any(noun.kinds & PERSON_KINDS for noun in entry.objects.kept)


def other(draw: Draw, choices: tuple[Pronoun, ...], subject: NounPhrase) -> Pronoun:
    """A pronoun that is not the subject's own, and not "them" where that would speak of something said before."""
    pronoun = draw.pick(choices)
    clash = pronoun.person == subject.person and pronoun.person not in (2, 5)
    if clash or (pronoun.person in WE_AND_I and subject.person in WE_AND_I) or (pronoun.person == 5 and draw.later):
        # The third person singular never clashes: "he sees him" are two men.
        pronoun = choices[2] if draw.chance(0.5) else choices[3]
    return pronoun


def object_style(entry: Verb, noun: Noun, negative: bool) -> Style:
    """The determiners of an object."""
    if noun.kinds & {"feeling", "subject"} or entry.general:
        return GENERIC
    return style_of(noun, NEGATED if negative else ANY)


def complement(predicate: Predicate, phrase: NounPhrase) -> None:
    """Add a noun phrase after the verb on both sides."""
    predicate.en += phrase.en
    predicate.fr += phrase.fr
    predicate.last = phrase if phrase.open else None


def thing(draw: Draw, entry: Verb, negative: bool, rich: float = 0.45) -> NounPhrase:
    """An object that the verb can have."""
    noun = draw.partner(entry.objects)
    if (
        draw.chance(0.05)
        and not noun.mass
        and not entry.general
        and (not noun.kinds & NOBODYS or noun.kinds & SOMEBODYS)
    ):
        return owned(draw, noun, named(draw))
    if not negative and not entry.general and draw.rich(0.08):
        other_noun = draw.pick(entry.objects.kept)
        if other_noun is not noun:
            first = common(draw, noun, style_of(noun, PAIRED), rich)
            return joined(draw, first, common(draw, other_noun, style_of(other_noun, PAIRED), rich / 2))
    return common(draw, noun, object_style(entry, noun, negative), rich)


def intransitive(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    return Predicate(draw, draw.pick(able(INTRANSITIVE, subject.kinds)), subject)


def transitive(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    return transitive_with(draw, draw.pick(able(TRANSITIVE, subject.kinds)), subject, negative)


def acting(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """A transitive verb that is done, not felt: for questions of when and why, and for what happens while."""
    return transitive_with(draw, draw.pick(DONE), subject, negative)


def ongoing(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """One that takes time, for what happens while something else does."""
    return transitive_with(draw, draw.pick(TAKING_TIME), subject, negative)


DONE = tuple(entry for entry in TRANSITIVE if entry.subjects & PERSON_KINDS and not entry.state and not entry.general)
TAKING_TIME = tuple(entry for entry in DONE if not entry.plain)


def transitive_with(draw: Draw, entry: Verb, subject: NounPhrase, negative: bool) -> Predicate:
    """A verb with a direct object: a noun phrase, a name, or a clitic."""
    predicate = Predicate(draw, entry, subject)
    chance = draw.random()
    if takes_people(entry):
        if chance < 0.25:
            return _clitic(draw, predicate, other(draw, OBJECTS, subject))
        if chance < 0.4 and not entry.general:
            complement(predicate, named(draw))
            return predicate
    elif chance < 0.06 and not draw.later and not entry.general:
        return _clitic(draw, predicate, IT)
    elif chance < 0.12 and entry.lemma in COUNTED and not draw.later and not negative:
        return _some_of_them(draw, predicate)
    complement(predicate, thing(draw, entry, negative))
    return predicate


def _clitic(draw: Draw, predicate: Predicate, pronoun: Pronoun) -> Predicate:
    """ "sees her", "la voit", "l'a vue"."""
    key = draw.key()
    predicate.add_clitic(pronoun.fr, key)
    predicate.agreement = pronoun.form
    predicate.en.append((pronoun.en, key))
    return predicate


def _some_of_them(draw: Draw, predicate: Predicate) -> Predicate:
    """ "buys three of them", "en achète trois": with en the participle does not agree."""
    number, nombre, _ = draw.pick(NUMBERS)
    count, key = draw.key(), draw.key()
    predicate.add_clitic(EN, key)
    predicate.en += [(number, count), (OF, key), (THEM, key)]
    predicate.fr += [(part, count) for part in nombre]
    return predicate


THEM = en("them", "PRON")
COUNTED = frozenset("buy sell read write eat pick plant receive repair wear sign publish translate build use".split())


def giving(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """A verb with a thing and a person who receives it; either may be a clitic in French."""
    entry = draw.pick(GIVING)
    predicate = Predicate(draw, entry, subject)
    chance = draw.random()
    if chance < 0.4:
        return _give_to_noun(draw, predicate, subject, negative, pronoun=chance < 0.08 and not draw.later)
    receiver = other(draw, RECEIVERS, subject)
    key = draw.key()
    if chance < 0.6 and not draw.later:
        # "gives it to him", "le lui donne"
        thing_key, to_key = draw.key(), draw.key()
        predicate.add_clitic(IT.fr, thing_key)
        predicate.add_clitic(receiver.fr, key | to_key)
        predicate.agreement = 0
        predicate.en += [(IT.en, thing_key), (TO_ADP, to_key), (receiver.en, key)]
        return predicate
    if "to" in entry.marks:
        phrase = thing(draw, entry, negative)
        to_key = draw.key()
        predicate.add_clitic(receiver.fr, key | to_key)
        predicate.en += [*phrase.en, (TO_ADP, to_key), (receiver.en, key)]
        predicate.fr += phrase.fr
        return predicate
    predicate.add_clitic(receiver.fr, key)
    predicate.en.append((receiver.en, key))
    complement(predicate, thing(draw, entry, negative))
    return predicate


def _give_to_noun(draw: Draw, predicate: Predicate, subject: NounPhrase, negative: bool, pronoun: bool) -> Predicate:
    """ "gives the book to the boy", "gives it to the boy"."""
    if pronoun:
        _clitic(draw, predicate, IT)
    else:
        complement(predicate, thing(draw, predicate.verb, negative, 0.3))
    key = draw.key()
    predicate.en.append((TO_ADP, key))
    predicate.fr.append((A, key))
    complement(predicate, person(draw, KNOWN))
    return predicate


def oblique(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """A verb whose complement has a preposition: "thinks about the journey", "pense au voyage"."""
    return oblique_with(draw, draw.pick(able(OBLIQUE, subject.kinds)), subject)


def dealing(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """The same, of what is done and not felt."""
    return oblique_with(draw, draw.pick(DEALING), subject)


DEALING = tuple(entry for entry in OBLIQUE if entry.subjects & PERSON_KINDS and not entry.state)


def oblique_with(draw: Draw, entry: Verb, subject: NounPhrase) -> Predicate:
    predicate = Predicate(draw, entry, subject)
    link = _link(draw, predicate)
    assert entry.link is not None
    if takes_people(entry) and draw.chance(0.3):
        if "dative" in entry.marks:
            receiver = other(draw, RECEIVERS, subject)
            key = draw.key()
            predicate.add_clitic(receiver.fr, key | link)
            predicate.en.append((receiver.en, key))
            return predicate
        pronoun = other(draw, STRONG, subject)
        key = draw.key()
        predicate.en.append((pronoun.en, key))
        predicate.fr += [(entry.link, link), (pronoun.fr, key)]
        return predicate
    noun = draw.pick(entry.objects.kept)
    predicate.fr.append((entry.link, link))
    known = noun.kinds & PERSON_KINDS and draw.chance(0.3)
    complement(predicate, named(draw) if known else common(draw, noun, _after_link(noun), 0.35))
    return predicate


def _after_link(noun: Noun) -> Style:
    return GENERIC if noun.kinds & {"feeling", "subject"} else style_of(noun, KNOWN)


def _link(draw: Draw, predicate: Predicate) -> int:
    """The key of the preposition: that of the last English particle, or of the verb where English has none.

    Where both languages have a further word (be *afraid* of, avoir *peur* de), these two are linked to each other.
    """
    entry = predicate.verb
    if not entry.particle:
        return predicate.key
    link = draw.key()
    middle = draw.key() if entry.extra else predicate.key
    predicate.en = [*((word, middle) for word in entry.particle[:-1]), (entry.particle[-1], link)]
    predicate.fr = [(word, middle) for word in entry.extra]
    return link


_NOTHING, _NOBODY, _PERSONNE = en("nothing", "PRON"), en("nobody", "PRON"), fr("personne", "PRON")


def voided(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """ "eats nothing", "ne mange rien"; "sees nobody", "ne voit personne"."""
    entry = draw.pick(VOIDABLE)
    if negative:
        return transitive_with(draw, entry, subject, negative)
    predicate = Predicate(draw, entry, subject)
    key = draw.key()
    if takes_people(entry):
        predicate.negation = (NE_ALONE, key)
        predicate.en.append((_NOBODY, key))
        predicate.fr.append((_PERSONNE, key))
    else:
        predicate.negation = (NOTHING, key)
        predicate.en.append((_NOTHING, key))
    return predicate


VOIDABLE = tuple(
    entry
    for entry in TRANSITIVE
    if entry.lemma in "eat drink buy sell break lose explain forget learn help meet invite know thank see".split()
)
