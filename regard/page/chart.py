"""Charts as SVG text: curves with intervals, axes that may be logarithmic, values with intervals by name, bars."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape

from regard.page.records import BarChart, DotChart, LineChart, Point, Series
from regard.page.svg import COLOURS, drawing, ticks

MORE = (*COLOURS, "#7f7f7f", "#8c564b", "#9467bd", "#17becf")
STYLE = (  # of a drawing in a file of its own; in a page, the page's style applies
    "text{fill:#1d2330;font:12px system-ui,sans-serif}.tick{fill:#667085;font-size:11px}"
    "line.grid{stroke:#e3e6ec}.paper{fill:#fdfdfc}.title{font-weight:600}"
    "@media(prefers-color-scheme:dark){text{fill:#e8eaf0}.tick{fill:#98a2b3}line.grid{stroke:#2c323d}"
    ".paper{fill:#14171d}}"
)
REFERENCE = "#98a2b3"
WIDTH, HEIGHT = 460.0, 260.0
LEFT, RIGHT, TOP, BOTTOM = 56.0, 14.0, 12.0, 36.0
MAX_DOTS = 80  # a longer curve has no dots


@dataclass(frozen=True)
class Axis:
    """Maps values to places between two ends; logarithmic by powers of `base`, or named places."""

    low: float
    high: float
    start: float
    end: float
    base: float | None = None
    names: Sequence[tuple[float, str]] | None = None

    def __call__(self, value: float) -> float:
        low, high, at = self.scaled(self.low), self.scaled(self.high), self.scaled(value)
        return self.start + (at - low) / ((high - low) or 1) * (self.end - self.start)

    def scaled(self, value: float) -> float:
        return value if self.base is None else math.log(max(value, 1e-300), self.base)

    def ticks(self) -> list[tuple[float, str]]:
        if self.names is not None:
            return list(self.names)
        if self.base is None:
            return [(value, f"{value:g}") for value in ticks(self.low, self.high)]
        first, last = math.ceil(self.scaled(self.low) - 1e-9), math.floor(self.scaled(self.high) + 1e-9)
        step = max(1, (last - first) // 6)
        return [(self.base**power, f"{self.base**power:g}") for power in range(first, last + 1, step)]


def line_chart(chart: LineChart) -> str:
    """Hovering a point tells its value."""
    series = [replace(one, points=[point for point in one.points if math.isfinite(point.y)]) for one in chart.series]
    points = [point for one in series for point in one.points]
    if not points:
        return ""
    ys = [value for point in points for value in (point.y, point.low, point.high) if value is not None]
    room = 0.0 if chart.log_y else (max(ys) - min(ys)) * 0.06 or abs(ys[0]) * 0.1 or 1
    rows = _legend_rows([one.name for one in series])
    height = HEIGHT + 16 * len(rows)
    bottom = HEIGHT - BOTTOM
    low_y = 0.0 if chart.from_zero else min(ys) - room
    xs = [point.x for point in points]
    x = Axis(min(xs), max(xs), LEFT + 10, WIDTH - RIGHT - 10, chart.log_x, chart.names)
    y = Axis(low_y, max(ys) + room, bottom, TOP, chart.log_y)
    parts = [_grid(x, y, chart.x_label)]
    if chart.mark is not None:
        at = x(chart.mark[0])
        parts += [_rule(at, at, TOP, bottom, "3 3"), _tick(at + 4, TOP + 8, chart.mark[1])]
    for number, one in enumerate(series):
        parts.append(_curve(one, x, y, _colour(number, one.dashed)))
    parts.append(_legend(rows, [one.dashed for one in series]))
    return drawing(WIDTH, height, "".join(parts), chart.label)


def bar_chart(chart: BarChart) -> str:
    if not chart.bars:
        return ""
    names = [(number + 0.5, name) for number, (name, _, _) in enumerate(chart.bars)]
    x = Axis(0, len(chart.bars), LEFT, WIDTH - RIGHT, names=names)
    y = Axis(0, 1.1 * max(value for _, value, _ in chart.bars) or 1, HEIGHT - BOTTOM, TOP)
    parts = [_grid(x, y, chart.x_label)]
    for number, (_, value, told) in enumerate(chart.bars):
        left, right, top, base = x(number + 0.15), x(number + 0.85), y(value), y(0)
        parts.append(
            f'<rect x="{left:.1f}" y="{top:.1f}" width="{right - left:.1f}" height="{base - top:.1f}" '
            f'fill="{COLOURS[0]}"><title>{escape(told)}</title></rect>'
            + _tick((left + right) / 2, top - 3, f"{value:.1f}", "middle")
        )
    return drawing(WIDTH, HEIGHT, "".join(parts), chart.label)


def _grid(x: Axis, y: Axis, x_label: str) -> str:
    parts = []
    for value, name in y.ticks():
        at = y(value)
        parts += [_rule(LEFT, WIDTH - RIGHT, at, at), _tick(LEFT - 6, at + 4, name, "end")]
    parts += [_tick(x(value), y.start + 15, name, "middle") for value, name in x.ticks()]
    return "".join([*parts, _tick((LEFT + WIDTH - RIGHT) / 2, y.start + 31, x_label, "middle")])


def _rule(left: float, right: float, top: float, bottom: float, dashes: str = "none") -> str:
    """A line of the grid."""
    places = f'x1="{left:.1f}" x2="{right:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"'
    return f'<line class="grid" {places} stroke-dasharray="{dashes}"/>'


def _tick(x: float, y: float, text: str, anchor: str = "start") -> str:
    """A small text beside a drawing."""
    return f'<text class="tick" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _curve(one: Series, x: Axis, y: Axis, colour: str) -> str:
    parts = []
    sure = [point for point in one.points if point.low is not None and point.high is not None]
    if len(sure) > 1:
        upper = [f"{x(point.x):.1f},{y(point.high or 0.0):.1f}" for point in sure]
        lower = [f"{x(point.x):.1f},{y(point.low or 0.0):.1f}" for point in reversed(sure)]
        parts.append(f'<polygon points="{" ".join(upper + lower)}" fill="{colour}" fill-opacity="0.15"/>')
    path = " ".join(f"{x(point.x):.1f},{y(point.y):.1f}" for point in one.points)
    dash = ' stroke-dasharray="5 4"' if one.dashed else ""
    parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
    for point in one.points if len(one.points) <= MAX_DOTS else ():
        told = f"{one.name} at {point.x:g}: {point.y:.4g}{_interval(point)}"
        parts.append(
            f'<circle cx="{x(point.x):.1f}" cy="{y(point.y):.1f}" r="3" fill="{colour}">'
            f"<title>{escape(told)}</title></circle>"
        )
    return "".join(parts)


def _colour(number: int, dashed: bool) -> str:
    return REFERENCE if dashed else MORE[number % len(MORE)]


def _interval(point: Point) -> str:
    return "" if point.low is None or point.high is None else f" [{point.low:.4g}, {point.high:.4g}]"


def _legend_rows(names: Sequence[str]) -> list[list[tuple[int, str]]]:
    """The names with their numbers, as many a row as fit."""
    rows: list[list[tuple[int, str]]] = [[]]
    used = LEFT
    for number, name in enumerate(names):
        if used + 30 + 6.2 * len(name) > WIDTH and rows[-1]:
            rows.append([])
            used = LEFT
        rows[-1].append((number, name))
        used += 30 + 6.2 * len(name)
    return rows


def _legend(rows: Sequence[Sequence[tuple[int, str]]], dashed: Sequence[bool]) -> str:
    parts = []
    for line, row in enumerate(rows):
        left, y = LEFT, HEIGHT + 8 + 16 * line
        for number, name in row:
            dash = ' stroke-dasharray="5 4"' if dashed[number] else ""
            colour = _colour(number, dashed[number])
            parts.append(
                f'<line x1="{left}" x2="{left + 14}" y1="{y - 4}" y2="{y - 4}" stroke="{colour}" '
                f'stroke-width="3"{dash}/>{_tick(left + 18, y, name)}'
            )
            left += 30 + 6.2 * len(name)
    return "".join(parts)


def dot_chart(chart: DotChart) -> str:
    rows, groups = chart.rows, chart.groups
    points = [point for _, values in rows for point in values]
    if not points:
        return ""
    ends = [value for point in points for value in (point.y, point.low, point.high) if value is not None]
    left = 16 + 6.4 * max(len(name) for name, _ in rows)
    each = 14.0 * max(1, len(groups)) + 8
    bottom = TOP + each * len(rows)
    room = (max(ends) - min(ends)) * 0.08 or 1
    axis = Axis(min(ends) - room, max(ends) + room, left, WIDTH - RIGHT - 26)
    parts = []
    for value, name in axis.ticks():
        at = axis(value)
        parts += [_rule(at, at, TOP, bottom), _tick(at, bottom + 14, name, "middle")]
    for line, (name, values) in enumerate(rows):
        middle = TOP + each * (line + 0.5)
        parts.append(f'<text x="{left - 8:.1f}" y="{middle + 4:.1f}" text-anchor="end">{escape(name)}</text>')
        for number, point in enumerate(values):
            y = middle + 14 * (number - (len(values) - 1) / 2)
            parts.append(_dot(point, axis, y, MORE[number % len(MORE)], name, chart.digits))
    parts.append(_tick((left + WIDTH) / 2, bottom + 30, chart.x_label, "middle"))
    legend = ""
    if len(groups) > 1:
        x = left
        for number, group in enumerate(groups):
            legend += f'<circle cx="{x:.1f}" cy="{bottom + 44:.1f}" r="4" fill="{MORE[number % len(MORE)]}"/>'
            legend += _tick(x + 9, bottom + 48, group)
            x += 30 + 6.2 * len(group)
    return drawing(WIDTH, bottom + 54, "".join(parts) + legend, chart.label)


def _dot(point: Point, axis: Axis, y: float, colour: str, name: str, digits: int) -> str:
    low = point.y if point.low is None else point.low
    high = point.y if point.high is None else point.high
    return (
        f'<line x1="{axis(low):.1f}" x2="{axis(high):.1f}" y1="{y:.1f}" y2="{y:.1f}" stroke="{colour}" '
        f'stroke-width="3" stroke-opacity="0.4"/><circle cx="{axis(point.y):.1f}" cy="{y:.1f}" r="4" fill="{colour}">'
        f"<title>{escape(name)}: {point.y:.4g}{escape(_interval(point))}</title></circle>"
        + _tick(axis(high) + 7, y + 4, f"{point.y:.{digits}f}")
    )


def sheet(panels: Sequence[tuple[str, str]], columns: int = 2) -> str:
    """Drawings with their titles on one sheet, as a file that stands alone."""
    columns = min(columns, len(panels)) or 1
    rows = [panels[start : start + columns] for start in range(0, len(panels), columns)]
    parts, y = [], 12.0
    for row in rows:
        tallest = max(_height(svg) for _, svg in row)
        for column, (title, svg) in enumerate(row):
            x = 12 + column * (WIDTH + 20)
            placed = svg.replace(
                "<svg ", f'<svg x="{x:g}" y="{y + 20:g}" width="{WIDTH:g}" height="{_height(svg):g}" ', 1
            )
            parts.append(f'<text class="title" x="{x + 4:g}" y="{y + 12:g}">{escape(title)}</text>{placed}')
        y += tallest + 44
    width = 24 + columns * WIDTH + (columns - 1) * 20
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {y:g}" width="{width:g}" height="{y:g}">'
        f'<style>{STYLE}</style><rect class="paper" width="100%" height="100%"/>{"".join(parts)}</svg>\n'
    )


def _height(svg: str) -> float:
    """The height of a drawing, from its view box."""
    return float(svg.split('viewBox="', 1)[1].split('"', 1)[0].split()[3])
