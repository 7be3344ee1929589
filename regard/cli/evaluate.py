"""`regard evaluate`: how good a run is, with signatures that say how each figure was computed."""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

from regard.cli.options import read_changes


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "evaluate",
        help="score a run on held-out pairs",
        description="Translate a file of pairs and score the result: BLEU, chrF and TER with sacreBLEU's signatures.",
        epilog="Any field of the search is an option, as for `regard translate`.\n\n"
        "examples:\n"
        "  regard evaluate runs/my --data test.tsv\n"
        "  regard evaluate runs/demo --data phrasebook --split test --count 500 --beam 5 --json\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("--data", required=True, metavar="FILE|NAME", help="a file of pairs, or a named data set")
    verb.add_argument("--languages", metavar="en-fr", help="the languages of a named data set")
    verb.add_argument("--split", default="test", help="the split of a named data set (default test)")
    verb.add_argument("--count", type=int, help="at most so many pairs")
    verb.add_argument("--batch", type=int, default=32, help="sentences at a time (default 32)")
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from pathlib import Path

    from regard.checkpoint import Run
    from regard.config import change
    from regard.data.catalogue import DATA_SETS
    from regard.decoding import Decoding
    from regard.tasks.scores import bleu_by_length, score
    from regard.tasks.translation import PairData, Translator

    search = change(Decoding(beam=4), read_changes(rest))
    translator = Translator.load(Run(options.run))
    named = options.data in DATA_SETS or not Path(options.data).suffix
    where = {"name": options.data, "languages": options.languages, "split": options.split}
    data = PairData(count=options.count, **(where if named else {"file": options.data}))
    pairs = list(data.pairs())
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    start = time.perf_counter()
    found = translator.texts(sources, search, options.batch)
    seconds = time.perf_counter() - start
    tokens = sum(map(len, translator.tokenizer.encode(found)))
    result = {
        **{name: {"score": one.value, "signature": one.signature} for name, one in score(found, references).items()},
        "by length": [
            {"words": name, "sentences": count, "BLEU": value}
            for name, count, value in bleu_by_length(sources, found, references)
        ],
        "sentences": len(pairs),
        "sentences per second": len(pairs) / seconds,
        "tokens per second": tokens / seconds,
    }
    print(json.dumps(result, indent=2, ensure_ascii=False) if options.json else table(result))


def table(result: dict[str, Any]) -> str:
    """For people to read."""
    lines = [f"{name:<6}{result[name]['score']:6.2f}   {result[name]['signature']}" for name in ("BLEU", "chrF", "TER")]
    lines += ["", "words of the source    sentences    BLEU"]
    lines += [f"{row['words']:<23}{row['sentences']:>9}  {row['BLEU']:6.2f}" for row in result["by length"]]
    speed = f"{result['sentences per second']:.1f} sentences/s, {result['tokens per second']:,.0f} tokens/s"
    return "\n".join([*lines, "", f"{result['sentences']:,} sentences, {speed}"])
