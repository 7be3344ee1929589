"""Verbs that use a trained run: lines in, results out, line for line. Each named verb is one entry of `USES`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from regard.cli.options import add_precision, add_verb, add_with, positive, split_changes
from regard.cli.progress import counting, say
from regard.cli.texts import chunks, given_texts, line_by_line, readable, standard_input
from regard.data.pictures.tables import ENDINGS
from regard.errors import Error

LINES_A_CHUNK = 1000  # lines of standard input that are sorted by length together
PAIR = 2  # texts of a pair

Options = argparse.Namespace


def loaded(purpose: str, options: Options) -> Any:
    """The tool of the run, in the precision that is asked for."""
    from regard.tasks.base import load_for, rounded

    return rounded(load_for(purpose, options.run), options.int8)


def printed(tool: Any, found: Any, options: Options) -> str:
    """A result as JSON or on a line."""
    return str(found.json() if options.json else found.line(getattr(options, "scores", False)))


def nothing_more(verb: argparse.ArgumentParser) -> None:
    """No options of its own."""


def no_fields(options: Options) -> dict[str, Any]:
    return {}


@dataclass(frozen=True)
class Use:
    """A verb for runs of tasks with a `purpose`. `doing` and `counted` are what it tells people; `more` adds options
    of its own, `fields` makes of them what the tool's `results` take, `inputs` the inputs of lines, of which the first
    is the `number`th, and `written` what is printed of a result. One that `searches` takes the fields of a search."""

    name: str
    purpose: str
    help: str
    description: str
    examples: str
    doing: str
    counted: str
    runs: str = "a run folder"
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
    load: Callable[[str, Options], Any] = loaded
    written: Callable[[Any, Any, Options], str] = printed

    def add(self, verbs: Any) -> None:
        """The verb's parser."""
        search = (
            "Any field of the search is an option: --beam 5, --nbest 3, --length-penalty 0.6, --max-length 50, "
            "--no-repeat 3, --sample, --temperature 0.8, --top-k 20, --top-p 0.9, --seed 1.\n\n"
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
        verb.add_argument("run", metavar="RUN", help=self.runs)
        # TEXT is what is left over: argparse would take it only beside RUN, and `RUN --json TEXT` would be refused.
        self.more(verb)
        if self.searches:
            verb.add_argument("--sample", action="store_true", help="draw texts instead of searching for the best")
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
        fields |= search_of(changes, options)
        given = readable(rest)
    else:
        given = use.given(given_texts(rest, use.name))
    tool = use.load(use.purpose, options)
    if not tool.pictures:
        refuse_pictures(given, options.run)
    lines: Iterable[str] = given or standard_input(use.doing)
    number = 1
    counted = use.counted.replace("texts", "pictures") if tool.pictures else use.counted
    with counting(counted, len(given) or None) as done:
        for chunk in chunks(lines, 1 if line_by_line(options.batch) else LINES_A_CHUNK):
            inputs = use.inputs(tool, chunk, number, options)
            number += len(chunk)
            for found in tool.results(inputs, options.batch, say, done, **fields):
                print(use.written(tool, found, options))
            sys.stdout.flush()


def refuse_pictures(given: Sequence[str], run: str) -> None:
    """Their names would be taken for texts."""
    for text in given:
        if text.lower().endswith(ENDINGS) and Path(text).is_file():
            raise Error(f"{text} is a picture, and {run} reads texts")


def search_of(changes: dict[str, Any], options: Options) -> dict[str, Any]:
    """The fields of the search that is asked for; what cannot be is refused before the model is loaded."""
    from regard.tasks.writing.translator import chosen_search

    asked = {"sample": options.sample, **changes}
    chosen_search(**asked)
    return asked


def any_tool(purpose: str, options: Options) -> Any:
    """The tool of a run of any task that makes results of lines."""
    from regard import tasks
    from regard.tasks.base import rounded
    from regard.tasks.tool import Tool

    tool = tasks.load(options.run)
    if not isinstance(tool, Tool) or type(tool).results is Tool.results:
        raise Error(f"{options.run}: a run of this task is used by a verb of its own; see regard --help")
    return rounded(tool, options.int8)


# --- what single verbs take -------------------------------------------------------------------------------------------


def one_pair(given: list[str]) -> list[str]:
    """Two texts of the command line as one line."""
    texts = [" ".join(text.split()) for text in given]  # a tab is what parts two texts
    if texts and len(texts) != PAIR:
        raise Error(f"a pair is two texts, {len(texts)} were given; many pairs come from standard input, with tabs")
    return ["\t".join(texts)] if texts else []


def asked_about(given: list[str]) -> list[str]:
    """A picture of the command line and what is asked about it, a line a question."""
    if len(given) == 1:
        raise Error(f"what is asked about {given[0]}? Write the question behind it, in quotation marks")
    return [f"{given[0]}\t{' '.join(question.split())}" for question in given[1:]]


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


def filled(tool: Any, found: Any, options: Options) -> str:
    if options.json:
        return str(found.json())
    return str(found.line() if options.text else found.lines())


def add_alignment(verb: argparse.ArgumentParser) -> None:
    verb.add_argument(
        "--align", action="store_true", help="after each translation a tab and its word alignment, as 0-0 1-2 (Pharaoh)"
    )
    add_with(verb)


def loaded_together(purpose: str, options: Options) -> Any:
    """The translator of a run with those that the options name."""
    from regard.models import Ensemble
    from regard.tasks.base import rounded
    from regard.tasks.writing.translation import load_translator

    runs = [options.run, *(getattr(options, "with") or ())]
    first, *others = (rounded(load_translator(run), options.int8) for run in runs)
    translator = first.beside(others)
    if options.align and translator.reading is None:
        several = isinstance(translator.model, Ensemble)
        why = "several runs have no one alignment" if several else f"{options.run} has no attention to its source"
        raise Error(f"{why}, so there is no alignment; leave --align out")
    return translator


def translated(tool: Any, found: Any, options: Options) -> str:
    """A translation, on a line with its alignment where that is asked for."""
    if options.json or not options.align:
        return printed(tool, found, options)
    from regard.tasks.writing.alignment import pharaoh

    return f"{found.line(options.scores)}\t{pharaoh(tool, found)}"


SCORES = "after each label a tab and its probability"

USES = (
    Use(
        "translate",
        "translate",
        "translate sentences with a trained run",
        "Translate the given sentences, or standard input line by line; the order is kept.",
        '  regard translate runs/demo "The cat sees the dog."\n'
        "  regard translate runs/demo --beam 5 --scores < sentences.txt > translations.txt\n"
        '  regard translate runs/demo --align "The black cat sleeps."\n'
        "  regard translate runs/my/seed-1 --with runs/my/seed-2 < sentences.txt\n"
        "  regard translate runs/my < sentences.txt     all its seeds together, after regard train ... --seeds 3\n",
        "translating",
        "sentences translated",
        runs="a run folder, or one of several seeds, which translate together",
        batch=32,
        searches=True,
        scores="the score before each translation, and a tab",
        json="a JSON object a translation: text, score, log_prob, parts",
        more=add_alignment,
        load=loaded_together,
        written=translated,
    ),
    Use(
        "classify",
        "classify",
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
        "judge pairs",
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
        "tag",
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
        "answer questions",
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
        "ask",
        "answer questions about pictures",
        "ask a trained run about a picture",
        "Answer one question or several about a picture, or each line of standard input: the file of a picture, a tab, "
        "a question; the order is kept.",
        '  regard ask runs/scenes ring.png "what colour is the ring?" "how many things are there?"\n'
        "  regard ask runs/scenes --scores < questions.tsv\n",
        "answering",
        "questions answered",
        takes="[PICTURE QUESTION ...]",
        scores="after each answer a tab and its probability",
        json="a JSON object a line: picture, question, answer, every probability",
        given=asked_about,
    ),
    Use(
        "fill",
        "find masked words",
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
        "summarise",
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
    Use(
        "caption",
        "caption",
        "say what pictures show with a trained run",
        "Write a caption of each picture: a file that is named, or that a line of standard input names; the order "
        "is kept.",
        "  regard caption runs/captions photograph.jpg\n"
        "  regard caption runs/captions --beam 3 --json a.jpg b.png\n"
        "  ls pictures/*.jpg | regard caption runs/captions > captions.txt\n",
        "captioning the pictures of",
        "pictures captioned",
        takes="[PICTURE ...]",
        batch=32,
        searches=True,
        scores="the score before each caption, and a tab",
        json="a JSON object a caption: picture, text, score, log_prob",
    ),
    Use(
        "use",
        "",
        "what a trained run makes of texts, whatever it was trained for",
        "Give each text, or each line of standard input, to a run of any task that reads lines, also one of your own; "
        "the order is kept.",
        '  regard use runs/reviews "A dull film."\n  regard use runs/mine --import my_task.py "A text." "Another."\n',
        "reading",
        "texts read",
        scores="beside each result its score, and a tab",
        json="a JSON object a line",
        load=any_tool,
    ),
)
