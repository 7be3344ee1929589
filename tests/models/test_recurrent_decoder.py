"""Recurrent language models: PyTorch's own cells; steps, padding and searches change nothing."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.config import ConfigError
from regard.decoding import Decoding, complete
from regard.models import RecurrentDecoder, RecurrentDecoderModel
from regard.nn.call.masks import real_tokens
from regard.nn.heads import LinearHead, LinearOutput
from regard.nn.recurrent.layers import Cell
from tests.decoding.reference import END, assert_same, beam, completing, greedy

VOCABULARY = 40
LENGTHS = torch.tensor([7, 5, 3])
KEEP = real_tokens(LENGTHS, 7)
CELLS: tuple[Cell, ...] = ("rnn", "gru", "lstm")

every_cell = pytest.mark.parametrize("cell", CELLS)


def built(cell: Cell = "lstm", hidden: int = 12, **fields: object) -> RecurrentDecoderModel:
    config = RecurrentDecoder(
        vocabulary=VOCABULARY,
        width=16,
        hidden=hidden,
        layers=2,
        cell=cell,
        **fields,  # type: ignore[arg-type]
    )
    model = config.build()
    assert isinstance(model, RecurrentDecoderModel)
    return model.eval()


def tokens(batch: int, length: int) -> Tensor:
    return torch.randint(4, VOCABULARY, (batch, length))


@every_cell
def test_it_is_pytorchs_kernel_between_a_table_and_a_head(cell: Cell) -> None:
    model, read = built(cell), tokens(2, 5)
    states, _ = model.decoder.kernel(model.embedding.tokens(read))
    assert model.out is not None
    assert isinstance(model.head, LinearOutput)
    expected = nn.functional.linear(model.out(states), model.embedding.tokens.weight, model.head.bias)
    torch.testing.assert_close(model(read), expected)


@every_cell
def test_padding_never_changes_an_output(cell: Cell) -> None:
    model, read = built(cell), tokens(3, 7)
    together = model(read, KEEP)
    for row, length in enumerate(LENGTHS.tolist()):
        torch.testing.assert_close(together[row, :length], model(read[row : row + 1, :length])[0])


@every_cell
def test_the_future_cannot_leak(cell: Cell) -> None:
    model, read = built(cell), tokens(2, 6)
    before = model(read)
    changed = read.clone()
    changed[:, 3] = (changed[:, 3] + 1) % VOCABULARY
    after = model(changed)
    torch.testing.assert_close(after[:, :3], before[:, :3])
    assert not torch.allclose(after[:, 3:], before[:, 3:])


@every_cell
@pytest.mark.parametrize("hidden", [12, 16])
def test_steps_equal_the_full_pass(cell: Cell, hidden: int) -> None:
    model, read = built(cell, hidden), tokens(3, 6)
    expected = model(read)
    state = model.begin()
    logits = model.step(read[:, :2], state)
    torch.testing.assert_close(logits, expected[:, 1])
    for place in range(2, 6):
        logits = model.step(read[:, place : place + 1], state)
        torch.testing.assert_close(logits, expected[:, place])


@every_cell
def test_prompts_of_several_lengths_go_on_as_each_alone(cell: Cell) -> None:
    model, prompts = built(cell), tokens(3, 7)
    found = complete(model, prompts, KEEP, Decoding(max_length=4), END)
    for row, length in enumerate(LENGTHS.tolist()):
        assert_same(found[row], [greedy(completing(model, prompts[row : row + 1, :length]), 4)], tolerance=1e-4)


@every_cell
def test_beam_search_is_the_plain_search(cell: Cell) -> None:
    model, prompts = built(cell), tokens(3, 4)
    found = complete(model, prompts, None, Decoding(beam=3, nbest=3, max_length=5), END)
    for row in range(3):
        assert_same(found[row], beam(completing(model, prompts[row : row + 1]), 5, 3), tolerance=1e-4)


def test_the_same_seed_draws_the_same() -> None:
    model, prompts = built(), tokens(2, 4)
    options = Decoding(sample=True, temperature=0.8, top_k=10, max_length=6, seed=3)
    one, other = (complete(model, prompts, None, options, END) for _ in range(2))
    assert [row[0].tokens for row in one] == [row[0].tokens for row in other]


def test_padding_before_a_prompt_is_refused() -> None:
    with pytest.raises(ValueError, match="padding comes last"):
        complete(built(), tokens(3, 7), KEEP.flip(1), Decoding(), END)


def test_a_head_shares_the_token_table_unless_told() -> None:
    model = built()
    assert isinstance(model.head, LinearOutput)
    assert model.head.weight is model.embedding.tokens.weight
    untied = built(head=LinearHead(tied=False))
    assert isinstance(untied.head, LinearOutput)
    assert untied.head.weight is not untied.embedding.tokens.weight


def test_there_is_nothing_to_watch() -> None:
    assert built().attention_names() == []
    assert built().cache_values() == (0, 0)


def test_an_unknown_cell_is_refused() -> None:
    with pytest.raises(ConfigError, match="cell"):
        built("sru")  # type: ignore[arg-type]
