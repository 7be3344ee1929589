"""English inflection: plurals, verb forms, comparatives. The lexicon gives what these rules do not foresee."""

from __future__ import annotations

from typing import NamedTuple

# Verbs of one syllable (or stressed on the last) that double their consonant before -ed and -ing.
DOUBLING = frozenset(
    "stop run swim win get sit plan drop chat forget begin travel control hug shop cut prefer sit drop".split()
)
SIBILANTS = ("s", "x", "z", "ch", "sh")


class VerbForms(NamedTuple):
    """The five forms of an English verb."""

    base: str
    third: str
    past: str
    participle: str
    ing: str


def _after_consonant_y(word: str) -> bool:
    return word.endswith("y") and word[-2] not in "aeiou"


def plural(noun: str) -> str:
    """The regular plural: the last word of a compound changes (swimming pools)."""
    if noun.endswith(SIBILANTS):
        return noun + "es"
    return noun[:-1] + "ies" if _after_consonant_y(noun) else noun + "s"


def third(verb: str) -> str:
    """The third person singular: goes, watches, carries."""
    special = {"have": "has", "be": "is", "go": "goes", "do": "does"}
    return special.get(verb) or plural(verb)


def past(verb: str) -> str:
    """The regular past: liked, carried, stopped, travelled."""
    if verb.endswith("e"):
        return verb + "d"
    if verb in DOUBLING:
        return verb + verb[-1] + "ed"
    return verb[:-1] + "ied" if _after_consonant_y(verb) else verb + "ed"


def ing(verb: str) -> str:
    """The present participle: making, lying, running."""
    if verb.endswith("ie"):
        return verb[:-2] + "ying"
    if verb in DOUBLING:
        return verb + verb[-1] + "ing"
    return verb[:-1] + "ing" if verb.endswith("e") and not verb.endswith("ee") and verb != "be" else verb + "ing"


def verb_forms(parts: list[str]) -> VerbForms:
    """All forms from the base, or from base, past and participle where they are irregular."""
    base = parts[0]
    made = parts[1] if len(parts) > 1 else past(base)
    return VerbForms(base, third(base), made, parts[2] if len(parts) > 2 else made, ing(base))
