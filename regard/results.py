"""What a run gives back: dataclasses that print themselves, turn into JSON and draw themselves in a notebook."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from regard.page.records import Code, Element


class Drawn:
    """What draws itself in a notebook."""

    def drawing(self) -> list[Element]:
        """As a notebook shows it."""
        return [Code(str(self))]

    def _repr_html_(self) -> str:
        from regard.page.html import html

        return html(self.drawing())


class Result(Drawn):
    """What a run makes of one input. A kind of result is a dataclass that says how it is written on a line."""

    def line(self, scores: bool = False) -> str:
        """On one line, with its score where `scores` asks for it; the line of an empty input is empty."""
        raise TypeError(f"{type(self).__name__} does not say how it is written")

    def record(self) -> dict[str, Any]:
        """As JSON values."""
        return {one.name: getattr(self, one.name) for one in fields(self)}  # type: ignore[arg-type]

    def json(self) -> str:
        return json.dumps(self.record(), ensure_ascii=False)

    def drawing(self) -> list[Element]:
        return [Code(self.line(scores=True))]

    def __str__(self) -> str:
        return self.line()


class Scores(Drawn):
    """How good a run is on some examples. A kind of scores is a dataclass with `metrics`, by which training judges a
    model, a `record` and a `table` for people."""

    def metrics(self) -> dict[str, float]:
        """Figures by name; each is named in the metrics of its task."""
        raise TypeError(f"{type(self).__name__} does not say what its metrics are")

    def record(self) -> dict[str, Any]:
        """As JSON values."""
        return self.metrics()

    def table(self) -> str:
        """As a person reads it on a terminal."""
        raise TypeError(f"{type(self).__name__} does not say how it is shown")

    def __str__(self) -> str:
        return self.table()


@dataclass(frozen=True)
class Measured(Scores):
    """Scores, and how fast they were reached: `speed` is how many of what `counted` names a second."""

    scores: Scores
    counted: str
    speed: float

    def metrics(self) -> dict[str, float]:
        return self.scores.metrics()

    def record(self) -> dict[str, Any]:
        return {**self.scores.record(), f"{self.counted} per second": self.speed}

    def table(self) -> str:
        return f"{self.scores.table()}\n{self.speed:,.0f} {self.counted} a second"


@dataclass(frozen=True)
class Figures(Scores):
    """Plain figures by name, and how many of what they were computed on."""

    figures: Mapping[str, float]
    counted: Mapping[str, int]
    digits: int = 4

    def metrics(self) -> dict[str, float]:
        return dict(self.figures)

    def record(self) -> dict[str, Any]:
        return {**self.figures, **self.counted}

    def table(self) -> str:
        width = max(map(len, self.figures)) + 2
        rows = [f"{name:<{width}}{value:.{self.digits}f}" for name, value in self.figures.items()]
        return "\n".join([*rows, ", ".join(f"{count:,} {name}" for name, count in self.counted.items())])
