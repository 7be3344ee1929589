"""JoeyNMT: its recurrent encoder and decoder with Bahdanau's score and input feeding, and its greedy search."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from benchmarks.joey import patch
from benchmarks.recurrent.measure import Contender, main
from benchmarks.recurrent.work import BATCH, WRITTEN, Size
from benchmarks.sizes import SMOOTHING, VOCABULARY
from benchmarks.step.sides.joeynmt_side import SPECIAL_TOKENS
from benchmarks.step.workload import DROPOUT, Batch


def configuration(size: Size) -> dict[str, object]:
    layers = {
        "type": "recurrent",
        "rnn_type": "gru",
        "embeddings": {"embedding_dim": size.width, "dropout": DROPOUT},
        "hidden_size": size.hidden,
        "num_layers": 1,
        "dropout": DROPOUT,
    }
    decoder = {**layers, "attention": "bahdanau", "input_feeding": True, "init_hidden": "bridge"}
    return {"encoder": {**layers, "bidirectional": True}, "decoder": decoder, "tied_embeddings": True}


def build(size: Size) -> Contender:
    patch()
    from joeynmt.model import build_model
    from joeynmt.search import greedy
    from joeynmt.vocabulary import Vocabulary

    vocabulary = Vocabulary([f"word{index}" for index in range(VOCABULARY - 4)], SPECIAL_TOKENS)
    model = build_model(configuration(size), vocabulary, vocabulary)
    model.loss_function = ("crossentropy", SMOOTHING)

    def encode(source: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        mask = torch.ones(len(source), 1, source.size(1), dtype=torch.bool)
        lengths = torch.full((len(source),), source.size(1))
        memory, final, *_ = model(return_type="encode", src=source, src_length=lengths, src_mask=mask)
        return memory, final, mask

    def loss(batch: Batch) -> Tensor:
        memory, final, mask = encode(batch.source)
        logits, *_ = model(
            return_type="decode",
            encoder_output=memory,
            encoder_hidden=final,
            src_mask=mask,
            trg_input=batch.decoder_input,
            unroll_steps=batch.decoder_input.size(1),
            trg_mask=None,
        )
        return model.loss_function(F.log_softmax(logits, dim=-1), trg=batch.labels) / batch.labels.numel()

    @torch.no_grad()
    def write(sources: Tensor) -> Tensor:
        found = []
        for batch in sources.split(BATCH):
            memory, final, mask = encode(batch)
            tokens, *_ = greedy(mask, WRITTEN, model, memory, final, min_output_length=WRITTEN)
            found.append(torch.as_tensor(tokens))
        return torch.cat(found)

    return Contender(model, loss, write)


if __name__ == "__main__":
    main(default=build)
