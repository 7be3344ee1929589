"""`regard evaluate`: how good a run is, with signatures that say how each figure was computed."""

from __future__ import annotations

import argparse
import json
from typing import Any

from regard.cli.options import add_data, add_precision, add_verb, add_with, positive, read_changes
from regard.cli.progress import say
from regard.errors import Error

NAMED = ("source", "target", "columns", "languages", "split", "count", "batch", "int8")
OF_TRANSLATORS = ("tokenised", "against", "with", "each")
PAIRS_ALONE = ("source", "target", *OF_TRANSLATORS)


def add(verbs: Any) -> None:
    verb = add_verb(
        verbs,
        "evaluate",
        run,
        help="score a run on held-out examples",
        description="Score a run on held-out examples, whatever it was trained for. Of a translator: BLEU, chrF and "
        "TER with sacreBLEU's signatures, speed, BLEU by length, and the alignment error rate where gold alignments "
        "are given. Of a classifier: accuracy, macro-F1, Matthews, each class, and what was taken for what. Of a "
        "tagger: accuracy, macro-F1 and each tag; precision, recall and F1 of entities where tags mark them (B-, I-). "
        "Of pairs: accuracy, macro-F1 and Matthews, or Pearson and Spearman. Of vectors (`similar`, or an encoder "
        "without a task): Spearman and Pearson of cosines against scores, or how often what belongs together is "
        "nearest. Of captions: CIDEr-D, BLEU-1 to 4 and ROUGE-L against all captions of a picture. Of a detector: "
        "average precision as COCO has it, over all overlaps (AP) and at a half and three quarters (AP50, AP75), and "
        "of each class. Of a language model: bits per byte, perplexity by token and by word; --stride N moves its "
        "context on by so many tokens (half of it by default; 1 is exact and slow).",
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
    verb.add_argument("--batch", type=positive, help="examples at a time")
    add_with(verb)
    verb.add_argument("--json", action="store_true", help="print JSON")
    add_precision(verb)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.tasks.evaluating import evaluate, kind_of

    if (kind := kind_of(options.run)) != "translate":
        for name in PAIRS_ALONE:
            if getattr(options, name):
                raise Error(f"--{name} is for translators; {options.run} was trained for the task {kind!r}")
    asked = {name: value for name in OF_TRANSLATORS if (value := getattr(options, name))}
    if "with" in asked:
        asked["with"] = tuple(asked["with"])
    named = {name: getattr(options, name) for name in NAMED}
    scores = evaluate(options.run, options.data, say=say, **named, **asked, **read_changes(rest))
    print(json.dumps(scores.record(), indent=2, ensure_ascii=False) if options.json else scores)
