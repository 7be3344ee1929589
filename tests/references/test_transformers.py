"""Equality with the `transformers` package: outputs and gradients of BERT, RoBERTa and Marian."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

transformers = pytest.importorskip("transformers")

from regard.config import change  # noqa: E402
from regard.models import EncoderDecoderModel, EncoderModel  # noqa: E402
from regard.nn.call.masks import real_tokens  # noqa: E402
from regard.nn.positions import Sinusoidal  # noqa: E402
from regard.zoo import get  # noqa: E402
from tests.helpers import SMALL, VOCABULARY, randomise  # noqa: E402
from tests.references import links as link  # noqa: E402
from tests.references.links import Link, assert_alike, assert_equal, assert_gradients_equal  # noqa: E402

LENGTHS = torch.tensor([9, 4, 7])
KEEP = real_tokens(LENGTHS, 9)


def some_tokens(length: int = 9) -> Tensor:
    return torch.randint(2, VOCABULARY, (3, length))


# --- BERT -------------------------------------------------------------------------------------------------------------


def encoder_links(ours: EncoderModel, body: nn.Module) -> list[Link]:
    """What BERT and RoBERTa have in common: tables, norms and layers; theirs count places from another number on."""
    table, places = ours.encoder.position.table.weight, body.embeddings.position_embeddings
    first = 0 if places.padding_idx is None else places.padding_idx + 1
    links = [
        link.same(ours.embedding.tokens.weight, body.embeddings.word_embeddings.weight),
        Link(table, lambda get: get(places.weight)[first : first + len(table)]),
        *link.modules(ours.embedding.norm, body.embeddings.LayerNorm),
    ]
    for mine, other in zip(ours.encoder.blocks, body.encoder.layer, strict=True):
        theirs_attention = other.attention.self
        links += [
            *link.projections(mine.attention, theirs_attention.query, theirs_attention.key, theirs_attention.value),
            *link.modules(mine.attention.out, other.attention.output.dense),
            *link.modules(mine.attention_join.norm, other.attention.output.LayerNorm),
            *link.modules(mine.feedforward.up, other.intermediate.dense),
            *link.modules(mine.feedforward.down, other.output.dense),
            *link.modules(mine.feedforward_join.norm, other.output.LayerNorm),
        ]
    return links


TINY_BERT = {
    "vocab_size": VOCABULARY,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 48,
    "hidden_dropout_prob": 0,
    "attention_probs_dropout_prob": 0,
}


def bert_pair() -> tuple[EncoderModel, nn.Module, list[Link]]:
    theirs = transformers.BertForPreTraining(transformers.BertConfig(**TINY_BERT))
    randomise(theirs)
    ours = get("bert-base", **SMALL, dropout=0, weight_dropout=0, relation=True).build()
    assert isinstance(ours, EncoderModel)
    body, masked = theirs.bert, theirs.cls.predictions
    links = [
        *encoder_links(ours, body),
        link.same(ours.embedding.segments.weight, body.embeddings.token_type_embeddings.weight),
        *link.modules(ours.pool.dense, body.pooler.dense),
        *link.modules(ours.relation, theirs.cls.seq_relationship),
        *link.modules(ours.head.dense, masked.transform.dense),
        *link.modules(ours.head.norm, masked.transform.LayerNorm),
        link.same(ours.head.bias, masked.decoder.bias),
    ]
    link.copy(links, ours)
    return ours, theirs, links


def batch_of(lengths: list[int]) -> tuple[Tensor, Tensor, Tensor]:
    """Tokens, which are real, and segments that change in the middle of each row."""
    counts = torch.tensor(lengths)
    keep = real_tokens(counts, max(lengths))
    segments = (torch.arange(max(lengths)) >= counts[:, None] // 2).long() * keep
    return torch.randint(2, VOCABULARY, keep.shape), keep, segments


BATCHES = [[9, 4, 7], [6, 6], [1], [200, 3, 64]]


@pytest.mark.parametrize("lengths", BATCHES, ids=str)
def test_bert_equals_transformers_in_outputs_and_gradients(lengths: list[int]) -> None:
    ours, theirs, links = bert_pair()
    tokens, keep, segments = batch_of(lengths)
    out = theirs(tokens, attention_mask=keep.long(), token_type_ids=segments)
    memory = ours.encode(tokens, keep, segments)
    logits, follows = ours.head.logits(memory.states)[keep], ours.follows(memory)
    result = torch.cat([logits.flatten(), follows.flatten()])
    expected = torch.cat([out.prediction_logits[keep].flatten(), out.seq_relationship_logits.flatten()])
    assert_alike(result, expected, links, scale=1 / logits.numel())


def roberta_pair() -> tuple[EncoderModel, nn.Module, list[Link]]:
    """Theirs has a table of one segment, which is added everywhere: a part of each token's vector in ours."""
    config = transformers.RobertaConfig(
        **TINY_BERT, max_position_embeddings=514, type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5
    )
    theirs = transformers.RobertaForMaskedLM(config)
    randomise(theirs)
    with torch.no_grad():
        theirs.roberta.embeddings.token_type_embeddings.weight.zero_()
    ours = get("roberta-base", **SMALL, dropout=0, weight_dropout=0).build()
    assert isinstance(ours, EncoderModel)
    links = [
        *encoder_links(ours, theirs.roberta),
        *link.modules(ours.head.dense, theirs.lm_head.dense),
        *link.modules(ours.head.norm, theirs.lm_head.layer_norm),
        link.same(ours.head.bias, theirs.lm_head.decoder.bias),
    ]
    link.copy(links, ours)
    return ours, theirs, links


@pytest.mark.parametrize("lengths", BATCHES, ids=str)
def test_roberta_equals_transformers_in_outputs_and_gradients(lengths: list[int]) -> None:
    ours, theirs, links = roberta_pair()
    tokens, keep, _ = batch_of(lengths)
    tokens = tokens.masked_fill(~keep, 1)
    expected, logits = theirs(tokens, attention_mask=keep.long()).logits[keep], ours(tokens, keep)[keep]
    assert_alike(logits, expected, links, scale=1 / logits.numel())


@pytest.mark.parametrize("length", [3, 40])
def test_the_loss_over_masked_words_equals_that_of_transformers(length: int) -> None:
    ours, theirs, links = bert_pair()
    tokens, targets = torch.randint(2, VOCABULARY, (2, length)), torch.full((2, length), -100)
    targets[:, ::2] = tokens[:, ::2]
    follows = torch.tensor([0, 1])
    expected = theirs(tokens, labels=targets, next_sentence_label=follows).loss
    memory = ours.encode(tokens)
    result = ours.head.loss(memory.states, targets) + torch.nn.functional.cross_entropy(ours.follows(memory), follows)
    assert_equal(result, expected)
    result.backward()
    expected.backward()
    assert_gradients_equal(links)


# --- Marian -----------------------------------------------------------------------------------------------------------


def marian_pair() -> tuple[EncoderDecoderModel, nn.Module, list[Link]]:
    config = transformers.MarianConfig(
        vocab_size=VOCABULARY,
        d_model=32,
        encoder_layers=2,
        decoder_layers=2,
        encoder_attention_heads=4,
        decoder_attention_heads=4,
        encoder_ffn_dim=48,
        decoder_ffn_dim=48,
        dropout=0,
        activation_function="swish",
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        pad_token_id=0,
        eos_token_id=1,
        decoder_start_token_id=0,
        max_position_embeddings=64,
    )
    theirs = transformers.MarianMTModel(config)
    randomise(theirs)
    table = Sinusoidal(layout="halves")
    table_size = theirs.model.encoder.embed_positions.weight
    with torch.no_grad():  # fixed, not learned: put back what `randomise` moved
        exact = regard_table(len(table_size), 32)
        theirs.model.encoder.embed_positions.weight.copy_(exact)
        theirs.model.decoder.embed_positions.weight.copy_(exact)
    small = change(get("transformer-tiny"), {**SMALL, "dropout": 0, "activation": "swish", "head.bias": True})
    ours = change(small, {"position": {"kind": "sinusoidal", "layout": table.layout}}).build()
    assert isinstance(ours, EncoderDecoderModel)
    links = link.marian(ours, theirs)
    link.copy(links, ours)
    return ours, theirs, [one for one in links if one.ours is not ours.head.bias]


def regard_table(length: int, width: int) -> Tensor:
    from regard.nn.positions import sinusoids

    return sinusoids(torch.arange(length), width, "halves").float()


def test_marian_equals_transformers_in_outputs_and_gradients() -> None:
    ours, theirs, links = marian_pair()
    source, target = some_tokens(), some_tokens(6)
    expected = theirs(source, attention_mask=KEEP.long(), decoder_input_ids=target).logits
    assert_alike(ours(source, target, KEEP), expected, links)


def test_marians_own_sinusoids_equal_ours_in_halves() -> None:
    config = transformers.MarianConfig(vocab_size=VOCABULARY, d_model=32, pad_token_id=0, max_position_embeddings=64)
    theirs = transformers.MarianMTModel(config).model.encoder.embed_positions.weight
    assert_equal(regard_table(64, 32), theirs)
