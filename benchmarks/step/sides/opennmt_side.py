"""OpenNMT-py: options as its command line takes them, its model builder and its loss.

Its layers are pre-norm only, and its attention has no biases unless asked; its output has one.
"""

from __future__ import annotations

import pyonmttok
import torch
from onmt.constants import DefaultTokens
from onmt.model_builder import build_model
from onmt.opts import train_opts
from onmt.utils.loss import LossCompute
from onmt.utils.parse import ArgumentParser
from torch import Tensor

from benchmarks.sizes import SMOOTHING, VOCABULARY, Size
from benchmarks.step.measure import Trainee, main
from benchmarks.step.workload import DROPOUT, Batch


def options(size: Size) -> object:
    parser = ArgumentParser()
    train_opts(parser)
    values = {
        "data": "{}",  # required, and never read: the batch is made here
        "src_vocab": "none",
        "encoder_type": "transformer",
        "decoder_type": "transformer",
        "layers": size.layers,
        "hidden_size": size.width,
        "word_vec_size": size.width,
        "transformer_ff": size.hidden,
        "heads": size.heads,
        "dropout": DROPOUT,
        "attention_dropout": DROPOUT,
        "label_smoothing": SMOOTHING,
        "param_init": 0,
    }
    switches = ["position_encoding", "share_vocab", "share_embeddings", "share_decoder_embeddings", "param_init_glorot"]
    flags = [text for name, value in values.items() for text in (f"--{name}", str(value))]
    chosen = parser.parse_args([*flags, *(f"--{name}" for name in switches)])
    ArgumentParser.update_model_opts(chosen)
    ArgumentParser.validate_model_opts(chosen)
    return chosen


def build(size: Size, batch: Batch) -> Trainee:
    specials = [DefaultTokens.UNK, DefaultTokens.PAD, DefaultTokens.BOS, DefaultTokens.EOS]
    words = [f"word{index}" for index in range(VOCABULARY - len(specials))]
    vocabulary = pyonmttok.build_vocab_from_tokens(words, special_tokens=specials)
    chosen = options(size)
    model = build_model(chosen, chosen, {"src": vocabulary, "tgt": vocabulary}, checkpoint=None)
    compute = LossCompute.from_opts(chosen, model, vocabulary)
    source, target, labels = batch.source.unsqueeze(-1), batch.target.unsqueeze(-1), batch.labels.flatten()
    lengths = torch.full((len(source),), source.size(1))

    def loss() -> Tensor:
        # Without the accuracy that a call of `compute` counts as well: no other side pays for it.
        hidden, _ = model(source, target, lengths)
        return compute.criterion(compute.generator(hidden.flatten(0, 1)), labels) / labels.numel()

    return Trainee(model, loss)


if __name__ == "__main__":
    main(default=build)
