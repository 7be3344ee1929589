"""SQuAD 2.0: questions on paragraphs of Wikipedia, half of them without an answer. arXiv:1806.03822.

Where only a development file is there, its last quarter of articles is "valid", so that no text is in both splits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.data.files import locate
from regard.data.pairs import again
from regard.data.questions import Question, questions_of, read_articles

ABOUT = "questions on paragraphs, half with answers, 6,078"
SPLITS = ("train", "valid")


def questions(languages: str, split: str) -> Iterable[Question]:
    return _questions(locate("squad2", "dev-half-v2.0.json", "dev-v2.0.json"), split)


@again
def _questions(path: Path, split: str) -> Iterator[Question]:
    articles = read_articles(path)
    cut = len(articles) * 3 // 4
    for article in articles[:cut] if split == "train" else articles[cut:]:
        yield from questions_of(article, str(path))
