"""Entries of the lexicon: nouns, adjectives and verbs with all their forms as words, made once when a table is read."""

from __future__ import annotations

from dataclasses import dataclass, field

from regard.data.sources.phrasebook import english, french
from regard.data.sources.phrasebook.conjugation import WITH_ETRE, conjugate
from regard.data.sources.phrasebook.draw import Partners
from regard.data.sources.phrasebook.words import Word, en, fr, plusieurs, several

PLACE_MARKS = ("à", "dans", "sur")


@dataclass(eq=False)
class Noun:
    """A noun. `en` and `fr` are indexed by number: 0 singular, 1 plural."""

    lemma: str
    kinds: frozenset[str]
    en: tuple[tuple[Word, ...], tuple[Word, ...]]
    fr: tuple[tuple[Word, ...], tuple[Word, ...]]
    gender: int
    mass: bool
    one: bool
    sole: bool
    rest: str
    motion: str
    adjectives: Partners[Adjective] = field(init=False)
    said: Partners[Adjective] = field(init=False)
    verbs: Partners[Verb] = field(init=False)


def noun(entry: str, kind: str) -> Noun:
    """Read `child/children = enfant m marks`."""
    left, _, right = entry.partition(" = ")
    head, gender, marks = _split_gender(right)
    one, _, many = left.partition("/")
    un, _, des = head.partition("/")
    places = [mark for mark in marks if mark.split(">")[0] in PLACE_MARKS]
    rest, _, motion = places[0].partition(">") if places else ("", "", "")
    # One goes to buildings with à, even where one is in them with dans: aller au château, être dans le château.
    motion = motion or ("à" if kind == "building" else rest)
    return Noun(
        one,
        frozenset({kind, one} | set(marks) - set(places)),
        (several(one, "NOUN"), several(many or english.plural(one), "NOUN")),
        (plusieurs(un, "NOUN"), plusieurs(des or french.plural(un), "NOUN")),
        french.FEMININE if gender == "f" else french.MASCULINE,
        "mass" in marks,
        "one" in marks,
        "sole" in marks,
        rest,
        motion,
    )


def _split_gender(text: str) -> tuple[str, str, list[str]]:
    items = text.split()
    at = next(i for i, item in enumerate(items) if item in ("m", "f"))
    return " ".join(items[:at]), items[at], items[at + 1 :]


@dataclass(eq=False)
class Adjective:
    """An adjective. `near` are its French forms beside a noun, where beau becomes bel; `far` those after a verb."""

    lemma: str
    en: Word
    more: tuple[Word, ...]
    near: tuple[Word, ...]
    far: tuple[Word, ...]
    better: tuple[Word, ...] | None
    before: bool
    said_only: bool
    second: bool
    absolute: bool
    kinds: set[str]


COMPARED = {"good": french.forms("meilleur"), "bad": french.forms("pire")}


def adjective(
    entry: str, position: str, kinds: set[str], second: frozenset[str], absolute: frozenset[str]
) -> Adjective:
    """Read `big/bigger = grand`."""
    left, _, right = entry.partition(" = ")
    lemma, _, more = left.partition("/")
    masculine, *changed = right.split("/")
    plain, _, elided = masculine.partition("~")
    forms = french.forms(plain, *changed)
    words = tuple(fr(form, "ADJ") for form in forms)
    compared = COMPARED.get(lemma)
    return Adjective(
        lemma,
        en(lemma, "ADJ"),
        (en(more, "ADJ"),) if more else (en("more", "ADV"), en(lemma, "ADJ")),
        (fr(plain, "ADJ", elided) if elided else words[0], *words[1:]),
        words,
        tuple(fr(form, "ADJ") for form in compared) if compared else None,
        position == "before",
        position == "said",
        lemma in second,
        lemma in absolute,
        kinds,
    )


@dataclass(eq=False)
class Verb:
    """A verb in its frame, with its English and French forms.

    `simple` are its tenses of one word, by name and person; `agreeing` its participles by form. `link` is the
    preposition before its complement, `extra` what belongs to the French verb besides (avoir *peur* de).
    """

    lemma: str
    base: Word
    third: Word
    past: Word
    participle: Word
    ing: Word
    particle: tuple[Word, ...]
    infinitive: Word
    simple: dict[str, tuple[Word, ...]]
    agreeing: tuple[Word, ...]
    with_etre: bool
    reflexive: bool
    extra: tuple[Word, ...]
    link: Word | None
    subjects: frozenset[str]
    marks: frozenset[str]
    be: bool
    state: bool
    plain: bool
    general: bool
    ambiguous: bool
    objects: Partners[Noun] = field(init=False)


PARTICLE_TAGS = {
    "bed": "NOUN", "fun": "NOUN", "part": "NOUN", "care": "NOUN", "home": "ADV", "back": "ADV", "how": "ADV",
    "dressed": "ADJ", "bored": "ADJ", "married": "ADJ", "lost": "ADJ", "afraid": "ADJ", "interested": "ADJ",
}  # fmt: skip
PREPOSITIONS = frozenset("à de pour avec contre dans derrière sur".split())


def verb(english_side: str, french_side: str, subjects: str, marks: str, tag: str = "VERB") -> Verb:
    """Read `think thought +about` and `penser à`."""
    parts, _, particle = english_side.partition("+")
    shape = english.verb_forms(parts.split())
    items = french_side.split()
    reflexive = items[0] == "se"
    infinitive, *rest = items[1:] if reflexive else items
    link = plusieurs(rest.pop(), "ADP")[0] if rest and rest[-1] in PREPOSITIONS else None
    forms = conjugate(infinitive)
    be = shape.base == "be"
    english_tag = "AUX" if be else tag
    made = set(marks.split())

    def words(row: tuple[str, ...]) -> tuple[Word, ...]:
        return tuple(fr(form, "AUX" if infinitive == "être" else "VERB") for form in row)

    return Verb(
        " ".join([shape.base, *particle.split()]),
        en(shape.base, english_tag),
        en(shape.third, english_tag),
        en(shape.past, english_tag),
        en(shape.participle, english_tag),
        en(shape.ing, english_tag),
        tuple(en(item, PARTICLE_TAGS.get(item, "ADP")) for item in particle.split()),
        words((infinitive,))[0],
        {name: words(getattr(forms, name)) for name in ("present", "imperfect", "future", "conditional")},
        words(forms.participle),
        reflexive or infinitive in WITH_ETRE,
        reflexive,
        tuple(fr(item, "NOUN") for item in rest),
        link,
        frozenset(subjects.split()),
        frozenset(made),
        be,
        "state" in made,
        "plain" in made or "state" in made,
        "general" in made,
        shape.base == shape.past,
    )
