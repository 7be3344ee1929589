"""Writing on one token at a time: the tokens of `complete`, with their probabilities, beyond the context too."""

from __future__ import annotations

import math

import pytest
import torch

from regard.decoding import Decoding, complete
from regard.decoding.stream import Writing, Written, write_on
from regard.models import LSTMN, RecurrentDecoder, TextWriterConfig
from tests.decoding.reference import END, START, ending
from tests.helpers import VOCABULARY, decoder

MODELS: dict[str, TextWriterConfig] = {
    "decoder": decoder(),
    "recurrent": RecurrentDecoder(vocabulary=VOCABULARY, width=16, hidden=12),
    "lstmn": LSTMN(vocabulary=VOCABULARY, width=16, hidden=12),
}
SEARCHES = {
    "greedy": Decoding(max_length=20),
    "drawn": Decoding(sample=True, temperature=0.9, top_k=12, seed=4, max_length=20),
    "no repeats": Decoding(no_repeat=2, max_length=20),
    "penalised": Decoding(repetition_penalty=1.5, max_length=20),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)
def test_a_stream_is_what_is_completed_at_once(config: TextWriterConfig, search: Decoding) -> None:
    model = ending(config, bias=1.0)
    prompt = [START, 5, 9, 7]
    whole = complete(model, torch.tensor([prompt]), None, search, END)[0][0]
    found = list(write_on(model, prompt, search, END, 20))
    assert [one.token for one in found] == [*whole.tokens, *([END] if whole.finished else [])]
    assert sum(math.log(one.probability) for one in found) == pytest.approx(whole.log_prob)


@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)
def test_a_window_moves_on_with_the_later_half_in_sight(config: TextWriterConfig) -> None:
    model = ending(config, bias=-9.0)
    found = [one.token for one in write_on(model, [START, 5], Decoding(), END, 30, window=8)]
    assert len(found) == 30
    text, sight = [5], [START, 5]
    for token in found:
        if len(sight) > 8:
            sight = [START, *text[-4:]]
        with torch.no_grad():
            assert token == int(model(torch.tensor([sight]))[0, -1].argmax())
        text.append(token)
        sight.append(token)


def test_without_a_window_it_stops_where_the_model_reads_no_more() -> None:
    model = ending(decoder(), bias=-9.0)
    assert model.longest == 64
    assert len(list(write_on(model, [START] * 60, Decoding(), END, 30))) == 5


def written(writing: Writing, count: int) -> dict[int, list[Written]]:
    found: dict[int, list[Written]] = {}
    for _ in range(count):
        for row, one in writing.step():
            found.setdefault(row, []).append(one)
    return found


def same(some: list[Written], others: list[Written]) -> bool:
    logs = [one.log_prob for one in others]
    return [one.token for one in some] == [one.token for one in others] and [
        one.log_prob for one in some
    ] == pytest.approx(logs)


PROMPTS = [[START, 5, 9, 7], [START], [START, *range(4, 12)], [START, 8, 8]]


@pytest.mark.parametrize("window", [None, 12])
@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)
def test_texts_side_by_side_are_what_each_is_alone(
    config: TextWriterConfig, search: Decoding, window: int | None
) -> None:
    model = ending(config, bias=1.0 if search.sample else -9.0)
    together = written(Writing(model, PROMPTS, search, END, window), 30)
    assert (min(len(found) for found in together.values()) < 30) == search.sample  # some ended sooner
    for row, prompt in enumerate(PROMPTS):
        assert same(together[row], list(write_on(model, prompt, search, END, 30, window)))


def test_the_samples_of_a_prompt_differ_and_the_first_is_the_one_drawn_alone() -> None:
    model = ending(decoder(), bias=0.0)
    search = Decoding(sample=True, seed=7, nbest=3)
    found = written(Writing(model, PROMPTS[:2], search, END, window=16), 25)
    assert len({tuple(one.token for one in row) for row in found.values()}) == 6
    for number, prompt in enumerate(PROMPTS[:2]):
        alone = list(write_on(model, prompt, Decoding(sample=True, seed=7), END, 25, window=16))
        assert same(found[3 * number], alone)
        several = written(Writing(model, [prompt], search, END, window=16), 25)
        assert all(same(found[3 * number + sample], several[sample]) for sample in range(3))


def test_a_prompt_is_read_once_for_all_its_samples() -> None:
    model = ending(decoder(), bias=-9.0)
    sizes: list[tuple[int, int]] = []
    plain = model.step
    model.step = lambda tokens, state, keep=None: sizes.append(tuple(tokens.shape)) or plain(tokens, state, keep)
    written(Writing(model, PROMPTS[:1], Decoding(sample=True, nbest=5, seed=1), END), 3)
    assert sizes == [(1, 4), (5, 1), (5, 1)]


def test_a_text_that_leaves_changes_nothing_for_the_others() -> None:
    model = ending(decoder(), bias=-9.0)
    search = Decoding(sample=True, seed=2)
    whole = written(Writing(model, PROMPTS, search, END, window=16), 20)
    writing = Writing(model, PROMPTS, search, END, window=16)
    first = written(writing, 4)
    writing.leave([0, 2])
    rest = written(writing, 16)
    assert rest.keys() == {1, 3}
    assert all(same([*first[row], *rest[row]], whole[row]) for row in rest)


@pytest.mark.parametrize("sample", [True, False])
@pytest.mark.parametrize("config", MODELS.values(), ids=MODELS)
def test_texts_may_leave_one_after_the_other_from_outside_of_a_step(config: TextWriterConfig, sample: bool) -> None:
    model = ending(config, bias=-9.0)
    search = Decoding(sample=True, seed=2, nbest=4) if sample else Decoding()
    prompts = PROMPTS[:1] if sample else PROMPTS
    whole = written(Writing(model, prompts, search, END, window=16), 20)
    writing = Writing(model, prompts, search, END, window=16)
    found: dict[int, list[Written]] = {row: [] for row in range(4)}
    for leaving in (3, 1, 0):
        for row, some in written(writing, 5).items():
            found[row] += some
        writing.leave([leaving])
    for row, some in written(writing, 5).items():
        found[row] += some
    assert [len(found[row]) for row in range(4)] == [15, 10, 20, 5]
    assert all(same(some, whole[row][: len(some)]) for row, some in found.items())


def test_who_reads_along_is_not_in_the_mode_of_the_model() -> None:
    model = ending(decoder(), bias=-9.0)
    for _ in write_on(model, [START, 5], Decoding(), END, 3):
        assert not torch.is_inference_mode_enabled()
        assert torch.is_grad_enabled()
