"""enwik8: the first 100 million bytes of the English Wikipedia of March 2006, as XML. Mahoney 2006, mattmahoney.net

The whole file, or its first 10 million bytes. By custom the first 90 percent are for training, then 5 each for
validation and test.
"""

from __future__ import annotations

from collections.abc import Iterable

from regard.data.documents import Document
from regard.data.files import locate
from regard.data.text import Share, TextFiles

ABOUT = "the beginning of the English Wikipedia, XML and all"
SPLITS = ("train", "valid", "test")
_SHARES = {"train": (0, 90), "valid": (90, 95), "test": (95, 100)}
_NAMES = ("enwik8", "enwik8.gz", "first-10MB.xml", "first-10MB.xml.gz")


def texts(languages: str, split: str) -> Iterable[Document]:
    return Share(TextFiles(locate("enwik8", *_NAMES)), *_SHARES[split])
