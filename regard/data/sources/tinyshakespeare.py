"""Tiny Shakespeare: 40,000 lines of the plays, 1,115,394 characters, in one file (public domain).

Karpathy's char-rnn, 2015. The first 90 percent are for training, the last 10 for validation, as in nanoGPT.
"""

from __future__ import annotations

from collections.abc import Iterable

from regard.data.documents import Document
from regard.data.files import locate
from regard.data.text import Share, TextFiles

ABOUT = "lines of Shakespeare's plays, 1.1 million characters"
SPLITS = ("train", "valid")
_SHARES = {"train": (0, 90), "valid": (90, 100)}


def texts(languages: str, split: str) -> Iterable[Document]:
    return Share(TextFiles(locate("tinyshakespeare", "input.txt", "input.txt.gz")), *_SHARES[split])
