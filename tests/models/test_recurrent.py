"""The recurrent line: equal to PyTorch's own cells and to its papers' formulas; padding and caching change nothing."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor, nn

import regard
from regard.checkpoint import running
from regard.config import ConfigError, from_json, to_json
from regard.decoding import Decoding, translate
from regard.models import Recurrent, RecurrentModel
from regard.models.recurrent import Bahdanau, Fixed, Luong, ReaderConfig, Start
from regard.nn.attention import Additive, KernelConfig
from regard.nn.attention.hard import Hard
from regard.nn.attention.local import Monotonic, MonotonicWindow, Predictive, PredictiveWindow
from regard.nn.attention.scores import General, Location
from regard.nn.call.masks import real_tokens
from regard.nn.call.watch import silenced
from regard.nn.recurrent.layers import Cell, RecurrentLayers
from tests.contracts.promises import future_cannot_leak, steps_equal_the_pass
from tests.decoding.reference import END, START, assert_same, beam, translating
from tests.helpers import KERNELS, label

VOCABULARY = 40
LENGTHS = torch.tensor([7, 5, 3])
KEEP = real_tokens(LENGTHS, 7)
READERS: dict[str, ReaderConfig] = {
    "start": Start(),
    "fixed": Fixed(),
    "fixed-maxout": Fixed(output="maxout"),
    "bahdanau": Bahdanau(),
    "bahdanau-plain": Bahdanau(kernel=General(), output="plain"),
    "bahdanau-local": Bahdanau(window=Predictive(reach=2)),
    "bahdanau-hard": Bahdanau(choice=Hard()),
    "luong": Luong(),
    "luong-parallel": Luong(feeding=False),
    "luong-local-m": Luong(window=Monotonic(reach=1)),
    "luong-local-p": Luong(window=Predictive(reach=2)),
    "luong-hard-local-p": Luong(choice=Hard(), window=Predictive(reach=2)),
    "luong-local-p-parallel": Luong(feeding=False, window=Predictive(reach=2)),
}
CELLS: tuple[Cell, ...] = ("rnn", "gru", "lstm")

every_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)
every_cell = pytest.mark.parametrize("cell", CELLS)


def built(reader: ReaderConfig, cell: Cell = "gru", layers: int = 2, **fields: object) -> RecurrentModel:
    config = Recurrent(
        vocabulary=VOCABULARY,
        width=16,
        hidden=12,
        layers=layers,
        cell=cell,
        reader=reader,
        **fields,  # type: ignore[arg-type]
    )
    model = config.build()
    assert isinstance(model, RecurrentModel)
    return model.eval()


def tokens(batch: int, length: int) -> Tensor:
    return torch.randint(4, VOCABULARY, (batch, length))


# --- promises of every reader -----------------------------------------------------------------------------------------


@every_reader
@every_cell
def test_padding_never_changes_an_output(reader: ReaderConfig, cell: Cell) -> None:
    model, source, target = built(reader, cell), tokens(3, 7), tokens(3, 6)
    together = model(source, target, KEEP)
    for row, length in enumerate(LENGTHS.tolist()):
        alone = model(source[row : row + 1, :length], target[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone, rtol=1e-4, atol=1e-5)


@every_reader
@every_cell
def test_steps_equal_the_full_pass(reader: ReaderConfig, cell: Cell) -> None:
    model, source, target = built(reader, cell), tokens(3, 7), tokens(3, 6)
    state = model.begin(model.encode(source, KEEP))
    steps_equal_the_pass(model, state, target, model(source, target, KEEP), 2)


@every_reader
def test_the_future_cannot_leak(reader: ReaderConfig) -> None:
    future_cannot_leak(built(reader), tokens(2, 5), tokens(2, 6))


@every_reader
@every_cell
def test_beam_search_is_the_plain_search(reader: ReaderConfig, cell: Cell) -> None:
    model, source = built(reader, cell), tokens(3, 7)
    found = translate(model, source, KEEP, Decoding(beam=3, nbest=3, max_length=6), START, END)
    for row, length in enumerate(LENGTHS.tolist()):
        assert_same(found[row], beam(translating(model, source[row : row + 1, :length]), 6, 3), tolerance=1e-4)


@every_reader
def test_gradients_reach_every_parameter(reader: ReaderConfig) -> None:
    model = built(reader).train()
    model(tokens(3, 7), tokens(3, 6), KEEP).square().sum().backward()
    without = [name for name, parameter in model.named_parameters() if parameter.grad is None]
    assert without == []


@pytest.mark.parametrize("kernel", KERNELS, ids=label)
@pytest.mark.parametrize("reader", [Bahdanau, Luong])
def test_any_score_serves_any_reader(reader: type[Bahdanau] | type[Luong], kernel: KernelConfig) -> None:
    model = built(reader(kernel=kernel))
    with regard.watch(model) as seen:
        model(tokens(3, 7), tokens(3, 6), KEEP)
    weights = seen.last("decoder.0.cross")
    assert weights.shape == (3, 1, 6, 7)
    torch.testing.assert_close(weights.sum(-1), torch.ones(3, 1, 6))
    assert weights[1, :, :, 5:].eq(0).all()


def test_watching_changes_nothing_and_steps_are_seen_one_by_one() -> None:
    model, source, target = built(Bahdanau()), tokens(2, 5), tokens(2, 4)
    plain = model(source, target)
    with regard.watch(model) as seen:
        assert torch.equal(model(source, target), plain)
    whole = seen.last("decoder.0.cross")
    with regard.watch(model) as steps:
        state = model.begin(model.encode(source))
        for place in range(4):
            model.step(target[:, place : place + 1], state)
    torch.testing.assert_close(torch.cat(steps["decoder.0.cross"], 2), whole)


def test_one_fixed_context_has_nothing_to_watch() -> None:
    assert built(Fixed()).attention_names() == []


def test_without_its_attention_a_model_says_the_same_whatever_the_source() -> None:
    model, target = built(Luong(), layers=1), tokens(1, 4)
    nn.init.zeros_(model.bridge.weight)  # so that attention alone tells sources apart
    one, other = tokens(1, 5), tokens(1, 5)
    assert not torch.allclose(model(one, target), model(other, target))
    with silenced(model, {"decoder.0.cross": [0]}):
        torch.testing.assert_close(model(one, target), model(other, target))


# --- equality with PyTorch and with the papers ------------------------------------------------------------------------


@every_cell
@pytest.mark.parametrize("layers", [1, 3])
def test_steps_of_a_layer_equal_its_whole_pass(cell: Cell, layers: int) -> None:
    module = RecurrentLayers(cell, 5, 6, layers, dropout=0.0)
    x = torch.randn(4, 7, 5)
    expected, last = module(x)
    states = tuple(torch.zeros_like(state) for state in last)
    for place in range(7):
        out, states = module.step(x[:, place], states)
        torch.testing.assert_close(out, expected[:, place])
    for ours, theirs in zip(states, last, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_an_lstm_step_is_its_formula() -> None:
    module = RecurrentLayers("lstm", 3, 4, 1, dropout=0.0)
    x, h, c = torch.randn(2, 3), torch.randn(2, 1, 4), torch.randn(2, 1, 4)
    out, (_, cell) = module.step(x, (h, c))
    kernel = module.kernel
    gates = x @ kernel.weight_ih_l0.T + kernel.bias_ih_l0 + h[:, 0] @ kernel.weight_hh_l0.T + kernel.bias_hh_l0
    enter, forget, new, leave = gates.chunk(4, -1)
    expected = forget.sigmoid() * c[:, 0] + enter.sigmoid() * new.tanh()
    torch.testing.assert_close(cell[:, 0], expected)
    torch.testing.assert_close(out, leave.sigmoid() * expected.tanh())


def test_a_start_is_the_encoders_states_layer_by_layer() -> None:
    model = built(Start(), "lstm", layers=2, bidirectional=False)
    source, target = torch.randint(4, VOCABULARY, (2, 6)), torch.randint(4, VOCABULARY, (2, 4))
    _, states = model.encoder.kernel(model.source_embedding.tokens(source))
    out, _ = model.decoder.kernel(model.embedding.tokens(target), states)
    expected = model.head.logits(model.reader.out(out))  # type: ignore[operator]
    torch.testing.assert_close(model(source, target), expected)


@pytest.mark.parametrize("reader", [Start(), Bahdanau()], ids=["start", "bahdanau"])
def test_a_source_that_is_read_backwards_is_read_from_its_own_end(reader: ReaderConfig) -> None:
    model = built(reader, "lstm", bidirectional=False, backwards=True)
    ahead = built(reader, "lstm", bidirectional=False)
    ahead.load_state_dict(model.state_dict())
    source = torch.randint(4, VOCABULARY, (3, 7)) * KEEP
    memory = model.encode(source, KEEP)
    for row, length in enumerate(LENGTHS.tolist()):
        turned = ahead.encode(source[row : row + 1, :length].flip(1))
        torch.testing.assert_close(memory.summary[row : row + 1], turned.summary)  # type: ignore[index]
        torch.testing.assert_close(memory.states[row : row + 1, :length], turned.states.flip(1))


def test_bahdanau_is_its_formula() -> None:
    """arXiv:1409.0473, section 3.1 and appendix A.1.2: e = v' tanh(W s + U h), c = Σ a h, s' = GRU([y; c], s)."""
    model = built(Bahdanau(kernel=Additive(hidden=9), output="plain"), layers=1)
    source, target = tokens(1, 5), tokens(1, 3)
    memory = model.encode(source)
    h = memory.states[0]  # (S, M)
    attention = model.reader.attention
    assert attention is not None
    w, u, v = attention.kernel.query[0], attention.kernel.key[0], attention.kernel.v[0, 0]
    cell = nn.GRUCell(16 + 24, 12)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in model.decoder.kernel.state_dict().items()})
    s = (memory.summary @ model.bridge.weight.T + model.bridge.bias).tanh()
    expected = []
    for word in model.embedding.tokens(target)[0]:
        e = ((s @ w + h @ u).tanh() @ v).squeeze(-1)
        c = (e.softmax(-1)[:, None] * h).sum(0, keepdim=True)
        s = cell(torch.cat([word[None], c], -1), s)
        expected.append(model.reader.out(torch.cat([s, word[None], c], -1)).tanh())
    torch.testing.assert_close(model.decode(memory, target), torch.stack(expected, 1), rtol=1e-4, atol=1e-5)


def test_luong_is_its_formula() -> None:
    """arXiv:1508.04025, section 3: score = h' W s, h~ = tanh(W [c; h]), which enters the next step."""
    model = built(Luong(), cell="lstm", layers=1, bidirectional=False)
    source, target = tokens(1, 5), tokens(1, 3)
    memory = model.encode(source)
    states = memory.states[0]
    assert model.reader.attention is not None
    weight = model.reader.attention.kernel.weight[0]
    cell = nn.LSTMCell(16 + 16, 12)
    cell.load_state_dict({name.removesuffix("_l0"): value for name, value in model.decoder.kernel.state_dict().items()})
    first = memory.summary @ model.bridge.weight.T + model.bridge.bias
    h, c = first[:, :12].tanh(), first[:, 12:]
    fed, expected = torch.zeros(1, 16), []
    for word in model.embedding.tokens(target)[0]:
        h, c = cell(torch.cat([word[None], fed], -1), (h, c))
        a = (h @ weight @ states.T).softmax(-1)
        fed = model.reader.join(torch.cat([a @ states, h], -1)).tanh()
        expected.append(fed)
    torch.testing.assert_close(model.decode(memory, target), torch.stack(expected, 1), rtol=1e-4, atol=1e-5)


@torch.no_grad()
def test_the_gaussian_of_local_attention_is_its_formula() -> None:
    window = PredictiveWindow(reach=4, width=3)
    queries, lengths = torch.randn(1, 2, 3), torch.tensor([9])
    centres = window.centres(queries, torch.arange(2), lengths)
    share = (queries @ window.inner.weight.T).tanh() @ window.outer.weight.T
    torch.testing.assert_close(centres, 9 * share.squeeze(-1).sigmoid())
    shaped = window.shape(torch.ones(1, 1, 2, 9), centres)
    for t in range(2):
        for s in range(9):
            expected = math.exp(-((s - float(centres[0, t])) ** 2) / (2 * 2.0**2))
            assert float(shaped[0, 0, t, s]) == pytest.approx(expected, rel=1e-5)


@torch.no_grad()
def test_a_window_at_the_end_of_its_source_still_looks_at_something() -> None:
    window = PredictiveWindow(reach=1, width=3)
    window.inner.weight.copy_(torch.eye(3))
    window.outer.weight.fill_(1e4)  # so that the sigmoid is one
    centres = window.centres(torch.ones(2, 1, 3), torch.arange(1), torch.tensor([6, 4]))
    assert centres.tolist() == [[6], [4]]
    assert (~window.outside(centres, 6)).nonzero()[:, 3].tolist() == [5, 3, 4, 5]


def test_nothing_outside_of_the_window_is_looked_at() -> None:
    model = built(Luong(window=Monotonic(reach=1)))
    with regard.watch(model) as seen:
        model(tokens(1, 6), tokens(1, 8))
    weights = seen.last("decoder.0.cross")[0, 0]
    places = torch.arange(8)[:, None].clamp(max=5) - torch.arange(6)
    assert weights[places.abs() > 1].eq(0).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(8))  # beyond the source's end it stays at the end


def test_with_the_gaussian_weights_need_not_sum_to_one() -> None:
    model = built(Luong(window=Predictive(reach=2)))
    with regard.watch(model) as seen:
        model(tokens(1, 9), tokens(1, 4))
    assert (seen.last("decoder.0.cross").sum(-1) < 0.999).any()


def test_the_window_of_each_row_ends_with_its_source() -> None:
    window = MonotonicWindow(reach=1)
    centres = window.centres(torch.zeros(2, 6, 3), torch.arange(6), torch.tensor([4, 2]))
    assert centres.tolist() == [[0, 1, 2, 3, 3, 3], [0, 1, 1, 1, 1, 1]]


CENTRES = "decoder.0.cross.centres"
LOCAL = [name for name in READERS if "local" in name]


def noted(model: RecurrentModel, source: Tensor, target: Tensor, keep: Tensor | None = None) -> Tensor:
    """The centres (B, T) of a whole pass."""
    with regard.watch(model, notes=["*.centres"]) as seen:
        model(source, target, keep)
    (centres,) = seen.notes[CENTRES]
    return centres


def test_the_noted_centres_of_local_m_go_along_until_each_source_ends() -> None:
    model = built(READERS["luong-local-m"])
    centres = noted(model, tokens(3, 7), tokens(3, 6), KEEP)
    assert centres.tolist() == [[min(t, length - 1) for t in range(6)] for length in LENGTHS.tolist()]


@pytest.mark.parametrize("reader", [name for name in LOCAL if name != "luong-local-m"])
@torch.no_grad()
def test_the_noted_centres_of_local_p_are_their_formula(reader: str) -> None:
    """arXiv:1508.04025, equation 9: p = S · sigmoid(v' tanh(W h)), a number from 0 to the length of the source."""
    model, asked = built(READERS[reader]), []
    attention = model.reader.attention
    assert attention is not None
    assert isinstance(attention.window, PredictiveWindow)
    attention.register_forward_pre_hook(lambda _, given: asked.append(given[0]))
    centres = noted(model, tokens(3, 7), tokens(3, 6), KEEP)
    h = torch.cat(asked, 1)  # (B, T, H)
    share = (h @ attention.window.inner.weight.T).tanh() @ attention.window.outer.weight.T
    torch.testing.assert_close(centres, LENGTHS[:, None] * share.squeeze(-1).sigmoid())


@pytest.mark.parametrize("reader", LOCAL)
def test_centres_are_noted_step_by_step_also_of_hypotheses_that_share_a_source(reader: str) -> None:
    model, source, target = built(READERS[reader]), tokens(3, 7), tokens(3, 6).repeat_interleave(2, 0)
    target[1::2, 1:] = tokens(3, 5)  # two that begin alike
    expected = noted(model, source.repeat_interleave(2, 0), target, KEEP.repeat_interleave(2, 0))
    with regard.watch(model, notes=["*.centres"]) as whole:
        model.decode(model.encode(source, KEEP), target)
    torch.testing.assert_close(whole.notes[CENTRES][0], expected, rtol=1e-4, atol=1e-5)
    with regard.watch(model, notes=["*.centres"]) as seen:
        state = model.begin(model.encode(source, KEEP))
        model.step(target[::2, :1], state)
        state.select(torch.arange(3).repeat_interleave(2), torch.arange(3))
        for place in range(1, 6):
            model.step(target[:, place : place + 1], state)
    first, *others = seen.notes[CENTRES]
    steps = torch.cat([first.repeat_interleave(2, 0), *others], 1)
    torch.testing.assert_close(steps, expected, rtol=1e-4, atol=1e-5)


def test_weights_lie_within_the_noted_window() -> None:
    model = built(READERS["luong-local-p"])
    with regard.watch(model, notes=["*.centres"]) as seen:
        model(tokens(3, 7), tokens(3, 6), KEEP)
    reach = model.reach("decoder.0.cross")
    assert reach == 2
    far = (torch.arange(7) - seen.notes[CENTRES][-1][..., None]).abs() > reach  # (B, T, S)
    real = KEEP[:, None].expand_as(far)
    assert torch.equal(seen.last("decoder.0.cross")[:, 0] == 0, far | ~real)


def test_what_has_no_window_notes_no_centres_and_what_has_one_only_if_asked() -> None:
    for reader in (Luong(), Bahdanau()):
        model = built(reader)
        with regard.watch(model, notes=["*"]) as seen:
            model(tokens(2, 5), tokens(2, 4))
        assert CENTRES not in seen.notes
        assert model.reach("decoder.0.cross") is None
    assert built(Fixed()).reach("decoder.0.cross") is None
    model = built(READERS["luong-local-p"])
    with regard.watch(model) as seen:
        model(tokens(2, 5), tokens(2, 4))
    assert seen.notes == {}


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_scheduled_sampling_goes_on_from_the_models_own_words_while_training_alone() -> None:
    model = built(Bahdanau(), sampling=0.999)
    source, target = tokens(4, 5), tokens(4, 6)
    given = model(source, target)
    assert torch.equal(model(source, target), given)
    own = model.train()(source, target)
    torch.testing.assert_close(own[:, 0], given[:, 0])
    assert not torch.allclose(own[:, 1:], given[:, 1:])


def test_the_chance_of_scheduled_sampling_rises_with_every_batch_of_training() -> None:
    model = built(Bahdanau(), sampling=0.5, rising=4)
    source, target = tokens(4, 5), tokens(4, 6)
    model(source, target)
    assert model.batches == 0  # nothing is learnt from it
    assert [model.train().next_chance() for _ in range(6)] == [0.125, 0.25, 0.375, 0.5, 0.5, 0.5]
    model(source, target)
    assert model.batches == 7
    assert list(running(model)) == ["batches"]  # so a checkpoint has it
    assert not running(built(Bahdanau(), sampling=0.5))


def test_padding_that_does_not_come_last_is_refused() -> None:
    model = built(Bahdanau())
    with pytest.raises(ValueError, match="padding comes last"):
        model.encode(tokens(3, 7), KEEP.flip(1))
    with pytest.raises(ValueError, match="without a token"):
        model.encode(tokens(3, 7), torch.zeros(3, 7, dtype=torch.bool))


def test_a_location_score_says_when_a_source_is_too_long() -> None:
    model = built(Luong(kernel=Location(length=4)))
    with pytest.raises(ValueError, match="more than the 4 places"):
        model(tokens(1, 7), tokens(1, 3))


def test_a_config_comes_back_from_json() -> None:
    config = Recurrent(vocabulary=9, reader=Luong(window=Predictive(reach=3)), cell="lstm")
    assert from_json(Recurrent, to_json(config)) == config
    with pytest.raises(ConfigError):
        Recurrent(vocabulary=9, cell="tanh")  # type: ignore[arg-type]
