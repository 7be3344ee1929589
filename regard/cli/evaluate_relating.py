"""How `regard evaluate` scores vectors: cosines against scores, or where what belongs together stands among all."""

from __future__ import annotations

import argparse
import time
from typing import Any

from regard.cli.evaluate_tagging import where
from regard.cli.options import read_changes
from regard.cli.precision import precise
from regard.cli.progress import counting, say
from regard.errors import Error


def evaluate(options: argparse.Namespace, rest: list[str]) -> dict[str, Any]:
    """Scores by name with their intervals, and what belongs to them."""
    from regard.data.examples import RelatedData
    from regard.metrics.certainty import intervals
    from regard.tasks.vectors.embedding import load_embedder
    from regard.tasks.vectors.nearness import nearness

    if changes := read_changes(rest):
        raise Error(f"unknown option --{next(iter(changes)).replace('_', '-')}")
    embedder = precise(load_embedder(options.run), options)
    pairs = list(RelatedData(**where(options)).open())
    start = time.perf_counter()
    with counting("texts embedded") as done:
        found = nearness(embedder, pairs, options.batch, done, say)
    seconds = time.perf_counter() - start
    return {
        **found.scores(),
        "intervals": intervals(found.scores, len(pairs)),
        "pairs": len(pairs),
        "pairs per second": len(pairs) / seconds,
    }


def table(result: dict[str, Any]) -> str:
    """As a person reads it."""
    titles = {"spearman": "Spearman", "pearson": "Pearson", "mrr": "MRR", "recall_at_1": "recall@1"}
    lines = [
        f"{title:<10}{result[name]:.4f}  (95% of such test sets: {low:.4f}–{high:.4f})"
        for name, title in titles.items()
        if name in result
        for low, high in (result["intervals"][name],)
    ]
    return "\n".join([*lines, f"pairs     {result['pairs']:,}  ({result['pairs per second']:,.0f} a second)"])
