"""What JoeyNMT is told, wherever it trains. Only the standard library may be imported here.

Its data come as pieces with spaces between, so its own tokenizer only splits at spaces.
"""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path
from typing import Any

from benchmarks.corpus_files import SOURCE, TARGET, vocabulary
from benchmarks.sizes import SMOOTHING, Size


def patch() -> None:
    """JoeyNMT imports the backport of this module without asking for it to be installed."""
    sys.modules.setdefault("importlib_metadata", importlib.metadata)


def stack(size: Size, dropout: float, embedding_dropout: float) -> dict[str, Any]:
    return {
        "type": "transformer",
        "num_layers": size.layers,
        "num_heads": size.heads,
        "hidden_size": size.width,
        "ff_size": size.hidden,
        "dropout": dropout,
        "layer_norm": "post",
        "embeddings": {"embedding_dim": size.width, "scale": True, "dropout": embedding_dropout},
    }


def configuration(corpus: Path, home: Path, layers: dict[str, Any], training: dict[str, Any]) -> dict[str, Any]:
    """`layers` is the `stack` that is both encoder and decoder; `training` adds to what is common."""

    def language(code: str) -> dict[str, Any]:
        return {"lang": code, "level": "word", "lowercase": False, "voc_file": vocabulary(corpus)}

    initial = {
        "initializer": "xavier_uniform",
        "bias_initializer": "zeros",
        "embed_initializer": "xavier_uniform",
        "init_gain": 1.0,
        "embed_init_gain": 1.0,
    }
    pieces = corpus / "pieces"
    return {
        "name": "benchmark",
        "model_dir": str(home),
        "use_cuda": False,
        "random_seed": 1,
        "data": {
            "train": str(pieces / "train"),
            "dev": str(pieces / "valid"),
            "dataset_type": "plain",
            "src": language(SOURCE),
            "trg": language(TARGET),
        },
        "model": {
            **initial,
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": layers,
            "decoder": layers,
        },
        "training": {
            "optimizer": "adam",
            "normalization": "tokens",
            "adam_betas": [0.9, 0.98],
            "learning_rate_min": 1e-8,
            "label_smoothing": SMOOTHING,
            "loss": "crossentropy",
            "batch_type": "token",
            "shuffle": True,
            **training,
        },
        "testing": {
            "batch_size": 64,
            "batch_type": "sentence",
            "beam_size": 1,
            "max_output_length": 100,
            "eval_metrics": [],
        },
    }
