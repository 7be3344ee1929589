"""`regard demo`: the whole of it in a few minutes, on the built-in corpus."""

from __future__ import annotations

import argparse
import shutil
import sys
from pathlib import Path
from typing import Any

from regard.cli import demo_pictures
from regard.cli.options import add_verb, read_changes
from regard.cli.train import stopped

TRAINING_PAIRS = 60_000
TEST_SENTENCES, SENTENCES_SHOWN = 500, 5  # sentences


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "demo",
        run,
        help="train a small translator on the built-in corpus and show it",
        description="Train a small English-French translator on the built-in phrasebook, score it, translate with it; "
        "or, with --pictures, a captioner of drawn scenes.",
        epilog="examples:\n  regard demo\n  regard demo --pictures\n"
        "  regard demo --run runs/demo2 --max-steps 500 --seed 2\n",
    )
    about = "its folder (default runs/demo, or runs/demo-pictures); a demo that is there is replaced"
    verb.add_argument("--run", metavar="DIR", help=about)
    verb.add_argument("--pictures", action="store_true", help="train a captioner of drawn pictures instead")


def run(options: argparse.Namespace, rest: list[str]) -> None:
    if options.pictures:
        folder = options.run or "runs/demo-pictures"
        train(folder, demo_pictures.recipe(), "caption", rest)
        demo_pictures.show(folder, called())
    else:
        folder = options.run or "runs/demo"
        train(folder, recipe(), "translate", rest)
        show(folder)


def train(folder: str, recipe: Any, task: str, rest: list[str]) -> None:
    """A new run in the place of the one that is there."""
    from regard.config import change
    from regard.runfolder import Run
    from regard.training.session import start

    try:
        start(Run(folder), change(recipe, read_changes(rest)), overwrite=True)
    except KeyboardInterrupt as stop:
        print(stopped(stop, f"{called()} train {task} --run {folder} --resume"))
        raise


def show(folder: str) -> None:
    """What the translator makes of sentences that it has not seen, and how good that is."""
    from regard.data.catalogue import open_data
    from regard.decoding import Decoding
    from regard.metrics.translations import bleu, chrf
    from regard.tasks.writing.alignment import error_rate
    from regard.tasks.writing.translation import load_translator

    translator = load_translator(folder)
    test = list(open_data("phrasebook", "en-fr", "test", TEST_SENTENCES))
    found = translator.texts([pair.source for pair in test], Decoding(beam=4))
    references = [pair.target for pair in test]
    print(f"\nheld-out sentences: BLEU {bleu(found, references):.1f}  chrF {chrf(found, references):.1f}")
    if translator.reading is not None:
        error = error_rate(translator, test, translator.reading)
        print(f"word alignment from {translator.reading.layer}: error rate {error:.2f}\n")
    for pair, text in list(zip(test, found, strict=True))[:SENTENCES_SHOWN]:
        print(f"  {pair.source}\n  → {text}\n")
    command = called()
    print(f"The report:              open {folder}/report.html in a browser")
    print(f'Try your own sentence:   {command} translate {folder} "The black cat sleeps."')
    print(f'See what it looks at:    {command} look {folder} "The black cat sleeps."')
    print(f"All of it in a browser:  {command} studio")
    print(f"Train on your own files: {command} train translate --train train.tsv --valid valid.tsv --run runs/my")


def called() -> str:
    """The command as it can be typed here: by its path, where the shell does not know it, as after `make demo`."""
    return "regard" if shutil.which("regard") or not Path(sys.argv[0]).name.startswith("regard") else sys.argv[0]


def recipe() -> Any:
    """A small Transformer that learns the phrasebook in under three minutes on two cores."""
    from regard.data.examples import PairData
    from regard.tasks.writing.translation import Translation
    from regard.training.averaging import Exponential
    from regard.training.optimisers import MuonAndAdamW
    from regard.training.schedules import StableDecay
    from regard.training.session import Recipe
    from regard.training.settings import Training
    from regard.zoo import get

    data = PairData(name="phrasebook", languages="en-fr", split="train", count=TRAINING_PAIRS)
    valid = PairData(name="phrasebook", languages="en-fr", split="valid", count=200)
    model = get("transformer-tiny", layers=2, dropout=0.0, residual={"kind": "pre-norm", "dropout": 0.0})
    training = Training(
        batch_tokens=2048,
        max_steps=900,
        validate_every=150,
        optimiser=MuonAndAdamW(rate=4e-3, matrix_rate=1e-2),
        schedule=StableDecay(warmup=50, decay=0.8),
        average=Exponential(decay=0.98),
    )
    # A grammar makes no noise, and hardly a sentence comes twice: nothing is smoothed or dropped out.
    return Recipe(Translation(train=data, valid=valid, pieces=6000, smoothing=0.0), model, training)
