"""Training emits plain records; files, terminals and pages only read them."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, TextIO

from regard.errors import Error, writing
from regard.runfolder import write_text

Record = dict[str, Any]  # {"event": "step" | "validation" | …, "step": int, …} with JSON values only
Listen = Callable[[Record], None]


def ignore(record: Record) -> None:
    """Listens to a training that tells nobody of its steps."""


class Output(Protocol):
    """Something that reads records."""

    def __call__(self, record: Record) -> None: ...

    def close(self) -> None: ...


class JsonLines:
    """Appends records to a file, one a line; a resumed run first drops what came after its checkpoint."""

    def __init__(self, path: Path, after: int | None = None) -> None:
        lines = [] if after is None or not path.exists() else path.read_text(encoding="utf-8").splitlines()
        kept = [line for line in lines if _step(line) is not None and (_step(line) or 0) <= (after or 0)]
        write_text(path, "".join(f"{line}\n" for line in kept))
        self.path = path
        self.file: TextIO = open(path, "a", encoding="utf-8", buffering=1)  # noqa: SIM115

    def __call__(self, record: Record) -> None:
        with writing(self.path):
            self.file.write(json.dumps(record, ensure_ascii=False) + "\n")

    def close(self) -> None:
        self.file.close()


def _step(line: str) -> int | None:
    """The step of a line; None for one that a crash cut off."""
    try:
        return int(json.loads(line)["step"])
    except (ValueError, KeyError, TypeError):
        return None


def read_records(path: Path) -> list[Record]:
    """All whole records of a file."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if _step(line) is not None]


def validated(path: Path, step: int) -> dict[str, float]:
    """The metrics of the validation at a step; none where there was no validation."""
    found = (one for one in read_records(path) if (one["event"], one["step"]) == ("validation", step))
    return next((dict(one["metrics"]) for one in found), {})


def kept(validations: Sequence[Record]) -> Record:
    """The validation of the weights that a run keeps, which need not be the last one."""
    last = validations[-1]
    if "best_step" not in last:  # as earlier versions recorded it: a tie went to the first
        return next(one for one in validations if one["best"] == last["best"])
    return next(one for one in validations if one["step"] == last["best_step"])


class TensorBoard:
    """Losses, rates, speeds and metrics as TensorBoard's event files."""

    def __init__(self, folder: Path, after: int | None = None) -> None:
        try:
            from torch.utils.tensorboard import SummaryWriter
        except ImportError as error:
            raise Error("tensorboard is not installed: pip install 'regard[logging]'") from error
        self.writer: Any = SummaryWriter(str(folder), purge_step=None if after is None else after + 1)

    def __call__(self, record: Record) -> None:
        step = record["step"]
        if record["event"] == "step":
            for name in ("loss", "rate", "tokens_per_second"):
                self.writer.add_scalar(f"training/{name}", record[name], step)
        elif record["event"] == "validation":
            for name, value in record["metrics"].items():
                self.writer.add_scalar(f"validation/{name}", value, step)
            for number, sample in enumerate(record["samples"]):
                self.writer.add_text(f"sample {number + 1}", "  \n".join(sample.values()), step)

    def close(self) -> None:
        self.writer.close()


def told(record: Record) -> str:
    """A validation, a note or the end of a training as a line."""
    if record["event"] == "note":
        return str(record["text"])
    if record["event"] == "end":
        return f"step {record['step']:,}: {record['reason']}"
    metrics = "  ".join(f"{name} {value:.3f}" for name, value in record["metrics"].items())
    return f"step {record['step']:,}  validation  {metrics}"


def counted(record: Record) -> str:
    """What the speed of a step counts: tokens, unless it says otherwise."""
    return str(record.get("counted", "tokens"))


def becoming(sample: Record) -> str:
    """What a model makes of a sample by now."""
    return f"{sample['source']}  →  {sample['output']}"


class PlainLines:
    """Progress as plain lines, at most one every few seconds: for logs and pipes."""

    def __init__(self, total: int, out: TextIO | None = None, every: float = 10.0) -> None:
        self.total, self.out, self.every = total, out or sys.stderr, every
        self.last = 0.0

    def __call__(self, record: Record) -> None:
        if record["event"] == "step":
            if time.monotonic() - self.last < self.every:
                return
            self.last = time.monotonic()
            total = record.get("planned", self.total)  # where time ends the run, as many steps as will fit into it
            left = duration((total - record["step"]) * record["seconds_per_step"])
            self._say(
                f"step {record['step']:,}/{total:,}  loss {record['loss']:.3f}  "
                f"{record['tokens_per_second']:,.0f} {counted(record)}/s  {left} left"
            )
        else:
            self._say(told(record))
            for sample in record.get("samples", ())[:1]:
                self._say(f"  {becoming(sample)}")

    def _say(self, text: str) -> None:
        print(text, file=self.out, flush=True)

    def close(self) -> None:
        """Nothing to tidy up."""


class Bar:
    """Progress as a live bar on a terminal: step, loss, speed, time left, and below it a sample that gets better."""

    def __init__(self, total: int) -> None:
        from rich.console import Console, Group
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.text import Text

        columns = (
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]}  {task.fields[speed]}"),
            TimeRemainingColumn(),
        )
        self.progress = Progress(*columns)
        self.task = self.progress.add_task("", total=total, loss="–", speed="–")
        self.sample = Text("", style="cyan")
        self.live = Live(Group(self.progress, self.sample), console=Console(stderr=True), refresh_per_second=4)
        self.live.start()

    def __call__(self, record: Record) -> None:
        if record["event"] == "step":
            speed = f"{record['tokens_per_second']:,.0f} {counted(record)}/s"
            done = {"completed": record["step"], "total": record.get("planned", self.progress.tasks[0].total)}
            self.progress.update(self.task, **done, loss=f"{record['loss']:.3f}", speed=speed)
        else:
            self.live.console.print(told(record), markup=False)
            for sample in record.get("samples", ())[:1]:
                self.sample.plain = becoming(sample)

    def close(self) -> None:
        self.live.stop()


def progress(total: int) -> Output:
    """A bar on a terminal, plain lines otherwise."""
    return Bar(total) if sys.stderr.isatty() else PlainLines(total)


def figure(value: float) -> str:
    """A score or a loss with the four digits that say something: 39.62, 0.9184."""
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:,.0f}"


def duration(seconds: float) -> str:
    """3:05, or 1:02:09."""
    minutes, rest = divmod(round(max(seconds, 0)), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
