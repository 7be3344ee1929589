"""Hard attention: its estimator's mean is the exact gradient, its baseline lowers the variance, and what is drawn is
seen. Extra losses reach whoever gathers them."""

from __future__ import annotations

import itertools

import pytest
import torch
from torch import Tensor

import regard
from regard.config import ConfigError
from regard.models import Recurrent, RecurrentModel
from regard.models.recurrent import Bahdanau, Luong, ReaderConfig
from regard.nn.attention.hard import NOT_DRAWN, ChoiceModule, Hard, HardChoice
from regard.nn.attention.local import Predictive
from regard.nn.call.context import Context
from regard.nn.call.gathering import Outcome, gathering
from regard.nn.call.masks import real_tokens
from regard.nn.losses import words_loss

VOCABULARY, SOURCE, TARGET = 7, 3, 2
DRAWN = Hard(weight=1.0, entropy=0.0, expected=0.0)
READERS: dict[str, ReaderConfig] = {
    "bahdanau": Bahdanau(choice=DRAWN),
    "bahdanau-row": Bahdanau(choice=Hard(reward="row", weight=1.0, entropy=0.0, expected=0.0)),
    "luong": Luong(choice=DRAWN),
    "luong-parallel": Luong(choice=DRAWN, feeding=False),
    "luong-window": Luong(choice=DRAWN, window=Predictive(reach=2)),
}
every_reader = pytest.mark.parametrize("reader", READERS.values(), ids=READERS)


def built(reader: ReaderConfig) -> RecurrentModel:
    model = Recurrent(vocabulary=VOCABULARY, width=3, hidden=3, reader=reader).build().double().train()
    assert isinstance(model, RecurrentModel)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn_like(parameter))  # large, so that the draws matter
    return model


def choice_of(model: RecurrentModel) -> HardChoice:
    assert model.reader.attention is not None
    choice = model.reader.attention.choice
    assert isinstance(choice, HardChoice)
    return choice


def example(length: int = TARGET) -> tuple[Tensor, Tensor, Tensor]:
    """A source, a target behind the start token, and what is to be predicted."""
    whole = torch.randint(0, VOCABULARY, (1, length + 1))
    return torch.randint(0, VOCABULARY, (1, SOURCE)), whole[:, :-1], whole[:, 1:]


def loss_of(model: RecurrentModel, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
    """As a training computes it: the sum over words."""
    with gathering(model) as extra:
        loss = words_loss(model.head, model.features(source, target), labels)
        return loss + extra.total() * labels.numel()


def gradient(model: RecurrentModel, loss: Tensor) -> Tensor:
    """All of it in one row; a parameter without one has zeros."""
    parameters = list(model.parameters())
    found = torch.autograd.grad(loss, parameters, allow_unused=True)
    pairs = zip(found, parameters, strict=True)
    return torch.cat([torch.zeros_like(p).flatten() if g is None else g.flatten() for g, p in pairs])


class Scripted(ChoiceModule):
    """Takes given positions, and remembers how likely they were."""

    def __init__(self, places: tuple[int, ...]) -> None:
        super().__init__()
        self.places = iter(places)
        self.chance: Tensor | float = 1.0

    def forward(self, chances: Tensor, context: Context) -> Tensor:
        weights = torch.zeros_like(chances)
        for step in range(chances.shape[2]):
            place = next(self.places)
            weights[0, 0, step, place] = 1.0
            self.chance = self.chance * chances[0, 0, step, place] / chances[0, 0, step].sum()
        return weights


def exact_gradient(model: RecurrentModel, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
    """Of the loss's expectation, by enumerating every sequence of positions."""
    attention = model.reader.attention
    assert attention is not None
    drawing, expectation, chances = attention.choice, torch.zeros((), dtype=torch.float64), 0.0
    for places in itertools.product(range(SOURCE), repeat=TARGET):
        attention.choice = script = Scripted(places)
        expectation = expectation + script_loss(model, script, source, target, labels)
        chances += torch.as_tensor(script.chance).item()
    attention.choice = drawing
    assert chances == pytest.approx(1.0)
    return gradient(model, expectation)


def script_loss(model: RecurrentModel, script: Scripted, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
    log_probs = model.head.log_probs(model.features(source, target))
    return -script.chance * log_probs.gather(-1, labels.unsqueeze(-1)).sum()


def estimates(model: RecurrentModel, source: Tensor, target: Tensor, labels: Tensor, batches: int) -> Tensor:
    """(batches, …): estimated gradients, each the mean over 400 draws."""
    many = [part.expand(400, -1) for part in (source, target, labels)]
    return torch.stack([gradient(model, loss_of(model, *many) / 400) for _ in range(batches)])


@every_reader
def test_the_mean_of_sampled_gradients_is_the_exact_gradient(reader: ReaderConfig) -> None:
    model, parts = built(reader), example()
    exact = exact_gradient(model, *parts)
    sampled = estimates(model, *parts, batches=60)
    error = sampled.std(0) / 60**0.5
    away = (sampled.mean(0) - exact).abs()
    assert (away <= 5 * error + 1e-9).all()
    assert error.norm() < 0.1 * exact.norm()  # so that the test could tell
    one_path = gradient(model, drawn_loss(model, *parts))
    assert ((one_path - exact).abs() > 5 * error + 1e-9).any()  # what no score function corrects is another gradient


def drawn_loss(model: RecurrentModel, source: Tensor, target: Tensor, labels: Tensor) -> Tensor:
    """The mean over draws without what drawing adds."""
    many = [part.expand(4000, -1) for part in (source, target, labels)]
    return model.head.total_loss(model.features(*many[:2]), many[2]) / 4000


@pytest.mark.parametrize("reward", ["row", "rest"])
def test_the_baseline_lowers_the_variance(reward: str) -> None:
    model, parts = built(Bahdanau(choice=Hard(reward=reward, weight=1.0, entropy=0.0, expected=0.0))), example()  # type: ignore[arg-type]
    estimates(model, *parts, batches=30)  # the baseline learns what is usual
    assert choice_of(model).baseline[1] > 0.9
    with_baseline = estimates(model, *parts, batches=40).var(0).sum()
    choice_of(model).baseline.zero_()
    choice_of(model).remember = lambda result: None  # type: ignore[method-assign]
    without = estimates(model, *parts, batches=40).var(0).sum()
    assert with_baseline < 0.7 * without


def test_rewarding_a_draw_by_the_words_after_it_alone_varies_less() -> None:
    parts, spreads = example(length=12), {}
    for reward in ("row", "rest"):
        torch.manual_seed(1)
        model = built(Bahdanau(choice=Hard(reward=reward, weight=1.0, entropy=0.0, expected=0.0)))  # type: ignore[arg-type]
        estimates(model, *parts, batches=20)
        spreads[reward] = estimates(model, *parts, batches=30).var(0).sum()
    assert spreads["rest"] < spreads["row"]


def test_the_baseline_is_the_moving_average_of_the_words_log_likelihood() -> None:
    choice = HardChoice(Hard(decay=0.75))
    real = torch.tensor([[True, True], [True, False]])
    choice.remember(Outcome(torch.tensor([[-1.0, -2.0], [-3.0, 0.0]]), real))
    choice.remember(Outcome(torch.tensor([[-5.0, -5.0], [-5.0, 0.0]]), real))
    mean, weight = choice.baseline
    assert float(mean / weight) == pytest.approx((0.75 * -2 + -5) / 1.75)
    rest = choice.gain(Outcome(torch.tensor([[-1.0, -2.0], [-3.0, 0.0]]), real))
    b = float(mean / weight)
    torch.testing.assert_close(rest, torch.tensor([[-3 - 2 * b, -2 - b], [-3 - b, 0.0]]))


def test_the_entropy_bonus_favours_undecided_chances() -> None:
    choice = HardChoice(Hard(entropy=0.5))
    scores = torch.tensor([[[2.0, 0.0, -1.0]]], requires_grad=True)
    weights = torch.tensor([[[1.0, 0.0, 0.0]]])
    blank = Outcome(torch.zeros(1, 1), torch.ones(1, 1, dtype=torch.bool))
    loss = choice.loss(scores.softmax(-1), weights, torch.ones(1, 1, dtype=torch.bool), blank)
    assert loss == 0  # it is there for its gradient
    (found,) = torch.autograd.grad(loss, scores)
    chances = scores.softmax(-1)
    (expected,) = torch.autograd.grad(0.5 * (chances * chances.log()).sum(), scores)
    torch.testing.assert_close(found, expected)
    assert found[0, 0, 0] > 0  # the likeliest loses


def test_in_eval_mode_the_likeliest_position_is_taken_and_that_is_what_is_seen() -> None:
    model = built(Bahdanau(choice=Hard())).eval()
    source, target, _ = example()
    with regard.watch(model, notes=["decoder.0.cross.chances"]) as seen:
        model(source, target)
    weights, chances = seen.last("decoder.0.cross"), seen.notes["decoder.0.cross.chances"][-1]
    assert torch.equal(weights, torch.nn.functional.one_hot(chances.argmax(-1), SOURCE).double())
    assert model.begin(model.encode(source)) is not None
    with gathering(model) as extra:
        model(source, target)
    assert not extra.left
    assert not extra.waiting


def test_what_is_drawn_is_kept_and_watching_draws_nothing_new() -> None:
    model = built(Luong(choice=Hard(expected=0.0)))
    source, target, _ = (part.expand(5, -1) for part in example())
    torch.manual_seed(3)
    plain = model(source, target)
    torch.manual_seed(3)
    with regard.watch(model) as seen:
        assert torch.equal(model(source, target), plain)
    weights = seen.last("decoder.0.cross")
    assert weights.sum(-1).eq(1).all()
    assert weights.amax(-1).eq(1).all()
    assert weights[:, 0].argmax(-1).unique().numel() > 1


def test_rows_that_are_read_softly_draw_nothing() -> None:
    choice, context = HardChoice(Hard(expected=0.5)).train(), Context.whole(torch.empty(40, 2), mask=regard.Mask())
    chances = torch.rand(40, 1, 2, 5).softmax(-1)
    weights = choice(chances, context)
    choice.settle("decoder.0.cross", chances, weights, context)
    drawn = context.samples["decoder.0.cross"]
    soft = (drawn == NOT_DRAWN).all(-1).flatten()
    assert 5 < soft.sum() < 35
    torch.testing.assert_close(weights[soft], chances[soft])
    assert weights[~soft].amax(-1).eq(1).all()
    assert (drawn[~soft] >= 0).all()


def test_padding_never_changes_what_hard_attention_adds_to_the_loss() -> None:
    choice = HardChoice(Hard(entropy=0.3))
    choice.baseline.copy_(torch.tensor([-2.0, 0.9]))
    scores, drawn = torch.rand(1, 3, 4, requires_grad=True), torch.ones(1, 3, dtype=torch.bool)
    chances = scores.softmax(-1)
    weights = torch.nn.functional.one_hot(torch.tensor([[0, 3, 1]]), 4).float()
    words = torch.tensor([[-1.0, -4.0, 0.0]])
    kept = choice.baseline.clone()
    padded = choice.loss(chances, weights, drawn, Outcome(words, real_tokens(torch.tensor([2]), 3)))
    choice.baseline.copy_(kept)
    alone = choice.loss(
        chances[:, :2], weights[:, :2], drawn[:, :2], Outcome(words[:, :2], torch.ones(1, 2, dtype=torch.bool))
    )
    (one,), (other,) = (torch.autograd.grad(loss, scores, retain_graph=True) for loss in (padded, alone))
    assert one[:, :2].abs().sum() > 0
    torch.testing.assert_close(one, other)


def test_losses_of_a_model_inside_another_are_gathered_through_it() -> None:
    inner = built(Bahdanau(choice=Hard()))
    outer = torch.nn.ModuleDict({"inner": inner})
    source, target, _ = example()
    with gathering(outer) as extra:
        inner.features(source, target)
    assert [name for name, _ in extra.waiting] == ["decoder.0.cross"]
    with gathering(torch.nn.Linear(1, 1)) as other:
        inner.features(source, target)
    assert not other.waiting


def test_an_extra_loss_may_be_a_plain_number() -> None:
    model = built(Bahdanau())
    with gathering(model) as extra:
        model.whole(torch.zeros(1, 2), regard.Mask()).losses.leave("decoder.3.balance", torch.tensor(2.5))

    def never() -> Outcome:
        raise AssertionError("nothing depends on the outcome")

    extra.settle(never)
    assert extra.total() == 2.5


def test_a_layer_that_is_passed_twice_counts_by_the_mean_of_its_losses() -> None:
    model = built(Bahdanau())
    with gathering(model) as extra:
        for value in (1.0, 3.0):
            model.whole(torch.zeros(1, 2), regard.Mask()).losses.leave("decoder.0.balance", torch.tensor(value))
        model.whole(torch.zeros(1, 2), regard.Mask()).losses.leave("decoder.1.balance", torch.tensor(0.5))
    assert extra.total() == 2.5


def test_every_pass_is_rewarded_by_its_own_words() -> None:
    model = built(Bahdanau(choice=Hard(expected=0.0)))
    first, second = example(), example(TARGET + 2)
    with gathering(model) as extra:
        for source, target, labels in (first, second):
            words_loss(model.head, model.features(source, target), labels)
    assert [len(losses) for losses in extra.left.values()] == [2]
    assert not extra.waiting


def test_a_reward_that_nobody_gives_is_named() -> None:
    model = built(Bahdanau(choice=Hard()))
    source, target, _ = example()
    with gathering(model) as extra:
        model.features(source, target).sum()
    with pytest.raises(ConfigError, match=r"decoder\.0\.cross: layers that draw learn by how likely"):
        extra.total()
