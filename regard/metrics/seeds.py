"""Several seeds of one recipe beside those of another: one by one, so that models are compared, not ensembles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from regard.metrics.statistics import Contest, Interval, Resampling, SeedScores, bleu, sentence_counts
from regard.metrics.translations import bleu_of


def bleu_of_seeds(translations: Sequence[Sequence[str]], references: Sequence[str]) -> SeedScores:
    """The BLEU of each seed's translations, and of their mean on resampled sentences."""
    metric = bleu_of(references)
    counts = np.array([sentence_counts(found, references, metric) for found in translations])  # (S, N, 10)
    return Resampling(len(references))(bleu, counts)


def difference(scores: Mapping[str, SeedScores]) -> Interval:
    """By how much the first of two is above the second, over sentences and, where there are several, over seeds."""
    one, other = scores
    return Contest(scores).differences()[one, other]
