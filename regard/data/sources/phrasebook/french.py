"""French agreement: plurals of nouns, the four forms of adjectives and participles.

Forms are ordered as everywhere in this room: masculine, feminine, masculine plural, feminine plural.
"""

from __future__ import annotations

MASCULINE, FEMININE, PLURAL = 0, 1, 2  # a form is gender + number: FEMININE + PLURAL is the last of the four

Forms = tuple[str, str, str, str]


def plural(word: str) -> str:
    """The regular plural: chats, bras, gâteaux, chevaux, neveux."""
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith(("eau", "eu", "au")) and word != "bleu":
        return word + "x"
    return word[:-2] + "aux" if word.endswith("al") else word + "s"


def feminine(word: str) -> str:
    """The regular feminine: petite, heureuse, légère, italienne, bonne, naturelle, active."""
    endings = {"eux": "euse", "er": "ère", "en": "enne", "on": "onne", "el": "elle", "f": "ve", "e": "e"}
    for ending, changed in endings.items():
        if word.endswith(ending):
            return word[: -len(ending)] + changed
    return word + "e"


def forms(masculine: str, changed: str | None = None, plural_of_masculine: str | None = None) -> Forms:
    """The four forms of an adjective or a participle."""
    woman = changed or feminine(masculine)
    return masculine, woman, plural_of_masculine or plural(masculine), plural(woman)


def participle_forms(participle: str) -> Forms:
    """The four forms of a past participle: allé, allée, allés, allées; dû keeps its accent only in the masculine."""
    woman = "due" if participle == "dû" else participle + "e"
    return participle, woman, plural(participle) if participle != "dû" else "dus", woman + "s"
