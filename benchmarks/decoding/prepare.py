"""One set of random weights for all sides: as a MarianMTModel, and copied into a model of ours.

`python -m benchmarks.decoding.prepare SIZE FOLDER` writes FOLDER/marian and FOLDER/regard.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel

from benchmarks.decoding.work import END, PAD
from benchmarks.kept import keep
from benchmarks.sizes import SIZES, VOCABULARY, Size, marian_shape
from regard.config import change
from regard.models import EncoderDecoder
from regard.zoo import get
from tests.references import links

NEVER = -1e4  # the logit of padding: CTranslate2 takes it out of the vocabulary, so the others must never write it
GAIN = 0.4  # of what sublayers add to their input: with more, a deep random decoder says the same to every input


def marian(size: Size) -> MarianMTModel:
    torch.manual_seed(0)
    config = MarianConfig(
        **marian_shape(size),
        share_encoder_decoder_embeddings=True,
        max_position_embeddings=512,
        pad_token_id=PAD,
        eos_token_id=END,
        decoder_start_token_id=PAD,
        forced_eos_token_id=None,
    )
    model = MarianMTModel(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.requires_grad and parameter.dim() > 1:
                gain = GAIN if name.endswith(("out_proj.weight", "fc2.weight")) else 1.0
                parameter.normal_(std=gain * parameter.shape[1] ** -0.5)
        # With one table for input and output, the likeliest word would always be the one before.
        signs = model.model.decoder.layers[-1].final_layer_norm.weight
        signs.copy_(torch.randint_like(signs, 2) * 2 - 1)
        model.model.shared.weight[PAD] = 0.0  # CTranslate2 starts Marian's decoder from zeros
        model.final_logits_bias[0, PAD] = NEVER
    model.tie_weights()
    model.generation_config = GenerationConfig(
        eos_token_id=END, pad_token_id=PAD, decoder_start_token_id=PAD, forced_eos_token_id=None
    )
    return model


def ours(size: Size) -> EncoderDecoder:
    shape = {"width": size.width, "layers": size.layers, "hidden": size.hidden, "heads": size.heads}
    changes: dict[str, Any] = {**shape, "vocabulary": VOCABULARY, "activation": "relu", "head.bias": True}
    position = {"position": {"kind": "sinusoidal", "layout": "halves"}}
    config = change(change(get("transformer-tiny"), changes), position)
    assert isinstance(config, EncoderDecoder)
    return config


def main() -> None:
    size, folder = SIZES[sys.argv[1]], Path(sys.argv[2])
    theirs, config = marian(size), ours(size)
    theirs.save_pretrained(folder / "marian")
    model = config.build()
    links.copy(links.marian(model, theirs), model)
    keep(folder / "regard", model)


if __name__ == "__main__":
    main()
