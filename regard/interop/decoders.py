"""Hugging Face's names of decoders: GPT and GPT-2, and what is shaped as Llama."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from regard.interop.family import (
    ACTIVATIONS,
    GATES,
    Family,
    FieldRule,
    Fields,
    plainly,
    read_fields,
    written_fields,
)
from regard.interop.rules import Rule, layer, projections, same, stacked, turned, turned_projections
from regard.models import Decoder
from regard.nn.feedforward import MLP, Gated
from regard.nn.heads import LinearHead
from regard.nn.init import Normal
from regard.nn.norms import RMSNorm
from regard.nn.positions import Learned, Rotary
from regard.nn.residual import PostNorm, PreNorm
from regard.nn.stacks import Block, Stack

# --- GPT-2 ------------------------------------------------------------------------------------------------------------

GPT2_BASE = Decoder(
    vocabulary=1,
    init=Normal(std=0.02, by_depth=True),
    decoder=Stack(block=Block(residual=PreNorm()), position=Learned()),
    head=LinearHead(),
)
BLOCK_FIELDS = (
    FieldRule("vocab_size", "vocabulary"),
    FieldRule("n_embd", "width"),
    FieldRule("n_layer", "decoder.layers"),
    FieldRule("n_head", "decoder.block.attention.heads"),
    FieldRule("layer_norm_epsilon", "decoder.block.norm.eps", 1e-5),
    FieldRule("embd_pdrop", "embedding.dropout", 0.1),
    FieldRule("attn_pdrop", "decoder.block.attention.weight_dropout", 0.1),
    FieldRule("resid_pdrop", "decoder.block.residual.dropout", 0.1),
    FieldRule("tie_word_embeddings", "head.tied", True),
)
GPT2_FIELDS = (
    *BLOCK_FIELDS,
    FieldRule("n_inner", "decoder.block.feedforward.hidden", lambda given: 4 * given.number("n_embd")),
    FieldRule("n_positions", "decoder.position.length", 1024),
    FieldRule("activation_function", "decoder.block.feedforward.activation", "gelu_new", ACTIVATIONS),
    FieldRule("scale_attn_weights", "decoder.block.attention.kernel.kind", True, {True: "scaled-dot", False: "dot"}),
)


def gpt2_rules(config: Decoder, given: Fields) -> list[Rule]:
    rules = [
        same("embedding.tokens.weight", "wte.weight"),
        same("decoder.positions.0.table.weight", "wpe.weight"),
        *layer("decoder.norm", "ln_f"),
        same("head.weight", "lm_head.weight"),
    ]
    return rules + gpt_blocks(config)


def gpt_blocks(config: Decoder) -> list[Rule]:
    """Both have the same layers, only wired otherwise."""
    dims = plainly(config.decoder).block.attention.dims(config.width, causal=True)
    rules: list[Rule] = []
    for i in range(plainly(config.decoder).layers):
        ours, theirs = f"decoder.blocks.{i}", f"h.{i}"
        rules += [
            *turned_projections(f"{ours}.attention.qkv", f"{theirs}.attn.c_attn", dims),
            *layer(f"{ours}.attention.out", f"{theirs}.attn.c_proj", turned),
            *layer(f"{ours}.attention_join.norm", f"{theirs}.ln_1"),
            *layer(f"{ours}.feedforward.up", f"{theirs}.mlp.c_fc", turned),
            *layer(f"{ours}.feedforward.down", f"{theirs}.mlp.c_proj", turned),
            *layer(f"{ours}.feedforward_join.norm", f"{theirs}.ln_2"),
        ]
    return rules


GPT2 = Family(
    kind="gpt2",
    model=Decoder,
    prefix="transformer.",
    heads=("lm_head.",),
    config=lambda given, names: read_fields(GPT2_BASE, GPT2_FIELDS, given),
    fields=lambda config, pad: written_fields(config, GPT2_FIELDS),
    rules=gpt2_rules,
    architecture=lambda config: "GPT2LMHeadModel",
    longest=lambda given: given.number("n_positions", 1024),
    copies={"lm_head.weight": "wte.weight"},
    fixed={"add_cross_attention": False, "scale_attn_by_inverse_layer_idx": False},
    idle=r"h\.\d+\.attn\.(bias|masked_bias)",
    unread=r"score\..+",
)


# --- GPT --------------------------------------------------------------------------------------------------------------

GPT_ACTIVATIONS = {"gelu": "gelu-tanh", "relu": "relu", "silu": "swish", "swish": "swish"}
GPT_FIELDS = (
    *BLOCK_FIELDS,
    FieldRule("n_positions", "decoder.position.length", 512),
    FieldRule("afn", "decoder.block.feedforward.activation", "gelu", GPT_ACTIVATIONS),
)


def gpt_config(given: Fields, names: Collection[str]) -> Decoder:
    """GPT-2 with norms behind the sublayers, and fields of its own for what differs."""
    block = Block(feedforward=MLP(hidden=4 * given.number("n_embd")), residual=PostNorm())
    base = replace(GPT2_BASE, init=Normal(std=0.02), decoder=Stack(block=block, position=Learned()))
    return read_fields(base, GPT_FIELDS, given)


def gpt_rules(config: Decoder, given: Fields) -> list[Rule]:
    rules = [
        same("embedding.tokens.weight", "tokens_embed.weight"),
        same("decoder.positions.0.table.weight", "positions_embed.weight"),
        same("head.weight", "lm_head.weight"),
    ]
    return rules + gpt_blocks(config)


GPT = Family(
    kind="openai-gpt",
    model=Decoder,
    prefix="transformer.",
    heads=("lm_head.",),
    config=gpt_config,
    fields=lambda config, pad: written_fields(config, GPT_FIELDS),
    rules=gpt_rules,
    architecture=lambda config: "OpenAIGPTLMHeadModel",
    longest=lambda given: given.number("n_positions", 512),
    copies={"lm_head.weight": "tokens_embed.weight"},
    idle=r"h\.\d+\.attn\.bias|position_ids",
    unread=r"score\..+|multiple_choice_head\..+",
)


# --- Llama ------------------------------------------------------------------------------------------------------------


def heads_of(given: Fields) -> int:
    return given.number("num_attention_heads")


def key_width(given: Fields) -> int:
    return given.number("hidden_size") // heads_of(given)


LLAMA_FIELDS = (
    FieldRule("vocab_size", "vocabulary"),
    FieldRule("hidden_size", "width"),
    FieldRule("num_hidden_layers", "decoder.layers"),
    FieldRule("num_attention_heads", "decoder.block.attention.heads"),
    FieldRule(
        "num_key_value_heads", "decoder.block.attention.kv_heads", lambda given: given.number("num_attention_heads")
    ),
    FieldRule(
        "head_dim",
        "decoder.block.attention.key_width",
        lambda given: given.number("hidden_size") // heads_of(given),
    ),
    FieldRule("intermediate_size", "decoder.block.feedforward.hidden"),
    FieldRule("hidden_act", "decoder.block.feedforward.gate", "silu", GATES),
    FieldRule("rms_norm_eps", "decoder.block.norm.eps", 1e-6),
    FieldRule("attention_bias", "decoder.block.attention.bias", False),
    FieldRule("attention_dropout", "decoder.block.attention.weight_dropout", 0.0),
    FieldRule("mlp_bias", "decoder.block.feedforward.bias", False),
    FieldRule("tie_word_embeddings", "head.tied", False),
)


def llama_config(given: Fields, names: Collection[str]) -> Decoder:
    block = Block(feedforward=Gated(), norm=RMSNorm(), residual=PreNorm())
    stack = Stack(block=block, position=Rotary(base=rotary_base(given)))
    return read_fields(Decoder(vocabulary=1, init=Normal(std=0.02), decoder=stack), LLAMA_FIELDS, given)


def rotary_base(given: Fields) -> float:
    """Of `rope_theta`, or of `rope_parameters`, as newer files have it; other ways to turn are refused."""
    scaling = given.values.get("rope_scaling") or {}
    turning = Fields(
        {"rope_theta": given.values.get("rope_theta"), **scaling, **(given.values.get("rope_parameters") or {})},
        given.where,
    )
    turning.check({"rope_type": "default", "type": "default", "partial_rotary_factor": 1.0})
    return turning.real("rope_theta", 10_000.0)


def llama_fields(config: Decoder, pad: int) -> dict[str, Any]:
    base = getattr(plainly(config.decoder).position, "base", 10_000.0)
    turning = {"rope_theta": base, "rope_parameters": {"rope_type": "default", "rope_theta": base}}
    return written_fields(config, LLAMA_FIELDS) | turning


def llama_rules(config: Decoder, given: Fields) -> list[Rule]:
    dims = plainly(config.decoder).block.attention.dims(config.width, causal=True)
    paired = getattr(plainly(config.decoder).position, "layout", "") == "interleaved"
    rules = [
        same("embedding.tokens.weight", "embed_tokens.weight"),
        *layer("decoder.norm", "norm"),
        same("head.weight", "lm_head.weight"),
    ]
    for i in range(plainly(config.decoder).layers):
        ours, theirs = f"decoder.blocks.{i}", f"layers.{i}"
        rules += [
            *projections(f"{ours}.attention.qkv", [f"{theirs}.self_attn.{name}_proj" for name in "qkv"], dims, paired),
            *stacked(f"{ours}.feedforward.up", f"{theirs}.mlp.gate_proj", f"{theirs}.mlp.up_proj"),
            *layer(f"{ours}.attention.out", f"{theirs}.self_attn.o_proj"),
            *layer(f"{ours}.attention_join.norm", f"{theirs}.input_layernorm"),
            *layer(f"{ours}.feedforward.down", f"{theirs}.mlp.down_proj"),
            *layer(f"{ours}.feedforward_join.norm", f"{theirs}.post_attention_layernorm"),
        ]
    return rules


LLAMA = Family(
    kind="llama",
    model=Decoder,
    prefix="model.",
    heads=("lm_head.",),
    config=llama_config,
    fields=llama_fields,
    rules=llama_rules,
    architecture=lambda config: "LlamaForCausalLM",
    longest=lambda given: given.number("max_position_embeddings", 2048),
    copies={"lm_head.weight": "embed_tokens.weight"},
    idle=r"layers\.\d+\.self_attn\.rotary_emb\.inv_freq",
    unread=r"score\..+",
)
