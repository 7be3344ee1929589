"""Hugging Face's names of XLNet."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from torch import Tensor

from regard.config import fields_of
from regard.interop.family import ACTIVATIONS, Family, FieldRule, Fields, plainly, read_fields, written_fields
from regard.interop.rules import Rule, fused, layer, same, unfused
from regard.models import Encoder, TwoStream
from regard.nn.attention import MultiHead
from regard.nn.heads import LinearHead
from regard.nn.init import Normal
from regard.nn.positions import TransformerXL
from regard.nn.positions.base import HeadDims
from regard.nn.stacks import Block, Stack

LONGEST = 512  # tokens that the released models were trained on; nothing in them sets a limit


DROPOUTS = ("block.attention.weight_dropout", "block.feedforward.hidden_dropout", "position.dropout")
XLNET_FIELDS = (
    FieldRule("vocab_size", "vocabulary"),
    FieldRule("d_model", "width"),
    FieldRule("n_layer", "encoder.layers"),
    FieldRule("n_head", "encoder.block.attention.heads"),
    FieldRule("d_inner", "encoder.block.feedforward.hidden"),
    FieldRule("ff_activation", "encoder.block.feedforward.activation", "gelu", ACTIVATIONS),
    FieldRule("layer_norm_eps", "encoder.block.norm.eps", 1e-12),
    FieldRule(
        "dropout",
        "encoder.block.residual.dropout",
        0.1,
        also=("embedding.dropout", *(f"encoder.{one}" for one in DROPOUTS)),
    ),
)


def xlnet_config(given: Fields, names: Collection[str]) -> TwoStream:
    given.check({"d_head": given.number("d_model") // max(given.number("n_head"), 1)})
    clamp = given.real("clamp_len", -1)
    stack = Stack(
        block=Block(attention=MultiHead(bias=False)),
        position=TransformerXL(distance=int(clamp) if clamp > 0 else None, segments=True),
    )
    head = LinearHead(bias=True) if "lm_loss.bias" in names else None
    return read_fields(TwoStream(vocabulary=1, init=Normal(std=0.02), encoder=stack, head=head), XLNET_FIELDS, given)


def xlnet_fields(config: TwoStream, pad: int) -> dict[str, Any]:
    found = written_fields(config, XLNET_FIELDS)
    return found | {
        "d_head": config.width // found["n_head"],
        "clamp_len": getattr(plainly(config.encoder).position, "distance", None) or -1,
        "attn_type": "bi",
        "bi_data": False,
        "same_length": False,
        "tie_word_embeddings": True,
    }


def rows(weight: Tensor) -> Tensor:
    """(D, H, K) → (H·K, D)."""
    return weight.permute(1, 2, 0).flatten(0, 1)


def columns(own: Tensor, heads: int) -> Tensor:
    """The opposite of `rows`."""
    return own.reshape(heads, -1, own.shape[1]).permute(2, 0, 1)


def attention_rules(ours: str, position: str, theirs: str, dims: HeadDims) -> list[Rule]:
    """A matrix has an axis for heads there, and what is added to queries none for places."""
    three = tuple(f"{theirs}.{name}" for name in "qkv")
    added = {"u": "r_w_bias", "v": "r_r_bias", "b": "r_s_bias"}
    return [
        Rule(
            f"{ours}.qkv.weight",
            three,
            lambda given: fused([rows(piece) for piece in given], dims, False),
            lambda own: [columns(piece, dims.heads) for piece in unfused(own, dims, False)],
        ),
        Rule(
            f"{ours}.out.weight",
            (f"{theirs}.o",),
            lambda given: given[0].flatten(1),
            lambda own: [own.reshape(len(own), dims.heads, -1)],
        ),
        Rule(
            f"{position}.turn.weight",
            (f"{theirs}.r",),
            lambda given: rows(given[0]),
            lambda own: [columns(own, dims.heads)],
        ),
        Rule(
            f"{position}.s",
            (f"{theirs}.seg_embed",),
            lambda given: given[0].transpose(0, 1),
            lambda own: [own.transpose(0, 1)],
        ),
        *(
            Rule(
                f"{position}.{mine}",
                (f"{theirs}.{name}",),
                lambda given: given[0].unsqueeze(1),
                lambda own: [own.squeeze(1)],
            )
            for mine, name in added.items()
        ),
    ]


def xlnet_rules(config: TwoStream, given: Fields) -> list[Rule]:
    dims = plainly(config.encoder).block.attention.dims(config.width, causal=False)
    rules = [
        same("embedding.tokens.weight", "word_embedding.weight"),
        Rule("query", ("mask_emb",), lambda given: given[0].flatten(), lambda own: [own.view(1, 1, -1)]),
        same("head.bias", "lm_loss.bias"),
    ]
    for i in range(plainly(config.encoder).layers):
        ours, theirs = f"encoder.blocks.{i}", f"layer.{i}"
        rules += [
            *attention_rules(f"{ours}.attention", f"encoder.positions.{i}", f"{theirs}.rel_attn", dims),
            *layer(f"{ours}.attention_join.norm", f"{theirs}.rel_attn.layer_norm"),
            *layer(f"{ours}.feedforward.up", f"{theirs}.ff.layer_1"),
            *layer(f"{ours}.feedforward.down", f"{theirs}.ff.layer_2"),
            *layer(f"{ours}.feedforward_join.norm", f"{theirs}.ff.layer_norm"),
        ]
    return rules


def with_two_streams(config: Encoder) -> TwoStream:
    """Their model always has the vector of the query stream; what was the reader of another model has lost it."""
    fields = {name: getattr(config, name) for name in fields_of(TwoStream)}
    return TwoStream(**fields | {"pool": None, "relation": False})


XLNET = Family(
    kind="xlnet",
    model=Encoder,
    prefix="transformer.",
    heads=("lm_loss.",),
    config=xlnet_config,
    fields=xlnet_fields,
    rules=xlnet_rules,
    architecture=lambda config: "XLNetModel" if config.head is None else "XLNetLMHeadModel",
    longest=lambda given: LONGEST,
    limited=False,
    adapt=with_two_streams,
    copies={"lm_loss.weight": "word_embedding.weight"},
    fixed={"attn_type": "bi", "bi_data": False, "same_length": False, "untie_r": True, "tie_word_embeddings": True},
    unread=r"(sequence_summary|logits_proj|classifier|qa_outputs)\..+",
)
