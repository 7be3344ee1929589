"""Language models that are layers between word vectors and head: steps, padding and searches change nothing."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor, nn

from regard.config import ConfigError
from regard.decoding import Decoding, complete
from regard.models import LSTMN, RecurrentDecoder, Snail
from regard.models.layered import LayeredConfig, LayeredWriter
from regard.nn.call.masks import real_tokens
from regard.nn.heads import LinearHead, LinearOutput
from regard.nn.recurrent.temporal import TemporalLayers
from tests.contracts.promises import future_cannot_leak, rows_stand_alone, steps_equal_the_pass
from tests.decoding.reference import END, assert_same, beam, completing, greedy
from tests.helpers import VOCABULARY

LENGTHS = torch.tensor([7, 5, 3])
KEEP = real_tokens(LENGTHS, 7)
SMALL = {"vocabulary": VOCABULARY, "width": 16, "hidden": 12, "layers": 2}
WRITERS: dict[str, LayeredConfig] = {
    **{cell: RecurrentDecoder(cell=cell, **SMALL) for cell in ("rnn", "gru", "lstm")},  # type: ignore[arg-type]
    "lstm-as-wide": RecurrentDecoder(**{**SMALL, "hidden": 16}),  # type: ignore[arg-type]
    "lstmn": LSTMN(**SMALL),  # type: ignore[arg-type]
    "snail": Snail(
        vocabulary=VOCABULARY, width=16, layers=TemporalLayers(length=8, filters=6, keys=(5, 7), values=(4, 3))
    ),
}
every_writer = pytest.mark.parametrize("config", WRITERS.values(), ids=WRITERS)


def built(config: LayeredConfig) -> LayeredWriter:
    model = config.build()
    assert isinstance(model, LayeredWriter)
    return model.eval()


def tokens(batch: int, length: int) -> Tensor:
    return torch.randint(4, VOCABULARY, (batch, length))


@every_writer
def test_padding_never_changes_an_output(config: LayeredConfig) -> None:
    rows_stand_alone(built(config), tokens(3, 7), KEEP)


@every_writer
def test_the_future_cannot_leak(config: LayeredConfig) -> None:
    future_cannot_leak(built(config), tokens(2, 6))


@every_writer
@pytest.mark.parametrize("prompt", [1, 2, 4])
def test_steps_equal_the_full_pass(config: LayeredConfig, prompt: int) -> None:
    model, read = built(config), tokens(3, 9)
    steps_equal_the_pass(model, model.begin(), read, model(read), prompt)


@every_writer
def test_prompts_of_several_lengths_go_on_as_each_alone(config: LayeredConfig) -> None:
    model, prompts = built(config), tokens(3, 7)
    found = complete(model, prompts, KEEP, Decoding(max_length=4), END)
    for row, length in enumerate(LENGTHS.tolist()):
        assert_same(found[row], [greedy(completing(model, prompts[row : row + 1, :length]), 4)], tolerance=1e-4)


@every_writer
def test_beam_search_is_the_plain_search(config: LayeredConfig) -> None:
    model, prompts = built(config), tokens(3, 4)
    found = complete(model, prompts, None, Decoding(beam=3, nbest=3, max_length=5), END)
    for row in range(3):
        assert_same(found[row], beam(completing(model, prompts[row : row + 1]), 5, 3), tolerance=1e-4)


@every_writer
def test_the_same_seed_draws_the_same(config: LayeredConfig) -> None:
    model, prompts = built(config), tokens(2, 4)
    options = Decoding(sample=True, temperature=0.8, top_k=10, max_length=6, seed=3)
    one, other = (complete(model, prompts, None, options, END) for _ in range(2))
    assert [row[0].tokens for row in one] == [row[0].tokens for row in other]


@every_writer
def test_padding_that_does_not_come_last_is_refused(config: LayeredConfig) -> None:
    model, read = built(config), tokens(3, 7)
    with pytest.raises(ValueError, match="padding comes last"):
        model(read, KEEP.flip(1))
    with pytest.raises(ValueError, match="padding comes last"):
        model.step(read, model.begin(), KEEP.flip(1))


# --- recurrent ones ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cell", ["rnn", "gru", "lstm"])
def test_a_recurrent_one_is_pytorchs_kernel_between_a_table_and_a_head(cell: str) -> None:
    model, read = built(WRITERS[cell]), tokens(2, 5)
    states, _ = model.decoder.kernel(model.embedding.tokens(read))  # type: ignore[operator]
    assert model.out is not None
    assert isinstance(model.head, LinearOutput)
    expected = nn.functional.linear(model.out(states), model.embedding.tokens.weight, model.head.bias)
    torch.testing.assert_close(model(read), expected)


def test_a_head_shares_the_token_table_unless_told() -> None:
    for tied in (True, False):
        model = built(replace(WRITERS["lstm"], head=LinearHead(tied=tied)))
        assert isinstance(model.head, LinearOutput)
        assert (model.head.weight is model.embedding.tokens.weight) == tied


def test_in_a_recurrent_one_there_is_nothing_to_watch() -> None:
    assert built(WRITERS["lstm"]).attention_names() == []
    assert built(WRITERS["lstm"]).cache_values() == (0, 0)


def test_an_unknown_cell_is_refused() -> None:
    with pytest.raises(ConfigError, match="cell"):
        RecurrentDecoder(vocabulary=VOCABULARY, cell="sru")  # type: ignore[arg-type]
