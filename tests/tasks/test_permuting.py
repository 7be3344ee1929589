"""What is predicted and who sees it: the share, spans, special tokens, the order."""

from __future__ import annotations

import math

import numpy as np
import torch

from regard.data.tokenizers import Tokenizer
from regard.tasks.pretraining.masking import IGNORED
from regard.tasks.pretraining.permuting import Permuting

TOKENIZER = Tokenizer.train(["a cat sat on a mat", "a dog sat on a log"], "word", 12, mask=True, closes=True)


def text(batch: int, length: int) -> torch.Tensor:
    """Ordinary tokens, the end and the start behind them."""
    rows = [TOKENIZER.framed([4 + (i + row) % 6 for i in range(length - 2)]) for row in range(batch)]
    return torch.from_numpy(np.stack(rows))


def test_one_token_of_six_is_predicted_and_never_a_special_one() -> None:
    tokens, drawn = text(4000, 252), Permuting(TOKENIZER)
    asked = drawn(tokens, None, torch.Generator().manual_seed(0))
    real = asked.targets != IGNORED
    share = float(real.sum()) / (4000 * 250)
    spread = 3 * math.sqrt(
        5 / 36 * 11 / 3 / (4000 * 250)
    )  # as if spans, of 11/3 tokens for a token in one, fell freely
    assert abs(share - 1 / 6) < spread
    assert torch.equal(tokens.gather(1, asked.places)[real], asked.targets[real])
    assert not torch.isin(asked.targets[real], torch.tensor(sorted(TOKENIZER.specials))).any()
    chosen = torch.zeros_like(tokens, dtype=torch.bool).scatter(1, asked.places, real)
    lengths = runs(chosen)
    assert 2.5 < lengths.float().mean() < 3.6  # of 1 to 5; some touch


def runs(chosen: torch.Tensor) -> torch.Tensor:
    edges = torch.nn.functional.pad(chosen, (1, 1)).long().diff(dim=1)
    return (edges == -1).nonzero()[:, 1] - (edges == 1).nonzero()[:, 1]


def test_everyone_sees_what_is_given_and_only_the_asked_see_those_before_them() -> None:
    asked = Permuting(TOKENIZER, share=2)(text(8, 20), None, torch.Generator().manual_seed(1))
    for row in range(8):
        places = asked.places[row][asked.targets[row] != IGNORED].tolist()
        given = [place for place in range(20) if place not in places]
        visible = asked.visible[row]
        assert visible[:, given].all()
        assert not visible[given][:, places].any()
        between = visible[places][:, places]
        assert not between.diagonal().any()
        assert torch.equal(between ^ between.T, ~torch.eye(len(places), dtype=torch.bool))  # one of two sees the other
        assert sorted(between.sum(1).tolist()) == list(range(len(places)))  # an order


def test_a_short_row_has_one_and_padding_none() -> None:
    tokens = text(50, 6)
    keep = torch.ones_like(tokens, dtype=torch.bool)
    keep[:, 3:] = False
    asked = Permuting(TOKENIZER)(tokens, keep, torch.Generator().manual_seed(2))
    real = asked.targets != IGNORED
    assert real.any(1).all()
    assert (asked.places[real] < 3).all()
    special = torch.full((2, 3), TOKENIZER.end)
    assert Permuting(TOKENIZER)(special).targets.shape == (2, 0)
