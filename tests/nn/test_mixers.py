"""A convolution or a recurrence in the place of attention keeps the promises of attention."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from regard.config import ConfigError, change, to_dict
from regard.decoding import Decoding, translate
from regard.nn.attention import MixerConfig
from regard.nn.call.masks import real_tokens
from regard.nn.mixers import Convolution, Recurrence
from regard.nn.positions import NoPosition, Position
from tests.contracts.promises import future_cannot_leak, prompts_go_on_alone, rows_stand_alone, steps_equal_the_pass
from tests.helpers import built, decoder, encoder, encoder_decoder, label, tokens, whole

MIXERS = [Convolution(), Convolution(taps=5), Recurrence(), Recurrence(cell="lstm")]
every_mixer = pytest.mark.parametrize("mixer", MIXERS, ids=label)


@every_mixer
def test_the_future_cannot_leak(mixer: MixerConfig) -> None:
    future_cannot_leak(built(decoder(attention=mixer, position=NoPosition())), tokens(2, 9))


@every_mixer
def test_cached_steps_equal_the_full_pass(mixer: MixerConfig) -> None:
    model, sentence = built(decoder(attention=mixer, position=NoPosition())), tokens(2, 9)
    steps_equal_the_pass(model, model.begin(), sentence, model(sentence), 4)


@every_mixer
def test_padded_prompts_go_on_as_each_row_would_alone(mixer: MixerConfig) -> None:
    model = built(decoder(attention=mixer, position=NoPosition()))
    prompts_go_on_alone(model, tokens(3, 6), real_tokens(torch.tensor([6, 2, 4]), 6), tokens(3, 2))


@every_mixer
def test_padding_never_changes_an_output_of_an_encoder(mixer: MixerConfig) -> None:
    model = built(encoder(attention=mixer, position=NoPosition()))
    rows_stand_alone(model, tokens(3, 6), real_tokens(torch.tensor([6, 2, 4]), 6))


@every_mixer
def test_beams_that_cannot_share_a_row_have_one_each(mixer: MixerConfig) -> None:
    config = encoder_decoder(position=NoPosition())
    block = {"encoder.block.attention": mixer, "decoder.block.attention": mixer}
    model = built(change(config, {name: to_dict(part) for name, part in block.items()}))
    assert not model.branches
    source = tokens(3, 5)
    together = translate(model, source, None, Decoding(beam=3), start=1, end=2)
    for row, found in enumerate(together):
        alone = translate(model, source[row : row + 1], None, Decoding(beam=3), start=1, end=2)[0]
        assert found[0].tokens == alone[0].tokens


def test_a_convolution_is_the_sum_over_its_taps() -> None:
    layer, x = Convolution(taps=3).build(4, Position(), causal=False), torch.randn(2, 6, 4)
    torch.nn.init.normal_(layer.taps.weight)
    torch.nn.init.normal_(layer.taps.bias)
    padded = F.pad(x, (0, 0, 1, 1))
    expected = sum(padded[:, tap : tap + 6] @ layer.taps.weight[:, 4 * tap : 4 * tap + 4].T for tap in range(3))
    torch.testing.assert_close(layer(x, whole(2, 6)), expected + layer.taps.bias)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ConfigError, match="4 taps have no middle"):
        Convolution(taps=4).build(8, Position(), causal=False)
    with pytest.raises(ConfigError, match="width 7 cannot be shared out"):
        Recurrence().build(7, Position(), causal=False)
    with pytest.raises(ConfigError, match="'convolution' cannot attend to a memory"):
        Convolution().build_cross(8, 8)
