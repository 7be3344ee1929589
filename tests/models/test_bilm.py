"""A biLM sees one side of each token alone, whatever the padding; ELMo's mix is its formula."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from regard.config import ConfigError, from_json, to_json
from regard.models import BiLM, BiLMModel, ModelConfig, RecurrentEncoder, Tagger, TaggerModel
from regard.models.bilm import LayerMix
from regard.nn.call.masks import real_tokens
from tests.helpers import randomise

VOCABULARY = 40
LENGTHS = torch.tensor([7, 5, 1])
KEEP = real_tokens(LENGTHS, 7)
CONFIGS = {
    "plain": BiLM(vocabulary=VOCABULARY, width=12, residual=False),
    "residual": BiLM(vocabulary=VOCABULARY, width=12, layers=3),
    "projected": BiLM(vocabulary=VOCABULARY, width=12, hidden=20),
    "elmo": BiLM(vocabulary=VOCABULARY, width=12, hidden=20, mix=True, head=None),
}
every_config = pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)


def built(config: ModelConfig) -> BiLMModel:
    model = config.build()
    randomise(model)
    assert isinstance(model, BiLMModel)
    return model.eval()


def tokens(batch: int = 3, length: int = 7) -> Tensor:
    return torch.randint(4, VOCABULARY, (batch, length))


@every_config
def test_a_layer_never_sees_beyond_its_own_token(config: BiLM) -> None:
    model, text = built(config), tokens()
    changed = text.clone()
    changed[:, 3] = (changed[:, 3] + 1) % VOCABULARY
    before, after = model.layers(text), model.layers(changed)
    for layer in range(1, config.layers + 1):
        ahead, ahead_changed = before[0][layer], after[0][layer]
        torch.testing.assert_close(ahead[:, :3], ahead_changed[:, :3], rtol=0, atol=0)
        assert (ahead[:, 3:] != ahead_changed[:, 3:]).any(-1).all()  # all that follows has heard of it
        back, back_changed = before[1][layer], after[1][layer]
        torch.testing.assert_close(back[:, 4:], back_changed[:, 4:], rtol=0, atol=0)
        assert (back[:, :4] != back_changed[:, :4]).any(-1).all()


@every_config
def test_padding_never_changes_an_output(config: BiLM) -> None:
    model, text = built(config), tokens()
    together = model.encode(text, KEEP)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = model.encode(text[row : row + 1, :length])
        torch.testing.assert_close(together.states[row, :length], alone.states[0])
        assert together.summary is not None
        assert alone.summary is not None
        torch.testing.assert_close(together.summary[row], alone.summary[0])
    other = torch.where(KEEP, text, (text + 1) % VOCABULARY)
    assert torch.equal(model.encode(other, KEEP).states[KEEP], together.states[KEEP])


def test_padding_in_front_is_refused() -> None:
    with pytest.raises(ValueError, match="padding comes last"):
        built(CONFIGS["plain"]).encode(tokens(), KEEP.flip(1))


def test_each_direction_is_pytorchs_own_lstm() -> None:
    model, text = built(CONFIGS["plain"]), tokens()
    forward, backward = model.layers(text)
    for kernels, states, x in (
        (model.ahead, forward, forward[0]),
        (model.back, [state.flip(1) for state in backward], forward[0].flip(1)),
    ):
        whole = nn.LSTM(12, 12, num_layers=2, batch_first=True)
        for layer, kernel in enumerate(kernels):
            for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
                getattr(whole, f"{name}_l{layer}").data.copy_(getattr(kernel, f"{name}_l0"))
        torch.testing.assert_close(states[-1], whole(x)[0])


def test_a_residual_connection_adds_the_layer_below_from_the_second_on() -> None:
    model, text = built(CONFIGS["residual"]), tokens()
    (x, one, two, three), _ = model.layers(text)
    torch.testing.assert_close(one, model.ahead[0](x)[0])
    torch.testing.assert_close(two, model.ahead[1](one)[0] + one)
    torch.testing.assert_close(three, model.ahead[2](two)[0] + two)


def test_cells_are_projected_to_the_width() -> None:
    model = built(CONFIGS["projected"])
    assert model.ahead[0].hidden_size == 20
    assert model.encode(tokens()).states.shape == (3, 7, 24)
    with pytest.raises(ConfigError, match="hidden 8 is less than the width 12"):
        BiLM(vocabulary=VOCABULARY, width=12, hidden=8)


def test_elmo_is_its_formula() -> None:
    """arXiv:1802.05365, equation 1: gamma · Σ_j s_j h_j, where h_0 is the token's vector twice and s a softmax."""
    model, text = built(CONFIGS["elmo"]), tokens()
    assert model.mix is not None
    model.mix.scores.data.copy_(torch.tensor([0.3, -1.0, 2.0]))
    model.mix.gamma.data.fill_(1.7)
    weights = torch.tensor([0.3, -1.0, 2.0]).exp()
    weights = weights / weights.sum()
    forward, backward = model.layers(text)
    expected = torch.zeros(3, 7, 24)
    for layer in range(3):
        expected += 1.7 * weights[layer] * torch.cat([forward[layer], backward[layer]], -1)
    torch.testing.assert_close(model.encode(text).states, expected)
    assert torch.equal(forward[0], backward[0])


def test_a_fresh_mix_is_the_mean_of_the_layers() -> None:
    layers = [torch.randn(2, 3, 4) for _ in range(3)]
    torch.testing.assert_close(LayerMix(3)(layers), torch.stack(layers).mean(0))


def test_inside_another_model_it_is_elmo_and_predicts_nothing() -> None:
    inside = CONFIGS["projected"].inside()
    assert inside == CONFIGS["elmo"]
    plain = RecurrentEncoder(vocabulary=9)
    assert plain.inside() is plain


@every_config
def test_every_parameter_learns(config: BiLM) -> None:
    model = built(config).train()
    loss = model.encode(tokens()).states.square().sum()
    if model.head is not None:
        loss = loss + model(tokens()).square().sum()
    loss.backward()
    assert [name for name, parameter in model.named_parameters() if parameter.grad is None] == []


# --- taggers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "reader", [RecurrentEncoder(vocabulary=VOCABULARY, width=12, hidden=8), CONFIGS["elmo"]], ids=["recurrent", "elmo"]
)
def test_a_tagger_scores_every_token_whatever_the_padding(reader: RecurrentEncoder | BiLM) -> None:
    config = Tagger(labels=5, reader=reader, states_dropout=0.3)
    assert from_json(ModelConfig, to_json(config)) == config
    assert config.text() is reader
    model, text = config.build(), tokens()
    randomise(model)
    assert isinstance(model, TaggerModel)
    together = model.eval()(text, KEEP)
    assert together.shape == (3, 7, 5)
    for row, length in enumerate(LENGTHS.tolist()):
        torch.testing.assert_close(together[row, :length], model(text[row : row + 1, :length])[0])


def test_a_tagger_takes_no_reader_that_cannot_read() -> None:
    from regard.zoo import get

    with pytest.raises(ConfigError, match="reader"):
        Tagger(labels=2, reader=get("gpt2"))  # type: ignore[arg-type]
