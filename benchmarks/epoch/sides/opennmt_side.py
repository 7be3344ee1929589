"""OpenNMT-py: its `train` with options, as its command line calls it.

It reads in one process (with more, each would take part of two cores) and sorts all sentences of the corpus by length.
Its training data never end, so the epoch is over when nearly all target tokens have been seen once.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onmt.train_single
from onmt.bin.train import _get_parser
from onmt.bin.train import train as opennmt_train
from onmt.utils import Statistics

from benchmarks.corpus_files import pieces, target_tokens, vocabulary
from benchmarks.epoch.measure import EpochOver, main
from benchmarks.epoch.work import ALMOST_ALL, BATCH_TOKENS, DROPOUT, NEVER, RATE, SIZE, WARM_UP
from benchmarks.sizes import SMOOTHING


class Listener:
    """Stands where the trainer reports to: counts target tokens and ends the epoch."""

    tensorboard_writer = None

    def __init__(self, tokens: int) -> None:
        self.wanted, self.seen = tokens, 0
        self.start_time = 0.0

    def report_training(self, step: int, *rest: Any, **more: Any) -> Statistics:
        statistics = next(one for one in rest if isinstance(one, Statistics))
        self.seen += statistics.n_words
        if self.seen >= self.wanted:
            raise EpochOver(self.seen, step)
        return Statistics()


def options(corpus: Path, home: Path) -> Any:
    files = pieces(corpus, "train")
    sentences = len(Path(files["source"]).read_text(encoding="utf-8").splitlines())
    data = {"train": {"path_src": files["source"], "path_tgt": files["target"], "transforms": [], "weight": 1}}
    values = {
        "data": json.dumps(data),
        "src_vocab": vocabulary(corpus),
        "save_model": str(home / "model"),
        "save_checkpoint_steps": NEVER,
        "train_steps": NEVER,
        "valid_steps": NEVER,
        "seed": 1,
        "num_workers": 0,
        "bucket_size": sentences,
        "batch_type": "tokens",
        "batch_size": BATCH_TOKENS,
        "normalization": "tokens",
        "encoder_type": "transformer",
        "decoder_type": "transformer",
        "layers": SIZE.layers,
        "hidden_size": SIZE.width,
        "word_vec_size": SIZE.width,
        "transformer_ff": SIZE.hidden,
        "heads": SIZE.heads,
        "dropout": DROPOUT,
        "attention_dropout": DROPOUT,
        "label_smoothing": SMOOTHING,
        "param_init": 0,
        "optim": "adam",
        "adam_beta2": 0.98,
        "max_grad_norm": 1.0,
        "decay_method": "noam",
        "warmup_steps": WARM_UP,
        "learning_rate": RATE * (SIZE.width * WARM_UP) ** 0.5,  # which is the factor of that schedule
    }
    switches = ["position_encoding", "share_vocab", "share_embeddings", "share_decoder_embeddings", "param_init_glorot"]
    flags = [text for name, value in values.items() for text in (f"--{name}", str(value))]
    return _get_parser().parse_args([*flags, *(f"--{name}" for name in switches)])


def train(corpus: Path, home: Path) -> None:
    build = onmt.train_single.build_trainer
    listener = Listener(round(ALMOST_ALL * target_tokens(corpus)))

    def listened(*arguments: Any, **more: Any) -> Any:
        trainer = build(*arguments, **more)
        trainer.report_manager = listener
        return trainer

    onmt.train_single.build_trainer = listened
    opennmt_train(options(corpus, home))


if __name__ == "__main__":
    main(default=train)
