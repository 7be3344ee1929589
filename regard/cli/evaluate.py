"""`regard evaluate`: how good a run is, with signatures that say how each figure was computed."""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.options import positive, read_changes
from regard.cli.progress import counting, say

if TYPE_CHECKING:
    from regard.data.pairs import Pair
    from regard.look.alignment import Reading


def add(verbs: Any) -> None:
    verb: argparse.ArgumentParser = verbs.add_parser(
        "evaluate",
        help="score a run on held-out pairs",
        description="Translate held-out pairs and score the result: BLEU, chrF and TER with sacreBLEU's signatures, "
        "speed, BLEU by length, and the alignment error rate where gold alignments are given.",
        epilog="Any field of the search is an option, as for `regard translate`. Gold alignments are a column "
        '"alignment" of a JSONL or CSV file ("0-0 1-2"); the phrasebook has them.\n\n'
        "examples:\n"
        "  regard evaluate runs/my --data test.tsv\n"
        "  regard evaluate runs/my --source test.en --target test.de --against runs/other\n"
        "  regard evaluate runs/demo --data phrasebook --split test --count 500 --beam 5 --json\n",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    verb.add_argument("run", metavar="RUN", help="a run folder")
    verb.add_argument("--data", metavar="FILE|NAME", help="a file of pairs, or a named data set")
    verb.add_argument("--source", metavar="FILE", help="the source side of two parallel files")
    verb.add_argument("--target", metavar="FILE", help="the target side of two parallel files")
    verb.add_argument("--columns", metavar="SOURCE,TARGET", help="the columns of a JSONL or CSV file")
    verb.add_argument("--languages", metavar="en-fr", help="the languages of a named data set")
    verb.add_argument("--split", default="test", help="the split of a named data set (default test)")
    verb.add_argument("--count", type=positive, help="at most so many pairs")
    verb.add_argument(
        "--against", metavar="RUN", help="another run: a paired bootstrap says which differences are real"
    )
    verb.add_argument(
        "--tokenised", metavar="LANGUAGE", help="BLEU of lower-cased Moses tokens too, as many papers state it: de"
    )
    verb.add_argument("--batch", type=positive, default=32, help="sentences at a time (default 32)")
    verb.add_argument("--json", action="store_true", help="print JSON")
    verb.set_defaults(run_verb=run)


def run(options: argparse.Namespace, rest: list[str]) -> None:
    from regard.tasks.scores import bleu_by_length, compare, score, tokenised_bleu
    from regard.tasks.translation import load_translator
    from regard.tasks.translator import chosen_search

    search = chosen_search(**read_changes(rest))
    translator = load_translator(options.run)
    other = load_translator(options.against) if options.against else None
    pairs = read_pairs(options)
    sources, references = [pair.source for pair in pairs], [pair.target for pair in pairs]
    start = time.perf_counter()
    with counting("sentences translated", len(pairs)) as done:
        found = [best[0].text for best in translator.translate(sources, search, options.batch, say, done)]
    seconds = time.perf_counter() - start
    scores = score(found, references)
    if options.tokenised:
        scores["tokenised BLEU"] = tokenised_bleu(found, references, options.tokenised)
    result: dict[str, Any] = {
        "scores": {name: {"score": one.value, "signature": one.signature} for name, one in scores.items()},
        "by length": [
            {"words": name, "sentences": count, "BLEU": value}
            for name, count, value in bleu_by_length(sources, found, references)
        ],
        "sentences": len(pairs),
        "sentences per second": len(pairs) / seconds,
        "tokens per second": sum(map(len, translator.tokenizer.encode(found))) / seconds,
    }
    gold = [pair for pair in pairs if pair.alignment]
    if gold and translator.reading is not None:
        result["alignment"] = alignment(translator, translator.reading, gold)
    if other is not None:
        with counting(f"sentences translated by {options.against}", len(pairs)) as done:
            others = other.texts(sources, search, options.batch, done)
        compared = compare(found, others, references)
        result["against"] = {"run": options.against, **{name: vars(one) for name, one in compared.items()}}
    print(json.dumps(result, indent=2, ensure_ascii=False) if options.json else table(result))


def read_pairs(options: argparse.Namespace) -> list[Pair]:
    from regard.data.catalogue import DATA_SETS
    from regard.tasks.pairs import PairData

    if not (options.data or options.source or options.target):
        raise ValueError("there is nothing to translate: give --data, or --source and --target")
    where: dict[str, Any] = {"source": options.source, "target": options.target, "count": options.count}
    if options.data and (options.data in DATA_SETS or not (Path(options.data).suffix or Path(options.data).exists())):
        where |= {"name": options.data, "languages": options.languages, "split": options.split}
    else:
        where |= {"file": options.data, "columns": tuple(options.columns.split(",")) if options.columns else None}
    return list(PairData(**where).pairs())


def alignment(translator: Any, reading: Reading, gold: list[Pair]) -> dict[str, Any]:
    """How well the layer that the run recorded aligns the reference translations."""
    from regard.tasks.alignment import error_rate

    return {"layer": reading.layer, "error rate": error_rate(translator, gold, reading), "sentences": len(gold)}


def table(result: dict[str, Any]) -> str:
    """For people to read."""
    lines = [f"{name:<16}{one['score']:6.2f}   {one['signature']}" for name, one in result["scores"].items()]
    if "alignment" in result:
        one = result["alignment"]
        lines.append(
            f"{'alignment error':<16}{one['error rate']:6.3f}   {one['layer']}, {one['sentences']:,} sentences"
        )
    lines += ["", "words of the source    sentences    BLEU"]
    lines += [f"{row['words']:<23}{row['sentences']:>9}  {row['BLEU']:6.2f}" for row in result["by length"]]
    if "against" in result:
        lines += ["", against(result["against"])]
    speed = f"{result['sentences per second']:.1f} sentences/s, {result['tokens per second']:,.0f} tokens/s"
    return "\n".join([*lines, "", f"{result['sentences']:,} sentences, {speed}"])


def against(result: dict[str, Any]) -> str:
    lines = [f"against {result['run']} (paired bootstrap, 1,000 samples)"]
    for name, one in result.items():
        if name != "run":
            sure = "significant at 0.05" if one["p_value"] < 0.05 else "may be chance"
            lines.append(f"{name:<6}{one['value']:6.2f} beside {one['other']:6.2f}   p = {one['p_value']:.3f}, {sure}")
    return "\n".join(lines)
