"""The report of a run: one page that says what was learnt, how it went, and how to do it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from regard.page.html import page
from regard.page.records import Card, Cards, Code, Element, Folded, LineChart, Numbers, Section, Series, Table
from regard.runfolder import Run, read_text, write_text
from regard.tasks import OBJECTIVES
from regard.training.records import Record, counted, duration, figure, kept, read_records

REPORT = "report.html"  # in the run folder
APART = 4  # times the height of another: then two curves do not share a picture


def write_report(run: Run, more: Sequence[Section] = ()) -> None:
    """Write `report.html` from the records of a run; `more` are the task's own sections."""
    records = read_records(run.metrics_path)
    validations = [record for record in records if record["event"] == "validation"]
    sections = [
        Section("Result", summary(records, validations)),
        Section("How it went", [curves(records, validations)]),
        *more,
        Section("Samples while it learnt", samples(validations)),
        Section("Do it again", again(run)),
    ]
    write_text(run.path / REPORT, page(run.path.name, "a run of regard", sections))


def summary(records: Sequence[Record], validations: Sequence[Record]) -> list[Element]:
    """What the weights reached that were kept, which need not be the last ones."""
    if not validations:
        return []
    last, steps = validations[-1], [record for record in records if record["event"] == "step"]
    best = kept(validations)
    values = {name: figure(value) for name, value in best["metrics"].items()}
    values["steps"] = f"{last['step']:,}" if best is last else f"{best['step']:,} of {last['step']:,}"
    values["training time"] = duration(last["seconds"])
    if steps:
        speeds = sorted(record["tokens_per_second"] for record in steps)
        values[f"{counted(steps[0])} a second"] = f"{speeds[len(speeds) // 2]:,.0f}"
    return [Numbers(values)]


def curves(records: Sequence[Record], validations: Sequence[Record]) -> Cards:
    steps = [record for record in records if record["event"] == "step"]
    losses = [
        Series.through("training", ((record["step"], record["loss"]) for record in steps)),
        Series.through("validation", ((record["step"], record["metrics"]["loss"]) for record in validations)),
    ]
    names = [name for name in (validations[0]["metrics"] if validations else ()) if name != "loss"]
    scores = [
        Series.through(name, ((record["step"], record["metrics"][name]) for record in validations)) for name in names
    ]
    called = counted(steps[0]) if steps else "tokens"
    speed = Series.through(f"{called} a second", ((record["step"], record["tokens_per_second"]) for record in steps))
    return Cards(
        [
            Card(
                "Loss (of training: with all that makes it harder, such as dropout)",
                LineChart(losses, "step", "loss by step"),
            ),
            *(Card(told(group), LineChart(group, "step", "scores by step")) for group in alike(scores)),
            Card("Speed", LineChart([speed], "step", f"{called} a second by step")),
        ]
    )


def alike(curves: Sequence[Series]) -> list[list[Series]]:
    """Curves of about one size together: one scale would flatten the smaller of others."""
    groups: list[list[Series]] = []
    for curve in curves:
        group = next((group for group in groups if 1 / APART < height(curve) / height(group[0]) < APART), None)
        if group is None:
            groups.append([curve])
        else:
            group.append(curve)
    return groups


def height(curve: Series) -> float:
    return max((abs(point.y) for point in curve.points), default=0.0) or 1.0


def told(curves: Sequence[Series]) -> str:
    names = [curve.name.replace("_", " ") for curve in curves]
    return f"On validation examples: {', '.join(names)}"


def samples(validations: Sequence[Record]) -> list[Table]:
    """What the first samples became, from early to late."""
    if not validations:
        return []
    shown = [*validations[:: max(len(validations) // 4, 1)], validations[-1]]
    steps = list({record["step"]: record for record in shown}.values())
    tables = []
    for number, sample in enumerate(steps[-1]["samples"]):
        rows = [[f"step {record['step']:,}", record["samples"][number]["output"]] for record in steps]
        rows.append(["reference", sample["reference"]])
        tables.append(Table(["", ""], rows, sample["source"]))
    return tables


def again(run: Run) -> list[Element]:
    """The command to be given where this one was given: files in a recipe are named from there."""
    recipe = read_text(run.path / "recipe.yaml")
    kind = run.section("task")["kind"]
    verb = "pretrain" if kind in OBJECTIVES else "train"
    config, other = (shlex.quote(str(path)) for path in (run.path / "recipe.yaml", f"{run.path}-again"))
    command = f"regard {verb} {kind} --config {config} --run {other}"
    return [Code(command), Folded("recipe.yaml", Code(recipe))]
