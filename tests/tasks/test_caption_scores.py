"""Scores of captions: equal to the package of the COCO captions, and to figures that were worked out by hand."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from regard.metrics.captions import CaptionScores, caption_words
from regard.metrics.consensus import cider_d, common_words, rouge_l

WORDS = "a the dog cat runs sits on grass red blue ball with two".split()


def made(count: int = 40) -> tuple[list[str], list[list[str]]]:
    """Captions and their references, which have much in common; some of them short."""
    draw = random.Random(3)

    def text() -> str:
        return " ".join(draw.choices(WORDS, k=draw.randint(1, 11)))

    references = [[text() for _ in range(draw.randint(1, 5))] for _ in range(count)]
    found = [draw.choice(own) if draw.random() < 0.3 else text() for own in references]
    return [f"{one} {text()}" if draw.random() < 0.5 else one for one in found], references


def scores(found: list[str], references: list[list[str]]) -> CaptionScores:
    return CaptionScores(tuple(found), tuple(map(tuple, references)))


def by_the_package(name: str, found: list[str], references: list[list[str]]) -> Any:
    module = pytest.importorskip(f"pycocoevalcap.{name.lower()}.{name.lower()}", reason="pip install pycocoevalcap")
    given = dict(enumerate(references)), {place: [text] for place, text in enumerate(found)}
    if name == "Bleu":
        return module.Bleu(4).compute_score(*given, verbose=0)
    return getattr(module, name)().compute_score(*given)


def test_cider_is_that_of_the_package() -> None:
    found, references = made()
    mean, each = by_the_package("Cider", found, references)
    ours = scores(found, references)
    np.testing.assert_allclose(ours.each["cider"], each, rtol=1e-9, atol=1e-12)
    assert ours.metrics()["cider"] == pytest.approx(mean)
    assert mean > 0.1


def test_rouge_l_is_that_of_the_package() -> None:
    found, references = made()
    mean, each = by_the_package("Rouge", found, references)
    ours = scores(found, references)
    np.testing.assert_allclose(ours.each["rouge_l"], each, rtol=1e-9)
    assert ours.metrics()["rouge_l"] == pytest.approx(mean)


def test_bleu_is_that_of_the_package() -> None:
    found, references = made()
    each, _ = by_the_package("Bleu", found, references)
    ours = scores(found, references).metrics()
    assert [ours[f"bleu_{order}"] for order in (1, 2, 3, 4)] == pytest.approx([100 * one for one in each], rel=1e-6)


def test_bleu_is_that_of_sacrebleu_with_all_references() -> None:
    from sacrebleu.metrics.bleu import BLEU

    found, references = made()
    padded = [[own[place] if place < len(own) else None for own in references] for place in range(5)]
    for order in (1, 2, 3, 4):
        expected = BLEU(tokenize="none", force=True, max_ngram_order=order).corpus_score(found, padded).score  # type: ignore[arg-type]
        assert scores(found, references).metrics()[f"bleu_{order}"] == pytest.approx(expected)


def test_a_caption_that_somebody_wrote_is_exact_and_as_good_as_can_be() -> None:
    references = [["A red ball.", "a ball, red"], ["Two dogs run!"], ["the cat sits on grass"]]
    figures = scores(["a RED ball", "two dogs run", "the cat sits on grass"], references).metrics()
    assert figures["exact"] == figures["rouge_l"] == 1
    assert figures["bleu_4"] == pytest.approx(100)
    assert figures["bleu_1"] == pytest.approx(100)


def test_cider_of_two_pictures_by_hand() -> None:
    """One word each, in one of two pictures: the cosine of single words is 1, of longer n-grams there are none."""
    assert cider_d([["dog"], ["dog"]], [[["dog"]], [["cat"]]]).tolist() == pytest.approx([10 / 4, 0])
    assert cider_d([["dog"]], [[["dog"]]]).tolist() == [0]  # of one picture nothing is rare


def test_rouge_l_by_hand() -> None:
    assert common_words("a b c d".split(), "b x d a".split()) == 2
    precision, recall = 2 / 4, 2 / 4
    expected = (1 + 1.44) * precision * recall / (recall + 1.44 * precision)
    assert rouge_l(["a b c d".split()], [["b x d a".split()]])[0] == pytest.approx(expected)
    assert rouge_l([[]], [[["a"]]]).tolist() == [0]


def test_words_of_captions_have_no_punctuation() -> None:
    assert caption_words("A T-shirt, the dog's -- 'red' ball_2.") == [
        "a",
        "t-shirt",
        "the",
        "dog's",
        "red",
        "ball",
        "2",
    ]
    assert caption_words("红色的球。") == list("红色的球")
    assert caption_words("…") == []


def test_nothing_written_scores_nothing() -> None:
    figures = scores(["", "…"], [["a dog"], ["a cat"]]).metrics()
    assert set(figures.values()) == {0.0}


def test_a_table_says_what_was_counted() -> None:
    told = str(scores(*made(20)))
    assert told.splitlines()[0].startswith("CIDEr-D")
    assert "BLEU-4" in told
    assert "20 pictures" in told
    record = scores(*made(20)).record()
    assert record["intervals"]["cider"][0] <= record["cider"] <= record["intervals"]["cider"][1]
