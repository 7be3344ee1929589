"""Texts, and the weights as our side reads them: `python -m benchmarks.embedding.prepare FOLDER MINILM COUNT PAIRS`.

So many texts to be timed, and so many pairs of each set, at most, by which vectors are scored.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random

from benchmarks.embedding.work import JUDGED, TEXTS
from regard.data.catalogue import open_data
from regard.data.sentences import sentence_spans
from regard.interop import import_source

SCORED = ("stsb", "sick")


def captions() -> Iterator[str]:
    """Of a dozen words."""
    for name in SCORED:
        for pair in open_data(name, form="judged"):
            yield pair.first


def sentences() -> Iterator[str]:
    """Of reviews: from one word to a hundred."""
    for review in open_data("imdb", form="labelled"):
        for start, end in sentence_spans(review.text):
            yield review.text[start:end]


def paragraphs() -> Iterator[str]:
    """Of articles: a hundred words and more."""
    yield from dict.fromkeys(question.context for question in open_data("squad2", form="questions"))


def mixed(count: int) -> list[str]:
    """Two parts of captions, two of sentences, one of paragraphs, in no order."""
    chance = Random(0)

    def some(texts: Iterable[str], share: float) -> list[str]:
        return chance.sample(list(itertools.islice(texts, 20_000)), round(share * count))

    texts = [*some(captions(), 0.4), *some(sentences(), 0.4), *some(paragraphs(), 0.2)]
    chance.shuffle(texts)
    return texts


def judged(most: int) -> dict[str, dict[str, list[object]]]:
    found = {}
    for name in SCORED:
        pairs = list(open_data(name, split="valid", count=most, form="judged"))
        parts = {"first": [one.first for one in pairs], "second": [one.second for one in pairs]}
        found[name] = {**parts, "scores": [one.score for one in pairs]}
    return found


def main() -> None:
    folder, minilm = Path(sys.argv[1]), Path(sys.argv[2])
    count, pairs = int(sys.argv[3]), int(sys.argv[4])
    (folder / TEXTS).write_text(json.dumps(mixed(count)), encoding="utf-8")
    (folder / JUDGED).write_text(json.dumps(judged(pairs)), encoding="utf-8")
    (folder / "minilm").symlink_to(minilm)
    import_source(minilm, folder / "regard")


if __name__ == "__main__":
    main()
