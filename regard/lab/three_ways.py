"""Three ways of processing a sequence: recurrence, convolution, attention. What each costs as it grows longer, over how
many steps two distant tokens meet, and whether a token is still known from a distance.

The table of Vaswani et al. 2017, arXiv:1706.03762, section 4, as a measurement.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from regard.config import ConfigError, Positive, Size
from regard.lab.comparison import Ranking, about, contest, enough, left_out, listed, point, said
from regard.lab.experiment import Experiment, ExperimentResult, Result, Results, Say, Trial
from regard.lab.measuring import alone, chain, kept_bytes, reach, timed
from regard.lab.pace import clock
from regard.lab.recall import Learning, Recall, RecallLearner, ranges, recalled
from regard.metrics.statistics import PERCENT, Contest, Interval, fall
from regard.models import Decoder
from regard.nn.attention import MixerConfig, MultiHead
from regard.nn.feedforward import MLP
from regard.nn.heads import LinearHead
from regard.nn.init import Xavier
from regard.nn.mixers import Convolution, Recurrence
from regard.nn.positions import NoPosition, Position
from regard.nn.residual import PreNorm
from regard.nn.stacks import Block, Stack
from regard.page.records import Card, LineChart, Point, Series, Table
from regard.runfolder import read_json, write_text

RECURRENCE, CONVOLUTION, ATTENTION, KEPT = "recurrence", "convolution", "attention", "attention, weights kept"
ALLOWED_POINTS = 5.0  # a smaller loss of accuracy, in per cent, still counts as holding
TIMED_STEPS = 5  # of recall, by which the number of steps is planned
REACH_TOKENS = 64  # length at which the reach of a layer is measured


@dataclass(frozen=True)
class ThreeWays(Experiment, kind="three-ways"):
    """Causal layers, `width` wide, of which those of attention have so many `heads` and those of convolution so many
    `taps`. Measured at these `lengths` in batches of so many `rows`; then models of `layers` such layers learn to
    `recall`, with as many steps each. Attention that keeps its weights, as it must to drop some of them, is measured
    beside."""

    budget: Positive = 12.0
    width: Size = 64
    heads: Size = 4
    taps: Size = 5
    rows: Size = 4
    lengths: tuple[Size, ...] = (32, 64, 128, 256, 512, 1024, 2048)
    layers: Size = 2
    recall: Recall = Recall()
    learning: Learning = Learning()
    distances: tuple[Size, ...] = (8, 16, 32, 64, 128)
    steps: Size | None = None

    def check(self) -> None:
        for name, numbers in (("lengths", self.lengths), ("distances", self.distances)):
            if list(numbers) != sorted(set(numbers)) or len(numbers) < 2:
                raise ConfigError(f"{name} {numbers}: they take two rising numbers or more")
        if self.distances[-1] < self.recall.length:
            raise ConfigError(f"distances end at {self.distances[-1]}: they take the {self.recall.length} of the rows")
        if self.width % self.heads:
            raise ConfigError(f"width {self.width} is not divisible by {self.heads} heads")

    def minutes(self) -> float | None:
        return 2 + self.budget if self.steps is None else None

    def mixers(self) -> dict[str, MixerConfig]:
        return {
            RECURRENCE: Recurrence(),
            CONVOLUTION: Convolution(taps=self.taps),
            ATTENTION: MultiHead(heads=self.heads),
            KEPT: MultiHead(heads=self.heads, weight_dropout=0.1),
        }

    def learners(self) -> dict[str, MixerConfig]:
        return {name: mixer for name, mixer in self.mixers().items() if name != KEPT}

    def model(self, mixer: MixerConfig) -> Decoder:
        """Without positions: none of the three needs them to recall."""
        block = Block(attention=mixer, feedforward=MLP(hidden=2 * self.width), residual=PreNorm(dropout=0.0))
        return Decoder(
            vocabulary=self.recall.vocabulary,
            width=self.width,
            decoder=Stack(layers=self.layers, block=block, position=NoPosition()),
            head=LinearHead(tied=False),
        )

    # --- trials ---

    def trials(self, folder: Path, say: Say) -> Sequence[Trial]:
        steps = self.planned(folder / "plan.json")
        measured = [Trial(name, 0, partial(self.measured, mixer)) for name, mixer in self.mixers().items()]
        learnt = [
            Trial(name, seed, partial(self.learnt, mixer, seed, steps))
            for seed in range(1, self.seeds + 1)
            for name, mixer in self.learners().items()
        ]
        return [*measured, *learnt]

    def planned(self, path: Path) -> int:
        """Equal steps, as many as fit into the budget; kept in a file, so that what goes on keeps to the plan."""
        if self.steps is not None:
            return self.steps
        if not path.exists():
            seconds = 0.0
            for mixer in self.learners().values():
                learner = RecallLearner(self.recall, self.model(mixer), self.learning, 100, seed=0)
                learner.step()
                begun = clock(torch.device("cpu"))
                for _ in range(TIMED_STEPS):
                    learner.step()
                seconds += (clock(torch.device("cpu")) - begun) / TIMED_STEPS
            steps = max(TIMED_STEPS, round(60 * self.budget / self.seeds / seconds))
            write_text(path, json.dumps({"steps": steps}) + "\n")
        return int(read_json(path)["steps"])

    def measured(self, mixer: MixerConfig, place: Path) -> Result:
        """Of one layer: seconds, bytes and the longest chain of operations at each length, and how far it reaches."""
        module = mixer.build(self.width, Position(), causal=True)
        Xavier().apply(module)
        layer, owned = alone(module), {one.untyped_storage().data_ptr() for one in module.parameters()}
        found: Result = {"forward": [], "backward": [], "kept": [], "chain": []}
        for length in self.lengths:
            x = torch.randn(self.rows, length, self.width, requires_grad=True)
            forward, backward = timed(layer, x)
            found["forward"].append(forward)
            found["backward"].append(backward)
            found["kept"].append(kept_bytes(layer, x, owned))
            found["chain"].append(chain(layer(x)))
        found["reach"] = reach(alone(module.double()), REACH_TOKENS, self.width)
        return found

    def learnt(self, mixer: MixerConfig, seed: int, steps: int, place: Path) -> Result:
        learner = RecallLearner(self.recall, self.model(mixer), self.learning, steps, seed)
        seconds = learner.learn()
        return {
            "steps": steps,
            "seconds": seconds,
            "parameters": sum(parameter.numel() for parameter in learner.model.parameters()),
            "recalled": learner.by_distance(self.distances),
        }

    # --- what follows ---

    def outcome(self, results: Results) -> ExperimentResult:
        measured = {name: trials[0] for name, trials in results.items()}
        learnt = {name: trials[1:] for name, trials in results.items() if len(trials) > 1}
        scores = recalled(learnt)
        growth = {name: self.growth(one) for name, one in measured.items()}
        chance = 100 / self.recall.values
        near, far = ({name: several[place] for name, several in scores.items()} for place in (0, -1))
        able = enough(near, chance + 2 * ALLOWED_POINTS)
        comparison = Ranking(far, able)
        changes = contest({name: far[name] - near[name] for name in able}).together() if able else {}
        verdicts = {
            name: fall(near[name].value - chance, changes[name], ALLOWED_POINTS) if name in able else "too low"
            for name in scores
        }
        by_distance = [
            Contest({name: several[place] for name, several in scores.items()}).alone(PERCENT)
            for place in range(len(self.distances))
        ]
        drawn = {name: [one[name] for one in by_distance] for name in scores}
        span = f"from distances up to {self.distances[0]} to those of {self.far()}"
        asked = sum(asked for _, asked in learnt[ATTENTION][0]["recalled"])
        conclusions = [
            "Time grows with this power of the length: "
            + listed([f"{n} {t:.2f}" for n, (t, _) in growth.items()])
            + ".",
            "Memory grows with this power: " + listed([f"{n} {m:.2f}" for n, (_, m) in growth.items()]) + ".",
            f"Operations in a row at {self.lengths[0]} and {self.lengths[-1]:,} tokens: "
            + listed([f"{name} {one['chain'][0]:,} and {one['chain'][-1]:,}" for name, one in measured.items()])
            + ".",
            *(
                about(
                    f"recall: {said(verdicts[n], n, ALLOWED_POINTS, 'distance')}: {changes[n].signed()} points {span}.",
                    self.seeds == 1,
                )
                for n in able
            ),
            *comparison.ranked(f"recall at distances of {self.far()} in per cent"),
            *left_out(near, able, "% at the nearest"),
            *comparison.sureness("points", f"{asked:,} questions"),
        ]
        values = {
            "layers": {
                name: {
                    **one,
                    "lengths": list(self.lengths),
                    "time_power": growth[name][0],
                    "memory_power": growth[name][1],
                }
                for name, one in measured.items()
            },
            "recall": {
                name: {
                    "steps": [one["steps"] for one in trials],
                    "seconds": [one["seconds"] for one in trials],
                    "parameters": trials[0]["parameters"],
                    "accuracy": [one.plain() for one in drawn[name]],
                    "verdict": verdicts[name],
                }
                for name, trials in learnt.items()
            },
            "distances": list(self.distances),
            "chance": chance,
        }
        tables = [self.costs(measured, growth), self.recalls(learnt, drawn)]
        return ExperimentResult(tables, self.panels(measured, drawn), conclusions, values)

    def far(self) -> str:
        return f"{self.distances[-2] + 1}–{self.distances[-1]}"

    def growth(self, one: Result) -> tuple[float, float]:
        """The powers of the length with which time and memory grow, over the longer half of the lengths."""
        half = slice(len(self.lengths) // 2, None) if len(self.lengths) > 3 else slice(None)
        lengths = np.log(np.array(self.lengths[half]))
        times = np.log(np.add(one["forward"], one["backward"]))[half]
        sizes = np.log(np.array(one["kept"], dtype=float))[half]
        return float(np.polyfit(lengths, times, 1)[0]), float(np.polyfit(lengths, sizes, 1)[0])

    def hops(self, name: str, one: Result) -> int:
        """Over how many steps the ends of the longest row meet: from state to state, or from layer to layer."""
        far = self.lengths[-1] - 1
        if name == RECURRENCE:
            return far
        return 1 if one["reach"] == REACH_TOKENS - 1 else math.ceil(far / one["reach"])

    def costs(self, measured: Mapping[str, Result], growth: Mapping[str, tuple[float, float]]) -> Table:
        longest = self.lengths[-1]
        return Table(
            title=f"One layer, {self.width} wide, {self.rows} rows of {longest:,} tokens",
            header=(
                "",
                "forward ms",
                "backward ms",
                "kept MiB",
                "time ~ n^",
                "memory ~ n^",
                "operations in a row",
                "path",
            ),
            rows=[
                [
                    name,
                    f"{1000 * one['forward'][-1]:.1f}",
                    f"{1000 * one['backward'][-1]:.1f}",
                    f"{one['kept'][-1] / 2**20:.1f}",
                    f"{growth[name][0]:.2f}",
                    f"{growth[name][1]:.2f}",
                    f"{one['chain'][-1]:,}",
                    f"{self.hops(name, one):,}",
                ]
                for name, one in measured.items()
            ],
        )

    def recalls(self, learnt: Results, drawn: Mapping[str, Sequence[Interval]]) -> Table:
        return Table(
            title=f"Recall by distance in per cent; chance is {100 / self.recall.values:.1f}",
            header=("", "parameters", "steps", *ranges(self.distances)),
            rows=[
                [name, *(f"{trials[0][count]:,}" for count in ("parameters", "steps")), *map(str, drawn[name])]
                for name, trials in learnt.items()
            ],
        )

    def panels(self, measured: Mapping[str, Result], drawn: Mapping[str, Sequence[Interval]]) -> list[Card]:
        def grown(values: Mapping[str, Sequence[float]], label: str) -> LineChart:
            series = [
                Series(name, [Point(n, y) for n, y in zip(self.lengths, several, strict=True)])
                for name, several in values.items()
            ]
            return LineChart(series, "tokens", label, log_x=2, log_y=10)

        times = {
            n: [1000 * (f + b) for f, b in zip(o["forward"], o["backward"], strict=True)] for n, o in measured.items()
        }
        sizes = {name: [size / 2**20 for size in one["kept"]] for name, one in measured.items()}
        chains = {name: one["chain"] for name, one in measured.items()}
        series = [
            Series(name, [point(number, one) for number, one in enumerate(several)]) for name, several in drawn.items()
        ]
        chance = [Point(number, 100 / self.recall.values) for number in range(len(self.distances))]
        names = list(enumerate(ranges(self.distances)))
        recall = LineChart(
            [*series, Series("chance", chance, dashed=True)],
            "distance in tokens",
            "recall",
            names=names,
            from_zero=True,
        )
        return [
            Card("Time forward and backward, ms", grown(times, "time by length")),
            Card("Memory kept for the backward pass, MiB", grown(sizes, "memory by length")),
            Card("Operations in a row", grown(chains, "sequential operations by length")),
            Card("Recall by distance, %", recall),
        ]
