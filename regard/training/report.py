"""The report of a run: one page that says what was learnt, how it went, and how to do it again."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from regard.checkpoint import Run, read_text, write_text
from regard.page.html import cards, code, figures, folded, page, table
from regard.page.svg import Curve, line_chart
from regard.tasks import OBJECTIVES
from regard.training.records import Record, duration, figure, read_records

APART = 4  # times the height of another: then two curves do not share a picture
Section = tuple[str, str]  # a heading, and ready HTML


def write_report(run: Run, more: Sequence[Section] = ()) -> None:
    """Write `report.html` from the records of a run; `more` are the task's own sections."""
    records = read_records(run.metrics_path)
    validations = [record for record in records if record["event"] == "validation"]
    sections = [
        ("Result", summary(records, validations)),
        ("How it went", curves(records, validations)),
        *more,
        ("Samples while it learnt", samples(validations)),
        ("Do it again", again(run)),
    ]
    write_text(run.path / "report.html", page(run.path.name, "a run of regard", sections))


def summary(records: Sequence[Record], validations: Sequence[Record]) -> str:
    """What the weights reached that were kept, which need not be the last ones."""
    if not validations:
        return ""
    last, steps = validations[-1], [record for record in records if record["event"] == "step"]
    kept = next(record for record in validations if record["best"] == last["best"])
    values = {name: figure(value) for name, value in kept["metrics"].items()}
    values["steps"] = f"{last['step']:,}" if kept is last else f"{kept['step']:,} of {last['step']:,}"
    values["training time"] = duration(last["seconds"])
    if steps:
        speeds = sorted(record["tokens_per_second"] for record in steps)
        values["tokens a second"] = f"{speeds[len(speeds) // 2]:,.0f}"
    return figures(values)


def curves(records: Sequence[Record], validations: Sequence[Record]) -> str:
    steps = [record for record in records if record["event"] == "step"]
    losses = [
        Curve("training", [(record["step"], record["loss"]) for record in steps]),
        Curve("validation", [(record["step"], record["metrics"]["loss"]) for record in validations]),
    ]
    names = [name for name in (validations[0]["metrics"] if validations else ()) if name != "loss"]
    scores = [Curve(name, [(record["step"], record["metrics"][name]) for record in validations]) for name in names]
    speed = [Curve("tokens a second", [(record["step"], record["tokens_per_second"]) for record in steps])]
    return cards(
        [
            (
                "Loss (of training: with all that makes it harder, such as dropout)",
                line_chart(losses, "step", "loss by step"),
            ),
            *((told(group), line_chart(group, "step", "scores by step")) for group in alike(scores)),
            ("Speed", line_chart(speed, "step", "tokens a second by step")),
        ]
    )


def alike(curves: Sequence[Curve]) -> list[list[Curve]]:
    """Curves of about one size together: one scale would flatten the smaller of others."""
    groups: list[list[Curve]] = []
    for curve in curves:
        group = next((group for group in groups if 1 / APART < height(curve) / height(group[0]) < APART), None)
        if group is None:
            groups.append([curve])
        else:
            group.append(curve)
    return groups


def height(curve: Curve) -> float:
    return max((abs(y) for _, y in curve.points), default=0.0) or 1.0


def told(curves: Sequence[Curve]) -> str:
    names = [curve.name.replace("_", " ") for curve in curves]
    return f"On validation examples: {', '.join(names)}"


def samples(validations: Sequence[Record]) -> str:
    """What the first samples became, from early to late."""
    if not validations:
        return ""
    shown = [*validations[:: max(len(validations) // 4, 1)], validations[-1]]
    steps = list({record["step"]: record for record in shown}.values())
    blocks = []
    for number, sample in enumerate(steps[-1]["samples"]):
        rows = [[f"step {record['step']:,}", record["samples"][number]["output"]] for record in steps]
        rows.append(["reference", sample["reference"]])
        blocks.append(table([sample["source"], ""], rows))
    return "<br>".join(blocks)


def again(run: Run) -> str:
    """The command to be given where this one was given: files in a recipe are named from there."""
    recipe = read_text(run.path / "recipe.yaml")
    kind = run.section("task")["kind"]
    verb = "pretrain" if kind in OBJECTIVES else "train"
    config, other = (shlex.quote(str(path)) for path in (run.path / "recipe.yaml", f"{run.path}-again"))
    command = f"regard {verb} {kind} --config {config} --run {other}"
    return code(command) + folded("recipe.yaml", code(recipe))
