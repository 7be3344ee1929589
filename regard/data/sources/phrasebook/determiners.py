"""Determiners of both languages, and which of them fit where.

Each is written like a fixed phrase, with its French forms for masculine, feminine, and both plurals. A style is the
choice of determiners that a place in the sentence allows: a subject, an object, an object of a negated verb ("pas de
pain"), what follows a preposition.
"""

from __future__ import annotations

from dataclasses import dataclass

from regard.data.sources.phrasebook.words import DE, DE_PARTITIVE, LA, LE, LES, A, Token, Word, en, fr

_SPECIAL = {
    "le": LE, "la": LA, "les": LES, "de": DE, "à": A, "DE": DE_PARTITIVE, "mon": fr("mon", "DET"),
    "ma": fr("ma", "DET", "mon"), "sa": fr("sa", "DET", "son"), "ce": fr("ce", "DET", "cet"),
}  # fmt: skip
_TAGS = {word: tag for tag, words in {
    "ADJ": "many few several much same first last other most little même mêmes premier première premiers premières"
    " dernier dernière derniers dernières autre autres tous toutes",
    "ADV": "too beaucoup trop",
    "NOUN": "lot plupart peu",
    "ADP": "of",
}.items() for word in words.split()}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Determiner:
    """A determiner: `fr` by form (masculine, feminine, and their plurals), `lead` the same before an adjective."""

    en: tuple[Token, ...]
    fr: tuple[tuple[Token, ...], ...]
    lead: tuple[tuple[Token, ...], ...]
    links: int
    counts: bool  # whether a number may follow: "the two books"


_A = en("a", "DET", "an")


def _english(text: str) -> tuple[Token, ...]:
    items = (item.partition(":") for item in text.split())
    return tuple((_A if word == "a" else en(word, _TAGS.get(word, "DET")), int(link or 1)) for word, _, link in items)


def _french_word(text: str) -> Word:
    return _SPECIAL.get(text) or fr(text, _TAGS.get(text, "DET"))


def _french(text: str) -> tuple[Token, ...]:
    items = (item.partition(":") for item in text.split())
    return tuple((_french_word(word), int(link or 1)) for word, _, link in items)


def determiner(english: str, *french: str, lead: str = "", counts: bool = False) -> Determiner:
    """Read `the same`, `le même`, `la même`, `les mêmes`, `les mêmes`; one French form stands for all."""
    forms = tuple(_french(form) for form in (french if len(french) == 4 else french * 4))
    leading = (_french(lead),) * 4 if lead else forms
    words = _english(english) if english else ()
    links = [link for _, link in words] + [link for form in forms for _, link in form]
    return Determiner(words, forms, leading, max(links), counts)


THE = determiner("the", "le", "la", "les", "les", counts=True)
A_AN = determiner("a", "un", "une", "des", "des")
SOME = determiner("some", "des", lead="DE")
SOME_MASS = determiner("some", "DE le", "DE la", "DE le", "DE la")
NOT_A = determiner("a", "DE")
NOT_ANY = determiner("any", "DE")
GENERAL = determiner("", "le:0", "la:0", "les:0", "les:0")  # English says nothing where French says "les chats"
MINE = tuple(
    determiner(own, one, feminine, many, many, counts=True)
    for own, one, feminine, many in (
        ("my", "mon", "ma", "mes"), ("your", "votre", "votre", "vos"), ("his", "son", "sa", "ses"),
        ("her", "son", "sa", "ses"), ("our", "notre", "notre", "nos"), ("their", "leur", "leur", "leurs"),
    )
)  # fmt: skip
THIS = tuple(determiner(this, "ce", "cette", "ces", "ces") for this in ("this", "that"))
THESE = tuple(determiner(these, "ce", "cette", "ces", "ces", counts=True) for these in ("these", "those"))
EVERY = determiner("every", "chaque")
ANOTHER = determiner("another", "un autre", "une autre", "", "")
SAME = determiner("the same:2", "le même:2", "la même:2", "les mêmes:2", "les mêmes:2")
FIRST = determiner("the first:2", "le premier:2", "la première:2", "les premiers:2", "les premières:2")
LAST = determiner("the last:2", "le dernier:2", "la dernière:2", "les derniers:2", "les dernières:2")
OTHER = determiner("the other:2", "le autre:2", "la autre:2", "les autres:2", "les autres:2")
SEVERAL = determiner("several", "plusieurs")
A_FEW = determiner("a few", "quelques")
MANY = determiner("many", "beaucoup de")
TOO_MANY = determiner("too many:2", "trop de:2")
ALL = determiner("all the:2", "", "", "tous les:2", "toutes les:2")
MOST = determiner("most", "la plupart de les")
MUCH = determiner("a lot of", "beaucoup de")
A_LITTLE = determiner("a little", "un peu de")


@dataclass(frozen=True, eq=False)
class Style:
    """Determiners that fit a place, repeated by weight, and how often the noun is plural."""

    singular: tuple[Determiner, ...]
    plural: tuple[Determiner, ...]
    mass: tuple[Determiner, ...]
    plurals: float


_KNOWN = (THE,) * 6 + MINE + THIS
_KNOWN_PLURAL = (THE,) * 6 + MINE + THESE
# A subject or object of an ordinary verb.
ANY = Style(
    (THE,) * 8 + (A_AN,) * 9 + MINE + THIS + (EVERY, ANOTHER, SAME, FIRST, LAST, OTHER),
    (THE,) * 6 + (SOME,) * 5 + MINE + THESE + (SEVERAL, SEVERAL, A_FEW, A_FEW, MANY, MANY, ALL, MOST, OTHER, SAME),
    (THE,) * 4 + (SOME_MASS,) * 6 + THIS + (MUCH, A_LITTLE, MINE[0], MINE[2]),
    0.35,
)
# Of a negated verb: "a" and "any" become "de".
NEGATED = Style(
    (THE,) * 4 + (NOT_A,) * 4 + MINE + THIS, (THE,) * 4 + (NOT_ANY,) * 5 + MINE + THESE, (THE, NOT_ANY, NOT_ANY), 0.4
)
# After a preposition, or of a verb that asks for something known.
KNOWN = Style(_KNOWN, _KNOWN_PLURAL, (THE,) * 3 + THIS, 0.3)
KNOWN_ONE = Style(_KNOWN, _KNOWN_PLURAL, (THE,) * 3 + THIS, 0.0)
# After a preposition other than de: a new thing as well.
FOUND = Style(_KNOWN + (A_AN,) * 5, _KNOWN_PLURAL, (THE,), 0.0)
# Of two nouns joined by and: "most pencils and some boots" would be "la plupart des crayons et des bottes".
PAIRED = Style(_KNOWN + (A_AN,) * 4, _KNOWN_PLURAL + (SOME,) * 4, (THE, SOME_MASS, SOME_MASS), 0.35)
# Of a verb that speaks of whole kinds: "he likes cats", "il aime les chats".
GENERIC = Style(_KNOWN, (GENERAL,) * 8 + MINE + THESE, (GENERAL,), 0.75)
# Family is mostly somebody's.
KIN = Style((THE,) + MINE * 3, (THE,) + MINE * 3 + (SEVERAL,), (THE,), 0.2)
KIN_KNOWN = Style((THE,) + MINE * 3, (THE,) + MINE * 3, (THE,), 0.2)
SPOUSE = Style(MINE[:4], MINE[:4], MINE[:4], 0.0)


def _without_owner(style: Style) -> Style:
    singular, plural, mass = (
        tuple(each for each in row if each not in MINE) for row in (style.singular, style.plural, style.mass)
    )
    return Style(singular, plural, mass, style.plurals)


# The same places for what belongs to nobody: "the river", not "my river".
PUBLIC = {style: _without_owner(style) for style in (ANY, NEGATED, KNOWN, KNOWN_ONE, FOUND, PAIRED)}
