"""A small model writes ahead: the text is the large model's own, whatever the small one proposes."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from regard.config import change
from regard.decoding import Decoding
from regard.decoding.reading import Prefix
from regard.decoding.speculative import Speculating
from regard.decoding.stream import Written, write_on
from regard.models import RecurrentDecoder
from regard.models.base import State
from tests.decoding.reference import END, START, ending
from tests.helpers import VOCABULARY, decoder

PROMPT = [START, 5, 9, 7]


def small(seed: int, bias: float) -> Any:
    torch.manual_seed(seed)
    return ending(change(decoder(), {"layers": 1}), bias)


def spoken(source: Speculating, count: int) -> list[Written]:
    found: list[Written] = []
    while len(found) < count and (more := source.step()):
        found += [one for _, one in more]
    return found[:count]


@pytest.mark.parametrize("bias", [-9.0, 1.0])
@pytest.mark.parametrize("windows", [(None, None), (12, 9), (12, 3), (9, 40)])
@pytest.mark.parametrize("search", [Decoding(), Decoding(no_repeat=2, min_length=8), Decoding(repetition_penalty=1.4)])
@pytest.mark.parametrize("ahead", [1, 4, 7])
def test_greedy_is_the_same_token_for_token(bias: float, windows: Any, search: Decoding, ahead: int) -> None:
    model, draft = ending(decoder(), bias), small(5, bias)
    plain = list(write_on(model, PROMPT, search, END, 40, windows[0]))
    source = Speculating(model, draft, PROMPT, search, END, ahead, *windows)
    found = spoken(source, 40)
    assert [one.token for one in found] == [one.token for one in plain]
    assert [one.log_prob for one in found] == pytest.approx([one.log_prob for one in plain])


def test_a_model_that_writes_ahead_for_itself_is_always_right() -> None:
    model = ending(decoder(), bias=-9.0)
    for search in (Decoding(), Decoding(sample=True, seed=1)):
        source = Speculating(model, model, PROMPT, search, END, ahead=4, window=40)
        assert len(spoken(source, 30)) == 30
        assert source.kept == source.proposed > 20


SEARCHES = {
    "plain": Decoding(sample=True),
    "narrow": Decoding(sample=True, temperature=0.7, top_k=3, min_p=0.05),
    "penalised": Decoding(sample=True, repetition_penalty=1.5, top_p=0.9),
}


class Bigrams(nn.Module):
    """As quick as a language model can be: what follows a token is known from it alone."""

    longest, rewinds = None, True

    def __init__(self, words: int, seed: int) -> None:
        super().__init__()
        table = torch.randn(words, words, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
        self.table, self.head = nn.Parameter(table), SimpleNamespace(logits=lambda hidden: hidden)

    def begin(self) -> State:
        return State()

    def read_all(self, tokens: Tensor, state: State) -> Tensor:
        state.length += tokens.shape[1]
        return self.table[tokens]

    def forward(self, tokens: Tensor) -> Tensor:
        return self.table[tokens]


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_the_distribution_is_the_large_models_own(search: Decoding) -> None:
    """Texts of three tokens over five words: how often each came, against its exact probability."""
    draws, length, words = 1500, 3, 5
    model: Any = Bigrams(words, seed=1)
    draft: Any = Bigrams(words, seed=2)
    generator = torch.Generator().manual_seed(3)
    counts: Counter[tuple[int, ...]] = Counter()
    kept = proposed = 0
    for _ in range(draws):
        source = Speculating(model, draft, [START, 4], search, END, 2, generator=generator)
        counts[tuple(one.token for one in spoken(source, length))] += 1
        kept, proposed = kept + source.kept, proposed + source.proposed
    assert 0.1 < kept / proposed < 0.9  # both ways are taken
    chi_squared, freedom = 0.0, -1
    rare = rare_hope = 0.0
    for text, chance in exact(model, search, length, words).items():
        hope = draws * chance
        if hope < 5:
            rare, rare_hope = rare + counts[text], rare_hope + hope
        else:
            chi_squared, freedom = chi_squared + (counts[text] - hope) ** 2 / hope, freedom + 1
        if chance == 0:
            assert counts[text] == 0
    if rare_hope > 1:
        chi_squared, freedom = chi_squared + (rare - rare_hope) ** 2 / rare_hope, freedom + 1
    assert freedom > 4
    assert chi_squared < freedom + 4 * math.sqrt(2 * freedom)


def exact(model: Any, search: Decoding, length: int, words: int) -> dict[tuple[int, ...], float]:
    """The chance of every text of at most so many tokens, by the filters on the model's own logits."""
    from regard.decoding.single import chances

    follow: dict[tuple[int, ...], torch.Tensor] = {}
    for size in range(length):
        for text in itertools.product(range(words), repeat=size):
            with torch.no_grad():
                logits = model(torch.tensor([[START, 4, *text]]))[:, -1]
            follow[text] = chances(logits, torch.tensor([text], dtype=torch.long), END, search)[0]
    found: dict[tuple[int, ...], float] = {}
    for text in itertools.product(range(words), repeat=length):
        end = text.index(END) + 1 if END in text else length
        own = text[:end]
        found[own] = math.prod(float(follow[own[:place]][own[place]]) for place in range(end))
    assert sum(found.values()) == pytest.approx(1.0)
    return found


def test_a_text_that_is_read_again_costs_only_what_differs() -> None:
    model = ending(decoder())
    reading, sizes = Prefix(model), list[int]()
    plain = model.read_all
    model.read_all = lambda tokens, state: sizes.append(tokens.shape[1]) or plain(tokens, state)
    for text in ([1, 5, 6], [1, 5, 6, 7], [1, 5, 8, 9], [3, 4], [3, 4]):
        with torch.no_grad():
            expected = model(torch.tensor([text]))[0, -1:]
        torch.testing.assert_close(reading.follow(text), expected)
    assert sizes == [3, 1, 2, 2, 1]


def test_recurrent_models_are_refused_in_one_sentence() -> None:
    recurrent: Any = ending(RecurrentDecoder(vocabulary=VOCABULARY, width=16, hidden=12))
    for pair in ((recurrent, ending(decoder())), (ending(decoder()), recurrent)):
        with pytest.raises(ValueError, match="a model of kind recurrent-decoder with a recurrent state cannot write"):
            Speculating(*pair, PROMPT, Decoding(), END)
