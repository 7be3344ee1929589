"""The lexicon: the tables read once, with the partners of every word worked out.

Which adjective fits which noun and which noun a verb's object are decided here, and so is which of these pairs are
held out of training.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from regard.data.sources.phrasebook import adjectives, nouns, verbs
from regard.data.sources.phrasebook.draw import Partners, held_out
from regard.data.sources.phrasebook.entries import Adjective, Noun, Verb, adjective, noun, verb


def _items(table: str) -> list[str]:
    return [" ".join(item.split()) for item in table.split(";") if item.strip()]


NOUNS: tuple[Noun, ...] = tuple(noun(item, kind) for kind, table in nouns.TABLES.items() for item in _items(table))


@cache
def spread(kinds: str) -> frozenset[str]:
    """Kinds with groups written out: "human text" becomes person, family and text."""
    found: set[str] = set()
    for kind in kinds.split():
        found |= set(nouns.GROUPS[kind].split()) if kind in nouns.GROUPS else {kind}
    return frozenset(found)


def of_kinds(kinds: str) -> tuple[Noun, ...]:
    """All nouns of any of these kinds, groups, marks or lemmas, in the order of the tables."""
    wanted = spread(kinds)
    known = {kind for entry in NOUNS for kind in entry.kinds}
    if not wanted <= known:
        raise ValueError(f"no noun is of kind {', '.join(sorted(wanted - known))}")
    return tuple(entry for entry in NOUNS if entry.kinds & wanted)


def _read_adjectives() -> tuple[Adjective, ...]:
    """Adjectives of several tables are one entry that fits the nouns of all of them."""
    found: dict[tuple[str, str], Adjective] = {}
    for position, kinds, table in adjectives.TABLES:
        of_kinds(kinds)
        for item in _items(table):
            made = adjective(item, position, set(spread(kinds)), adjectives.SECOND, adjectives.ABSOLUTE)
            known = found.setdefault((made.lemma, position), made)
            known.kinds |= made.kinds
    return tuple(found.values())


ADJECTIVES = _read_adjectives()


def _rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in row.split("|")] for row in table.strip().splitlines()]


def _simple(table: str) -> tuple[Verb, ...]:
    """Verbs without an object: `verb = verbe | subjects | marks`."""
    return tuple(_verb(cells[0], cells[1], cells[2] if len(cells) > 2 else "") for cells in _rows(table))


def _verb(sides: str, subjects: str, marks: str) -> Verb:
    left, _, right = sides.partition(" = ")
    return verb(left, right, " ".join(sorted(spread(subjects))), marks)


def _with_object(table: str) -> tuple[Verb, ...]:
    """Verbs with an object: `verb = verbe | subjects | objects | marks`."""
    made = []
    for sides, subjects, objects, *marks in _rows(table):
        entry = _verb(sides, subjects, marks[0] if marks else "")
        entry.objects = partners(entry.lemma, of_kinds(objects))
        made.append(entry)
    return tuple(made)


def partners(word: str, companions: Iterable[Noun]) -> Partners[Noun]:
    """The nouns beside a word, parted into those of every split and those held out."""
    kept: list[Noun] = []
    held: list[Noun] = []
    for companion in companions:
        (held if held_out(word, companion.lemma) else kept).append(companion)
    return Partners(tuple(kept), tuple(held))


INTRANSITIVE = _simple(verbs.INTRANSITIVE)
TRANSITIVE = _with_object(verbs.TRANSITIVE)
GIVING = _with_object(verbs.GIVING)
OBLIQUE = _with_object(verbs.OBLIQUE)
CLAUSAL = _simple(verbs.CLAUSAL)


def _joined(table: str) -> tuple[tuple[Verb, str, str], ...]:
    """Verbs with another verb, and the words that join the two in English and in French."""
    made = []
    for sides, subjects, joint, *marks in _rows(table):
        english, _, french = joint.partition(":")
        made.append((_verb(sides, subjects, marks[0] if marks else ""), english.strip(), french.strip()))
    return tuple(made)


CONTROL = _joined(verbs.CONTROL)
HAVING = tuple(tuple(item.split(" = ")) for item in _items(verbs.HAVING))

BE = verb("be was been", "être", "", "state")
HAVE = verb("have had had", "avoir", "", "state")


def _pair_up() -> None:
    """Give every noun its adjectives and the verbs whose object it can be."""
    for entry in NOUNS:
        # "very dangerous war" is not said of war as such.
        fitting = [each for each in ADJECTIVES if each.kinds & entry.kinds and "feeling" not in entry.kinds]
        entry.adjectives = _adjectives(entry, [each for each in fitting if not each.said_only])
        entry.said = _adjectives(entry, [each for each in fitting if each.lemma not in adjectives.NEAR_ONLY])
        takers = [each for each in TRANSITIVE if entry in each.objects.kept + each.objects.held]
        kept = tuple(each for each in takers if entry in each.objects.kept)
        entry.verbs = Partners(kept, tuple(each for each in takers if entry in each.objects.held))


def _adjectives(entry: Noun, fitting: list[Adjective]) -> Partners[Adjective]:
    held = tuple(each for each in fitting if held_out(each.lemma, entry.lemma))
    return Partners(tuple(each for each in fitting if each not in held), held)


_pair_up()

HUMAN_ADJECTIVES = tuple(each for each in ADJECTIVES if "person" in each.kinds)
HUMANS = of_kinds("human")
# What a transitive verb's human subject may do to a person, an animal or a thing is looked up by these.
PERSON_KINDS = spread("human")
