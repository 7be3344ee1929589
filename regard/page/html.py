"""One self-contained page: style and script inside, nothing fetched, readable in light and dark, narrow and wide."""

from __future__ import annotations

from collections.abc import Sequence
from functools import singledispatch
from html import escape

from regard.page.chart import bar_chart, dot_chart, line_chart
from regard.page.records import (
    Card,
    Cards,
    Code,
    ConfusionMatrix,
    Element,
    Folded,
    Numbers,
    Prose,
    Section,
    ShadedText,
    Table,
    WordMatrix,
)
from regard.page.svg import reading_steps, word_matrix

STYLE = """
:root { --ink: #1d2330; --soft: #667085; --paper: #fdfdfc; --card: #ffffff; --line: #e3e6ec; --mark: #d55e00; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaf0; --soft: #98a2b3; --paper: #14171d; --card: #1b1f27; --line: #2c323d; --mark: #f0883e; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2rem 1.2rem 4rem; max-width: 1080px; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; margin: 0 0 .2rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.lead { color: var(--soft); margin: 0 0 1rem; }
.grid { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 330px), 1fr)); }
.card, .figure, pre { background: var(--card); border: 1px solid var(--line); border-radius: 10px;
  padding: .8rem 1rem; }
.card, pre { overflow-x: auto; }
section > .card + .card { margin-top: 1rem; }
.card h3 { margin: 0 0 .5rem; font-size: .95rem; font-weight: 600; }
.figures { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1rem 0; }
.figure { min-width: 7.5rem; } .figure span { color: var(--soft); }
.figure b { display: block; font-size: 1.5rem; font-variant-numeric: tabular-nums; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .35rem .6rem; vertical-align: top;
  border-bottom: 1px solid var(--line); } th { color: var(--soft); font-weight: 500; }
pre { font-size: .85rem; }
svg { width: 100%; height: auto; display: block; } svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .tick { fill: var(--soft); font-size: 11px; } svg line.grid { stroke: var(--line); }
svg .cell { stroke: var(--line); stroke-width: 1; } svg .gold { stroke: var(--mark); stroke-width: 2; }
svg .lit { font-weight: 700; fill: var(--mark); } svg rect.lit { stroke: var(--ink); stroke-width: 2; }
.shaded { white-space: pre-wrap; line-height: 1.75; } .shaded span { border-radius: 3px; }
pre { white-space: pre-wrap; }
details summary { cursor: pointer; color: var(--soft); }
"""

SCRIPT = """
for (const svg of document.querySelectorAll("svg")) {
  const light = (cell, on) => {
    const {row, column} = cell.dataset;
    for (const word of svg.querySelectorAll(`text[data-row="${row}"], text[data-column="${column}"]`))
      word.classList.toggle("lit", on);
    cell.classList.toggle("lit", on);
  };
  for (const cell of svg.querySelectorAll("rect.cell")) {
    cell.addEventListener("pointerenter", () => light(cell, true));
    cell.addEventListener("pointerleave", () => light(cell, false));
  }
}
"""


def page(title: str, lead: str, elements: Sequence[Element]) -> str:
    """A whole document."""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>"
        f'<body><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p>{html(elements)}'
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def html(elements: Sequence[Element]) -> str:
    """HTML of elements one after the other; empty where none of them has anything to show."""
    return "".join(markup(element) for element in elements)


@singledispatch
def markup(element: Element) -> str:
    """HTML of one element."""
    raise TypeError(f"a page cannot show {type(element).__name__}")


for _drawn in (line_chart, dot_chart, bar_chart, word_matrix, reading_steps):
    markup.register(_drawn)


@markup.register
def _(section: Section) -> str:
    content = html(section.content)
    return f"<section><h2>{escape(section.heading)}</h2>{content}</section>" if content else ""


@markup.register
def _(prose: Prose) -> str:
    return f'<p dir="auto">{escape(prose.text)}</p>'


@markup.register
def _(code: Code) -> str:
    return f'<pre dir="auto">{escape(code.text)}</pre>'


@markup.register
def _(folded: Folded) -> str:
    return f"<details><summary>{escape(folded.summary)}</summary>{markup(folded.content)}</details>"


@markup.register
def _(numbers: Numbers) -> str:
    boxes = "".join(
        f'<div class="figure"><b>{escape(value)}</b><span>{escape(name)}</span></div>'
        for name, value in numbers.values.items()
    )
    return f'<div class="figures">{boxes}</div>' if boxes else ""


@markup.register
def _(table: Table) -> str:
    if not table.rows:
        return markup(Prose(table.empty)) if table.empty else ""
    title = f'<h3 dir="auto">{escape(table.title)}</h3>' if table.title else ""
    names = "".join(f'<th dir="auto">{escape(cell)}</th>' for cell in table.header)
    head = f"<tr>{names}</tr>" if any(table.header) else ""
    body = "".join(
        "<tr>" + "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in row) + "</tr>" for row in table.rows
    )
    return f'<div class="card">{title}<table>{head}{body}</table></div>'


@markup.register
def _(card: Card) -> str:
    content = markup(card.content)
    return f'<div class="card"><h3 dir="auto">{escape(card.title)}</h3>{content}</div>' if content else ""


@markup.register
def _(cards: Cards) -> str:
    boxes = html(cards.cards)
    return f'<div class="grid">{boxes}</div>' if boxes else ""


@markup.register
def _(text: ShadedText) -> str:
    spans = (
        f'<span style="background:rgb(0 114 178 / {0.5 * min(max(share, 0.0), 1.0):.3f})" '
        f'title="{escape(told, quote=True)}">{escape(piece)}</span>'
        for piece, share, told in text.pieces
    )
    return f'<div class="shaded" dir="auto">{"".join(spans)}</div>'


@markup.register
def _(confusion: ConfusionMatrix) -> str:
    matrix = WordMatrix(confusion.labels, confusion.labels, confusion.shares, label="what was taken for what")
    return markup(Cards([Card("rows: the right label; columns: the one that was found", matrix)]))
