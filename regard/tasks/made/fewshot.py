"""Few-shot learning: classes that were never seen before, told apart after a few examples of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, cast

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor

from regard.config import Config, ConfigError, Count, Size, change
from regard.data.batches import Batches, pad
from regard.data.catalogue import data_set
from regard.data.examples import LabelledData
from regard.data.tokenizers import PAD, UNKNOWN, Tokenizer
from regard.errors import Error
from regard.models import FewShot, FewShotModel, InputReaderConfig, Model, ModelConfig
from regard.models.fewshot import CentroidLearner, SnailLearner
from regard.nn.call.masks import Mask
from regard.nn.call.watch import watch
from regard.page.records import Card, Cards, Section, WordMatrix
from regard.results import Scores
from regard.runfolder import Run
from regard.tasks.base import Evaluation, Say, Task, TaskConfig, Validation, sample, usual
from regard.tasks.made.episodes import ClassExamples, Episode, TermWeights, by_class, divided
from regard.tasks.tool import Tool

SPLITS = ("train", "valid", "test")
EPISODES_SCORED = 1_000  # by which a run is scored, unless told
EPISODES_AT_ONCE = 50  # episodes that are judged together
SAMPLES = 5
NOTHING = Mask()
Verdicts = dict[str, NDArray[np.bool_]]


@dataclass(frozen=True)
class Episodic(TaskConfig):
    """Tell `ways` new classes apart after `shots` examples of each, in episodes.

    Of the classes of `train`, `tested` are held out for `regard evaluate` and `validated` to choose the best weights;
    `division` says which. An episode asks for one example of each class more; the `episodes` of an epoch follow from
    `seed` and their number. A batch is counted in examples.
    """

    metrics: ClassVar[Mapping[str, bool]] = {"accuracy": True, "centroid_accuracy": True, "loss": False}
    needed: ClassVar[Mapping[str, str]] = {"train": "train"}
    usual: ClassVar[Mapping[str, Any]] = usual(
        320, rate=2e-3, weight_decay=0.01, warmup=50, decay=0.5, max_steps=800, validate_every=80
    )

    ways: Size = 5
    shots: Size = 1
    tested: Size = 12
    validated: Size = 8
    division: Count = 0
    episodes: Size = 100_000
    judged: Size = 300
    seed: int = 1

    def check_model(self, model: ModelConfig) -> None:
        if not isinstance(model, FewShot):
            raise ConfigError(f"model: one of kind {model.kind} does not learn from a few examples")

    def around(self, reader: InputReaderConfig) -> ModelConfig:
        return FewShot(reader=reader, ways=self.ways)

    def divided(self, names: Sequence[str]) -> Sequence[Sequence[str]]:
        """The classes to train on, to validate by and to test on."""
        return divided(names, self.tested, self.validated, self.division)

    def evaluate(self, asked: Evaluation) -> Scores:
        """Accuracies over `count` episodes of the classes of a split, beside nearest centroids."""
        if asked.data is not None or asked.columns is not None:
            raise Error("--data: a few-shot learner is scored on the classes that its training data held out")
        if asked.split not in SPLITS:
            raise Error(f"--split {asked.split}: classes are divided into {', '.join(SPLITS)}")
        asked.asked(Config)
        task = self.open(asked.run.path, asked.say)
        assert isinstance(task, EpisodicTask)
        model = asked.tool(self).model
        episodes = task.drawn(asked.split, asked.count or EPISODES_SCORED)
        right, _ = task.verdicts(model, episodes)
        untrained, nearest = task.untrained()
        rows = {
            f"the model ({model.config.learner.kind})": right["accuracy"],
            "nearest centroid of its vectors": right["centroid_accuracy"],
            f"nearest centroid of {untrained}, untrained": np.array([nearest(one) for one in episodes])
            == range(self.ways),
        }
        return EpisodeScores(rows, self.ways, self.shots, asked.split, task.shelves[asked.split].names)


@dataclass(frozen=True)
class EpisodeScores(Scores):
    """By the name of a learner, which queries (E, Q) of episodes it got right."""

    right: Mapping[str, NDArray[np.bool_]]
    ways: int
    shots: int
    split: str
    classes: Sequence[str]

    def metrics(self) -> dict[str, float]:
        return {name: float(one.mean()) for name, one in self.right.items()}

    @property
    def episodes(self) -> int:
        return len(next(iter(self.right.values())))

    def within(self, right: NDArray[np.bool_]) -> float:
        """How far from the mean the true one is, with 95% certainty."""
        return float(1.96 * right.mean(1).std(ddof=1) / len(right) ** 0.5)

    def record(self) -> dict[str, Any]:
        rows = {name: {"mean": float(one.mean()), "within": self.within(one)} for name, one in self.right.items()}
        return {
            "ways": self.ways,
            "shots": self.shots,
            "episodes": self.episodes,
            "split": self.split,
            "classes": self.classes,
            "accuracy": rows,
        }

    def table(self) -> str:
        lines = [
            f"{name:<40}{100 * one.mean():6.1f}% ± {100 * self.within(one):.1f}" for name, one in self.right.items()
        ]
        lines.append(f"{'chance':<40}{100 / self.ways:6.1f}%")
        asked = f"{self.ways} ways, {self.shots} shots, {self.episodes:,} episodes"
        return "\n".join([*lines, "", f"{asked} of {len(self.classes)} {self.split} classes"])


C = TypeVar("C", bound=Episodic)


class EpisodicTask(Task[C]):
    """Examples in memory, by class; episodes are drawn when they are asked for. A task says which `examples` there are,
    by the names that people see, and what a model is given of them (`inputs`)."""

    def prepare(self, say: Say) -> None:
        config, new = self.config, not self.run.config_path.exists()
        self.names, classes = self.examples(say)
        parts = config.divided(list(classes))
        self.shelves = {
            split: ClassExamples({name: classes[name] for name in names}, config.ways, config.shots, f"split {split!r}")
            for split, names in zip(SPLITS, parts, strict=True)
        }
        if new:
            say(f"{len(parts[0])} classes to train on, {len(parts[1])} to validate, {len(parts[2])} to test")
        self.learn(say)

    def examples(self, say: Say) -> tuple[list[str], dict[str, list[int]]]:
        """What each example is called, and the numbers of those of each class."""
        raise TypeError(f"{type(self).__name__} does not say what its examples are")

    def learn(self, say: Say) -> None:
        """Make ready what `inputs` needs."""

    def inputs(self, episodes: Sequence[Episode], model: Model) -> tuple[Tensor, Tensor | None, Tensor]:
        """What the model is given of examples and queries (E, S + Q, …), a mask or none, and the labels (E, S)."""
        raise TypeError(f"{type(self).__name__} does not say what its model reads")

    def untrained(self) -> tuple[str, Callable[[Episode], NDArray[np.int64]]]:
        """What can be told apart without learning: by which vectors, and the label of each query of an episode."""
        raise TypeError(f"{type(self).__name__} has no vectors without a model")

    def train_numbers(self) -> list[int]:
        """Of the examples of the classes that are trained on."""
        return [i for numbers in self.shelves["train"].classes.values() for i in numbers]

    def fit(self, model: ModelConfig) -> ModelConfig:
        config = change(model, {"ways": self.config.ways})
        if isinstance(config, FewShot) and isinstance(config.learner, SnailLearner):
            config = change(config, {"learner.layers.length": self.config.ways * self.config.shots + 1})
        return config

    def batches(self, budget: int, seed: int) -> Batches:
        examples = self.config.ways * (self.config.shots + 1)
        return Batches([np.full(self.config.episodes, examples)], max(budget, examples), seed)

    def drawn(self, split: str, count: int) -> list[Episode]:
        """The first episodes of a split: those by which models are judged."""
        return [self.shelves[split].draw([SPLITS.index(split), number]) for number in range(count)]

    def loss(self, model: Model, indices: NDArray[Any]) -> tuple[Tensor, int]:
        drawn = [self.shelves["train"].draw([0, self.config.seed, i]) for i in indices.tolist()]
        logits = cast(FewShotModel, model)(*self.inputs(drawn, model)).flatten(0, 1)
        targets = self.targets(drawn, logits)
        return F.cross_entropy(logits, targets, reduction="sum"), len(targets)

    def numbers(self, episodes: Sequence[Episode]) -> NDArray[np.int64]:
        """(E, S + Q): which examples each has, the queries last."""
        return np.stack([np.concatenate([one.examples, one.queries]) for one in episodes])

    def labels(self, episodes: Sequence[Episode], device: torch.device) -> Tensor:
        """(E, S)"""
        return torch.from_numpy(np.stack([one.labels for one in episodes])).to(device)

    def targets(self, episodes: Sequence[Episode], like: Tensor) -> Tensor:
        """(E · Q,): the queries come in the order of the labels."""
        return torch.arange(self.config.ways, device=like.device).repeat(len(episodes))

    @torch.no_grad()
    def verdicts(self, model: Model, episodes: Sequence[Episode]) -> tuple[Verdicts, float]:
        """Which queries (E, Q) the model gets right, which the nearest centroid of its vectors does; and the loss."""
        learner, plain = cast(FewShotModel, model), CentroidLearner(0, self.config.ways)
        right: dict[str, list[NDArray[np.bool_]]] = {"accuracy": [], "centroid_accuracy": []}
        total = 0.0
        for start in range(0, len(episodes), EPISODES_AT_ONCE):
            chosen = episodes[start : start + EPISODES_AT_ONCE]
            given, keep, labels = self.inputs(chosen, model)
            vectors = learner.vectors(given, keep)
            logits = learner.judge(vectors, labels)
            shown = labels.shape[1]
            near = plain(vectors[:, :shown], labels, vectors[:, shown:], learner.whole(vectors, NOTHING))
            targets = self.targets(chosen, logits).view(logits.shape[:2])
            total += float(F.cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum"))
            for name, scores in (("accuracy", logits), ("centroid_accuracy", near)):
                right[name].append((scores.argmax(-1) == targets).cpu().numpy())
        return {name: np.concatenate(parts) for name, parts in right.items()}, total / (
            len(episodes) * self.config.ways
        )

    def validate(self, model: Model) -> Validation:
        episodes = self.drawn("valid", self.config.judged)
        right, loss = self.verdicts(model, episodes)
        metrics = {name: float(one.mean()) for name, one in right.items()} | {"loss": loss}
        return Validation(metrics, self.samples(model, episodes[0]))

    @torch.no_grad()
    def samples(self, model: Model, episode: Episode) -> list[dict[str, str]]:
        found = cast(FewShotModel, model)(*self.inputs([episode], model))[0].argmax(-1).tolist()
        return [
            sample(self.names[text], episode.classes[label], wanted)
            for text, label, wanted in zip(episode.queries.tolist(), found, episode.classes, strict=True)
        ][:SAMPLES]

    def sections(self, model: Model, findings: Mapping[str, Any]) -> list[Section]:
        drawn = [self.picture(cast(FewShotModel, model), episode) for episode in self.drawn("valid", 2)]
        return [Section("Which examples a question looks at", [Cards([card for cards in drawn for card in cards])])]

    @torch.no_grad()
    def picture(self, model: FewShotModel, episode: Episode) -> list[Card]:
        """The weights of each query's last step, layer by layer, over the examples; none without attention."""
        names = list(model.learner.attention_heads())
        if not names:
            return []
        with watch(model, *names) as seen:
            model(*self.inputs([episode], model))
        labels = [episode.classes[label] for label in episode.labels.tolist()]
        columns = [f"{label}: {self.names[i]}"[:40] for label, i in zip(labels, episode.examples.tolist(), strict=True)]
        weights = {name: seen.last(name)[:, 0, -1].cpu().tolist() for name in names}  # (Q, S + 1)
        return [
            Card(
                f"{wanted}: {self.names[text]}",
                WordMatrix(names, [*columns, "itself"], [weights[name][row] for name in names], label=wanted),
            )
            for row, (text, wanted) in enumerate(zip(episode.queries.tolist(), episode.classes, strict=True))
        ]


@dataclass(frozen=True)
class FewShots(Episodic, kind="fewshot"):
    """Texts. Of a set with several labellings the finest is taken, which stands last."""

    preset: ClassVar[str] = "snail-small"
    with_pictures: ClassVar[str] = "fewshot-pictures"

    train: LabelledData = LabelledData()
    tokenizer: Literal["bpe", "unigram", "wordpiece", "word", "char", "byte"] = "word"
    pieces: Size | None = None
    max_length: Size = 64

    def open(self, folder: Path, say: Say) -> FewShotTask:
        return FewShotTask(self, folder, say)

    def tool(self, model: FewShotModel, tokenizer: Tokenizer, run: Run) -> FewShotClassifier:
        return FewShotClassifier(model, tokenizer, self.max_length)


class FewShotTask(EpisodicTask[FewShots]):
    """Texts as tokens."""

    def examples(self, say: Say) -> tuple[list[str], dict[str, list[int]]]:
        return by_class(finest(self.config.train).texts(), self.config.shots + 1)

    def learn(self, say: Say) -> None:
        self.tokenizer = self.learn_tokenizer(self.train_texts, say)
        self.rows = numbered(self.tokenizer, self.names, self.config.max_length)

    def train_texts(self) -> list[str]:
        """Of the classes that are trained on."""
        return [self.names[i] for i in self.train_numbers()]

    def fit(self, model: ModelConfig) -> ModelConfig:
        return change(super().fit(model), {"vocabulary": self.tokenizer.vocabulary})

    def inputs(self, episodes: Sequence[Episode], model: Model) -> tuple[Tensor, Tensor | None, Tensor]:
        numbers, device = self.numbers(episodes), next(model.parameters()).device
        rows = pad([self.rows[i] for i in numbers.flatten().tolist()], PAD)
        tokens = torch.from_numpy(rows).to(device).view(*numbers.shape, -1)
        return tokens, tokens != PAD, self.labels(episodes, device)

    def untrained(self) -> tuple[str, Callable[[Episode], NDArray[np.int64]]]:
        words = TermWeights(self.train_texts())
        return "TF-IDF", lambda episode: words.nearest(episode, self.names)


class FewShotClassifier(Tool):
    """A trained learner: give it examples of classes of your own, and it tells texts apart by them."""

    def __init__(self, model: FewShotModel, tokenizer: Tokenizer, max_length: int) -> None:
        super().__init__(model, tokenizer)
        self.max_length = max_length

    def classify(self, examples: Mapping[str, Sequence[str]], texts: Sequence[str]) -> list[str]:
        """`classify({"place": ["Where is Rome ?"], "date": ["When did it end ?"]}, ["Where am I ?"])`."""
        names, shown = shown_in_turn(examples, self.model.config.ways)
        rows = numbered(self.tokenizer, [*(text for text, _ in shown), *texts], self.max_length)
        tokens = torch.from_numpy(pad(rows, PAD)).to(self.device).unsqueeze(0)
        return named(self.model, tokens, tokens != PAD, shown, names)


Shown = list[tuple[Any, int]]  # examples with their labels


def shown_in_turn(examples: Mapping[str, Sequence[Any]], ways: int) -> tuple[list[str], Shown]:
    """The names of classes, and their examples, one of each class in turn as far as there are."""
    if len(examples) != ways or not all(map(len, examples.values())):
        raise Error(f"{len(examples)} classes with examples; this model was trained to tell {ways} apart")
    names, turns = list(examples), max(map(len, examples.values()))
    return names, [(own[i], names.index(name)) for i in range(turns) for name, own in examples.items() if i < len(own)]


@torch.no_grad()
def named(model: FewShotModel, given: Tensor, keep: Tensor | None, shown: Shown, names: Sequence[str]) -> list[str]:
    """The class of each query behind the examples that are shown (1, S + Q, …)."""
    labels = torch.tensor([[label for _, label in shown]], device=given.device)
    return [names[i] for i in model(given, keep, labels)[0].argmax(-1).tolist()]


def numbered(tokenizer: Tokenizer, texts: Sequence[str], longest: int) -> list[NDArray[np.int64]]:
    """Token ids of at most so many pieces; a text without any is one unknown piece."""
    return [np.array(row[:longest] or [UNKNOWN]) for row in tokenizer.encode(texts)]


def finest(data: LabelledData) -> LabelledData:
    """Of a named set the labelling with the most classes, unless one was asked for."""
    if data.name is None or data.languages is not None:
        return data
    variants = data_set(data.name).languages
    return replace(data, languages=variants[-1]) if variants else data
