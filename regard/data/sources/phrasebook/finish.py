"""From tokens to text: the finished pair with its words, tags and links."""

from __future__ import annotations

from regard.data.pairs import Pair
from regard.data.sources.phrasebook.clauses import Clause
from regard.data.sources.phrasebook.words import Tokens, settle

Side = tuple[str, list[str], Tokens]


def english_side(tokens: Tokens) -> Side:
    """(text, words, settled tokens)."""
    settled = settle(tokens)
    words = _words(settled)
    text = " ".join(words).replace(" '", "'").replace(" ,", ",").replace(" .", ".").replace(" ?", "?")
    return text, words, settled


def french_side(tokens: Tokens) -> Side:
    """French puts a space before a question mark and none after an apostrophe."""
    settled = settle(tokens)
    words = _words(settled)
    text = " ".join(words).replace("' ", "'").replace(" ,", ",").replace(" .", ".")
    return text, words, settled


def _words(tokens: Tokens) -> list[str]:
    words = [word.text for word, _ in tokens]
    first = words[0]
    words[0] = first[0].upper() + first[1:]
    return words


def finished(source: Side, clause: Clause) -> Pair:
    """The pair of a clause whose English side is already made."""
    text, words, tokens = source
    target, target_words, target_tokens = french_side(clause.fr)
    links = _links([key for _, key in tokens], [key for _, key in target_tokens])
    return Pair(
        text,
        target,
        tuple(words),
        tuple(target_words),
        links,
        tuple([word.tag for word, _ in tokens]),
        tuple([word.tag for word, _ in target_tokens]),
    )


def _links(source: list[int], target: list[int]) -> tuple[tuple[int, int], ...]:
    """The positions whose keys share a bit. Most keys are one bit, and found without comparing all with all."""
    single: dict[int, list[int]] = {}
    merged: list[tuple[int, int]] = []
    for j, key in enumerate(target):
        if key & (key - 1):
            merged.append((j, key))
        elif key in single:
            single[key].append(j)
        else:
            single[key] = [j]
    links: list[tuple[int, int]] = []
    for i, key in enumerate(source):
        if not key:
            continue
        if key & (key - 1):
            links += [(i, j) for j, other in enumerate(target) if key & other]
        else:
            found = single.get(key, [])
            if merged:
                found = sorted(found + [j for j, other in merged if key & other])
            links += [(i, j) for j in found]
    return tuple(links)
