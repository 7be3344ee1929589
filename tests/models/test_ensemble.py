"""Several translators as one: the mean of their probabilities, at once and step by step, whatever they are made of."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import regard
from regard.decoding import Decoding, translate
from regard.models import Ensemble, SourceWriter
from regard.nn.heads import Head
from tests.decoding.reference import END, START

VOCABULARY = 30
SOURCE = torch.randint(4, VOCABULARY, (3, 6), generator=torch.Generator().manual_seed(1))
KEEP = torch.tensor([[True] * 6, [True] * 4 + [False] * 2, [True] * 5 + [False]])


def member(seed: int, preset: str = "transformer-tiny", **changes: object) -> SourceWriter:
    torch.manual_seed(seed)
    model = regard.build(preset, vocabulary=VOCABULARY, **changes).eval()
    assert isinstance(model, SourceWriter)
    return model


def small(seed: int, width: int = 16) -> SourceWriter:
    return member(seed, layers=1, width=width, heads=2, hidden=24)


def recurrent(seed: int) -> SourceWriter:
    return member(seed, "bahdanau-2015", width=12, hidden=10)


def mean(models: list[SourceWriter], target: Tensor) -> Tensor:
    """The log of it, by the definition."""
    with torch.no_grad():
        return torch.stack([model(SOURCE, target, KEEP).softmax(-1) for model in models]).mean(0).log()


MEMBERS = {
    "alike": [small(1), small(2), small(3)],
    "of two widths": [small(1), small(2, width=24)],
    "of two families": [small(1), recurrent(2)],
}


@pytest.mark.parametrize("name", MEMBERS)
def test_a_word_has_the_mean_of_its_probabilities_at_once_and_step_by_step(name: str) -> None:
    models = MEMBERS[name]
    target = torch.randint(4, VOCABULARY, (3, 5), generator=torch.Generator().manual_seed(2))
    together = Ensemble(models)
    expected = mean(models, target)
    torch.testing.assert_close(together(SOURCE, target, KEEP).detach(), expected)
    state = together.begin(together.encode(SOURCE, KEEP))
    for place in range(5):
        found = together.step(target[:, place : place + 1], state)
        torch.testing.assert_close(found, expected[:, place], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("beam", [1, 3])
@pytest.mark.parametrize("name", MEMBERS)
def test_what_is_found_has_the_probability_that_the_mean_gives_to_it(name: str, beam: int) -> None:
    together = Ensemble(MEMBERS[name])
    found = translate(together, SOURCE, KEEP, Decoding(beam=beam, max_length=6), START, END)
    for row, (best, *_) in enumerate(found):
        written = [*best.tokens, *([END] if best.finished else [])]
        target = torch.tensor([[START, *written[:-1]]]).expand(3, -1)
        logs = mean(MEMBERS[name], target)[row]
        assert best.log_prob == pytest.approx(sum(float(logs[i, token]) for i, token in enumerate(written)), abs=1e-4)
        if beam == 1:
            assert best.tokens == logs.argmax(-1).tolist()[: len(best.tokens)]


def test_one_twice_is_itself() -> None:
    model = small(1)
    options = Decoding(beam=4, max_length=8, nbest=2)
    alone, twice = (translate(one, SOURCE, KEEP, options, START, END) for one in (model, Ensemble([model, model])))
    assert [[best.tokens for best in row] for row in twice] == [[best.tokens for best in row] for row in alone]


def test_other_words_are_refused() -> None:
    other = regard.build("transformer-tiny", vocabulary=31, layers=1, width=16, heads=2, hidden=24)
    assert isinstance(other, SourceWriter)
    with pytest.raises(ValueError, match="models of 30 and 31 words cannot write together"):
        Ensemble([small(1), other])


@pytest.mark.parametrize("barred", [None, END])
def test_the_best_words_are_those_of_all_logits(barred: int | None) -> None:
    together = Ensemble(MEMBERS["of two widths"])
    hidden = torch.randn(5, 40, generator=torch.Generator().manual_seed(3))
    with torch.no_grad():
        values, words, totals = together.head.best(hidden, 4, barred)
        expected, places, sums = Head.best(together.head, hidden, 4, barred)
    assert torch.equal(words, places)
    torch.testing.assert_close(values - totals[:, None], expected - sums[:, None])
