"""The command line: thin verbs. stdout carries results, stderr everything else; exit code 2 is a user's mistake."""

from __future__ import annotations

import argparse
import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from regard import __version__, extensions
from regard.cli import (
    augment,
    demo,
    describe,
    detect,
    embed,
    evaluate,
    export,
    generate,
    import_,
    lab,
    listing,
    look,
    similar,
    studio,
    train,
    use,
)
from regard.errors import Error, reason

VERBS: tuple[Any, ...] = (
    *(demo, train, *use.USES, detect, augment, generate, embed, similar),
    *(evaluate, look, lab, studio, describe, listing, import_, export),
)

IMPORT = "--import"
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of a disk: it takes no more
NO_MEMORY = ("can't allocate memory", "Cannot allocate memory", "not enough memory")  # as PyTorch and the system say it


class Parser(argparse.ArgumentParser):
    """Complains in one sentence; the usage is a `--help` away."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}\n")


def parser() -> argparse.ArgumentParser:
    root = Parser(
        prog="regard",
        description="Attention models: train them on your own files, use them, score them, look inside.",
        epilog="examples:\n"
        "  regard demo\n"
        "  regard train translate --train train.tsv --valid valid.tsv --run runs/my\n"
        '  regard translate runs/my "A sentence."\n'
        '  regard look runs/my "A sentence."\n'
        "  regard studio\n"
        "  regard describe transformer-base\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    root.add_argument("--version", action="version", version=f"regard {__version__}")
    root.add_argument(
        IMPORT,
        metavar="FILE",
        help="parts, presets, tasks, data sets and experiments of your own: a Python file or a module, before or after "
        "the verb; may be repeated",
    )
    verbs = root.add_subparsers(dest="verb", metavar="VERB", required=True)
    for verb in VERBS:
        verb.add(verbs)
    return root


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one verb. A mistake of the user's becomes one sentence and exit code 2; a mistake of the program's shows
    where it happened and is exit code 1."""
    words = sys.argv[1:] if arguments is None else list(arguments)
    try:
        words = imported(words)
    except Error as error:
        print(f"regard: {error}", file=sys.stderr)
        return 2
    except Exception:
        traceback.print_exc()
        print(f"regard: what {IMPORT} names cannot be imported; the lines above say why", file=sys.stderr)
        return 1
    options, rest = parser().parse_known_args(words)
    rest = marked(words, rest)
    run: Callable[[argparse.Namespace, list[str]], Any] = options.run_verb
    try:
        run(options, rest)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader has seen enough; leave nothing for the interpreter to flush at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Error as error:
        print(f"regard {options.verb}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt as error:
        code: int = getattr(error, "exit_code", 130)  # a training may have been told by another signal
        return code
    except Exception as error:
        if why := lacking(error):
            print(f"regard {options.verb}: {why}", file=sys.stderr)
            return 2
        return bug(f"regard {options.verb}")
    return 0


def lacking(error: Exception) -> str | None:
    """What the machine lacks: memory, or room on a disk. That can show anywhere, and it is no bug. None for any other
    error."""
    if isinstance(error, OSError) and error.errno in FULL:
        return f"{error.filename or 'standard output'} cannot be written ({reason(error)})"
    no_room = isinstance(error, MemoryError) or type(error).__name__ == "OutOfMemoryError"
    if no_room or any(words in str(error) for words in NO_MEMORY):
        return f"there is not enough memory ({str(error).strip() or type(error).__name__})"
    return None


def bug(prog: str) -> int:
    """Show the exception under way as a mistake of the program's."""
    traceback.print_exc()
    brought = ", or of a file or package that adds parts to it" if extensions.any_known() else ""
    print(f"{prog}: this is a bug of regard{brought}; please report it with the lines above", file=sys.stderr)
    return 1


def imported(words: Sequence[str]) -> list[str]:
    """Import what `--import NAME` names, anywhere before "--": parts, tasks and presets register themselves before the
    verbs look for them. Returns the other words."""
    others: list[str] = []
    rest = iter(words)
    for word in rest:
        name, equals, value = word.partition("=")
        if word == "--":
            return [*others, word, *rest]
        if name != IMPORT:
            others.append(word)
            continue
        asked = value if equals else next(rest, None)
        if not asked:
            raise Error(f"{IMPORT} takes a file or a module: {IMPORT} my_parts.py")
        extensions.bring(asked)
    return others


def marked(words: Sequence[str], rest: list[str]) -> list[str]:
    """What argparse leaves over, with the "--" that it may drop: behind it stands text, whatever it looks like."""
    if "--" not in words or "--" in rest:
        return rest
    texts = list(words[words.index("--") + 1 :])
    cut = len(rest) - len(texts)
    return [*rest[:cut], "--", *texts] if texts and rest[cut:] == texts else rest
