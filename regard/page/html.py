"""One self-contained page: style and script inside, nothing fetched, readable in light and dark, narrow and wide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

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


def page(title: str, lead: str, sections: Sequence[tuple[str, str]]) -> str:
    """A whole document; a section is a heading and ready HTML. Empty sections are left out."""
    body = "".join(
        f"<section><h2>{escape(heading)}</h2>{content}</section>" for heading, content in sections if content
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style></head>"
        f'<body><h1>{escape(title)}</h1><p class="lead">{escape(lead)}</p>{body}'
        f"<script>{SCRIPT}</script></body></html>\n"
    )


def cards(entries: Sequence[tuple[str, str]]) -> str:
    """Titled boxes side by side; what is empty is left out."""
    filled = [(title, content) for title, content in entries if content]
    boxes = "".join(f'<div class="card"><h3>{escape(title)}</h3>{content}</div>' for title, content in filled)
    return f'<div class="grid">{boxes}</div>' if boxes else ""


def figures(values: Mapping[str, str]) -> str:
    """Large numbers with small names."""
    boxes = (
        f'<div class="figure"><b>{escape(value)}</b><span>{escape(name)}</span></div>' for name, value in values.items()
    )
    return f'<div class="figures">{"".join(boxes)}</div>'


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    body = "".join("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="card"><table><tr>{head}</tr>{body}</table></div>'


def shaded(pieces: Sequence[tuple[str, float, str]]) -> str:
    """A text in pieces (piece, share from 0 to 1, what hovering tells), the larger the share the darker behind it."""
    spans = (
        f'<span style="background:rgb(0 114 178 / {0.5 * min(max(share, 0.0), 1.0):.3f})" '
        f'title="{escape(told, quote=True)}">{escape(piece)}</span>'
        for piece, share, told in pieces
    )
    return f'<div class="shaded">{"".join(spans)}</div>'


def code(text: str) -> str:
    return f"<pre>{escape(text)}</pre>"


def folded(summary: str, content: str) -> str:
    return f"<details><summary>{escape(summary)}</summary>{content}</details>"
