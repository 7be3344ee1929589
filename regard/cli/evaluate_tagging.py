"""How `regard evaluate` scores a tagger: accuracy, macro-F1, entities where tags mark them, and each tag's scores."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from regard.cli.options import read_changes
from regard.cli.precision import precise
from regard.cli.progress import counting, say
from regard.errors import Error

NAMED = 3  # tags that a message names


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Scores by name, and what belongs to them."""
    import numpy as np
    import torch

    from regard.data.examples import TaggedData
    from regard.metrics.certainty import calibration_error, intervals, tag_intervals
    from regard.metrics.entities import count_entities, scheme_of
    from regard.metrics.labels import accuracy, label_scores, macro_f1
    from regard.tasks.tagging.task import load_tagger

    if changes := read_changes(rest):
        raise Error(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    tagger = precise(load_tagger(options.run), options)
    sentences = list(TaggedData(**where(options)).open())
    gold = [tag for sentence in sentences for tag in sentence.tags]
    check_tags(gold, tagger.names, options)
    start = time.perf_counter()
    with counting("sentences tagged", len(sentences)) as done:
        logits = tagger.scores([sentence.words for sentence in sentences], options.batch, done)
    seconds = time.perf_counter() - start
    tagged, right = [tagger.chosen(one) for one in logits], [list(sentence.tags) for sentence in sentences]
    found = [tag for tags in tagged for tag in tags]
    numbers = {name: number for number, name in enumerate(tagger.names)}
    sure, marked = tag_intervals(right, tagged), {}
    if scheme := scheme_of(tagger.names):
        counts = count_entities(right, tagged)
        sure.update(intervals(counts.scores, len(sentences)))
        marked = {"scheme": scheme, **counts.scores(), "entities": counts.by_type()}
    return {
        "accuracy": accuracy(gold, found),
        "macro_f1": macro_f1(gold, found),
        **marked,
        "intervals": sure,
        "calibration_error": calibration_error(
            torch.cat(logits).softmax(-1).numpy(), np.array([numbers.get(tag, -1) for tag in gold])
        ),
        "tags": {
            score.name: {
                "precision": score.precision,
                "recall": score.recall,
                "f1": score.f1,
                "words": score.count,
            }
            for score in label_scores(gold, found)
        },
        "sentences": len(sentences),
        "words": len(gold),
        "words per second": len(gold) / seconds,
    }


def check_tags(gold: Sequence[str], names: Sequence[str], options: argparse.Namespace) -> None:
    """Tell of tags that the tagger cannot give; where it can give none, the scores would say nothing."""
    unknown = Counter(tag for tag in gold if tag not in names)
    if not unknown:
        return
    some = ", ".join(sorted(unknown)[:NAMED]) + (", …" if len(unknown) > NAMED else "")
    if unknown.total() == len(gold):
        trained = ", ".join(names[:NAMED]) + (", …" if len(names) > NAMED else "")
        raise Error(
            f"{options.data}: {options.run} was trained on none of its tags ({some}), but on {trained}: is the tag "
            "another column? (--columns)"
        )
    say(f"{unknown.total():,} words have tags that training never had ({some}): they count as wrong")


def where(options: argparse.Namespace) -> dict[str, Any]:
    """The fields of the data that the options name: a set by its name, or a file."""
    from regard.checkpoint import Run
    from regard.data.catalogue import data_sets

    if not options.data:
        raise Error("there is nothing to score: give --data, a file or the name of a data set")
    if options.data in data_sets() or not (Path(options.data).suffix or Path(options.data).exists()):
        own = Run(options.run).read_config().get("task", {}).get("valid", {})  # the language that it was trained on
        languages = options.languages or (own.get("languages") if own.get("name") == options.data else None)
        return {"name": options.data, "languages": languages, "split": options.split, "count": options.count}
    columns = tuple(options.columns.split(",")) if options.columns else None
    return {"file": options.data, "columns": columns, "count": options.count}


def table(result: dict[str, Any]) -> str:
    """As a person reads it."""
    from regard.cli.evaluate_classification import between

    lines = [
        f"accuracy  {result['accuracy']:.4f}  (95% of such test sets: {between(result, 'accuracy')})",
        f"macro-F1  {result['macro_f1']:.4f}  ({between(result, 'macro_f1')})",
        f"its probabilities are {result['calibration_error']:.3f} off on the mean (expected calibration error)",
        f"{result['sentences']:,} sentences, {result['words']:,} words, {result['words per second']:,.0f} a second",
    ]
    if "entity_f1" in result:
        whole = f"precision {result['entity_precision']:.4f}  recall {result['entity_recall']:.4f}"
        sure = f"({between(result, 'entity_f1')})"
        lines.insert(2, f"entities ({result['scheme']}): F1 {result['entity_f1']:.4f}  {sure}  {whole}")
        lines += ["", *rows_of("type", result["entities"], "entities")]
    return "\n".join([*lines, "", *rows_of("tag", result["tags"], "words")])


def rows_of(called: str, scores: dict[str, Any], counted: str) -> Iterator[str]:
    """A header, and a line for each name."""
    yield f"{called:<12}{'precision':>10}{'recall':>10}{'F1':>10}{counted:>10}"
    for name, one in scores.items():
        cells = "".join(f"{one[key]:>10.3f}" for key in ("precision", "recall", "f1"))
        yield f"{name:<12}{cells}{one[counted]:>10,}"
