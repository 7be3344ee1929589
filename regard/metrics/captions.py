"""How good captions are, beside what several people wrote of the same pictures."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.data.words import words
from regard.metrics.certainty import Indices, SampledScores
from regard.metrics.consensus import cider_d, exact, rouge_l
from regard.metrics.statistics import ORDERS, bleu

SIGNATURE = "words in lower case without punctuation; BLEU by the nearest length; no METEOR, which takes dictionaries"
PUNCTUATION = re.compile(r"[^\w\s'-]|(?<!\w)['-]|['-](?!\w)|_")


def caption_words(text: str) -> list[str]:
    """In lower case, without punctuation; what an apostrophe or hyphen holds together is one word."""
    return words(PUNCTUATION.sub(" ", text.lower()))


@dataclass(frozen=True)
class CaptionScores(SampledScores):
    """Of captions that were `found` for pictures, each beside its `references`: CIDEr-D, BLEU of up to 1, 2, 3 and 4
    words in a row, ROUGE-L, and how many are word by word what somebody wrote."""

    called = "pictures"

    found: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]

    def __len__(self) -> int:
        return len(self.found)

    @cached_property
    def cut(self) -> tuple[list[list[str]], list[list[list[str]]]]:
        """All of them as words."""
        own = [caption_words(text) for text in self.found]
        return own, [[caption_words(text) for text in texts] for texts in self.references]

    @cached_property
    def each(self) -> dict[str, NDArray[np.float64]]:
        """By name, what is a mean over pictures, of each of them."""
        return {name: one(*self.cut) for name, one in (("cider", cider_d), ("rouge_l", rouge_l), ("exact", exact))}

    @cached_property
    def counts(self) -> NDArray[np.float64]:
        """(N, 10): what BLEU counts of each picture."""
        from sacrebleu.metrics.bleu import BLEU

        metric, rows = BLEU(tokenize="none", force=True), []
        for own, others in zip(*self.cut, strict=True):
            one = metric.corpus_score([" ".join(own)], [[" ".join(other)] for other in others])
            rows.append([*one.counts, *one.totals, one.sys_len, one.ref_len])
        return np.array(rows, dtype=float)

    def figures(self, chosen: Indices | slice = slice(None)) -> dict[str, float]:
        means = {name: float(values[chosen].mean()) for name, values in self.each.items()}
        counts = self.counts[chosen].sum(0)
        blocks = {f"bleu_{order}": float(bleu(counts, order)) for order in range(ORDERS, 0, -1)}
        return {"cider": means.pop("cider"), **blocks, **means}

    def record(self) -> dict[str, Any]:
        return {**super().record(), "signature": SIGNATURE}

    def table(self) -> str:
        return f"{super().table()}; {SIGNATURE}"
