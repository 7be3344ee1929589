"""`regard studio`: see and use runs in a browser."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from regard.cli.options import add_verb, read_changes
from regard.errors import Error

PORT = 8311


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "studio",
        run,
        help="see and use runs in a browser",
        description="A page in the browser that lists runs, follows those that train, and lets you type and look "
        "inside; and an HTTP API for other programs, described at /openapi.json. Ctrl-C ends it.",
        epilog="examples:\n"
        "  regard studio --open\n"
        "  regard studio --runs experiments --port 9000\n"
        "  regard studio --host 0.0.0.0     (others need the token in the address that it prints)\n",
    )
    verb.add_argument("--runs", default="runs", metavar="DIR", help="the folder of the run folders (default runs)")
    verb.add_argument("--host", default="127.0.0.1", help="where to listen (default 127.0.0.1: this machine alone)")
    verb.add_argument("--port", type=port, default=PORT, help=f"0 takes any that is free (default {PORT})")
    verb.add_argument("--token", help="what others must know; by itself a new one, where --host lets others in")
    verb.add_argument("--open", action="store_true", help="open the page in a browser")


def port(text: str) -> int:
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text!r} is no port: 0 to 65535")
    return int(text)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.studio.serve import serve

    if changes := read_changes(rest):
        raise Error(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    serve(Path(options.runs), options.host, options.port, options.token, options.open)
