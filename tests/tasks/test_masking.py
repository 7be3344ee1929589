"""What is hidden of a text, and which passages meet: the proportions of BERT's paper, over a million tokens."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from regard.data.documents import in_memory
from regard.data.encoding import encoded
from regard.data.shards import shards
from regard.data.tokenizers import Kind, Tokenizer
from regard.errors import DataError
from regard.tasks.pretraining.masking import IGNORED, Masking, first_pieces, glue
from regard.tasks.pretraining.mlm import MaskedWords
from regard.tasks.pretraining.passages import InMemory, Pairs, chunks, packed, sentences, texts_of
from tests.documents import texts

MILLION = 1_000_000
WORDS = ["unbelievable things happen", "believable thinking happens here", "a thing, unthinkable, happened"] * 4


def tokenizer(kind: Kind = "wordpiece", size: int | None = 60) -> Tokenizer:
    return Tokenizer.train(WORDS, kind, size, mask=True)


def near(count: int, of: int, share: float) -> bool:
    """Within four standard deviations of what chance gives."""
    return abs(count - of * share) < 4 * math.sqrt(of * share * (1 - share))


# --- masks ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def drawn() -> tuple[Masking, torch.Tensor, torch.Tensor, torch.Tensor, torch.Tensor]:
    """A million tokens, padding and specials among them, and what became of them."""
    torch.manual_seed(3)
    masking = Masking(tokenizer())
    tokens = torch.randint(0, len(masking.special), (MILLION // 100, 100))
    keep = torch.arange(100) < torch.randint(50, 101, (len(tokens), 1))
    return masking, tokens, keep, *masking(tokens, keep)


def test_of_a_million_tokens_15_percent_are_chosen_80_10_10(drawn) -> None:  # type: ignore[no-untyped-def]
    masking, tokens, keep, read, targets = drawn
    able = int((keep & ~masking.special[tokens]).sum())
    chosen = targets != IGNORED
    many = int(chosen.sum())
    assert near(many, able, 0.15)
    masked, same = (read == masking.mask)[chosen], (read == tokens)[chosen]
    assert near(int(masked.sum()), many, 0.8)
    kept = 0.1 + 0.1 / len(masking.ordinary)  # a token may be taken for itself
    assert near(int(same.sum()), many, kept)
    assert near(int((~masked & ~same).sum()), many, 0.2 - kept)


def test_special_tokens_and_padding_are_never_chosen_and_no_token_becomes_another_special(drawn) -> None:  # type: ignore[no-untyped-def]
    masking, tokens, keep, read, targets = drawn
    chosen = targets != IGNORED
    assert not (chosen & (masking.special[tokens] | ~keep)).any()
    assert torch.equal(read[~chosen], tokens[~chosen])
    assert torch.equal(targets[chosen], tokens[chosen])
    changed = read[chosen & (read != tokens)]
    assert not masking.special[changed[changed != masking.mask]].any()


def test_another_token_is_any_of_the_ordinary_ones_alike(drawn) -> None:  # type: ignore[no-untyped-def]
    masking, tokens, _, read, targets = drawn
    changed = (targets != IGNORED) & (read != tokens) & (read != masking.mask)
    counts = torch.bincount(read[changed], minlength=len(masking.special))[masking.ordinary].double()
    expected = counts.sum() / len(counts)
    chi = float(((counts - expected) ** 2 / expected).sum())
    assert chi < len(counts) + 5 * math.sqrt(2 * len(counts))


def test_what_is_hidden_is_drawn_anew_and_follows_from_the_generator() -> None:
    masking, tokens = Masking(tokenizer()), torch.randint(5, 50, (8, 40))
    torch.manual_seed(1)
    first, second = masking(tokens), masking(tokens)
    torch.manual_seed(1)
    again = masking(tokens)
    assert torch.equal(first[0], again[0])
    assert not torch.equal(first[1], second[1])


@pytest.mark.parametrize(
    ("kind", "size"), [("wordpiece", 60), ("bpe", 290), ("unigram", 290), ("char", None), ("byte", None)]
)
def test_the_pieces_of_a_word_are_chosen_together(kind: Kind, size: int | None) -> None:
    one = tokenizer(kind, size)
    tokens = torch.tensor(one.encode(["unthinkable, unbelievable things happen"]))
    firsts = first_pieces(tokens, torch.ones_like(tokens, dtype=torch.bool), glue(one))[0].tolist()
    groups = dict.fromkeys(firsts, "")
    for place, first in enumerate(firsts):
        groups[first] += one.token(int(tokens[0, place])).removeprefix("##")
    words = [group.strip() for group in groups.values() if group.strip()]
    assert words == ["unthinkable", ",", "unbelievable", "things", "happen"]
    many = tokens.repeat(3_000, 1)
    _, targets = Masking(one, whole_words=True)(many)
    chosen = targets != IGNORED
    assert torch.equal(chosen, chosen.gather(1, torch.tensor(firsts).expand_as(many)))
    assert abs(float(chosen.double().mean()) - 0.15) < 0.02


@pytest.mark.parametrize(("kind", "size"), [("bpe", 60), ("byte", None), ("wordpiece", 60)])
def test_a_word_ends_before_a_mark_that_has_no_space_behind_it(kind: Kind, size: int | None) -> None:
    one = tokenizer(kind, size)
    tokens = torch.tensor(one.encode(["happen,things"]))
    firsts = first_pieces(tokens, torch.ones_like(tokens, dtype=torch.bool), glue(one))[0].tolist()
    words = dict.fromkeys(firsts, "")
    for place, first in enumerate(firsts):
        words[first] += one.token(int(tokens[0, place])).removeprefix("##").strip()
    assert [word for word in words.values() if word] == ["happen", ",", "things"]


def test_a_tokenizer_without_a_mask_is_refused() -> None:
    with pytest.raises(DataError, match="no mask token"):
        Masking(Tokenizer.train(WORDS, "wordpiece", 60))


# --- passages ---------------------------------------------------------------------------------------------------------


def corpus(count: int = 40) -> list:  # type: ignore[type-arg]
    return [in_memory("texts", "\n".join(text)) for text in texts(count, 0)]


def test_an_empty_line_begins_another_text() -> None:
    found = list(sentences([in_memory("a", "One. Two.\n\nThree.\n"), in_memory("b", "Four.\n")]))
    assert found == ["One.", " Two.", None, "Three.", None, "Four.", None]


def test_full_sentences_are_packed_up_to_the_context_across_texts() -> None:
    rows = [row.tolist() for (row,) in packed([[[5, 6], [7, 8]], [[9]], [[5, 5, 5]]], 6, end=2)]
    assert rows == [[5, 6, 7, 8, 2, 9], [5, 5, 5]]


def test_a_long_sentence_is_read_in_parts_and_nothing_is_lost() -> None:
    one = Tokenizer.train(["a b c d e f g"], "word", 30, mask=True)
    (shard,) = encoded(one, shards(sentences([in_memory("a", "a b c d e f g\nb\n")])), workers=1)
    (found,) = texts_of(shard, 3)
    assert [one.decode(row) for row in found] == ["a b c", "d e f", "g", "b"]


@pytest.fixture(scope="module")
def pairs() -> Pairs:
    one = Tokenizer.train([" ".join(text) for text in texts(300, 0)], "word", mask=True)
    reader = MaskedWords(context=32, next_sentence=True).reader(one)
    return Pairs(InMemory(list(reader.passages(corpus(3_000)))), "training")


def test_over_a_million_tokens_half_of_the_pairs_follow(pairs: Pairs) -> None:
    torch.manual_seed(5)
    tokens = follow = count = 0
    while tokens < MILLION:
        for pair in pairs.draw(np.arange(len(pairs.chunks))):
            tokens += len(pair.first) + len(pair.second) + 3
            follow, count = follow + pair.follows, count + 1
    assert near(follow, count, 0.5)


def test_a_pair_that_follows_is_a_chunk_and_another_is_of_two_texts(pairs: Pairs) -> None:
    indices = np.arange(len(pairs.chunks))
    rows = pairs.chunks.rows(0, indices)
    endings = {tuple(row[start:]) for row in rows for start in range(len(row))}
    for i, pair in zip(indices, pairs.draw(indices), strict=True):
        assert len(pair.first) > 0 < len(pair.second)
        assert len(pair.first) + len(pair.second) <= len(rows[i])
        whole = np.concatenate([pair.first, pair.second])
        if pair.follows:
            assert np.array_equal(whole, rows[i])
        else:
            assert np.array_equal(pair.first, rows[i][: len(pair.first)])
            assert tuple(pair.second) in endings
    others = [pairs.texts[pairs.elsewhere(7, draw)] for draw in np.linspace(0, 0.999, 500)]
    assert pairs.texts[7] not in others
    assert len(set(others)) > 100


def test_a_short_share_of_the_chunks_stops_sooner() -> None:
    long = [[[7] * 5 for _ in range(200)] for _ in range(50)]
    full = [len(row) for row, _, _ in chunks(long, 30, 0.0)]
    some = [len(row) for row, _, _ in chunks(long, 30, 0.5)]
    assert set(full[:-1]) <= {30, 10, 20}
    assert np.mean(some) < np.mean(full) - 3


def test_one_text_alone_makes_no_pairs() -> None:
    rows = InMemory(list(chunks([[[5, 6], [7, 8]]], 29, 0.0)))
    with pytest.raises(DataError, match="put an empty line between texts"):
        Pairs(rows, "training")


def test_two_texts_are_joined_as_bert_and_as_roberta_do() -> None:
    one = tokenizer()
    tokens, segments = one.paired([9, 8], [7], segmented=True)
    assert tokens.tolist() == [one.start, 9, 8, one.end, 7, one.end]
    assert segments.tolist() == [0, 0, 0, 0, 1, 1]
    tokens, segments = one.paired([9, 8], [7], segmented=False)
    assert tokens.tolist() == [one.start, 9, 8, one.end, one.end, 7, one.end]
    assert not segments.any()
