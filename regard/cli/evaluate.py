"""`regard evaluate`: how good a run is, with signatures that say how each figure was computed."""

from __future__ import annotations

import argparse
import importlib
import json
from typing import Any

from regard.cli.options import add_data, positive
from regard.cli.precision import add_precision
from regard.cli.together import add_with
from regard.errors import Error

EVALUATORS = {  # by task: a module with `evaluate` and `table`
    "translate": "regard.cli.evaluate_translation",
    "classify": "regard.cli.evaluate_classification",
    "pair": "regard.cli.evaluate_pairing",
    "lm": "regard.cli.evaluate_language",
    "copy": "regard.cli.evaluate_copying",
    "fewshot": "regard.cli.evaluate_fewshot",
    "tag": "regard.cli.evaluate_tagging",
    "answer": "regard.cli.evaluate_answering",
    "similar": "regard.cli.evaluate_relating",
    "mlm": "regard.cli.evaluate_pretraining",
    "plm": "regard.cli.evaluate_pretraining",
    "bilm": "regard.cli.evaluate_bilm",
}
PAIRS_ALONE = ("source", "target", "tokenised", "against", "with", "each")  # options of translation


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "evaluate",
        help="score a run on held-out examples",
        description="Score a run on held-out examples, whatever it was trained for. Of a translator: BLEU, chrF and "
        "TER with sacreBLEU's signatures, speed, BLEU by length, and the alignment error rate where gold alignments "
        "are given. Of a classifier: accuracy, macro-F1, Matthews, each class, and what was taken for what. Of a "
        "tagger: accuracy, macro-F1 and each tag; precision, recall and F1 of entities where tags mark them (B-, I-). "
        "Of pairs: accuracy, macro-F1 and Matthews, or Pearson and Spearman. Of vectors (`similar`, or an encoder "
        "without a task): Spearman and Pearson of cosines against scores, or how often what belongs together is "
        "nearest. Of a language model: bits per byte, perplexity by token and by word; --stride N moves its context on "
        "by so many tokens (half of it by default; 1 is exact and slow).",
        epilog="Any field of the search is an option, as for `regard translate`. Gold alignments are a column "
        '"alignment" of a JSONL or CSV file ("0-0 1-2"); the phrasebook has them.\n\n'
        "examples:\n"
        "  regard evaluate runs/my --data test.tsv\n"
        "  regard evaluate runs/my --source test.en --target test.de --against runs/other\n"
        "  regard evaluate runs/demo --data phrasebook --split test --count 500 --beam 5 --json\n"
        "  regard evaluate runs/reviews --data imdb --split valid\n"
        "  regard evaluate runs/tagger --data phrasebook --split test\n"
        "  regard evaluate runs/minilm --data stsb --split valid\n"
        "  regard evaluate runs/three-seeds --data test.tsv --each --against runs/three-others\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder; of translators a folder of several seeds too")
    add_data(verb, "examples", "test")
    verb.add_argument(
        "--against", metavar="RUN", help="another run: a paired bootstrap says which differences are real"
    )
    verb.add_argument(
        "--each",
        action="store_true",
        help="of a folder of several seeds: score each run by itself, and state their mean and deviation; without it "
        "they translate together, as one",
    )
    verb.add_argument(
        "--tokenised", metavar="LANGUAGE", help="BLEU of lower-cased Moses tokens too, as many papers state it: de"
    )
    verb.add_argument("--batch", type=positive, default=32, help="sentences at a time (default 32)")
    add_with(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")
    add_precision(verb)
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.checkpoint import Run

    folder = Run(options.run)
    about = next(iter(folder.seeds()), folder).read_config()
    kind = about["task"].get("kind") if "task" in about else "similar"  # without a task an encoder makes vectors
    if kind not in EVALUATORS:
        raise Error(f"{options.run} was trained for the task {kind!r}, which has no scores of its own")
    if kind != "translate":
        for name in PAIRS_ALONE:
            if getattr(options, name):
                raise Error(f"--{name} is for translators; {options.run} was trained for the task {kind!r}")
    module = importlib.import_module(EVALUATORS[kind])
    result: dict[str, Any] = module.evaluate(options, rest)
    print(json.dumps(result, indent=2, ensure_ascii=False) if options.json else module.table(result))
