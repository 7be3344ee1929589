"""Drawings as SVG text: curves, bars, and a matrix of weights between words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

RED = "#c8102e"  # of the word that is read
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito's, for every eye


@dataclass(frozen=True)
class Curve:
    """Points (x, y) under one name."""

    name: str
    points: Sequence[tuple[float, float]]


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between low and high, about `count` of them."""
    if high <= low:
        return [low]
    rough = (high - low) / count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(step * i, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


@dataclass(frozen=True)
class Frame:
    """Maps data to places in a drawing."""

    width: float
    height: float
    low_x: float
    high_x: float
    low_y: float
    high_y: float
    left: float = 52
    bottom: float = 34
    top: float = 10
    right: float = 12

    def x(self, value: float) -> float:
        span = (self.high_x - self.low_x) or 1
        return self.left + (value - self.low_x) / span * (self.width - self.left - self.right)

    def y(self, value: float) -> float:
        span = (self.high_y - self.low_y) or 1
        return self.height - self.bottom - (value - self.low_y) / span * (self.height - self.bottom - self.top)

    def axes(self, x_label: str, numbered: bool = True) -> str:
        """Grid lines with their values, the values below them where the axis is `numbered`, and its name."""
        parts = []
        for value in ticks(self.low_y, self.high_y):
            y = self.y(value)
            parts.append(
                f'<line class="grid" x1="{self.left}" x2="{self.width - self.right}" y1="{y:.1f}" y2="{y:.1f}"/>'
            )
            parts.append(f'<text class="tick" x="{self.left - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
        for value in ticks(self.low_x, self.high_x) if numbered else ():
            x, y = self.x(value), self.height - self.bottom + 16
            parts.append(f'<text class="tick" x="{x:.1f}" y="{y}" text-anchor="middle">{value:g}</text>')
        middle = (self.left + self.width - self.right) / 2
        parts.append(
            f'<text class="tick" x="{middle}" y="{self.height - 3}" text-anchor="middle">{escape(x_label)}</text>'
        )
        return "".join(parts)


def drawing(width: float, height: float, inside: str, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label, quote=True)}" '
        f'style="max-width:{width:g}px">{inside}</svg>'
    )


def line_chart(curves: Sequence[Curve], x_label: str, label: str, width: float = 460, height: float = 240) -> str:
    """Curves over one axis, each named at its end; hovering a point tells its value."""
    points = [point for curve in curves for point in curve.points if math.isfinite(point[1])]
    if not points:
        return ""
    xs, ys = [x for x, _ in points], [y for _, y in points]
    margin = (max(ys) - min(ys)) * 0.06 or abs(ys[0]) * 0.1 or 1
    frame = Frame(width, height, min(xs), max(xs), min(ys) - margin, max(ys) + margin)
    parts = [frame.axes(x_label)]
    for number, curve in enumerate(curves):
        colour = COLOURS[number % len(COLOURS)]
        places = [(frame.x(x), frame.y(y), x, y) for x, y in curve.points if math.isfinite(y)]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py, _, _ in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if len(places) <= 80:
            dots = (
                f'<circle cx="{px:.1f}" cy="{py:.1f}" r="3" fill="{colour}"><title>'
                f"{escape(curve.name)} at {x:g}: {y:.4g}</title></circle>"
                for px, py, x, y in places
            )
            parts.extend(dots)
        legend_x = frame.left + 8 + number * 110
        parts.append(f'<rect x="{legend_x}" y="2" width="12" height="4" fill="{colour}"/>')
        parts.append(f'<text class="tick" x="{legend_x + 16}" y="9">{escape(curve.name)}</text>')
    return drawing(width, height, "".join(parts), label)


def bar_chart(
    bars: Sequence[tuple[str, float, str]], x_label: str, label: str, width: float = 460, height: float = 240
) -> str:
    """(name, value, what hovering tells) as bars from zero, the value above each."""
    if not bars:
        return ""
    highest = max(value for _, value, _ in bars)
    frame = Frame(width, height, 0, len(bars), 0, 1.1 * highest or 1)
    parts = [frame.axes(x_label, numbered=False)]
    for number, (name, value, told) in enumerate(bars):
        left, right = frame.x(number + 0.15), frame.x(number + 0.85)
        top, base, middle = frame.y(value), frame.y(0), (left + right) / 2
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{base - top:.1f}" '
            f'fill="{COLOURS[0]}"><title>{escape(told)}</title></rect>'
            f'<text class="tick" x="{middle:.1f}" y="{top - 3:.1f}" text-anchor="middle">{value:.1f}</text>'
            f'<text class="tick" x="{middle:.1f}" y="{base + 16:.1f}" text-anchor="middle">{escape(name)}</text>'
        )
    return drawing(width, height, "".join(parts), label)


def word_matrix(
    rows: Sequence[str],
    columns: Sequence[str],
    weights: Sequence[Sequence[float]],
    gold: Sequence[tuple[int, int]] = (),
    label: str = "alignment",
    cell: float = 22,
) -> str:
    """Weights between words as shades, rows against columns; gold links (column, row) are outlined.

    Every cell carries its row and column, so that the page can light up both words.
    """
    left = 12 + 7.2 * max((len(word) for word in rows), default=0)
    top = 12 + 5.6 * max((len(word) for word in columns), default=0)
    width = left + cell * len(columns) + 60
    height = top + cell * len(rows) + 6
    parts = []
    for j, word in enumerate(columns):
        turned = f"translate({left + (j + 0.6) * cell:.1f},{top - 6:.1f}) rotate(-50)"
        parts.append(f'<text class="word" data-column="{j}" transform="{turned}">{escape(word)}</text>')
    marked = set(gold)
    for i, word in enumerate(rows):
        y = top + (i + 0.68) * cell
        parts.append(
            f'<text class="word" data-row="{i}" x="{left - 6:.1f}" y="{y:.1f}" text-anchor="end">{escape(word)}</text>'
        )
        for j, other in enumerate(columns):
            weight = min(max(float(weights[i][j]), 0.0), 1.0)
            outline = ' class="cell gold"' if (j, i) in marked else ' class="cell"'
            parts.append(
                f'<rect{outline} data-row="{i}" data-column="{j}" x="{left + j * cell:.1f}" y="{top + i * cell:.1f}" '
                f'width="{cell - 2:g}" height="{cell - 2:g}" fill="{COLOURS[0]}" fill-opacity="{weight:.3f}">'
                f"<title>{escape(word)} ← {escape(other)}: {weight:.2f}</title></rect>"
            )
    return drawing(width, height, "".join(parts), label)


def reading_steps(words: Sequence[str], weights: Sequence[Sequence[float]], label: str = "reading") -> str:
    """A text as it is read, one line a step: the current word red, those before it as dark behind as it looks at them.

    Figure 1 of Cheng et al. 2016, arXiv:1601.06733. The darkest of a line is the word that it looks at most.
    """
    line, gap, letter = 26, 8, 7.4
    lefts = [4.0]
    for word in words:
        lefts.append(lefts[-1] + letter * max(len(word), 1) + gap)
    parts = []
    for i, current in enumerate(words):
        most = max((float(weight) for weight in weights[i][:i]), default=0.0) or 1.0
        for j, word in enumerate(words[: i + 1]):
            y, width = i * line + 4, lefts[j + 1] - lefts[j] - gap
            told = f"{escape(current)} ← {escape(word)}: {float(weights[i][j]):.2f}"
            share = min(max(float(weights[i][j]) / most, 0.0), 1.0) if j < i else 0.0
            style = f'fill="{RED}" style="fill:{RED};font-weight:600"' if j == i else ""
            parts.append(
                f'<g data-row="{i}" data-column="{j}"><rect x="{lefts[j] - 3:.1f}" y="{y}" width="{width + 6:.1f}" '
                f'height="{line - 4}" rx="4" fill="{COLOURS[0]}" fill-opacity="{0.6 * share:.3f}"/>'
                f'<text x="{lefts[j] + width / 2:.1f}" y="{y + 16}" text-anchor="middle" {style}>{escape(word)}</text>'
                f"<title>{told}</title></g>"
            )
    return drawing(lefts[-1] + 4, len(words) * line + 8, "".join(parts), label)
