"""Hugging Face's names of encoders: BERT, RoBERTa, DistilBERT."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

from regard.interop.family import ACTIVATIONS, Family, FieldRule, Fields, plainly, read_fields, written_fields
from regard.interop.rules import Rule, behind, layer, projections, same
from regard.models import Encoder
from regard.nn.embeddings import TokenEmbedding
from regard.nn.heads import TransformHead
from regard.nn.init import Normal
from regard.nn.norms import LayerNorm
from regard.nn.pooling import FirstToken
from regard.nn.positions import Learned
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


def post_norm(headed: bool, pooled: bool = False) -> Encoder:
    """Post-norm, learned positions, a norm on the embedding: what the family has in common."""
    norm = LayerNorm(eps=1e-12)
    return Encoder(
        vocabulary=1,
        init=Normal(std=0.02, truncated=True),
        embedding=TokenEmbedding(norm=norm),
        encoder=Stack(block=Block(norm=norm), position=Learned()),
        pool=FirstToken() if pooled else None,
        head=TransformHead(norm=norm) if headed else None,
    )


# --- BERT -------------------------------------------------------------------------------------------------------------


BERT_FIELDS = (
    FieldRule("vocab_size", "vocabulary"),
    FieldRule("hidden_size", "width"),
    FieldRule("num_hidden_layers", "encoder.layers"),
    FieldRule("num_attention_heads", "encoder.block.attention.heads"),
    FieldRule("intermediate_size", "encoder.block.feedforward.hidden"),
    FieldRule("hidden_act", "encoder.block.feedforward.activation", "gelu", ACTIVATIONS, also=("head.activation",)),
    FieldRule("max_position_embeddings", "encoder.position.length", 512),
    FieldRule("type_vocab_size", "embedding.segments", 2),
    FieldRule("layer_norm_eps", "encoder.block.norm.eps", 1e-12, also=("embedding.norm.eps", "head.norm.eps")),
    FieldRule("hidden_dropout_prob", "encoder.block.residual.dropout", 0.1, also=("embedding.dropout",)),
    FieldRule("attention_probs_dropout_prob", "encoder.block.attention.weight_dropout", 0.1),
)


def bert_config(given: Fields, names: Collection[str]) -> Encoder:
    config = read_fields(post_norm("cls.predictions.bias" in names, POOLER in names), BERT_FIELDS, given)
    return replace(config, relation=RELATION in names and POOLER in names)


def bert_fields(config: Encoder, pad: int) -> dict[str, Any]:
    found = written_fields(config, BERT_FIELDS)
    return found | {"type_vocab_size": max(found["type_vocab_size"], 1), "tie_word_embeddings": True}


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
        three = [f"{theirs}.attention.self.{name}" for name in ("query", "key", "value")]
        rules += [
            *projections(f"{ours}.attention.qkv", three, dims),
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
    as_bert = {"max_position_embeddings": roberta_length(given), "type_vocab_size": 0 if segments == 1 else segments}
    base = post_norm("lm_head.bias" in names, POOLER in names)
    return read_fields(base, BERT_FIELDS, Fields({**given.values, **as_bert}, given.where))


def roberta_fields(config: Encoder, pad: int) -> dict[str, Any]:
    found = bert_fields(config, pad)
    return found | {"max_position_embeddings": found["max_position_embeddings"] + pad + 1, "pad_token_id": pad}


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


DISTILBERT_FIELDS = (
    FieldRule("vocab_size", "vocabulary"),
    FieldRule("dim", "width"),
    FieldRule("n_layers", "encoder.layers"),
    FieldRule("n_heads", "encoder.block.attention.heads"),
    FieldRule("hidden_dim", "encoder.block.feedforward.hidden"),
    FieldRule("activation", "encoder.block.feedforward.activation", "gelu", ACTIVATIONS, also=("head.activation",)),
    FieldRule("max_position_embeddings", "encoder.position.length", 512),
    FieldRule("dropout", "encoder.block.residual.dropout", 0.1, also=("embedding.dropout",)),
    FieldRule("attention_dropout", "encoder.block.attention.weight_dropout", 0.1),
)


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
        rules += [
            *projections(f"{ours}.attention.qkv", [f"{theirs}.attention.{name}_lin" for name in "qkv"], dims),
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
    config=lambda given, names: read_fields(post_norm("vocab_projector.bias" in names), DISTILBERT_FIELDS, given),
    fields=lambda config, pad: written_fields(config, DISTILBERT_FIELDS) | {"tie_word_embeddings": True},
    rules=distilbert_rules,
    architecture=lambda config: "DistilBertModel" if config.head is None else "DistilBertForMaskedLM",
    longest=lambda given: given.number("max_position_embeddings", 512),
    adapt=lambda config: config if config.relation else replace(config, pool=None),
    copies={"vocab_projector.weight": "embeddings.word_embeddings.weight"},
    unread=r"(pre_classifier|classifier|qa_outputs)\..+",
)
