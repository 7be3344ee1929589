"""Beam search against one that is written plainly, against enumeration, and its promises."""

from __future__ import annotations

import itertools

import pytest
import torch

import regard
import regard.decoding.beam
import regard.fast.topk
from regard.config import Part, change
from regard.decoding import Decoding, complete, decode, translate
from regard.fast import plain, quicken
from regard.nn.attention import Additive
from regard.nn.positions import ALiBi, Learned, Relative, Rotary
from tests.decoding.reference import END, START, Counting, assert_same, beam, completing, ending, ragged, translating
from tests.helpers import CAUSAL_KERNELS, POSITIONS, decoder, encoder_decoder, label, tokens

TRANSLATORS = {
    "plain": encoder_decoder(),
    "grouped": encoder_decoder(kv_heads=2),
    "additive": encoder_decoder(kernel=Additive()),
    "relative": encoder_decoder(position=Relative(distance=3)),
}


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("name", TRANSLATORS)
@pytest.mark.parametrize("made", [quicken, plain])
def test_translating_is_the_plain_search(made, name: str, batch: int, size: int) -> None:  # type: ignore[no-untyped-def]
    model = made(ending(TRANSLATORS[name]))
    source, keep, rows = ragged(batch)
    found = translate(model, source, keep, Decoding(beam=size, nbest=size, max_length=9), START, END)
    for hypotheses, row in zip(found, rows, strict=True):
        assert_same(hypotheses, beam(translating(model, row), 9, size))


def test_a_vocabulary_in_slices_is_the_plain_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regard.fast.topk, "LOGITS_AT_ONCE", 8)
    model = ending(change(encoder_decoder(), {"vocabulary": 400}))
    source, keep, rows = ragged(5)
    found = translate(model, source, keep, Decoding(beam=4, nbest=4, max_length=9), START, END)
    for hypotheses, row in zip(found, rows, strict=True):
        assert_same(hypotheses, beam(translating(model, row), 9, 4))


@pytest.mark.parametrize("position", [Learned(length=64), Rotary(), ALiBi()])
@pytest.mark.parametrize("left", [False, True])
def test_completing_padded_prompts_is_the_plain_search(position, left: bool) -> None:  # type: ignore[no-untyped-def]
    model = ending(decoder(position=position))
    prompt, keep, rows = ragged(3, left=left)
    found = complete(model, prompt, keep, Decoding(beam=3, nbest=3, max_length=7), END)
    for hypotheses, row in zip(found, rows, strict=True):
        assert_same(hypotheses, beam(completing(model, row), 7, 3))


@pytest.mark.parametrize("part", [*POSITIONS, *CAUSAL_KERNELS], ids=label)
def test_hypotheses_that_share_a_row_are_those_with_rows_of_their_own(
    part: Part, monkeypatch: pytest.MonkeyPatch
) -> None:
    slot = "position" if part in POSITIONS else "kernel"
    model = ending(decoder(**{slot: part}))
    prompt, keep, _ = ragged(4, left=True)
    options = Decoding(beam=4, nbest=4, max_length=8)
    shared = complete(model, prompt, keep, options, END)
    monkeypatch.setattr(regard.decoding.beam, "MOST_BRANCHES", 0)
    for ours, theirs in zip(shared, complete(model, prompt, keep, options, END), strict=True):
        assert_same(ours, theirs)


def test_more_than_one_token_at_a_time_is_refused_while_hypotheses_share_a_row() -> None:
    model = ending(decoder())
    state = model.begin()
    model.step(tokens(2, 3), state)
    state.branch(2)
    with pytest.raises(ValueError, match="one real token at a time"):
        model.step(tokens(4, 2), state)


@pytest.mark.parametrize("penalty", [0.0, 0.6, 1.0])
def test_a_beam_as_wide_as_the_tree_finds_the_best_of_all(penalty: float) -> None:
    small = change(encoder_decoder(), {"vocabulary": 5})
    model, source, length = ending(small, bias=0.5), torch.tensor([[3, 4, 3]]), 3
    follow = translating(model, source)
    words = [token for token in range(5) if token != END]
    scores = {}
    for count in range(length):
        for sequence in itertools.product(words, repeat=count):
            steps = [*sequence, END]
            total = sum(follow(steps[:i])[token].item() for i, token in enumerate(steps))
            scores[sequence] = total / len(steps) ** penalty
    size = len(scores) + len(words) ** length
    options = Decoding(beam=size, nbest=size, max_length=length, length_penalty=penalty)
    (found,) = translate(model, source, None, options, START, END)
    ended = [one for one in found if one.finished]
    assert tuple(found[0].tokens) == max(scores, key=scores.__getitem__)
    assert {tuple(one.tokens): pytest.approx(one.score) for one in ended} == scores
    assert len(found) - len(ended) == len(words) ** length  # what was cut at the limit


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_lower_precision_searches_in_single_precision(dtype: torch.dtype) -> None:
    model = ending(encoder_decoder(), dtype=dtype)
    source, keep, _ = ragged(4)
    for hypotheses in translate(model, source, keep, Decoding(beam=3, nbest=3, max_length=8), START, END):
        assert all(one.score == pytest.approx(one.log_prob / (len(one.tokens) + one.finished)) for one in hypotheses)
        # a bfloat16 sum would have at most eight bits
        assert any(torch.tensor(one.log_prob).bfloat16().item() != one.log_prob for one in hypotheses)


def test_a_batch_gives_what_single_sentences_give() -> None:
    model = ending(encoder_decoder(), dtype=torch.float32)
    source, keep, rows = ragged(12)
    options = Decoding(beam=4, nbest=4, max_length=15)
    together = translate(model, source, keep, options, START, END)
    for hypotheses, row in zip(together, rows, strict=True):
        (alone,) = translate(model, row, None, options, START, END)
        assert_same(hypotheses, alone, tolerance=1e-3)


def test_hypotheses_are_sorted_and_distinct() -> None:
    model = ending(encoder_decoder())
    source, keep, _ = ragged(6)
    for hypotheses in translate(model, source, keep, Decoding(beam=5, nbest=4, max_length=9), START, END):
        assert len(hypotheses) == 4
        assert len({(tuple(one.tokens), one.finished) for one in hypotheses}) == 4
        keys = [(one.finished, one.score) for one in hypotheses]
        assert keys == sorted(keys, reverse=True)
        assert all(END not in one.tokens for one in hypotheses)


def test_finished_sentences_leave_the_batch() -> None:
    model = ending(encoder_decoder(), bias=2.5)
    source, keep, rows = ragged(8)
    counting = Counting(model)
    options = Decoding(beam=3, nbest=3)
    decode(counting, model.begin(model.encode(source, keep)), START, END, options, 12)
    alone = []
    for row in rows:
        one = Counting(model)
        decode(one, model.begin(model.encode(row)), START, END, options, 12)
        alone.append(len(one.rows))
    assert len(set(alone)) > 1
    assert counting.rows == [8] + [3 * sum(steps > i for steps in alone) for i in range(1, max(alone))]


def test_the_beams_of_a_sentence_share_its_memory() -> None:
    model = ending(encoder_decoder())
    state = model.begin(model.encode(tokens(3, 6)))
    kept = []
    model.decoder.blocks[0].cross.register_forward_hook(
        lambda *_: kept.append((state.cache["decoder.0.cross"].keys, state.memory.states))
    )
    decode(model, state, START, END, Decoding(beam=4, min_length=5), 5)
    first = kept[0]
    assert len(first[0]) == len(first[1]) == 3
    assert all(keys is first[0] and states is first[1] for keys, states in kept)


def test_a_length_penalty_favours_longer_sequences() -> None:
    model = ending(encoder_decoder(), bias=3.0)
    source, keep, _ = ragged(12)
    lengths = []
    for penalty in (0.0, 1.0, 2.0):
        options = Decoding(beam=4, nbest=4, max_length=12, length_penalty=penalty)
        found = translate(model, source, keep, options, START, END)
        assert all(one.score == pytest.approx(one.log_prob) for one in found[0]) == (penalty == 0)
        lengths.append(sum(len(hypotheses[0].tokens) for hypotheses in found))
    assert lengths[0] < lengths[1] < lengths[2]


def test_lengths_stay_within_their_bounds() -> None:
    model = ending(encoder_decoder(), bias=4.0)
    source, keep, _ = ragged(6)
    options = Decoding(beam=3, nbest=3, min_length=3, max_length=6)
    found = [one for hypotheses in translate(model, source, keep, options, START, END) for one in hypotheses]
    assert {len(one.tokens) for one in found} <= {3, 4, 5, 6}
    assert min(len(one.tokens) for one in found) == 3
    forced = translate(model, source, keep, Decoding(beam=3, nbest=3, min_length=5, max_length=5), START, END)
    assert {(len(one.tokens), one.finished) for hypotheses in forced for one in hypotheses} == {(5, False)}


@pytest.mark.parametrize("size", [1, 3])
@pytest.mark.parametrize("gram", [1, 2, 3])
def test_no_sequence_of_tokens_comes_twice(gram: int, size: int) -> None:
    model = ending(encoder_decoder(), bias=-50.0)
    source, keep, _ = ragged(4)

    def repeated(options: Decoding) -> int:
        count = 0
        for hypotheses in translate(model, source, keep, options, START, END):
            for one in hypotheses:
                grams = [tuple(one.tokens[i : i + gram]) for i in range(len(one.tokens) - gram + 1)]
                count += len(grams) - len(set(grams))
        return count

    free = Decoding(beam=size, nbest=size, max_length=20)
    assert repeated(free) > 0
    assert repeated(change(free, {"no_repeat": gram})) == 0


@pytest.mark.parametrize("size", [1, 3])
def test_watching_shows_the_cross_attention_of_every_beam(size: int) -> None:
    model = ending(encoder_decoder(), bias=-50.0)
    source, keep, rows = ragged(3)
    with regard.watch(model, "decoder.1.cross") as seen:
        found = translate(model, source, keep, Decoding(beam=size, max_length=5), START, END)
    weights = seen["decoder.1.cross"]
    assert [tuple(step.shape) for step in weights] == [(3, 4, 1, 8)] + [(3 * size, 4, 1, 8)] * 4
    if size == 1:
        with regard.watch(model, "decoder.1.cross") as whole:
            model(rows[0], torch.tensor([[START, *found[0][0].tokens[:-1]]]))
        steps = torch.cat([step[:1, :, :, : rows[0].shape[1]] for step in weights], dim=2)
        torch.testing.assert_close(steps, whole.last("decoder.1.cross"))
