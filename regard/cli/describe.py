"""`regard describe`: parameters, operations and memory of a model that need not exist yet."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from regard.cli.options import add_verb, read_changes


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "describe",
        run,
        help="layers, parameters, operations, memory of a preset; no weights needed",
        description="Describe a preset: parameters by part, multiply-adds, memory. No weights are made.",
        epilog="Any field of the model's config is an option: --layers 6 changes every stack, "
        "--decoder.layers 6 one of them, --norm rms swaps a part.\n\n"
        "examples:\n"
        "  regard describe megatron-8.3b\n"
        "  regard describe runs/my\n"
        "  regard describe gpt2 --vocabulary 8000 --layers 4 --width 256 --heads 4\n"
        "  regard describe transformer-base --batch 64 --length 20 --json\n",
    )
    verb.add_argument("name", metavar="PRESET|RUN", help="a name from `regard list presets`, or a run folder")
    verb.add_argument("--batch", type=int, default=1, help="rows of the batch that is counted (default 1)")
    verb.add_argument("--length", type=int, help="tokens a row (default 128, or what the model can read)")
    verb.add_argument("--json", action="store_true", help="print JSON; the total stands under `parameters`")


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.anatomy import describe

    model = read_run(options.name) if Path(options.name).is_dir() else options.name
    description = describe(model, batch=options.batch, length=options.length, **read_changes(rest))
    print(description.to_json() if options.json else description)


def read_run(folder: str) -> Any:
    """The model's config of a run folder."""
    from regard.config import from_dict
    from regard.models import ModelConfig
    from regard.runfolder import Run

    return from_dict(ModelConfig, Run(folder).section("model"), "model")
