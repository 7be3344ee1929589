"""Every position scheme keeps the same promises, cached or not, padded on either side or not at all."""

from __future__ import annotations

import pytest
import torch

from regard.nn.call.masks import Mask, real_tokens
from regard.nn.positions import PositionConfig
from tests.helpers import POSITIONS, built, decoder, encoder, encoder_decoder, label, tokens

every_position = pytest.mark.parametrize("scheme", POSITIONS, ids=label)
LENGTHS = torch.tensor([6, 2, 4])


def close(one: torch.Tensor, other: torch.Tensor) -> None:
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-5)


@every_position
@pytest.mark.parametrize("mask", [Mask(), Mask(window=2)], ids=["causal", "window"])
def test_cached_steps_equal_the_full_pass(scheme: PositionConfig, mask: Mask) -> None:
    model, sentence = built(decoder(position=scheme)), tokens(2, 12)
    expected = model(sentence, mask=mask)
    state = model.begin(mask)
    logits = model.step(sentence[:, :1], state)
    close(logits, expected[:, 0])
    logits = model.step(sentence[:, 1:5], state)  # several at once
    close(logits, expected[:, 4])
    for place in range(5, 12):
        logits = model.step(sentence[:, place : place + 1], state)
        close(logits, expected[:, place])


@every_position
@pytest.mark.parametrize("side", ["left", "right"])
def test_padded_prompts_go_on_as_each_row_would_alone(scheme: PositionConfig, side: str) -> None:
    model = built(decoder(position=scheme))
    keep = real_tokens(LENGTHS, 6) if side == "right" else real_tokens(LENGTHS, 6).flip(1)
    prompt, more = tokens(3, 6), tokens(3, 4)
    state = model.begin()
    logits = model.step(prompt, state, keep)
    alone = [prompt[row : row + 1, keep[row]] for row in range(3)]
    close(logits, torch.cat([model(row)[:, -1] for row in alone]))
    for place in range(4):
        logits = model.step(more[:, place : place + 1], state)
        alone = [torch.cat([row, more[i : i + 1, place : place + 1]], dim=1) for i, row in enumerate(alone)]
        close(logits, torch.cat([model(row)[:, -1] for row in alone]))


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
    batch = tokens(3, 6)
    states = model(batch, keep)
    for row in range(3):
        close(states[row, keep[row]], model(batch[row : row + 1, keep[row]])[0])


@every_position
def test_an_encoder_decoder_steps_as_it_passes(scheme: PositionConfig) -> None:
    if getattr(scheme, "join", "") == "concat":
        pytest.skip("a tied head needs the whole width")
    model = built(encoder_decoder(position=scheme))
    source, target, keep = tokens(3, 6), tokens(3, 7), real_tokens(LENGTHS, 6)
    expected = model(source, target, keep)
    state = model.begin(model.encode(source, keep))
    for place in range(7):
        logits = model.step(target[:, place : place + 1], state)
        close(logits, expected[:, place])


@every_position
def test_gradients_reach_every_parameter(scheme: PositionConfig) -> None:
    model = built(decoder(position=scheme)).train()
    sentence = tokens(3, 24)
    model.head.loss(model.features(sentence), sentence).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


@every_position
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16, torch.float16])
def test_precision_stays_what_it_was(scheme: PositionConfig, dtype: torch.dtype) -> None:
    model, sentence = built(decoder(position=scheme)).to(dtype), tokens(2, 5)
    assert model(sentence).dtype == dtype
    assert model(sentence, real_tokens(torch.tensor([5, 3]), 5)).dtype == dtype
    assert model.step(sentence, model.begin()).dtype == dtype
