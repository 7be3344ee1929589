"""JoeyNMT: its model builder from a configuration, and its loss.

The loss is a divergence from the smoothed labels, so it is the others' cross-entropy less the entropy of those labels,
which is 1.25.
"""

from __future__ import annotations

from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.joey import patch, stack
from benchmarks.sizes import SMOOTHING, VOCABULARY, Size
from benchmarks.step.measure import Trainee, main
from benchmarks.step.workload import DROPOUT, Batch

SPECIAL_TOKENS = SimpleNamespace(
    unk_token="<unk>",
    pad_token="<pad>",
    bos_token="<s>",
    eos_token="</s>",
    sep_token=None,
    unk_id=0,
    pad_id=1,
    bos_id=2,
    eos_id=3,
    lang_tags=[],
)


def configuration(size: Size) -> dict[str, object]:
    layers = stack(size, DROPOUT, DROPOUT)
    return {"encoder": layers, "decoder": layers, "tied_embeddings": True, "tied_softmax": True}


def build(size: Size, batch: Batch) -> Trainee:
    patch()
    from joeynmt.model import build_model
    from joeynmt.vocabulary import Vocabulary

    words = [f"word{index}" for index in range(VOCABULARY - 4)]
    vocabulary = Vocabulary(words, SPECIAL_TOKENS)
    model = build_model(configuration(size), vocabulary, vocabulary)
    model.loss_function = ("crossentropy", SMOOTHING)
    source, decoder_input, labels = batch.source, batch.decoder_input, batch.labels
    source_mask = torch.ones(len(source), 1, source.size(1), dtype=torch.bool)
    target_mask = torch.ones(len(labels), 1, labels.size(1), dtype=torch.bool)
    lengths = torch.full((len(source),), source.size(1))

    def loss() -> Tensor:
        # What `return_type="loss"` does, without the accuracy that it counts as well: no other side pays for it.
        memory, final, *_ = model(return_type="encode", src=source, src_length=lengths, src_mask=source_mask)
        logits, *_ = model(
            return_type="decode",
            encoder_output=memory,
            encoder_hidden=final,
            src_mask=source_mask,
            trg_input=decoder_input,
            unroll_steps=decoder_input.size(1),
            trg_mask=target_mask,
        )
        return model.loss_function(F.log_softmax(logits, dim=-1), trg=labels) / labels.numel()

    return Trainee(model, loss)


if __name__ == "__main__":
    main(default=build)
