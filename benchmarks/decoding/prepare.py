"""One set of random weights for all sides: as a MarianMTModel, and copied into a model of ours.

`python -m benchmarks.decoding.prepare SIZE FOLDER` writes FOLDER/marian and FOLDER/regard.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from transformers import GenerationConfig, MarianConfig, MarianMTModel

from benchmarks.decoding.work import END, PAD
from benchmarks.sizes import SIZES, VOCABULARY, Size
from regard.checkpoint import weights_of, write_tensors
from regard.config import change, to_dict
from regard.models import EncoderDecoder
from regard.zoo import get
from tests.references import links
from tests.references.links import Link

NEVER = -1e4  # the logit of padding: CTranslate2 takes it out of the vocabulary, so the others must never write it
GAIN = 0.4  # of what sublayers add to their input: with more, a deep random decoder says the same to every input


def marian(size: Size) -> MarianMTModel:
    torch.manual_seed(0)
    config = MarianConfig(
        vocab_size=VOCABULARY,
        d_model=size.width,
        encoder_layers=size.layers,
        decoder_layers=size.layers,
        encoder_attention_heads=size.heads,
        decoder_attention_heads=size.heads,
        encoder_ffn_dim=size.hidden,
        decoder_ffn_dim=size.hidden,
        activation_function="relu",
        scale_embedding=True,
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


def marian_links(mine: Any, theirs: Any) -> list[Link]:
    """Which of our parameters is which of Marian's."""
    found = [
        links.same(mine.embedding.tokens.weight, theirs.model.shared.weight),
        links.same(mine.head.bias, theirs.final_logits_bias[0]),
    ]
    for block, layer in zip(mine.encoder.blocks, theirs.model.encoder.layers, strict=True):
        found += layer_links(block, layer)
    for block, layer in zip(mine.decoder.blocks, theirs.model.decoder.layers, strict=True):
        cross = layer.encoder_attn
        found += [
            *layer_links(block, layer),
            *links.cross_projections(block.cross, cross.q_proj, cross.k_proj, cross.v_proj),
            *links.modules(block.cross.out, cross.out_proj),
            *links.modules(block.cross_join.norm, layer.encoder_attn_layer_norm),
        ]
    return found


def layer_links(block: Any, layer: Any) -> list[Link]:
    attention = layer.self_attn
    return [
        *links.projections(block.attention, attention.q_proj, attention.k_proj, attention.v_proj),
        *links.modules(block.attention.out, attention.out_proj),
        *links.modules(block.attention_join.norm, layer.self_attn_layer_norm),
        *links.modules(block.feedforward.up, layer.fc1),
        *links.modules(block.feedforward.down, layer.fc2),
        *links.modules(block.feedforward_join.norm, layer.final_layer_norm),
    ]


def main() -> None:
    size, folder = SIZES[sys.argv[1]], Path(sys.argv[2])
    theirs, config = marian(size), ours(size)
    theirs.save_pretrained(folder / "marian")
    model = config.build()
    links.copy(marian_links(model, theirs), model)
    (folder / "regard").mkdir()
    (folder / "regard" / "config.json").write_text(json.dumps(to_dict(config)))
    write_tensors(folder / "regard" / "weights.safetensors", weights_of(model))


if __name__ == "__main__":
    main()
