"""How `regard evaluate` scores a translator: BLEU, chrF and TER, speed, BLEU by length, alignment."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from regard.cli.evaluate_seeds import evaluate_each, table_of_seeds
from regard.cli.options import read_changes
from regard.cli.precision import precise
from regard.cli.progress import counting, say
from regard.cli.together import load_together
from regard.errors import Error

if TYPE_CHECKING:
    from regard.data.pairs import Pair
    from regard.look.alignment import Reading


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Scores by name, and what belongs to them."""
    from regard.metrics.translations import bleu_by_length, compare, score, tokenised_bleu
    from regard.tasks.writing.translation import load_translator
    from regard.tasks.writing.translator import chosen_search

    search = chosen_search(**read_changes(rest))
    if options.each:
        return evaluate_each(options, search, read_pairs(options))
    translator = load_together(options.run, options)
    other = precise(load_translator(options.against), options) if options.against else None
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
        "search": {"sample": search.sample, "beam": search.beam, "length penalty": search.length_penalty},
        "sentences": len(pairs),
        "sentences per second": len(pairs) / seconds,
        "tokens per second": sum(map(len, translator.tokenizer.encode(found))) / seconds,
    }
    if several := together(options.run, getattr(options, "with") or ()):
        result["together"] = several
    gold = [pair for pair in pairs if pair.alignment]
    if gold and translator.reading is not None:
        result["alignment"] = alignment(translator, translator.reading, gold)
    if other is not None:
        with counting(f"sentences translated by {options.against}", len(pairs)) as done:
            others = other.texts(sources, search, options.batch, done)
        compared = compare(found, others, references)
        result["against"] = {
            "run": options.against,
            "together": together(options.against),
            **{name: vars(one) for name, one in compared.items()},
        }
    return result


def together(run: str, others: Sequence[str] = ()) -> list[str]:
    """The runs that translate together; none where one translates by itself."""
    from regard.checkpoint import Run

    found = [*(str(seed.path) for seed in Run(run).seeds() or [Run(run)]), *others]
    return found if len(found) > 1 else []


def read_pairs(options: argparse.Namespace) -> list[Pair]:
    from regard.data.catalogue import data_sets
    from regard.data.examples import PairData
    from regard.data.pairs import skipped

    if not (options.data or options.source or options.target):
        raise Error("there is nothing to translate: give --data, or --source and --target")
    where: dict[str, Any] = {"source": options.source, "target": options.target, "count": options.count}
    if options.data and (options.data in data_sets() or not (Path(options.data).suffix or Path(options.data).exists())):
        where |= {"name": options.data, "languages": options.languages, "split": options.split}
    elif options.languages:
        raise Error(f"--languages {options.languages} are those of a named data set: leave it out beside a file")
    else:
        where |= {"file": options.data, "columns": tuple(options.columns.split(",")) if options.columns else None}
    source = PairData(**where).pairs()
    pairs = list(source)
    if count := skipped(source):
        say(f"{count:,} empty lines were skipped")
    return pairs


def alignment(translator: Any, reading: Reading, gold: list[Pair]) -> dict[str, Any]:
    """How well the layer that the run recorded aligns the reference translations."""
    from regard.tasks.writing.alignment import error_rate

    return {"layer": reading.layer, "error rate": error_rate(translator, gold, reading), "sentences": len(gold)}


def table(result: dict[str, Any]) -> str:
    """For people to read."""
    if "seeds" in result:
        return table_of_seeds(result)
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
    for one in (result, result.get("against", {})):
        if names := one.get("together"):
            lines += ["", f"{len(names)} runs translate together, as one: {', '.join(names)}; --each scores each run"]
    speed = f"{result['sentences per second']:.1f} sentences/s, {result['tokens per second']:,.0f} tokens/s"
    return "\n".join([*lines, "", f"{result['sentences']:,} sentences, {speed}; {searched(result['search'])}"])


def searched(search: dict[str, Any]) -> str:
    if search["sample"] or search["beam"] == 1:
        return "drawn" if search["sample"] else "greedy search"
    return f"beam of {search['beam']}, length penalty {search['length penalty']:g}"


def against(result: dict[str, Any]) -> str:
    lines = [f"against {result['run']} (paired bootstrap, 1,000 samples; of these runs, other seeds may differ)"]
    for name, one in result.items():
        if name not in ("run", "together"):
            sure = "significant at 0.05" if one["p_value"] < 0.05 else "may be chance"
            lines.append(f"{name:<6}{one['value']:6.2f} beside {one['other']:6.2f}   p = {one['p_value']:.3f}, {sure}")
    return "\n".join(lines)
