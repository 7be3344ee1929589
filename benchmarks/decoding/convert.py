"""The same weights for CTranslate2, by its own converter: `python -m benchmarks.decoding.convert FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from ctranslate2.converters import Converter
from ctranslate2.converters.transformers import MarianMTLoader
from ctranslate2.specs.model_spec import ModelSpec
from transformers import MarianMTModel

from benchmarks.decoding.work import END, PAD
from benchmarks.sizes import VOCABULARY


class Words:
    """What the loader asks of a tokenizer: random weights have none, so a word is its number."""

    eos_token, unk_token = str(END), "1"

    def get_vocab(self) -> dict[str, int]:
        return {"<pad>" if i == PAD else str(i): i for i in range(VOCABULARY)}


class MarianConverter(Converter):
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _load(self) -> ModelSpec:
        return MarianMTLoader()(MarianMTModel.from_pretrained(self.folder), Words())


if __name__ == "__main__":
    home = Path(sys.argv[1])
    MarianConverter(home / "marian").convert(str(home / "ctranslate2"))
