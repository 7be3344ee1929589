"""Drawings as SVG text: a matrix of weights between words, a text as it is read, a strip of pictures."""

from __future__ import annotations

import base64
import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from regard.page.records import ReadingSteps, WordMatrix

RED = "#c8102e"  # of the current word
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")  # Okabe and Ito's, for every eye


def ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Round numbers between low and high, about `count` of them."""
    if high <= low:
        return [low]
    rough = (high - low) / count
    size = 10.0 ** math.floor(math.log10(rough))
    step = next(size * factor for factor in (1, 2, 5, 10) if size * factor >= rough)
    first = math.ceil(low / step - 1e-9)
    return [round(step * i, 12) for i in range(first, math.floor(high / step + 1e-9) + 1)]


def drawing(width: float, height: float, inside: str, label: str) -> str:
    return (
        f'<svg viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{escape(label, quote=True)}" '
        f'style="max-width:{width:g}px">{inside}</svg>'
    )


def word_matrix(matrix: WordMatrix) -> str:
    """Every cell carries its row and column, so that the page can light up both words."""
    rows, columns, cell = matrix.rows, matrix.columns, matrix.cell_pixels
    left = 12 + 7.2 * max((len(word) for word in rows), default=0)
    top = 12 + 5.6 * max((len(word) for word in columns), default=0)
    width = left + cell * len(columns) + 60
    height = top + cell * len(rows) + 6
    parts = []
    for j, word in enumerate(columns):
        turned = f"translate({left + (j + 0.6) * cell:.1f},{top - 6:.1f}) rotate(-50)"
        parts.append(f'<text class="word" data-column="{j}" transform="{turned}">{escape(word)}</text>')
    marked = set(matrix.gold)
    for i, word in enumerate(rows):
        y = top + (i + 0.68) * cell
        parts.append(
            f'<text class="word" data-row="{i}" x="{left - 6:.1f}" y="{y:.1f}" text-anchor="end">{escape(word)}</text>'
        )
        for j, other in enumerate(columns):
            weight = min(max(float(matrix.weights[i][j]), 0.0), 1.0)
            outline = ' class="cell gold"' if (j, i) in marked else ' class="cell"'
            parts.append(
                f'<rect{outline} data-row="{i}" data-column="{j}" x="{left + j * cell:.1f}" y="{top + i * cell:.1f}" '
                f'width="{cell - 2:g}" height="{cell - 2:g}" fill="{COLOURS[0]}" fill-opacity="{weight:.3f}">'
                f"<title>{escape(word)} ← {escape(other)}: {weight:.2f}</title></rect>"
            )
    return drawing(width, height, "".join(parts), matrix.label)


def reading_steps(steps: ReadingSteps) -> str:
    """The current word is red; the more it looks at an earlier word, the darker the ground behind that word."""
    words, weights = steps.words, steps.weights
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
    return drawing(lefts[-1] + 4, len(words) * line + 8, "".join(parts), steps.label)


@dataclass(frozen=True)
class CaptionedPng:
    """A PNG with its size and what stands below it."""

    label: str
    png: bytes
    width: int
    height: int


def picture_strip(pictures: Sequence[CaptionedPng], across: int) -> str:
    """Pictures of one size side by side, in rows of so many, as a file of its own."""
    gap, below = 6, 22
    width, height = pictures[0].width + gap, pictures[0].height + below
    parts = []
    for number, one in enumerate(pictures):
        x, y = number % across * width, number // across * height
        data = base64.b64encode(one.png).decode()
        parts.append(
            f'<image x="{x}" y="{y}" width="{one.width}" height="{one.height}" href="data:image/png;base64,{data}"/>'
            f'<text x="{x + one.width / 2}" y="{y + one.height + 16}" text-anchor="middle" font-family="sans-serif" '
            f'font-size="14">{escape(one.label)}</text>'
        )
    size = min(len(pictures), across) * width - gap, math.ceil(len(pictures) / across) * height
    whole = drawing(*size, "".join(parts), pictures[0].label)
    return whole.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
