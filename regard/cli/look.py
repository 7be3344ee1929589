"""`regard look`: see what a trained model attends to on one input."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.options import add_verb, positive
from regard.cli.progress import say
from regard.errors import Error

if TYPE_CHECKING:
    from regard.look import Look

MESSAGE_CHARACTERS = 240  # letters of a text in a message


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "look",
        run,
        help="see what a model attends to: a page, a picture or numbers",
        usage="regard look RUN TEXT [TEXT] [options]",
        description="See what a trained model attends to on one input. A second TEXT is the other text of a pair where "
        "the run reads pairs; where it translates, the translation to look at instead of the model's own. A masked "
        "language model shows which words it expects at each [MASK]. The page is one file that needs no network.",
        epilog="examples:\n"
        '  regard look runs/demo "The black cat sleeps."\n'
        '  regard look runs/demo "The black cat sleeps." "Le chat noir dort." --png alignment.png\n'
        '  regard look runs/demo "The black cat sleeps." --without decoder.2.cross.1\n'
        '  regard look runs/demo "The black cat sleeps." --json | python -m json.tool\n'
        '  regard look runs/mrpc "He bought the firm." "The firm was bought by him."\n'
        '  regard look runs/bert "The cat [MASK] on the mat."\n'
        '  regard look runs/bert "The cat sat on the mat." --mask cat --mask sat\n'
        "  regard look runs/photos holiday.jpg --gif looks.gif\n",
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("text", metavar="TEXT", help="what the model reads: a text, or the file of a picture")
    verb.add_argument(
        "other", metavar="TEXT", nargs="?", help="the other text of a pair, or the translation to look at"
    )
    verb.add_argument("--out", metavar="FILE", type=Path, help="where the page is written (default page.html)")
    verb.add_argument(
        "--png", metavar="FILE", type=Path, help="one map (needs matplotlib), or a picture's strip, as PNG"
    )
    verb.add_argument("--svg", metavar="FILE", type=Path, help="of a picture: where it is looked at, as a strip")
    verb.add_argument("--gif", metavar="FILE", type=Path, help="of a picture: the same as an animation")
    verb.add_argument("--cells", action="store_true", help="of a picture: shade it cell by cell, not smoothly")
    verb.add_argument("--json", action="store_true", help="everything that was seen, on standard output")
    verb.add_argument("--layer", metavar="NAME", help="the map of --png: decoder.2.cross, … (default: the alignment)")
    verb.add_argument("--head", metavar="N", type=int, help="its head, from 0 (default: the mean)")
    verb.add_argument("--words", action="store_true", help="merge its tokens to words")
    verb.add_argument(
        "--without",
        metavar="LAYER.HEAD",
        action="append",
        default=[],
        help="switch a head off, and see what changes; may be repeated. 3.1 is head 1 of all attention in block 3",
    )
    verb.add_argument(
        "--mask", metavar="WORD", action="append", default=[], help="mask this word wherever it stands; may be repeated"
    )
    verb.add_argument("--importance", action="store_true", help="what the output loses without each head")
    verb.add_argument("--gold", metavar="LINKS", help="the right word alignment, as 0-0 1-2, to be outlined")
    verb.add_argument("--best", metavar="N", type=positive, default=5, help="alternatives of each token (default 5)")
    verb.add_argument("--beam", metavar="N", type=positive, default=4, help="of the translation (default 4)")


def run(options: argparse.Namespace, rest: list[str]) -> None:
    if rest:
        raise Error(f"unexpected argument {rest[0]!r}; see regard look --help")
    from regard import tasks
    from regard.look import look
    from regard.look.importance import importance
    from regard.look.marking import spoken
    from regard.look.page import page, write_png
    from regard.runfolder import replacing, write_text
    from regard.sides.base import shortened

    gold = None if options.gold is None else read_links(options.gold)
    subject = tasks.subject(options.run)
    second = options.other if subject.roles.two else None
    seen = look(
        subject,
        options.text,
        None if subject.roles.two else options.other,
        second=second,
        mask=[number for word in options.mask for number in places(word, f"{options.text} {second or ''}".split())],
        without=options.without,
        best=options.best,
        beam=options.beam,
        gold=gold,
    )
    if options.importance:
        seen.importance = importance(subject, seen)
        for name, values in seen.importance.items():
            say(f"{name}: " + "  ".join(f"{value:+.3f}" for value in values))
    for number, one in enumerate(seen.masks or [], 1):
        found = seen.predictions[one.place]
        was = "" if one.was is None else f"; {one.was.strip()} {found.probability:.4f}, number {found.rank}"
        say(f"mask {number}: {', '.join(f'{best.token.strip()} {best.probability:.4f}' for best in found.best)}{was}")
    if seen.marks:
        say(spoken(seen.marks))
    if seen.unread:
        unread = shortened(seen.unread, MESSAGE_CHARACTERS)
        say(f"the text is too long for the model: what follows is not read: {unread}")
    if seen.changes is not None:
        say(f"without {', '.join(seen.without)}: {seen.changes.text}")
        say(f"before: {seen.changes.before}")
    if options.json:
        json.dump(seen.to_dict(), sys.stdout, ensure_ascii=False)
        print()
    if seen.grid is not None or options.svg or options.gif:
        write_pictures(seen, options)
    elif options.png is not None:
        with replacing(options.png) as beside:
            write_png(seen, beside, options.layer, options.head, options.words)
        print(options.png)
    if options.out is not None or not (options.json or options.png or options.svg or options.gif):
        out = options.out or Path("page.html")
        write_text(out, page(seen))
        print(out)


def write_pictures(seen: Look, options: argparse.Namespace) -> None:
    """A picture and where it is looked at, in each form that is asked for."""
    from regard.look.drawing import frames, svg, write_animation, write_strip
    from regard.runfolder import replacing, write_text

    every = frames(seen, options.layer, options.head)
    for path, write in ((options.png, write_strip), (options.gif, write_animation)):
        if path is not None:
            with replacing(path) as beside:
                write(seen, beside, every, not options.cells)
            print(path)
    if options.svg is not None:
        write_text(options.svg, svg(seen, every, not options.cells))
        print(options.svg)


def places(word: str, words: list[str]) -> list[int]:
    """The numbers of the words that it is, whatever their case and the marks around them."""
    from regard.look.records import MARKS

    found = [i for i, other in enumerate(words) if word.lower() in (other.lower(), other.strip(MARKS).lower())]
    if not found:
        raise Error(f"--mask: {word!r} is no word of the text")
    return found


def read_links(text: str) -> list[tuple[int, int]]:
    """ "0-0 1-2" → [(0, 0), (1, 2)]."""
    links = []
    for word in text.split():
        source, _, target = word.partition("-")
        if not (source.isdecimal() and target.isdecimal()):
            raise Error(f"--gold: {word!r} is no link; links are written 0-0 1-2, source word first")
        links.append((int(source), int(target)))
    return links
