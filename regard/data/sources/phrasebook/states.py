"""What somebody or something is: adjectives, trades, ages, and the states that French has rather than is."""

from __future__ import annotations

from regard.data.sources.phrasebook.adjectives import CLASHES
from regard.data.sources.phrasebook.draw import Draw, held_out
from regard.data.sources.phrasebook.entries import Adjective, verb
from regard.data.sources.phrasebook.lexicon import BE, HAVING, HUMAN_ADJECTIVES, of_kinds
from regard.data.sources.phrasebook.nominal import NUMBERS, NounPhrase
from regard.data.sources.phrasebook.verbal import Predicate
from regard.data.sources.phrasebook.words import en, fr

DEGREES = tuple(
    (en(a, "ADV"), fr(b, "ADV"))
    for a, b in (("very", "très"), ("too", "trop"), ("rather", "plutôt"), ("very", "très"), ("really", "vraiment"))
)
AND_EN, AND_FR = en("and", "CCONJ"), fr("et", "CCONJ")


def suitable(draw: Draw, phrase: NounPhrase, *taken: Adjective | None) -> Adjective:
    """An adjective that can be said of a noun phrase, if possible without contradicting what is said already."""
    alone = phrase.nouns[0].said if len(phrase.nouns) == 1 else None
    before = draw.used_held_out
    for _ in range(6):
        draw.used_held_out = before
        adjective = draw.pick(HUMAN_ADJECTIVES) if alone is None else draw.partner(alone)
        held = alone is None and any(held_out(adjective.lemma, noun.lemma) for noun in phrase.nouns)
        if not held and not any(each and clashing(adjective, each) for each in (*taken, phrase.adjective)):
            return adjective
    draw.used_held_out = before
    if alone is not None:
        return draw.pick(alone.kept)
    return next(a for a in HUMAN_ADJECTIVES if not any(held_out(a.lemma, noun.lemma) for noun in phrase.nouns))


def clashing(first: Adjective, second: Adjective) -> bool:
    """Whether two adjectives are the same or exclude each other."""
    return first is second or second.lemma in CLASHES.get(first.lemma, ())


def describing(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """ "is very old", "est très vieux"."""
    adjective = suitable(draw, subject)
    predicate = Predicate(draw, BE, subject)
    key = draw.key()
    if not adjective.absolute and draw.chance(0.3):
        degree = draw.key()
        very, tres = draw.pick(DEGREES[:2] if negative else DEGREES)  # "not rather cold" is not said
        predicate.en.append((very, degree))
        predicate.fr.append((tres, degree))
    predicate.en.append((adjective.en, key))
    predicate.fr.append((adjective.far[subject.form], key))
    if draw.rich(0.15) and not negative:
        before = draw.used_held_out
        second = suitable(draw, subject, adjective)
        if clashing(adjective, second):
            draw.used_held_out = before
        else:
            key, link = draw.key(), draw.key()
            predicate.en += [(AND_EN, link), (second.en, key)]
            predicate.fr += [(AND_FR, link), (second.far[subject.form], key)]
    return predicate


_A = en("a", "DET", "an")
BECOME = verb("become became become", "devenir", "human", "plain")
_MEN_ONLY = tuple(noun for noun in of_kinds("job") if noun.gender == 0)
# Trades that French names with one word for men and women.
_WOMEN_TOO = of_kinds(
    "doctor teacher judge journalist dentist pilot nurse waitress actress secretary librarian dancer artist"
)


def trade(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """ "is a doctor", "est médecin": French has no article here."""
    predicate = Predicate(draw, BECOME if draw.chance(0.25) else BE, subject)
    noun = draw.pick(_WOMEN_TOO if subject.form & 1 else _MEN_ONLY)
    plural = int(subject.form >= 2)
    key = draw.key()
    if not plural:
        predicate.en.append((_A, 0))
    predicate.en += [(word, key) for word in noun.en[plural]]
    predicate.fr += [(word, key) for word in noun.fr[plural]]
    return predicate


_HAVING = tuple((en(a, "ADJ"), fr(b, "NOUN")) for a, b in HAVING)
_HAS = verb("be was been", "avoir", "human", "state")
_AGED = verb("be was been", "avoir", "human", "state timeless")
_YEARS, _OLD, _ANS = en("years", "NOUN"), en("old", "ADJ"), fr("ans", "NOUN")
_VERY = DEGREES[0]


def feeling(draw: Draw, subject: NounPhrase, negative: bool) -> Predicate:
    """ "is hungry", "a faim"; "is twenty years old", "a vingt ans"."""
    # Ages are told of people by name and of family: a trade and an age might not go together.
    if not negative and draw.chance(0.3) and all("family" in noun.kinds for noun in subject.nouns):
        predicate = Predicate(draw, _AGED, subject)
        number, nombre, _ = draw.pick(NUMBERS)
        key, years = draw.key(), draw.key()
        predicate.en += [(number, key), (_YEARS, years), (_OLD, predicate.key)]
        predicate.fr += [*((part, key) for part in nombre), (_ANS, years)]
        return predicate
    predicate = Predicate(draw, _HAS, subject)
    key = draw.key()
    state, etat = draw.pick(_HAVING)
    if etat.text in ("faim", "soif", "froid", "chaud", "sommeil") and draw.chance(0.2):
        degree = draw.key()
        predicate.en.append((_VERY[0], degree))
        predicate.fr.append((_VERY[1], degree))
    predicate.en.append((state, key))
    predicate.fr.append((etat, key))
    return predicate
