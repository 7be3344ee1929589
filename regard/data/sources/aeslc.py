"""AESLC: mails and their subject lines. Zhang and Tetreault 2019, arXiv:1906.03497.

JSON lines: id, body, subject; those of the validation have `annotators`, subjects that others wrote for them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from regard.data.files import lines, locate
from regard.data.pairs import Pair, again
from regard.errors import DataError

ABOUT = "mails and their subject lines, 14,430; of the validation with three more subjects by others"
SPLITS = ("train", "valid")
_FILES = {"train": ("train.jsonl.gz", "train.jsonl"), "valid": ("dev.jsonl.gz", "dev.jsonl")}


def summaries(languages: str, split: str) -> Iterable[Pair]:
    return _mails(locate("aeslc", *_FILES[split]))


@again
def _mails(path: Path) -> Iterator[Pair]:
    for number, line in enumerate(lines(path), 1):
        try:
            mail = json.loads(line)
            body, subject, others = mail["body"].strip(), mail["subject"].strip(), mail.get("annotators", [])
        except (ValueError, KeyError, TypeError, AttributeError):
            raise DataError(f"{path}, line {number}: it is no mail with a body and a subject") from None
        if body and subject:
            yield Pair(body, subject, others=tuple(one for one in others if one.strip()))
