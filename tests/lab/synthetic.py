"""Results as trials would leave them, of a quality that is known."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.lab.experiment import Result

TOTALS = (10, 9, 8, 7)


def result(qualities: Sequence[float], groups: Sequence[dict[str, Any]], seed: int = 0, **more: Any) -> Result:
    """Of sentences of which so large a share of the n-grams is right, by group."""
    random = np.random.default_rng(seed)
    counts = [
        [*(int(random.binomial(total, quality)) for total in TOTALS), *TOTALS, 10, 10]
        for quality, group in zip(qualities, groups, strict=True)
        for _ in range(group["sentences"])
    ]
    usual = {"parameters": 1000, "steps": 10, "seconds": 60.0, "pace": 0.1, "loss": 1.0}
    return {**usual, "groups": list(groups), "counts": counts, **more}
