"""Where the files of a corpus lie. Only the standard library may be imported here: it runs in every environment."""

from __future__ import annotations

from pathlib import Path

SOURCE, TARGET = "en", "de"


def raw(corpus: Path, split: str) -> dict[str, str]:
    return _files(corpus / "raw", split)


def pieces(corpus: Path, split: str) -> dict[str, str]:
    return _files(corpus / "pieces", split)


def _files(folder: Path, split: str) -> dict[str, str]:
    return {"source": str(folder / f"{split}.{SOURCE}"), "target": str(folder / f"{split}.{TARGET}")}


def vocabulary(corpus: Path) -> str:
    return str(corpus / "vocabulary.txt")


def target_tokens(corpus: Path) -> int:
    """Of the training sentences, with their ends."""
    lines = Path(pieces(corpus, "train")["target"]).read_text(encoding="utf-8").splitlines()
    return sum(len(line.split(" ")) + 1 for line in lines)
