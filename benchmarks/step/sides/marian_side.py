"""MarianMTModel of the transformers library, with its default attention (SDPA) and no cache while training."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from benchmarks.sizes import SMOOTHING, Size, marian_shape
from benchmarks.step.measure import Trainee, main
from benchmarks.step.workload import DROPOUT, Batch


def build(size: Size, batch: Batch) -> Trainee:
    config = MarianConfig(
        **marian_shape(size),
        dropout=DROPOUT,
        attention_dropout=DROPOUT,
        activation_dropout=DROPOUT,
        use_cache=False,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
    )
    model = MarianMTModel(config)
    source, decoder_input, labels = batch.source, batch.decoder_input, batch.labels.flatten()

    def loss() -> Tensor:
        # The model's own loss knows no smoothing; torch's is faster than the label smoother of the library's trainer.
        logits = model(input_ids=source, decoder_input_ids=decoder_input).logits
        return F.cross_entropy(logits.flatten(0, 1), labels, label_smoothing=SMOOTHING)

    return Trainee(model, loss)


if __name__ == "__main__":
    main(default=build)
