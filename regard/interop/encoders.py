"""Hugging Face's names of encoders: BERT, RoBERTa, DistilBERT."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from regard.interop.family import ACTIVATIONS, Family, Fields, plainly, their_name
from regard.interop.rules import Rule, behind, layer, projections, same
from regard.models import Encoder
from regard.nn.attention import MultiHead
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import MLP, Activation
from regard.nn.heads import TransformHead
from regard.nn.init import Normal
from regard.nn.norms import LayerNorm
from regard.nn.pooling import FirstToken
from regard.nn.positions import Learned
from regard.nn.residual import PostNorm
from regard.nn.stacks import Block, Stack

POOLER = "pooler.dense.weight"
POSITIONS, SEGMENTS = "embeddings.position_embeddings.weight", "embeddings.token_type_embeddings.weight"


RELATION = "cls.seq_relationship.weight"


def pooled_or_headed(config: Encoder) -> Encoder:
    """Their class that finds masked words alone has no pooled vector, those without a head have one."""
    return config if config.relation else replace(config, pool=FirstToken() if config.head is None else None)


def bert_architecture(config: Encoder) -> str:
    if config.relation:
        return "BertForNextSentencePrediction" if config.head is None else "BertForPreTraining"
    return "BertModel" if config.head is None else "BertForMaskedLM"


def encoder(
    sizes: dict[str, int], rates: tuple[float, float], eps: float, activation: Activation, pooled: bool, headed: bool
) -> Encoder:
    """Post-norm, learned positions, a norm on the embedding: what the family has in common."""
    dropout, weight_dropout = rates
    norm = LayerNorm(eps=eps)
    return Encoder(
        vocabulary=sizes["vocabulary"],
        width=sizes["width"],
        init=Normal(std=0.02, truncated=True),
        embedding=TokenEmbedding(segments=sizes["segments"], norm=norm, dropout=dropout),
        encoder=Stack(
            layers=sizes["layers"],
            block=Block(
                attention=MultiHead(heads=sizes["heads"], weight_dropout=weight_dropout),
                feedforward=MLP(hidden=sizes["hidden"], activation=activation),
                norm=norm,
                residual=PostNorm(dropout=dropout),
            ),
            position=Learned(length=sizes["length"]),
        ),
        pool=FirstToken() if pooled else None,
        head=TransformHead(norm=norm, activation=activation) if headed else None,
    )


# --- BERT -------------------------------------------------------------------------------------------------------------


def bert_config(given: Fields, names: Collection[str]) -> Encoder:
    length, segments = given.number("max_position_embeddings", 512), given.number("type_vocab_size", 2)
    config = bert_shaped(given, names, length, segments, "cls.predictions.bias")
    return replace(config, relation=RELATION in names and POOLER in names)


def bert_shaped(given: Fields, names: Collection[str], length: int, segments: int, head: str) -> Encoder:
    sizes = {
        "vocabulary": given.number("vocab_size"),
        "width": given.number("hidden_size"),
        "layers": given.number("num_hidden_layers"),
        "heads": given.number("num_attention_heads"),
        "hidden": given.number("intermediate_size"),
        "length": length,
        "segments": segments,
    }
    rates = given.real("hidden_dropout_prob", 0.1), given.real("attention_probs_dropout_prob", 0.1)
    activation: Activation = given.one_of("hidden_act", "gelu", ACTIVATIONS)  # type: ignore[assignment]
    return encoder(sizes, rates, given.real("layer_norm_eps", 1e-12), activation, POOLER in names, head in names)


def bert_fields(config: Encoder, pad: int) -> dict[str, Any]:
    block = plainly(config.encoder).block
    return {
        "vocab_size": config.vocabulary,
        "hidden_size": config.width,
        "num_hidden_layers": plainly(config.encoder).layers,
        "num_attention_heads": getattr(block.attention, "heads", 1),
        "intermediate_size": getattr(block.feedforward, "hidden", 1),
        "hidden_act": their_name(ACTIVATIONS, getattr(block.feedforward, "activation", "gelu")),
        "max_position_embeddings": getattr(plainly(config.encoder).position, "length", 512),
        "type_vocab_size": max(getattr(config.embedding, "segments", 2), 1),
        "layer_norm_eps": getattr(block.norm, "eps", 1e-12),
        "hidden_dropout_prob": block.residual.dropout,
        "attention_probs_dropout_prob": getattr(block.attention, "weight_dropout", 0.0),
        "tie_word_embeddings": True,
    }


def body_rules(config: Encoder) -> list[Rule]:
    """What BERT and RoBERTa call alike: all but the tables of positions and segments and the head."""
    dims = plainly(config.encoder).block.attention.dims(config.width, causal=False)
    rules = [
        same("embedding.tokens.weight", "embeddings.word_embeddings.weight"),
        *layer("embedding.norm", "embeddings.LayerNorm"),
        *layer("pool.dense", "pooler.dense"),
    ]
    for i in range(plainly(config.encoder).layers):
        ours, theirs = f"encoder.blocks.{i}", f"encoder.layer.{i}"
        for part in ("weight", "bias"):
            three = [f"{theirs}.attention.self.{name}.{part}" for name in ("query", "key", "value")]
            rules.append(projections(f"{ours}.attention.qkv.{part}", three, dims))
        rules += [
            *layer(f"{ours}.attention.out", f"{theirs}.attention.output.dense"),
            *layer(f"{ours}.attention_join.norm", f"{theirs}.attention.output.LayerNorm"),
            *layer(f"{ours}.feedforward.up", f"{theirs}.intermediate.dense"),
            *layer(f"{ours}.feedforward.down", f"{theirs}.output.dense"),
            *layer(f"{ours}.feedforward_join.norm", f"{theirs}.output.LayerNorm"),
        ]
    return rules


def bert_rules(config: Encoder, given: Fields) -> list[Rule]:
    return [
        *body_rules(config),
        same("encoder.positions.0.table.weight", POSITIONS),
        same("embedding.segments.weight", SEGMENTS),
        *layer("relation", "cls.seq_relationship"),
        *layer("head.dense", "cls.predictions.transform.dense"),
        *layer("head.norm", "cls.predictions.transform.LayerNorm"),
        same("head.bias", "cls.predictions.bias"),
    ]


BERT = Family(
    kind="bert",
    model=Encoder,
    prefix="bert.",
    heads=("cls.",),
    config=bert_config,
    fields=bert_fields,
    rules=bert_rules,
    architecture=bert_architecture,
    longest=lambda given: given.number("max_position_embeddings", 512),
    adapt=pooled_or_headed,
    copies={
        "cls.predictions.decoder.weight": "embeddings.word_embeddings.weight",
        "cls.predictions.decoder.bias": "cls.predictions.bias",
    },
    fixed={"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False},
    idle=r"embeddings\.position_ids|embeddings\.token_type_ids",
    unread=r"(classifier|qa_outputs)\..+",
)


# --- RoBERTa ----------------------------------------------------------------------------------------------------------


def unused(given: Fields) -> int:
    """Rows of its table before the first position: positions are counted from the id of the pad token on."""
    return given.number("pad_token_id", 1) + 1


def roberta_length(given: Fields) -> int:
    return given.number("max_position_embeddings", 514) - unused(given)


def roberta_config(given: Fields, names: Collection[str]) -> Encoder:
    """The one segment that it has is no segment: its vector is added to every position."""
    segments = given.number("type_vocab_size", 1)
    return bert_shaped(given, names, roberta_length(given), 0 if segments == 1 else segments, "lm_head.bias")


def roberta_fields(config: Encoder, pad: int) -> dict[str, Any]:
    length = getattr(plainly(config.encoder).position, "length", 512) + pad + 1
    return bert_fields(config, pad) | {"max_position_embeddings": length, "pad_token_id": pad}


def roberta_rules(config: Encoder, given: Fields) -> list[Rule]:
    several = isinstance(config.embedding, TokenEmbedding) and config.embedding.segments > 0
    return [
        *body_rules(config),
        behind("encoder.positions.0.table.weight", POSITIONS, unused(given), None if several else SEGMENTS),
        same("embedding.segments.weight", SEGMENTS),
        *layer("head.dense", "lm_head.dense"),
        *layer("head.norm", "lm_head.layer_norm"),
        same("head.bias", "lm_head.bias"),
    ]


ROBERTA = Family(
    kind="roberta",
    model=Encoder,
    prefix="roberta.",
    heads=("lm_head.",),
    config=roberta_config,
    fields=roberta_fields,
    rules=roberta_rules,
    architecture=lambda config: "RobertaModel" if config.head is None else "RobertaForMaskedLM",
    longest=roberta_length,
    adapt=pooled_or_headed,
    copies={
        "lm_head.decoder.weight": "embeddings.word_embeddings.weight",
        "lm_head.decoder.bias": "lm_head.bias",
    },
    fixed=BERT.fixed,
    idle=BERT.idle,
    unread=BERT.unread,
)


# --- DistilBERT -------------------------------------------------------------------------------------------------------


def distilbert_config(given: Fields, names: Collection[str]) -> Encoder:
    sizes = {
        "vocabulary": given.number("vocab_size"),
        "width": given.number("dim"),
        "layers": given.number("n_layers"),
        "heads": given.number("n_heads"),
        "hidden": given.number("hidden_dim"),
        "length": given.number("max_position_embeddings", 512),
        "segments": 0,
    }
    rates = given.real("dropout", 0.1), given.real("attention_dropout", 0.1)
    activation: Activation = given.one_of("activation", "gelu", ACTIVATIONS)  # type: ignore[assignment]
    return encoder(sizes, rates, 1e-12, activation, False, "vocab_projector.bias" in names)


def distilbert_fields(config: Encoder, pad: int) -> dict[str, Any]:
    block = plainly(config.encoder).block
    return {
        "vocab_size": config.vocabulary,
        "dim": config.width,
        "n_layers": plainly(config.encoder).layers,
        "n_heads": getattr(block.attention, "heads", 1),
        "hidden_dim": getattr(block.feedforward, "hidden", 1),
        "activation": their_name(ACTIVATIONS, getattr(block.feedforward, "activation", "gelu")),
        "max_position_embeddings": getattr(plainly(config.encoder).position, "length", 512),
        "dropout": block.residual.dropout,
        "attention_dropout": getattr(block.attention, "weight_dropout", 0.0),
        "tie_word_embeddings": True,
    }


def distilbert_rules(config: Encoder, given: Fields) -> list[Rule]:
    dims = plainly(config.encoder).block.attention.dims(config.width, causal=False)
    rules = [
        same("embedding.tokens.weight", "embeddings.word_embeddings.weight"),
        same("encoder.positions.0.table.weight", "embeddings.position_embeddings.weight"),
        *layer("embedding.norm", "embeddings.LayerNorm"),
        *layer("head.dense", "vocab_transform"),
        *layer("head.norm", "vocab_layer_norm"),
        same("head.bias", "vocab_projector.bias"),
    ]
    for i in range(plainly(config.encoder).layers):
        ours, theirs = f"encoder.blocks.{i}", f"transformer.layer.{i}"
        for part in ("weight", "bias"):
            three = [f"{theirs}.attention.{name}_lin.{part}" for name in "qkv"]
            rules.append(projections(f"{ours}.attention.qkv.{part}", three, dims))
        rules += [
            *layer(f"{ours}.attention.out", f"{theirs}.attention.out_lin"),
            *layer(f"{ours}.attention_join.norm", f"{theirs}.sa_layer_norm"),
            *layer(f"{ours}.feedforward.up", f"{theirs}.ffn.lin1"),
            *layer(f"{ours}.feedforward.down", f"{theirs}.ffn.lin2"),
            *layer(f"{ours}.feedforward_join.norm", f"{theirs}.output_layer_norm"),
        ]
    return rules


DISTILBERT = Family(
    kind="distilbert",
    model=Encoder,
    prefix="distilbert.",
    heads=("vocab_",),
    config=distilbert_config,
    fields=distilbert_fields,
    rules=distilbert_rules,
    architecture=lambda config: "DistilBertModel" if config.head is None else "DistilBertForMaskedLM",
    longest=lambda given: given.number("max_position_embeddings", 512),
    adapt=lambda config: config if config.relation else replace(config, pool=None),
    copies={"vocab_projector.weight": "embeddings.word_embeddings.weight"},
    unread=r"(pre_classifier|classifier|qa_outputs)\..+",
)
