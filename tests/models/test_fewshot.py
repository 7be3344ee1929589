"""Few-shot learners: the nearest centroid is its formula, a query sees no other one, padding changes nothing."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import regard
from regard.models import FewShot, FewShotModel, RecurrentEncoder
from regard.models.fewshot import Centroids, LearnerConfig, SnailLearner
from regard.nn.recurrent.temporal import TemporalLayers

LEARNERS: dict[str, LearnerConfig] = {
    "snail": SnailLearner(TemporalLayers(length=7, filters=6, keys=(5, 5), values=(4, 4))),
    "centroids": Centroids(),
}
every_learner = pytest.mark.parametrize("learner", LEARNERS.values(), ids=LEARNERS)


def built(learner: LearnerConfig) -> FewShotModel:
    reader = RecurrentEncoder(vocabulary=30, width=8, hidden=5)
    model = FewShot(reader=reader, ways=3, learner=learner).build()
    assert isinstance(model, FewShotModel)
    return model.eval()


def episodes(count: int, queries: int, length: int = 6) -> tuple[Tensor, Tensor, Tensor]:
    """Six examples, two of each label, and some queries; the texts are of different lengths."""
    texts = torch.randint(4, 30, (count, 6 + queries, length))
    keep = torch.arange(length) < torch.randint(1, length + 1, (count, 6 + queries, 1))
    return texts * keep, keep, torch.tensor([0, 1, 2, 2, 1, 0]).expand(count, 6)


def test_the_nearest_centroid_is_its_formula() -> None:
    model = built(Centroids())
    texts, keep, labels = episodes(2, 4)
    vectors = model.vectors(texts, keep)
    logits = model(texts, keep, labels)
    for e in range(2):
        for way in range(3):
            mean = vectors[e, :6][labels[e] == way].mean(0)
            for q in range(4):
                expected = -((vectors[e, 6 + q] - mean) ** 2).sum()
                torch.testing.assert_close(logits[e, q, way], expected)


def test_a_texts_vector_is_the_mean_over_its_own_tokens() -> None:
    model = built(Centroids())
    texts, keep, _ = episodes(1, 1)
    states = model.reader.encode(texts[0, :1, : int(keep[0, 0].sum())]).states
    torch.testing.assert_close(model.vectors(texts, keep)[0, 0], states[0].mean(0))


@every_learner
def test_padding_never_changes_a_verdict(learner: LearnerConfig) -> None:
    model = built(learner)
    texts, keep, labels = episodes(2, 3)
    wider = torch.nn.functional.pad(texts, (0, 4)), torch.nn.functional.pad(keep, (0, 4))
    torch.testing.assert_close(model(*wider, labels), model(texts, keep, labels))


@every_learner
def test_queries_do_not_see_each_other(learner: LearnerConfig) -> None:
    model = built(learner)
    texts, keep, labels = episodes(2, 3)
    together = model(texts, keep, labels)
    for query in range(3):
        alone = [*range(6), 6 + query]
        torch.testing.assert_close(model(texts[:, alone], keep[:, alone], labels)[:, 0], together[:, query])


@every_learner
def test_labels_matter(learner: LearnerConfig) -> None:
    model = built(learner)
    texts, keep, labels = episodes(2, 3)
    assert not torch.allclose(model(texts, keep, labels), model(texts, keep, (labels + 1) % 3))


def test_snail_sees_small_differences_far_from_zero() -> None:
    model = built(LEARNERS["snail"])
    vectors, labels = torch.randn(2, 9, 10, dtype=torch.double), torch.tensor([0, 1, 2, 2, 1, 0]).expand(2, 6)
    far = model.double().judge(100 + vectors / 10, labels)
    torch.testing.assert_close(far, model.judge(vectors, labels), rtol=1e-4, atol=1e-4)


def test_which_examples_a_query_looks_at_is_seen() -> None:
    model = built(LEARNERS["snail"])
    texts, keep, labels = episodes(2, 3)
    plain = model(texts, keep, labels)
    with regard.watch(model) as seen:
        assert torch.equal(model(texts, keep, labels), plain)
    assert list(seen) == model.attention_names() == ["episode.0.self", "episode.1.self"]
    assert seen.last("episode.0.self").shape == (6, 1, 7, 7)  # a sequence for each query
    assert built(Centroids()).attention_names() == []


def test_texts_of_a_wrong_shape_are_refused() -> None:
    with pytest.raises(ValueError, match=r"both take \(E, texts, L\)"):
        built(Centroids())(torch.zeros(2, 3, dtype=torch.long), torch.ones(2, 3), torch.zeros(1, 2))
