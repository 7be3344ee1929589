"""`regard detect`: the things in pictures, with their boxes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from regard.cli.options import add_precision, add_verb, positive
from regard.cli.progress import counting
from regard.errors import Error, writing


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "detect",
        run,
        help="find things in pictures with a trained run",
        usage="regard detect RUN PICTURE [PICTURE ...] [options]",
        description="Find the things in pictures: for each picture a line with its name and, between tabs, the class "
        "of each thing, how sure that is, and its box (left, top, right, bottom, in pixels), the surest first.",
        epilog="examples:\n"
        "  regard detect runs/cells blood.jpg\n"
        "  regard detect runs/cells blood.jpg --threshold 0.7 --png found.png\n"
        "  regard detect runs/cells *.jpg --out boxes.json\n",
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("pictures", metavar="PICTURE", nargs="+", help="files of pictures")
    verb.add_argument(
        "--threshold", type=float, default=0.5, metavar="CHANCE", help="how sure it must be (default 0.5)"
    )
    verb.add_argument("--out", metavar="FILE", help="write all boxes into a JSON file")
    verb.add_argument("--png", metavar="FILE", help="draw the boxes on the picture; of one picture alone")
    verb.add_argument("--json", action="store_true", help="a JSON object a picture: picture, width, height, things")
    verb.add_argument("--batch", type=positive, default=16, help="pictures at a time (default 16)")
    add_precision(verb)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    if rest:
        raise Error(f"unknown option {rest[0]}; see regard detect --help")
    if options.png and len(options.pictures) != 1:
        raise Error(f"--png draws on one picture, {len(options.pictures)} were given; name one, or take --out")
    from regard.tasks.base import load_for, rounded
    from regard.tasks.detection.detector import check_threshold

    check_threshold(options.threshold)
    detector = rounded(load_for("detect", options.run), options.int8)
    with counting("pictures read", len(options.pictures)) as done:
        found = detector.results(options.pictures, options.batch, done=done, threshold=options.threshold)
    for one in found:
        print(one.json() if options.json else one.line())
    if options.out:
        with writing(options.out):
            text = json.dumps([one.record() for one in found], indent=2, ensure_ascii=False)
            Path(options.out).write_text(text + "\n", encoding="utf-8")
    if options.png:
        found[0].save(options.png)
