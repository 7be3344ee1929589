"""Hugging Face's names of decoders: GPT and GPT-2, and what is shaped as Llama."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from regard.interop.family import ACTIVATIONS, GATES, Family, Fields, plainly, their_name
from regard.interop.rules import Rule, layer, projections, same, stacked, turned, turned_projections
from regard.models import Decoder
from regard.nn.attention import Dot, MultiHead, ScaledDot
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import MLP, Gated
from regard.nn.heads import LinearHead
from regard.nn.init import Normal
from regard.nn.norms import LayerNorm, RMSNorm
from regard.nn.positions import Learned, Rotary
from regard.nn.residual import PostNorm, PreNorm
from regard.nn.stacks import Block, Stack

# --- GPT-2 ------------------------------------------------------------------------------------------------------------


def gpt2_config(given: Fields, names: Collection[str]) -> Decoder:
    width = given.number("n_embd")
    return Decoder(
        vocabulary=given.number("vocab_size"),
        width=width,
        init=Normal(std=0.02, by_depth=True),
        embedding=TokenEmbedding(dropout=given.real("embd_pdrop", 0.1)),
        decoder=Stack(
            layers=given.number("n_layer"),
            block=Block(
                attention=MultiHead(
                    heads=given.number("n_head"),
                    kernel=ScaledDot() if given.flag("scale_attn_weights", True) else Dot(),
                    weight_dropout=given.real("attn_pdrop", 0.1),
                ),
                feedforward=MLP(
                    hidden=given.number("n_inner", 4 * width),
                    activation=given.one_of("activation_function", "gelu_new", ACTIVATIONS),  # type: ignore[arg-type]
                ),
                norm=LayerNorm(eps=given.real("layer_norm_epsilon", 1e-5)),
                residual=PreNorm(dropout=given.real("resid_pdrop", 0.1)),
            ),
            position=Learned(length=given.number("n_positions", 1024)),
        ),
        head=LinearHead(tied=given.flag("tie_word_embeddings", True)),
    )


def gpt2_fields(config: Decoder, pad: int) -> dict[str, Any]:
    block = plainly(config.decoder).block
    return {
        "vocab_size": config.vocabulary,
        "n_embd": config.width,
        "n_layer": plainly(config.decoder).layers,
        "n_head": getattr(block.attention, "heads", 1),
        "n_inner": getattr(block.feedforward, "hidden", None),
        "n_positions": getattr(plainly(config.decoder).position, "length", 1024),
        "activation_function": their_name(ACTIVATIONS, getattr(block.feedforward, "activation", "gelu-tanh")),
        "layer_norm_epsilon": getattr(block.norm, "eps", 1e-5),
        "scale_attn_weights": not isinstance(getattr(block.attention, "kernel", None), Dot),
        "embd_pdrop": getattr(config.embedding, "dropout", 0.0),
        "attn_pdrop": getattr(block.attention, "weight_dropout", 0.0),
        "resid_pdrop": block.residual.dropout,
        "tie_word_embeddings": getattr(config.head, "tied", True),
    }


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
            turned_projections(f"{ours}.attention.qkv.weight", f"{theirs}.attn.c_attn.weight", dims),
            turned_projections(f"{ours}.attention.qkv.bias", f"{theirs}.attn.c_attn.bias", dims),
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
    config=gpt2_config,
    fields=gpt2_fields,
    rules=gpt2_rules,
    architecture=lambda config: "GPT2LMHeadModel",
    longest=lambda given: given.number("n_positions", 1024),
    copies={"lm_head.weight": "wte.weight"},
    fixed={"add_cross_attention": False, "scale_attn_by_inverse_layer_idx": False},
    idle=r"h\.\d+\.attn\.(bias|masked_bias)",
    unread=r"score\..+",
)


# --- GPT --------------------------------------------------------------------------------------------------------------

GPT_ACTIVATIONS = {"gelu": "gelu_new", "relu": "relu", "silu": "silu", "swish": "swish"}  # as GPT-2 calls them


def gpt_config(given: Fields, names: Collection[str]) -> Decoder:
    """GPT-2 with norms behind the sublayers, and fields of its own for what differs."""
    activation = given.one_of("afn", "gelu", GPT_ACTIVATIONS)
    named = {"activation_function": activation, "n_positions": given.number("n_positions", 512), "n_inner": None}
    like = gpt2_config(Fields({**given.values, **named}, given.where), names)
    stack = plainly(like.decoder)
    block = replace(stack.block, residual=PostNorm(dropout=stack.block.residual.dropout))
    return replace(like, init=Normal(std=0.02), decoder=Stack(stack.layers, block, stack.position))


def gpt_fields(config: Decoder, pad: int) -> dict[str, Any]:
    like = gpt2_fields(config, pad)
    for name in ("n_inner", "scale_attn_weights"):
        del like[name]
    return {**like, "afn": their_name(GPT_ACTIVATIONS, like.pop("activation_function"))}


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
    fields=gpt_fields,
    rules=gpt_rules,
    architecture=lambda config: "OpenAIGPTLMHeadModel",
    longest=lambda given: given.number("n_positions", 512),
    copies={"lm_head.weight": "tokens_embed.weight"},
    idle=r"h\.\d+\.attn\.bias|position_ids",
    unread=r"score\..+|multiple_choice_head\..+",
)


# --- Llama ------------------------------------------------------------------------------------------------------------


def llama_config(given: Fields, names: Collection[str]) -> Decoder:
    width, heads = given.number("hidden_size"), given.number("num_attention_heads")
    groups, key_width = given.number("num_key_value_heads", heads), given.number("head_dim", width // heads)
    return Decoder(
        vocabulary=given.number("vocab_size"),
        width=width,
        init=Normal(std=0.02),
        embedding=TokenEmbedding(),
        decoder=Stack(
            layers=given.number("num_hidden_layers"),
            block=Block(
                attention=MultiHead(
                    heads=heads,
                    kv_heads=None if groups == heads else groups,
                    key_width=None if key_width * heads == width else key_width,
                    bias=given.flag("attention_bias", False),
                    weight_dropout=given.real("attention_dropout", 0.0),
                ),
                feedforward=Gated(
                    hidden=given.number("intermediate_size"),
                    gate=given.one_of("hidden_act", "silu", GATES),  # type: ignore[arg-type]
                    bias=given.flag("mlp_bias", False),
                ),
                norm=RMSNorm(eps=given.real("rms_norm_eps", 1e-6)),
                residual=PreNorm(),
            ),
            position=Rotary(base=rotary_base(given)),
        ),
        head=LinearHead(tied=given.flag("tie_word_embeddings", False)),
    )


def rotary_base(given: Fields) -> float:
    """Of `rope_theta`, or of `rope_parameters`, as newer files have it; other ways to turn are refused."""
    scaling = given.values.get("rope_scaling") or {}
    turning = Fields({"rope_theta": given.values.get("rope_theta"), **scaling, **rope_parameters(given)}, given.where)
    turning.check({"rope_type": "default", "type": "default", "partial_rotary_factor": 1.0})
    return turning.real("rope_theta", 10_000.0)


def rope_parameters(given: Fields) -> dict[str, Any]:
    return dict(given.values.get("rope_parameters") or {})


def llama_fields(config: Decoder, pad: int) -> dict[str, Any]:
    block = plainly(config.decoder).block
    heads = getattr(block.attention, "heads", 1)
    base = getattr(plainly(config.decoder).position, "base", 10_000.0)
    return {
        "vocab_size": config.vocabulary,
        "hidden_size": config.width,
        "num_hidden_layers": plainly(config.decoder).layers,
        "num_attention_heads": heads,
        "num_key_value_heads": getattr(block.attention, "kv_heads", None) or heads,
        "head_dim": getattr(block.attention, "key_width", None) or config.width // heads,
        "intermediate_size": getattr(block.feedforward, "hidden", 1),
        "hidden_act": their_name(GATES, getattr(block.feedforward, "gate", "swiglu")),
        "rms_norm_eps": getattr(block.norm, "eps", 1e-6),
        "attention_bias": getattr(block.attention, "bias", False),
        "attention_dropout": getattr(block.attention, "weight_dropout", 0.0),
        "mlp_bias": getattr(block.feedforward, "bias", False),
        "rope_theta": base,
        "rope_parameters": {"rope_type": "default", "rope_theta": base},
        "tie_word_embeddings": getattr(config.head, "tied", False),
    }


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
        for part in ("weight", "bias"):
            three = [f"{theirs}.self_attn.{name}_proj.{part}" for name in "qkv"]
            two = [f"{theirs}.mlp.{name}_proj.{part}" for name in ("gate", "up")]
            rules.append(projections(f"{ours}.attention.qkv.{part}", three, dims, paired))
            rules.append(stacked(f"{ours}.feedforward.up.{part}", *two))
        rules += [
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
