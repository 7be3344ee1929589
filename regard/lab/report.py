"""An outcome as people read it: tables on a terminal, one drawing, one page."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence
from pathlib import Path

from regard.config import leaves, needs, to_dict, to_json
from regard.lab.experiment import Experiment, ExperimentResult
from regard.page.chart import sheet
from regard.page.html import html, page
from regard.page.records import Cards, Code, Folded, Prose, Section, Table
from regard.runfolder import write_text


def text(outcome: ExperimentResult) -> str:
    """For a terminal."""
    parts = [f"{one.title}\n{aligned(one)}" for one in outcome.tables]
    return "\n\n".join([*parts, "\n".join(f"- {sentence}" for sentence in outcome.conclusions)])


def aligned(one: Table) -> str:
    """Columns under their names, the first to the left, numbers to the right."""
    lines: Sequence[Sequence[str]] = [one.header, *one.rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(one.header))]

    def row(line: Sequence[str]) -> str:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        return "  ".join([line[0].ljust(widths[0]), *cells[1:]])

    return "\n".join(row(line).rstrip() for line in lines)


def command(experiment: Experiment) -> str:
    """What runs the same experiment: its budget, its seeds, what is not as usual, and where parts of it come from."""
    usual, chosen = (leaves(to_dict(one)) for one in (type(experiment)(), experiment))
    told = {name: value for name, value in chosen.items() if name in ("budget", "seeds") or value != usual.get(name)}
    words = [f"--{name.replace('_', '-')} {shlex.quote(written(value))}" for name, value in told.items()]
    brought = [f"--import {shlex.quote(asked)}" for asked in needs(experiment).values()]
    return " ".join([f"regard lab {experiment.kind}", *brought, *words])


def written(value: object) -> str:
    """A value as an option takes it."""
    return value if isinstance(value, str) else json.dumps(value)


def write_report(experiment: Experiment, outcome: ExperimentResult, folder: Path) -> None:
    """`figure.svg`, which stands alone, and `report.html` with everything."""
    write_text(folder / "figure.svg", sheet([(card.title, html([card.content])) for card in outcome.panels]))
    sections = [
        Section("What follows", [Prose(sentence) for sentence in outcome.conclusions]),
        Section("Figure", [Cards(outcome.panels)]),
        Section("Tables", outcome.tables),
        Section("Do it again", [Code(command(experiment)), Folded("all options", Code(to_json(experiment)))]),
    ]
    write_text(folder / "report.html", page(experiment.kind, "an experiment of regard", sections))
