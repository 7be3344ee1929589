"""The same weights for CTranslate2, by its own converter: `python -m benchmarks.generation.convert FOLDER`."""

from __future__ import annotations

import sys
from pathlib import Path

from ctranslate2.converters import Converter
from ctranslate2.converters.transformers import GPT2Loader
from ctranslate2.specs.model_spec import ModelSpec
from transformers import GPT2LMHeadModel

from benchmarks.generation.work import END, VOCABULARY


class Words:
    """What the loader asks of a tokenizer: random weights have none, so a word is its number."""

    bos_token = eos_token = unk_token = str(END)

    def get_vocab(self) -> dict[str, int]:
        return {str(i): i for i in range(VOCABULARY)}


class GPT2Converter(Converter):
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def _load(self) -> ModelSpec:
        return GPT2Loader()(GPT2LMHeadModel.from_pretrained(self.folder), Words())


if __name__ == "__main__":
    home = Path(sys.argv[1])
    GPT2Converter(home / "transformers").convert(str(home / "ctranslate2"))
