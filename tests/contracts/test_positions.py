"""Every position scheme keeps the same promises, cached or not, padded on either side or not at all."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch
from torch import Tensor, nn

import regard
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask, real_tokens
from regard.nn.positions import HeadDims, NoPosition, Position, PositionConfig
from tests.contracts.promises import close, gradients_reach, prompts_go_on_alone, rows_stand_alone, steps_equal_the_pass
from tests.helpers import POSITIONS, built, decoder, encoder, encoder_decoder, label, tokens

every_position = pytest.mark.parametrize("scheme", POSITIONS, ids=label)
LENGTHS = torch.tensor([6, 2, 4])


@every_position
@pytest.mark.parametrize("mask", [Mask(), Mask(window=2)], ids=["causal", "window"])
def test_cached_steps_equal_the_full_pass(scheme: PositionConfig, mask: Mask) -> None:
    model, sentence = built(decoder(position=scheme)), tokens(2, 12)
    steps_equal_the_pass(model, model.begin(mask), sentence, model(sentence, mask=mask), 1, 4)


@every_position
@pytest.mark.parametrize("side", ["left", "right"])
def test_padded_prompts_go_on_as_each_row_would_alone(scheme: PositionConfig, side: str) -> None:
    model = built(decoder(position=scheme))
    keep = real_tokens(LENGTHS, 6) if side == "right" else real_tokens(LENGTHS, 6).flip(1)
    prompts_go_on_alone(model, tokens(3, 6), keep, tokens(3, 4))


@every_position
def test_rows_can_be_reordered_in_the_middle(scheme: PositionConfig) -> None:
    model, rows = built(decoder(position=scheme)), torch.tensor([1, 1, 0])
    prompt, more = tokens(3, 5), tokens(3, 1)
    keep = real_tokens(torch.tensor([5, 3, 4]), 5)
    state = model.begin()
    model.step(prompt, state, keep)
    state.select(rows)
    logits = model.step(more, state)
    alone = [torch.cat([prompt[row, keep[row]], more[i]])[None] for i, row in enumerate(rows.tolist())]
    close(logits, torch.cat([model(row)[:, -1] for row in alone]))


@every_position
@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_never_changes_an_output_of_an_encoder(scheme: PositionConfig, side: str) -> None:
    model = built(encoder(position=scheme))
    keep = real_tokens(LENGTHS, 6) if side == "right" else real_tokens(LENGTHS, 6).flip(1)
    rows_stand_alone(model, tokens(3, 6), keep)


@every_position
def test_an_encoder_decoder_steps_as_it_passes(scheme: PositionConfig) -> None:
    if getattr(scheme, "join", "") == "concat":
        pytest.skip("a tied head needs the whole width")
    model = built(encoder_decoder(position=scheme))
    source, target, keep = tokens(3, 6), tokens(3, 7), real_tokens(LENGTHS, 6)
    state = model.begin(model.encode(source, keep))
    steps_equal_the_pass(model, state, target, model(source, target, keep))


@every_position
def test_gradients_reach_every_parameter(scheme: PositionConfig) -> None:
    model = built(decoder(position=scheme)).train()
    sentence = tokens(3, 24)
    model.head.loss(model.features(sentence), sentence).backward()
    gradients_reach(model)


@every_position
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_precision_stays_what_it_was(scheme: PositionConfig, dtype: torch.dtype) -> None:
    model, sentence = built(decoder(position=scheme)).to(dtype), tokens(2, 5)
    assert model(sentence).dtype == dtype
    assert model(sentence, real_tokens(torch.tensor([5, 3]), 5)).dtype == dtype
    assert model.step(sentence, model.begin()).dtype == dtype


@dataclass(frozen=True)
class Turning(PositionConfig):
    """Somebody's own scheme, which turns queries by a matrix and does not say what that costs."""

    def build(self, dims: HeadDims) -> Position:
        return TurningPosition(dims)


class TurningPosition(Position):
    def __init__(self, dims: HeadDims) -> None:
        super().__init__()
        self.turn = nn.Linear(dims.key_width, dims.key_width)

    def place(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> tuple[Tensor, Tensor, Tensor]:
        return self.turn(q), k, v


def test_what_a_scheme_multiplies_without_a_formula_is_counted() -> None:
    turning, plain = (
        regard.describe(decoder(position=scheme), batch=2, length=6) for scheme in (Turning(), NoPosition())
    )
    layers, width, head_width = 2, 32, 8
    assert turning.multiply_adds - plain.multiply_adds == 2 * 6 * layers * width * head_width
