"""This project: the recipe that was given, on the raw text of the corpus, validated as often as the others."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import cast

import torch

from benchmarks.corpus_files import raw
from benchmarks.quality.clock import Clock, main
from benchmarks.quality.recipe import read_recipe
from regard.decoding import Decoding
from regard.fast import quicken
from regard.models import EncoderDecoderModel, Model
from regard.runfolder import Run
from regard.tasks.base import Validation
from regard.tasks.writing.translation import SAMPLES, TranslationTask
from regard.tasks.writing.translator import Translator
from regard.training.records import Record
from regard.training.session import strategy_for
from regard.training.trainer import Trainer


class WholeValidation(TranslationTask):
    """Translates all held-out sentences, where the task itself contents itself with some, and keeps what it wrote."""

    found: list[str]

    @torch.no_grad()
    def validate(self, model: Model) -> Validation:
        translator = Translator(cast(EncoderDecoderModel, model), self.tokenizer, self.config.max_length)
        self.found = translator.texts([pair.source for pair in self.valid], Decoding(), batch=64)
        return super().validate(model)  # the loss of all; and some translations once more, of which few are asked for


def train(clock: Clock, corpus: Path, home: Path, path: Path, validate_every: int) -> None:
    recipe, config = read_recipe(path, raw(corpus, "train"), raw(corpus, "valid"))
    torch.manual_seed(recipe.training.seed)
    shutil.copy(corpus / "tokenizer.json", home)
    task = WholeValidation(replace(config, validated=SAMPLES), home, lambda text: None)
    model = quicken(task.fit(recipe.model).build())
    training = replace(recipe.training, validate_every=validate_every, patience=0, max_minutes=None, device="cpu")

    class Timed(Trainer):
        def validate(self) -> None:
            with clock.validation():
                super().validate()

        def save(self) -> None:
            with clock.validation():
                super().save()
            clock.tell(self.progress.step, task.found, pieces=False)

    def listen(record: Record) -> None:
        """Nothing: the clock tells what there is to tell."""

    batches = task.batches(training.batch_tokens, training.seed)
    Timed(Run(home), task, model, training, batches, strategy_for(training, batches, model), listen).train()


if __name__ == "__main__":
    main(default=train)
