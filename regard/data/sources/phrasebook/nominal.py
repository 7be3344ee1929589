"""Noun phrases: a determiner, numbers, adjectives and a noun; names, pronouns, owners and pairs."""

from __future__ import annotations

from regard.data.sources.phrasebook import names
from regard.data.sources.phrasebook.adjectives import CLASHES
from regard.data.sources.phrasebook.determiners import (
    ANY,
    GENERAL,
    KIN,
    KIN_KNOWN,
    KNOWN,
    MINE,
    PAIRED,
    PUBLIC,
    SPOUSE,
    THE,
    Determiner,
    Style,
)
from regard.data.sources.phrasebook.draw import Draw
from regard.data.sources.phrasebook.entries import Adjective, Noun
from regard.data.sources.phrasebook.french import PLURAL
from regard.data.sources.phrasebook.lexicon import HUMANS, of_kinds
from regard.data.sources.phrasebook.numbers import english_number, french_number
from regard.data.sources.phrasebook.pronouns import MOI, SUBJECTS, THEY, Pronoun
from regard.data.sources.phrasebook.words import DE, Tokens, Word, en, fr

THIRD, THIRD_PLURAL = 2, 5


class NounPhrase:
    """Tokens of both sides, with what agreement and choice of verb need to know.

    `nouns` are its heads (none in a pronoun or name); an `open` phrase ends with its noun and may take a relative
    clause; `adjective` is what has been said of it already.
    """

    __slots__ = ("en", "fr", "person", "form", "nouns", "kinds", "pronoun", "open", "adjective")

    def __init__(
        self,
        english: Tokens,
        french: Tokens,
        person: int,
        form: int,
        nouns: tuple[Noun, ...] = (),
        kinds: frozenset[str] = frozenset(),
        pronoun: bool = False,
        opened: bool = False,
    ) -> None:
        self.en = english
        self.fr = french
        self.person = person
        self.form = form
        self.nouns = nouns
        self.kinds = kinds
        self.pronoun = pronoun
        self.open = opened
        self.adjective: Adjective | None = None


HUMAN = frozenset({"person", "family"})


def _numbers() -> tuple[tuple[Word, tuple[Word, ...], tuple[Word, ...]], ...]:
    """(English, French, French feminine), the small ones more often."""
    drawn = [n for n in range(2, 13) for _ in range(30)] + list(range(13, 100))
    return tuple(
        (
            en(english_number(n), "NUM"),
            tuple(fr(part, "NUM") for part in french_number(n).split()),
            tuple(fr(part, "NUM") for part in french_number(n, feminine=True).split()),
        )
        for n in drawn
    )


NUMBERS = _numbers()
VERY, TRES = en("very", "ADV"), fr("très", "ADV")


def number(draw: Draw, feminine: bool) -> tuple[Tokens, Tokens]:
    """A number from two to ninety-nine."""
    word, masculine, agreeing = draw.pick(NUMBERS)
    key = draw.key()
    return [(word, key)], [(part, key) for part in (agreeing if feminine else masculine)]


def common(draw: Draw, noun: Noun, style: Style = ANY, rich: float = 0.45) -> NounPhrase:
    """A noun with a determiner that fits the style, and now and then with numbers and adjectives."""
    chance = draw.random()
    if noun.mass or noun.one:
        plural, determiner = 0, draw.pick(style.mass) if noun.mass else THE
    elif chance < style.plurals and not noun.sole:
        plural, determiner = 1, draw.pick(style.plural)
        if chance < 0.12 * style.plurals and determiner is not GENERAL:
            return _counted(draw, noun, determiner, rich)
    else:
        plural, determiner = 0, draw.pick(style.singular)
    return build(draw, noun, plural, determiner, rich)


def _counted(draw: Draw, noun: Noun, determiner: Determiner, rich: float) -> NounPhrase:
    """ "three cats", or "the three cats" where the determiner lets a number follow."""
    english, french = number(draw, noun.gender == 1)
    return build(draw, noun, 1, determiner if determiner.counts else NONE, rich, (english, french))


# A relative clause would be odd after these: what is mine needs no further telling apart.
CLOSED = frozenset({GENERAL, *MINE})
NONE = Determiner((), ((),) * 4, ((),) * 4, 0, False)


def build(
    draw: Draw, noun: Noun, plural: int, determiner: Determiner, rich: float, count: tuple[Tokens, Tokens] | None = None
) -> NounPhrase:
    """Put determiner, number, adjectives and noun into the order of each language."""
    form = noun.gender + PLURAL * plural
    first: Adjective | None = None
    second: Adjective | None = None
    if draw.rich(rich) and (noun.adjectives.kept or (draw.recombining and noun.adjectives.held)):
        first = draw.partner(noun.adjectives)
        if first.before and draw.chance(0.2) and noun.adjectives.kept:
            second = draw.pick(noun.adjectives.kept)
            if not second.second or second.lemma in CLASHES.get(first.lemma, ()):
                second = None
    key = draw.reserve(determiner.links)
    english: Tokens = [(word, key << link - 1 if link else 0) for word, link in determiner.en]
    leading = first is not None and first.before
    french: Tokens = [
        (word, key << link - 1 if link else 0) for word, link in (determiner.lead if leading else determiner.fr)[form]
    ]
    if count is not None:
        english += count[0]
        french += count[1]
    after: Tokens = []
    for adjective in (first, second):
        if adjective is not None:
            key = draw.key()
            if not adjective.before and not adjective.absolute and second is None and draw.chance(0.15):
                degree = draw.key()
                english.append((VERY, degree))
                after.append((TRES, degree))
            english.append((adjective.en, key))
            (french if adjective.before else after).append((adjective.near[form], key))
    key = draw.key()
    for word in noun.en[plural]:
        english.append((word, key))
    for word in noun.fr[plural]:
        french.append((word, key))
    phrase = NounPhrase(
        english,
        french + after,
        THIRD_PLURAL if plural else THIRD,
        form,
        (noun,),
        noun.kinds,
        opened=determiner not in CLOSED,
    )
    phrase.adjective = first
    return phrase


def _read_names(table: str) -> list[tuple[tuple[Word, ...], tuple[Word, ...]]]:
    rows = [item.strip().partition(" = ") for item in table.split(";")]
    return [
        (
            tuple(en(part, "PROPN") for part in left.split()),
            tuple(fr(part, "PROPN") for part in (right or left).split()),
        )
        for left, _, right in rows
    ]


PEOPLE = [(*name, 0) for name in _read_names(names.MEN)] + [(*name, 1) for name in _read_names(names.WOMEN)]
TITLES = ((en("Mr", "NOUN"), fr("monsieur", "NOUN"), 0), (en("Mrs", "NOUN"), fr("madame", "NOUN"), 1))
SURNAMES = tuple((en(name, "PROPN"), fr(name, "PROPN")) for name in names.SURNAMES.split())


def named(draw: Draw) -> NounPhrase:
    """A person by name: "Mary", now and then "Mrs Dupont"."""
    if draw.chance(0.12):
        title, titre, gender = draw.pick(TITLES)
        name, nom = draw.pick(SURNAMES)
        first, second = draw.key(), draw.key()
        return NounPhrase([(title, first), (name, second)], [(titre, first), (nom, second)], THIRD, gender, (), HUMAN)
    english, french, gender = draw.pick(PEOPLE)
    key = draw.key()
    return NounPhrase([(word, key) for word in english], [(word, key) for word in french], THIRD, gender, (), HUMAN)


def pronominal(draw: Draw, pronoun: Pronoun) -> NounPhrase:
    key = draw.key()
    return NounPhrase([(pronoun.en, key)], [(pronoun.fr, key)], pronoun.person, pronoun.form, (), HUMAN, pronoun=True)


S_OWN, S_PLURAL = en("'s", "PART"), en("'", "PART")


def owned(draw: Draw, noun: Noun, owner: NounPhrase) -> NounPhrase:
    """ "Mary's dog", "le chien de Marie": the French article has no counterpart."""
    plural = 0 if noun.mass or noun.one or noun.sole or draw.chance(0.7) else 1
    phrase = build(draw, noun, plural, GENERAL, 0.3)
    key = draw.key()
    mark = S_PLURAL if owner.en[-1][0].text.endswith("s") and owner.person == THIRD_PLURAL else S_OWN
    return NounPhrase(
        [*owner.en, (mark, key), *phrase.en],
        [*phrase.fr, (DE, key), *owner.fr],
        phrase.person,
        phrase.form,
        phrase.nouns,
        phrase.kinds,
    )


AND_EN, AND_FR = en("and", "CCONJ"), fr("et", "CCONJ")


def joined(draw: Draw, first: NounPhrase, second: NounPhrase) -> NounPhrase:
    """Two phrases with "and": plural, and masculine unless both are feminine."""
    key = draw.key()
    feminine = first.form & second.form & 1
    return NounPhrase(
        [*first.en, (AND_EN, key), *second.en],
        [*first.fr, (AND_FR, key), *second.fr],
        THIRD_PLURAL,
        feminine + PLURAL,
        first.nouns + second.nouns,
        HUMAN if first.kinds & HUMAN and second.kinds & HUMAN else first.kinds & second.kinds,
    )


def with_me(draw: Draw, other: NounPhrase) -> NounPhrase:
    """ "Paul and I", "Paul et moi", which is "we" to the verb."""
    phrase = joined(draw, other, pronominal(draw, MOI))
    phrase.person, phrase.form, phrase.kinds = 3, PLURAL, HUMAN
    return phrase


OWNABLE = of_kinds("family friend neighbour boss colleague dog cat horse car house bicycle")


def style_of(noun: Noun, style: Style) -> Style:
    """Family is mostly somebody's ("my father" rather than "a father"), and rivers are nobody's."""
    if "spouse" in noun.kinds:
        return SPOUSE
    if "family" in noun.kinds:
        return KIN if style is ANY else KIN_KNOWN
    if noun.kinds & NOBODYS and not noun.kinds & SOMEBODYS:
        return PUBLIC.get(style, style)
    return style


NOBODYS = frozenset({"outdoors", "building", "heavens", "transit", "person", "animal", "event"})
SOMEBODYS = frozenset({"mine", "kin", "job", "pet", "owned"})


def person(draw: Draw, style: Style = ANY) -> NounPhrase:
    """Somebody by name, by kinship or by trade."""
    chance = draw.random()
    if chance < 0.3:
        return named(draw)
    noun = draw.pick(HUMANS)
    if chance < 0.36:
        kin = draw.pick(OWNABLE[:15])
        return owned(draw, kin, named(draw) if draw.chance(0.7) else common(draw, noun, style_of(noun, KNOWN), 0.2))
    return common(draw, noun, style_of(noun, style))


def somebody(draw: Draw) -> NounPhrase:
    """A human subject: a pronoun, one person, or two."""
    chance = draw.random()
    if chance < 0.36:
        pronoun = draw.pick(SUBJECTS)
        if pronoun is THEY and draw.later:
            pronoun = SUBJECTS[0]
        return pronominal(draw, pronoun)
    if chance < 0.42:
        first = person(draw, PAIRED)
        return with_me(draw, first) if draw.chance(0.25) else joined(draw, first, person(draw, PAIRED))
    return person(draw)
