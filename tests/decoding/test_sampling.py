"""What is drawn, against the exact probabilities."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from regard.decoding import Decoding, complete, translate
from regard.decoding.filters import block_repeats, min_p, narrow, top_k, top_p
from regard.decoding.single import draw
from tests.decoding.reference import END, START, ending, ragged, translating
from tests.helpers import VOCABULARY, decoder, encoder_decoder, tokens

DRAWS = 5_000  # each a whole search; filters alone are drawn from more often below


def expected(probs: Tensor, options: Decoding) -> Tensor:
    """Of each token, written as the papers do."""
    probs = probs ** (1 / options.temperature)
    kept = sorted(range(len(probs)), key=lambda token: -probs[token].item())
    kept = kept[: options.top_k or len(probs)]
    within, mass = [], 0.0
    for token in kept:
        if mass >= options.top_p:
            break
        within.append(token)
        mass += (probs[token] / probs[kept].sum()).item()
    within = [token for token in within if probs[token] >= options.min_p * probs.max()]
    narrowed = torch.zeros_like(probs)
    narrowed[within] = probs[within]
    return narrowed / narrowed.sum()


@pytest.mark.parametrize(
    "options",
    [
        Decoding(sample=True),
        Decoding(sample=True, temperature=0.5),
        Decoding(sample=True, temperature=1.7),
        Decoding(sample=True, top_k=5),
        Decoding(sample=True, top_p=0.6),
        Decoding(sample=True, temperature=1.3, top_k=12, top_p=0.8),
    ],
    ids=lambda options: f"{options.temperature}-{options.top_k}-{options.top_p}",
)
def test_draws_follow_the_exact_probabilities(options: Decoding) -> None:
    model, source = ending(encoder_decoder()), tokens(1, 6)
    options = replace(options, nbest=DRAWS, max_length=1, seed=1)
    (drawn,) = translate(model, source, None, options, START, END)
    counts = torch.zeros(VOCABULARY, dtype=torch.float64)
    for one in drawn:
        counts[one.tokens[0] if one.tokens else END] += 1
    probs = expected(translating(model, source)([]).exp(), options)
    assert_drawn_from(counts, probs)


FILTERS = {
    "all": Decoding(sample=True),
    "temperature": Decoding(sample=True, temperature=0.6),
    "top k": Decoding(sample=True, top_k=7),
    "top p": Decoding(sample=True, top_p=0.7),
    "min p": Decoding(sample=True, min_p=0.2),
    "repetition penalty": Decoding(sample=True, repetition_penalty=1.8),
    "no repeat": Decoding(sample=True, no_repeat=1),
    "min length": Decoding(sample=True, min_length=9),
    "together": Decoding(
        sample=True, temperature=1.4, top_k=20, top_p=0.95, min_p=0.05, repetition_penalty=1.3, no_repeat=3
    ),
}


@pytest.mark.parametrize("options", FILTERS.values(), ids=FILTERS)
def test_a_hundred_thousand_draws_follow_what_every_filter_leaves(options: Decoding) -> None:
    logits = torch.randn(1, VOCABULARY, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    written = [5, 9, 5, 9, 7]
    adjusted = logits[0].clone()
    for token in set(written):
        adjusted[token] *= options.repetition_penalty if adjusted[token] < 0 else 1 / options.repetition_penalty
    if options.no_repeat == 1:
        adjusted[written] = -math.inf
    if options.min_length:
        adjusted[END] = -math.inf
    probs = expected(adjusted.softmax(-1), options)
    many = 100_000
    chosen, gained = draw(
        logits.repeat(many, 1),
        torch.tensor([written]).repeat(many, 1),
        END,
        options,
        torch.Generator().manual_seed(2),
    )
    assert torch.allclose(gained, logits[0].log_softmax(-1)[chosen.squeeze(1)])  # the model's own, whatever is narrowed
    assert_drawn_from(torch.bincount(chosen.squeeze(1), minlength=VOCABULARY).double(), probs)


def assert_drawn_from(counts: Tensor, probs: Tensor) -> None:
    """Chi-squared of the counts of each token, within four deviations of its mean."""
    assert counts[probs == 0].sum() == 0
    hopes = (probs * counts.sum())[probs > 0]
    chi_squared = ((counts[probs > 0] - hopes) ** 2 / hopes).sum().item()
    freedom = len(hopes) - 1
    assert freedom > 1
    assert chi_squared < freedom + 4 * math.sqrt(2 * freedom)


def test_the_test_of_draws_can_fail() -> None:
    logits = torch.randn(1, VOCABULARY, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    prefix = torch.empty(100_000, 0, dtype=torch.long)
    generator = torch.Generator().manual_seed(2)
    options = Decoding(sample=True, temperature=1.03)
    chosen, _ = draw(logits.repeat(100_000, 1), prefix, END, options, generator)
    counts = torch.bincount(chosen.squeeze(1), minlength=VOCABULARY).double()
    with pytest.raises(AssertionError):
        assert_drawn_from(counts, logits[0].softmax(-1))


@pytest.mark.parametrize("sample", [False, True])
def test_a_penalty_makes_what_was_written_rarer(sample: bool) -> None:
    model, prompt = ending(decoder(), bias=-9.0), tokens(8, 3)

    def repeats(penalty: float) -> int:
        options = Decoding(sample=sample, repetition_penalty=penalty, max_length=30, seed=1 if sample else None)
        found = [one.tokens for (one,) in complete(model, prompt, None, options, END)]
        return sum(len(row) - len(set(row)) for row in found)

    assert repeats(3.0) < repeats(1.2) < repeats(1.0)


def test_a_seed_repeats_the_draw_and_a_generator_wins_over_it() -> None:
    model, prompt = ending(decoder()), tokens(4, 3)

    def draw(seed: int | None, generator: torch.Generator | None = None) -> list[list[int]]:
        options = Decoding(sample=True, seed=seed, max_length=9)
        return [one.tokens for (one,) in complete(model, prompt, None, options, END, generator)]

    assert draw(3) == draw(3) != draw(4)
    assert draw(3, torch.Generator().manual_seed(4)) == draw(4)
    assert draw(None) != draw(None)


def test_a_sample_is_scored_by_the_model_itself() -> None:
    model = ending(encoder_decoder())
    source, keep, rows = ragged(4)
    options = Decoding(sample=True, temperature=0.7, top_k=9, nbest=3, max_length=6, seed=0)
    for hypotheses, row in zip(translate(model, source, keep, options, START, END), rows, strict=True):
        assert len(hypotheses) == 3
        assert [one.finished for one in hypotheses] == sorted((one.finished for one in hypotheses), reverse=True)
        for one in hypotheses:
            steps = [*one.tokens, END] if one.finished else one.tokens
            follow = translating(model, row)
            total = sum(follow(steps[:i])[token].item() for i, token in enumerate(steps))
            assert abs(one.log_prob - total) < 1e-9


def test_the_end_is_never_followed() -> None:
    model = ending(encoder_decoder(), bias=4.0)
    source, keep, _ = ragged(30)
    found = [one for (one,) in translate(model, source, keep, Decoding(sample=True, seed=0), START, END)]
    assert all(END not in one.tokens for one in found)
    assert sum(one.finished for one in found) > 20


def test_top_k_keeps_exactly_so_many_even_of_equals() -> None:
    assert (top_k(torch.zeros(2, 6), 4) == 0).sum(-1).tolist() == [4, 4]


def test_top_p_keeps_the_fewest_that_reach_the_mass() -> None:
    logits = torch.tensor([[0.1, 0.5, 0.15, 0.25]], dtype=torch.float64).log()
    for mass, kept in [(0.4, [1]), (0.5, [1]), (0.6, [1, 3]), (0.8, [1, 2, 3]), (0.95, [0, 1, 2, 3])]:
        assert top_p(logits, mass)[0].isfinite().nonzero().flatten().tolist() == kept


def test_min_p_is_a_share_of_the_likeliest() -> None:
    logits = torch.tensor([[0.1, 0.5, 0.15, 0.25]], dtype=torch.float64).log()
    for share, kept in [(0.0001, [0, 1, 2, 3]), (0.25, [1, 2, 3]), (0.4, [1, 3]), (0.6, [1]), (1.0, [1])]:
        assert min_p(logits, share)[0].isfinite().nonzero().flatten().tolist() == kept


def test_without_options_nothing_is_narrowed() -> None:
    logits = torch.randn(3, 7)
    assert torch.equal(narrow(logits, Decoding(sample=True, top_k=50)), logits)


def test_repeats_are_blocked_row_by_row() -> None:
    prefix = torch.tensor([[5, 6, 5, 7, 5], [1, 2, 3, 1, 2], [1, 2, 3, 4, 5]])

    def blocked(size: int) -> list[list[int]]:
        logits = block_repeats(torch.zeros(3, 9), prefix, size)
        return [row.isinf().nonzero().flatten().tolist() for row in logits]

    assert blocked(1) == [[5, 6, 7], [1, 2, 3], [1, 2, 3, 4, 5]]
    assert blocked(2) == [[6, 7], [3], []]
    assert blocked(3) == [[], [3], []]
    assert blocked(6) == [[], [], []]
