"""Verbs that use a trained run: lines in, results out, line for line. Each named verb is one entry of `USES`."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from regard.cli.options import add_verb, positive, split_changes
from regard.cli.precision import add_precision, precise
from regard.cli.progress import counting, say
from regard.cli.texts import chunks, given_texts, line_by_line, standard_input
from regard.errors import Error

CHUNK = 1000  # lines of standard input that are sorted by length together
PAIR = 2  # texts of a pair

Options = argparse.Namespace


def nothing_more(verb: argparse.ArgumentParser) -> None:
    """No options of its own."""


def no_fields(options: Options) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Use:
    """A verb for the runs of a task. `load` names what loads its tool; `doing` and `counted` are what it tells people;
    `more` adds options of its own, `fields` makes of them what the tool's `results` take, and `inputs` the inputs of
    some lines, of which the first is the `number`th. A verb that `searches` takes the fields of a search."""

    name: str
    load: str
    help: str
    description: str
    examples: str
    doing: str
    counted: str
    takes: str = "[TEXT ...]"
    batch: int = 64
    searches: bool = False
    scores: str = ""
    json: str = ""
    more: Callable[[argparse.ArgumentParser], None] = nothing_more
    fields: Callable[[Options], Mapping[str, Any]] = no_fields
    given: Callable[[list[str]], list[str]] = list
    inputs: Callable[[Any, Sequence[str], int, Options], list[Any]] = field(
        default=lambda tool, lines, number, options: [tool.parse(line, i) for i, line in enumerate(lines, number)]
    )
    written: Callable[[Any, Options], str] = field(
        default=lambda found, options: found.json() if options.json else found.line(getattr(options, "scores", False))
    )

    def add(self, verbs: Any) -> None:
        """The verb's parser."""
        search = (
            "Any field of the search is an option: --beam 5, --length-penalty 0.6, --max-length 50, --no-repeat 3, "
            "--sample, --temperature 0.8, --top-k 20, --top-p 0.9, --seed 1.\n\n"
        )
        verb = add_verb(
            verbs,
            self.name,
            partial(run, self),
            help=self.help,
            usage=f"regard {self.name} RUN {self.takes} [options]",
            description=self.description,
            epilog=(search if self.searches else "") + "examples:\n" + self.examples,
        )
        verb.add_argument("run", metavar="RUN", help="a run folder")
        # TEXT is what is left over: argparse would take it only beside RUN, and `RUN --json TEXT` would be refused.
        self.more(verb)
        if self.scores:
            verb.add_argument("--scores", action="store_true", help=self.scores)
        verb.add_argument("--json", action="store_true", help=self.json)
        about = f"inputs at a time (default {self.batch}; 1: line by line)"
        verb.add_argument("--batch", type=positive, default=self.batch, help=about)
        add_precision(verb)


def run(use: Use, options: Options, rest: list[str]) -> None:
    """Read lines, from the command line or from standard input, and print what the run makes of each."""
    fields = dict(use.fields(options))
    if use.searches:
        changes, rest = split_changes(rest)
        fields |= changes
    given = use.given(given_texts(rest, use.name))
    tool = precise(loader(use.load)(options.run), options)
    lines: Iterable[str] = given or standard_input(use.doing)
    number = 1
    with counting(use.counted, len(given) or None) as done:
        for chunk in chunks(lines, 1 if line_by_line(options.batch) else CHUNK):
            inputs = use.inputs(tool, chunk, number, options)
            number += len(chunk)
            for found in tool.results(inputs, options.batch, say, done, **fields):
                print(use.written(found, options))
            sys.stdout.flush()


def loader(name: str) -> Callable[[str], Any]:
    """What "module:function" names."""
    module, _, function = name.partition(":")
    found: Callable[[str], Any] = getattr(importlib.import_module(module), function)
    return found


# --- what single verbs take -------------------------------------------------------------------------------------------


def one_pair(given: list[str]) -> list[str]:
    """Two texts of the command line as one line."""
    texts = [" ".join(text.split()) for text in given]  # a tab is what parts two texts
    if texts and len(texts) != PAIR:
        raise Error(f"a pair is two texts, {len(texts)} were given; many pairs come from standard input, with tabs")
    return ["\t".join(texts)] if texts else []


def add_words(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--words", action="store_true", help="words are what white space separates: split no further")


def sentences(tool: Any, lines: Sequence[str], number: int, options: Options) -> list[Any]:
    return [line.split() for line in lines] if options.words else list(lines)


def add_question(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--text", required=True, metavar="FILE", help="the text that the questions are asked of")
    verb.add_argument(
        "--threshold", default=0.0, metavar="LOGITS", help="how much likelier than none an answer must be, in logits"
    )


def threshold(options: Options) -> dict[str, Any]:
    from regard.tasks.answering.answerer import threshold_of

    context(options.text)  # or it is missing, before the model is loaded
    return {"threshold": threshold_of(options.threshold)}


def questions(tool: Any, lines: Sequence[str], number: int, options: Options) -> list[Any]:
    text = context(options.text)
    return [(line, text) for line in lines]


def context(name: str) -> str:
    from regard.data.files import existing, lines

    text = "\n".join(lines(existing(Path(name))))
    if not text.strip():
        raise Error(f"{name} is empty: there is nothing to answer from")
    return text


def add_masks(verb: argparse.ArgumentParser) -> None:
    verb.add_argument("--count", type=positive, default=5, help="words for each mask (default 5)")
    verb.add_argument("--text", action="store_true", help="the text with the likeliest words, and nothing else")


def filled(found: Any, options: Options) -> str:
    if options.json:
        return str(found.json())
    return str(found.line() if options.text else found.lines())


SCORES = "after each label a tab and its probability"

USES = (
    Use(
        "classify",
        "regard.tasks.judging.classification:load_classifier",
        "give texts the labels of a trained run",
        "Give each text, or each line of standard input, its likeliest label, or all of its labels with | between "
        "them, where the run was trained with --many; the order is kept.",
        '  regard classify runs/reviews "A dull film."\n'
        "  regard classify runs/reviews --scores < reviews.txt > labels.txt\n"
        '  regard classify runs/reviews --json "A dull film." "A fine one."\n',
        "classifying",
        "texts classified",
        scores=SCORES,
        json="a JSON object a line: text, label, every probability",
    ),
    Use(
        "pair",
        "regard.tasks.judging.pairing:load_judge",
        "tell what two texts are to each other with a trained run",
        "Give two texts, or each line of standard input, two texts with a tab between them, the likeliest label or the "
        "score that the run was trained for; the order is kept.",
        '  regard pair runs/mrpc "He bought the firm." "The firm was bought by him."\n'
        "  regard pair runs/stsb < pairs.tsv > scores.txt\n"
        "  regard pair runs/mrpc --json < pairs.tsv\n",
        "judging",
        "pairs judged",
        takes="[TEXT TEXT]",
        scores=SCORES,
        json="a JSON object a line: both texts and what was found",
        given=one_pair,
    ),
    Use(
        "tag",
        "regard.tasks.tagging.task:load_tagger",
        "tag the words of sentences with a trained run",
        "Tag the words of the given sentences, or of standard input line by line; the order is kept. A line is printed "
        "as word/TAG, one space apart.",
        '  regard tag runs/tagger "The black cat sleeps."\n'
        "  regard tag runs/tagger --json < sentences.txt > tagged.jsonl\n"
        "  regard tag runs/tagger --words < tokenised.txt\n",
        "tagging",
        "sentences tagged",
        json='a line is {"words": […], "tags": […]}, as training takes it, and "entities" where tags mark them',
        more=add_words,
        inputs=sentences,
    ),
    Use(
        "answer",
        "regard.tasks.answering.task:load_answerer",
        "answer questions on a text with a trained run",
        "Find the words of a text that answer each question, or each line of standard input. A question that the text "
        "does not answer gets an empty line. Long texts are read in windows, whole.",
        '  regard answer runs/squad --text article.txt "Who built the tower?"\n'
        "  regard answer runs/squad --text article.txt --scores < questions.txt\n",
        "answering",
        "windows read",
        takes="--text FILE [QUESTION ...]",
        batch=16,
        scores="before each answer its probability against none, and a tab",
        json="a JSON object a line: question, text, start, end, score",
        more=add_question,
        fields=threshold,
        inputs=questions,
    ),
    Use(
        "fill",
        "regard.tasks.pretraining.mlm:load_filler",
        "find masked words with a masked language model",
        "Find the words that are masked in the given texts, or in each line of standard input; write [MASK] or <mask> "
        "where a word is to be found. Each mask is one piece of the run's tokenizer.",
        '  regard fill runs/bert "The cat [MASK] on the mat."\n'
        '  regard fill runs/bert --count 10 --json "A [MASK] film."\n'
        "  regard fill runs/bert --text < masked.txt > whole.txt\n",
        "filling in",
        "texts filled in",
        batch=32,
        json="a JSON object a line: text, whole, and each mask's words",
        more=add_masks,
        fields=lambda options: {"count": options.count},
        written=filled,
    ),
    Use(
        "summarise",
        "regard.tasks.writing.summary:load_summariser",
        "say in short what texts are about with a trained run",
        "Write a summary of each text, or of each line of standard input; the order is kept.",
        '  regard summarise runs/mails "Dear all, the meeting of Monday has been moved to Tuesday at ten."\n'
        "  regard summarise runs/mails --beam 5 < mails.txt > subjects.txt\n",
        "summarising",
        "texts summarised",
        batch=32,
        searches=True,
        scores="the score before each summary, and a tab",
        json="a JSON object a line: source, text, score, log_prob",
    ),
)
