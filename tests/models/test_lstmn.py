"""The intra-attention reader: its paper's equations step by step, its gradient, its tape; padding changes nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import regard
from regard.fast import plain, quicken
from regard.models import LSTMN, LSTMNEncoder, LSTMNEncoderModel, LSTMNModel
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask, real_tokens
from regard.nn.call.watch import silenced
from regard.nn.recurrent.intra import IntraLayer
from tests.contracts.promises import steps_equal_the_pass
from tests.helpers import VOCABULARY, tokens

LENGTHS = torch.tensor([7, 5, 3])
KEEP = real_tokens(LENGTHS, 7)


def built(**fields: object) -> LSTMNModel:
    config = LSTMN(vocabulary=VOCABULARY, width=16, hidden=12, layers=2, **fields)  # type: ignore[arg-type]
    model = config.build()
    assert isinstance(model, LSTMNModel)
    return model.eval()


def by_hand(layer: IntraLayer, x: Tensor) -> tuple[Tensor, Tensor]:
    """Equations 4 to 9 of the paper, one row and one word at a time: hidden states (T, H) and weights (T, T)."""
    size, length = layer.hidden, len(x)
    w_x, gates_x = layer.enter.weight[:size], layer.enter.weight[size:]
    b_x, b = layer.enter.bias[:size], layer.enter.bias[size:]
    hidden: list[Tensor] = []
    memory: list[Tensor] = []
    recalled = x.new_zeros(size)
    rows = []
    for t in range(length):
        query = w_x @ x[t] + b_x + layer.recall.weight @ recalled
        scores = [layer.v @ torch.tanh(layer.key.weight @ h + query) for h in hidden]
        s = torch.stack(scores).softmax(0) if scores else x.new_zeros(0)
        recalled, kept = x.new_zeros(size), x.new_zeros(size)
        for weight, h, c in zip(s, hidden, memory, strict=True):
            recalled, kept = recalled + weight * h, kept + weight * c
        i, f, o, new = (gates_x @ x[t] + b + layer.gates.weight @ recalled).chunk(4)
        c = f.sigmoid() * kept + i.sigmoid() * new.tanh()
        memory.append(c)
        hidden.append(o.sigmoid() * c.tanh())
        rows.append(torch.cat([s, x.new_zeros(length - t)]))
    return torch.stack(hidden), torch.stack(rows)


plain_and_quick = pytest.mark.parametrize("made", [plain, quicken])


def small_layer(made: Callable[[IntraLayer], IntraLayer]) -> tuple[IntraLayer, Tensor, Context]:
    layer = made(IntraLayer(3, 4).double())
    with torch.no_grad():
        for parameter in layer.parameters():
            parameter.normal_(std=0.7)
    x = torch.randn(2, 5, 3, dtype=torch.double)
    return layer, x, Context.whole(x, Mask(causal=True))


# --- the paper --------------------------------------------------------------------------------------------------------


@plain_and_quick
def test_a_layer_computes_the_papers_equations(made: Callable[[IntraLayer], IntraLayer]) -> None:
    layer, x, context = small_layer(made)
    found = layer(x, context)
    for row in range(2):
        torch.testing.assert_close(found[row], by_hand(layer, x[row])[0])


@plain_and_quick
def test_its_gradient_is_that_of_the_equations(made: Callable[[IntraLayer], IntraLayer]) -> None:
    layer, x, context = small_layer(made)
    x.requires_grad_()
    toward = torch.randn(2, 5, 4, dtype=torch.double)
    inputs = [x, *layer.parameters()]
    found = torch.autograd.grad((layer(x, context) * toward).sum(), inputs)
    plain = sum((by_hand(layer, x[row])[0] * toward[row]).sum() for row in range(2))
    for one, other in zip(found, torch.autograd.grad(plain, inputs), strict=True):
        torch.testing.assert_close(one, other)


@plain_and_quick
def test_its_gradient_is_that_of_differences(made: Callable[[IntraLayer], IntraLayer]) -> None:
    layer, x, context = small_layer(made)
    names = [name for name, _ in layer.named_parameters()]

    def run(x: Tensor, *weights: Tensor) -> Tensor:
        result: Tensor = torch.func.functional_call(layer, dict(zip(names, weights, strict=True)), (x, context))
        return result

    assert torch.autograd.gradcheck(run, (x.requires_grad_(), *layer.parameters()))


def test_what_is_watched_are_the_equations_weights_of_strictly_earlier_words() -> None:
    model = LSTMN(vocabulary=VOCABULARY, width=16, hidden=12).build().eval()
    assert isinstance(model, LSTMNModel)
    read = tokens(2, 6)
    with regard.watch(model) as seen:
        model(read)
    weights = seen.last("decoder.0.self")
    assert weights.shape == (2, 1, 6, 6)
    assert weights.triu().eq(0).all()
    torch.testing.assert_close(weights[:, 0, 1:].sum(-1), torch.ones(2, 5))
    layer = model.decoder.layers[0]
    assert isinstance(layer, IntraLayer)
    torch.testing.assert_close(weights[1, 0], by_hand(layer, model.embedding.tokens(read[1]))[1])


# --- the language model -----------------------------------------------------------------------------------------------


def test_steps_equal_the_full_pass_and_are_seen_one_by_one() -> None:
    model, read = built(), tokens(3, 6)
    with regard.watch(model) as whole:
        expected = model(read)
    state = model.begin()
    with regard.watch(model) as steps:
        steps_equal_the_pass(model, state, read, expected, 2)
    for name in model.attention_names():
        torch.testing.assert_close(steps[name][-1][:, :, 0], whole.last(name)[:, :, 5])


def test_without_what_it_recalls_it_knows_one_word_alone() -> None:
    model = LSTMN(vocabulary=VOCABULARY, width=16, hidden=12).build().eval()
    one, other = tokens(1, 5), tokens(1, 5)
    other[:, -1] = one[:, -1]
    assert not torch.allclose(model(one)[:, -1], model(other)[:, -1])
    with silenced(model, {"decoder.0.self": [0]}):
        torch.testing.assert_close(model(one)[:, -1], model(other)[:, -1])


# --- the encoder ------------------------------------------------------------------------------------------------------


def test_as_an_encoder_it_sums_up_a_text_by_its_last_state() -> None:
    model = LSTMNEncoder(vocabulary=VOCABULARY, width=16, hidden=12, layers=2).build().eval()
    assert isinstance(model, LSTMNEncoderModel)
    read = tokens(3, 7)
    memory = model.encode(read, KEEP)
    assert memory.summary is not None
    for row, length in enumerate(LENGTHS.tolist()):
        alone = model.encode(read[row : row + 1, :length])
        torch.testing.assert_close(memory.states[row, :length], alone.states[0], rtol=1e-4, atol=1e-5)
        torch.testing.assert_close(memory.summary[row], alone.states[0, -1], rtol=1e-4, atol=1e-5)
    with regard.watch(model) as seen:
        model(read, KEEP)
    assert list(seen) == model.attention_names() == ["encoder.0.self", "encoder.1.self"]
