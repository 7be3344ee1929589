"""`regard generate`: write on from prompts, as it comes."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from regard.cli.conversation import Interrupts, converse
from regard.cli.options import add_precision, add_verb, positive, split_changes
from regard.cli.progress import say
from regard.cli.texts import chunks
from regard.errors import Error

if TYPE_CHECKING:
    from regard.decoding import Decoding
    from regard.tasks.language.continuations import Continuation, Piece
    from regard.tasks.language.generator import Generator

PURPOSE = "write on from a text"
STDIN = "-"
OF_TRANSLATORS = ("max_length", "max_ratio", "max_extra")


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "generate",
        run,
        help="write on from a prompt with a trained language model",
        usage="regard generate RUN [PROMPT] [options]",
        description="Write on from a prompt with a language model. The text goes to standard output as it is written, "
        'the prompt first; "" begins from nothing. Without a prompt each line of standard input is one, and - reads '
        "all of it as one. On a terminal prompts are asked for, with a history: Ctrl-C ends a text, or the program.",
        epilog="Tokens are drawn: --temperature 0.8, --top-k 40, --top-p 0.9 and --min-p 0.1 shape what is drawn, "
        "--seed N repeats it, --temperature 0 takes the likeliest. --repetition-penalty 1.2 and --no-repeat 3 keep it "
        "from going round in circles. Any other field of the search is an option too: --beam 4, --min-length 10.\n\n"
        "examples:\n"
        '  regard generate runs/shakespeare "ROMEO:" --tokens 200 --temperature 0.8\n'
        '  regard generate runs/shakespeare "" --seed 1 --samples 3\n'
        '  regard generate runs/shakespeare "ROMEO:" --stop JULIET: --min-p 0.05\n'
        '  regard generate runs/shakespeare "Once" --beam 4 --tokens 20 --scores\n'
        '  regard generate runs/large "Once" --draft runs/small --ahead 6\n'
        "  regard generate runs/shakespeare --json < prompts.txt > texts.jsonl\n",
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("prompt", metavar="PROMPT", nargs="?", help="what it writes on from")
    verb.add_argument("--tokens", type=positive, default=100, metavar="N", help="write at most N tokens (default 100)")
    verb.add_argument("--samples", type=positive, metavar="N", help="draw N texts for each prompt")
    verb.add_argument(
        "--stop", action="append", default=[], metavar="TEXT", help="end before this text; may be given several times"
    )
    verb.add_argument(
        "--scores", action="store_true", help="a line for each token: its log-probability, a tab, and itself as JSON"
    )
    verb.add_argument(
        "--long",
        choices=["slide", "refuse"],
        default="slide",
        help="a prompt longer than the context: go on from its last tokens and say so (slide), or refuse it",
    )
    verb.add_argument(
        "--batch", type=positive, default=8, metavar="N", help="lines at a time (default 8; 1: each as it comes)"
    )
    verb.add_argument(
        "--draft",
        metavar="RUN",
        help="a smaller model with the same tokenizer that writes ahead: faster, with the same result",
    )
    verb.add_argument("--ahead", type=positive, metavar="N", help="tokens that the draft writes ahead (default 4)")
    verb.add_argument("--json", action="store_true", help="an object for each text, on a line of its own")
    add_precision(verb)


@dataclass(frozen=True)
class GenerateOptions:
    """What is asked of a language model, but for the prompts."""

    writer: Generator
    search: Decoding
    options: argparse.Namespace

    def whole(self, prompts: list[str], stopped: Callable[[], bool]) -> list[list[Continuation]]:
        return self.writer.continued(prompts, **self.asked(), stopped=stopped)

    def pieces(self, prompt: str, stopped: Callable[[], bool]) -> Iterator[Piece]:
        return self.writer.write([prompt], **self.asked(), stopped=stopped)

    def asked(self) -> dict[str, Any]:
        given = {name: getattr(self.options, name) for name in ("tokens", "stop", "long")}
        return {**given, "options": self.search, "say": say}


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.decoding.speculative import AHEAD
    from regard.decoding.spelling import Stops
    from regard.tasks.base import load_for, rounded

    search = chosen(options, rest)
    Stops(options.stop)  # or one is refused, before the model is loaded
    if options.ahead is not None and options.draft is None:
        raise Error(f"--ahead {options.ahead} needs a smaller model that writes ahead: name it with --draft RUN")
    runs = (options.run, options.draft) if options.draft is not None else (options.run,)
    writer, *drafts = (rounded(load_for(PURPOSE, run), options.int8) for run in runs)
    if drafts:
        writer = writer.helped_by(drafts[0], options.ahead or AHEAD)
    order, kept = GenerateOptions(writer, search, options), search.beam == 1  # a beam has no text before its end
    if options.prompt is None and sys.stdin is not None and sys.stdin.isatty():
        return converse(lambda prompt, stopped: show(order, prompt, stopped), kept)
    prompts = iter([options.prompt]) if options.prompt not in (None, STDIN) else standard_input(options.prompt == STDIN)
    with Interrupts(kept) as interrupts:
        if options.prompt is not None or options.batch == 1:
            for number, prompt in enumerate(prompts):
                part(number, options)
                show(order, prompt, interrupts.met)
                interrupts.check()
            return
        number = 0
        for chunk in chunks(prompts, options.batch):
            for prompt, texts in zip(chunk, order.whole(chunk, interrupts.met), strict=True):
                for text in texts:
                    part(number, options)
                    number += 1
                    tell(order, prompt, text)
            interrupts.check()


def chosen(options: argparse.Namespace, rest: list[str]) -> Decoding:
    """The search; `--samples` is the usual name of what the search calls nbest."""
    from regard.tasks.language.generator import chosen_drawing

    changes, others = split_changes(rest)
    if options.prompt is None and others:  # options before the prompt keep argparse from seeing it
        options.prompt = others.pop(0)
    if others:
        raise Error(f"unexpected argument {others[0]!r}; options are written --name value")
    if wrong := next((name for name in OF_TRANSLATORS if name in changes), None):
        raise Error(
            f"--{wrong.replace('_', '-')} is for translators: take --tokens N, which limits what is written here"
        )
    if "length_penalty" in changes and changes.get("beam", 1) == 1:
        raise Error("--length-penalty ranks the texts of a beam: name one with --beam N")
    if isinstance(least := changes.get("min_length", 0), int) and least > options.tokens:
        raise Error(f"--min-length {least} is more than the {options.tokens} of --tokens")
    if options.samples is not None:
        if "nbest" in changes:
            raise Error("--samples and --nbest are the same: leave one of them out")
        changes["nbest"] = options.samples
    return chosen_drawing(**changes)


def show(order: GenerateOptions, prompt: str, stopped: Callable[[], bool]) -> None:
    """One prompt: as it is written, where it is a single text."""
    if order.search.beam > 1 or order.search.nbest > 1 or order.options.json:
        (texts,) = order.whole([prompt], stopped)
        for number, text in enumerate(texts):
            part(number, order.options)
            tell(order, prompt, text)
        return
    stream = order.pieces(prompt, stopped)
    if not order.options.scores:
        print(prompt, end="", flush=True)
    for piece in stream:
        print(scored(order, piece) if order.options.scores else piece.text, end="", flush=True)
    if not order.options.scores:
        print(flush=True)


def tell(order: GenerateOptions, prompt: str, text: Continuation) -> None:
    """One text that is whole."""
    if not order.options.json:
        print(scored(order, text), end="") if order.options.scores else print(prompt + text.text)
    else:
        record = {"prompt": prompt, **text.record()}
        if order.options.scores:
            record["tokens"] = [[order.writer.tokenizer.token(one.token), one.log_prob] for one in text.tokens]
        print(json.dumps(record, ensure_ascii=False))
    sys.stdout.flush()


def scored(order: GenerateOptions, text: Piece | Continuation) -> str:
    """A line for each token."""
    named = ((one.log_prob, order.writer.tokenizer.token(one.token)) for one in text.tokens)
    return "".join(f"{log_prob:.4f}\t{json.dumps(token, ensure_ascii=False)}\n" for log_prob, token in named)


def part(number: int, options: argparse.Namespace) -> None:
    """Texts may have several lines: an empty one stands between two of them."""
    if number and not options.json:
        print()


def standard_input(whole: bool) -> Iterator[str]:
    from regard.data.files import decoded

    if sys.stdin is None:
        raise Error('standard input is closed; name the prompt after the run: "" begins from nothing')
    lines = decoded(sys.stdin.buffer, "standard input", ends=whole)
    return iter(["".join(lines)]) if whole else lines
