"""Hierarchical attention beside TF-IDF and logistic regression, on IMDB: `python -m benchmarks.imdb` prints a table.

Both learn from the same 20,000 reviews and are scored on the same 5,000 that are held out. The other side is what
people try first: single words, weighted by how rare they are, rows of length 1, and a logistic regression. Its words
and weights are those of scikit-learn's `TfidfVectorizer` and `LogisticRegression`, written out here, so that nothing
else needs to be installed. The held-out reviews choose in favour of both: its penalty, and the step at which our
weights are kept; what the last step has is stated beside it.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

import regard
from benchmarks.options import parse
from benchmarks.table import markdown
from regard.data.catalogue import open_data
from regard.data.labelled import Labelled
from regard.runfolder import Run
from regard.training.recipes import make_recipe
from regard.training.records import read_records
from regard.training.session import start

RECIPE = Path(__file__).parent.parent / "recipes" / "imdb-han.yaml"
WORD = re.compile(r"(?u)\b\w\w+\b")
STRENGTHS = (1.0, 3.0, 10.0, 30.0)  # scikit-learn's C: the smaller, the stronger the penalty
REVIEWS = 4  # whose salient words are printed
SMOKE = {"texts": 300, "steps": 5}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imdb", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--run", type=Path, help="a run that was trained by the recipe; otherwise it is trained here")
    parser.add_argument("--texts", type=int, help="at most so many reviews of each split")
    parser.add_argument("--steps", type=int, help="at most so many training steps")
    return parse(parser, SMOKE, "scores, times and salient words")


# --- TF-IDF and logistic regression -----------------------------------------------------------------------------------


class Regression:
    """Weights for every word of the training texts, and one more."""

    def __init__(self, texts: Sequence[str]) -> None:
        self.rows = [Counter(WORD.findall(text.lower())) for text in texts]
        seen = Counter(word for row in self.rows for word in row)
        self.places = {word: place for place, word in enumerate(sorted(seen))}
        self.rare = {word: math.log((1 + len(texts)) / (1 + count)) + 1 for word, count in seen.items()}
        self.table = self.tabled(self.rows)

    def tabled(self, rows: Sequence[Counter[str]]) -> Tensor:
        """(texts, words) of TF-IDF, each row of length 1, sparse."""
        starts, places, values = [0], [], []
        for row in rows:
            known = {word: count * self.rare[word] for word, count in row.items() if word in self.rare}
            length = math.sqrt(sum(value * value for value in known.values())) or 1.0
            places += [self.places[word] for word in known]
            values += [value / length for value in known.values()]
            starts.append(len(places))
        shape = (len(rows), len(self.places))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that sparse tensors are new
            return torch.sparse_csr_tensor(starts, places, torch.tensor(values, dtype=torch.float64), shape)

    def learn(self, right: Tensor, strength: float) -> tuple[Tensor, Tensor]:
        """The weights of least loss, half their square length included; its gradient is written out."""
        turned = self.table.to_sparse_coo().t().to_sparse_csr()
        sign = 2 * right.double() - 1
        weights = torch.zeros(len(self.places), dtype=torch.float64)
        bias = torch.zeros(1, dtype=torch.float64)
        search = torch.optim.LBFGS([weights, bias], max_iter=200, history_size=20, line_search_fn="strong_wolfe")

        def loss() -> float:
            margins = sign * (self.table @ weights + bias)
            slope = -strength * sign * torch.sigmoid(-margins)
            weights.grad, bias.grad = weights + turned @ slope, slope.sum()[None]
            return float(0.5 * weights @ weights + strength * torch.nn.functional.softplus(-margins).sum())

        search.step(loss)
        return weights, bias

    def judge(self, texts: Sequence[str], learnt: tuple[Tensor, Tensor]) -> Tensor:
        weights, bias = learnt
        return self.tabled([Counter(WORD.findall(text.lower())) for text in texts]) @ weights + bias > 0


def regression(train: Sequence[Labelled], valid: Sequence[Labelled]) -> dict[str, Any]:
    began = time.perf_counter()
    model = Regression([one.text for one in train])
    counted = time.perf_counter() - began
    right, wanted = (torch.tensor([one.label == "positive" for one in some]) for some in (train, valid))
    tried = []
    for strength in STRENGTHS:
        began = time.perf_counter()
        learnt = model.learn(right, strength)
        seconds = counted + time.perf_counter() - began
        found = model.judge([one.text for one in valid], learnt)
        tried.append({"C": strength, "accuracy": float((found == wanted).double().mean()), "seconds": seconds})
        tried[-1]["right"] = (found == wanted).tolist()
        say(f"C {strength:g}: accuracy {tried[-1]['accuracy']:.4f} after {seconds:.0f} s")
    return {**max(tried, key=lambda one: one["accuracy"]), "words": len(model.places)}


# --- hierarchical attention -------------------------------------------------------------------------------------------


def hierarchical(given: argparse.Namespace, valid: Sequence[Labelled]) -> dict[str, Any]:
    folder = given.run or Path("runs") / "imdb-han"
    if given.run is None:
        changes: dict[str, Any] = {}
        if given.texts:
            changes |= {"task.train.count": given.texts, "task.valid.count": given.texts}
        if given.steps:
            changes |= {"max_steps": given.steps, "validate_every": given.steps}
        start(Run(folder), make_recipe("classify", {}, file=RECIPE, changes=changes), overwrite=True)
    classifier = regard.load(folder)
    found = classifier([one.text for one in valid])
    right = [label == one.label for label, one in zip(found, valid, strict=True)]
    records = read_records(Run(folder).metrics_path)
    return {
        "accuracy": sum(right) / len(right),
        "at the last step": [one["metrics"]["accuracy"] for one in records if one["event"] == "validation"][-1],
        "seconds": max(one["seconds"] for one in records if "seconds" in one),
        "right": right,
        "salient": salient(classifier, valid),
    }


def salient(classifier: Any, valid: Sequence[Labelled]) -> list[dict[str, Any]]:
    """The words of some reviews that it attends to most."""
    short = [one for one in valid if len(one.text) < 700][:REVIEWS]
    looks = [(one, classifier.look(one.text)) for one in short]
    return [
        {"label": one.label, "found": look.verdicts[0].label, "words": [word for word, _ in look.salient()[:8]]}
        for one, look in looks
    ]


# --- both -------------------------------------------------------------------------------------------------------------


def by_chance(ours: Sequence[bool], theirs: Sequence[bool]) -> float:
    """How probable a difference at least as large is by chance alone: the sign test on the texts that one side alone
    has right."""
    won = sum(a and not b for a, b in zip(ours, theirs, strict=True))
    lost = sum(b and not a for a, b in zip(ours, theirs, strict=True))
    count, fewer = won + lost, min(won, lost)
    return min(1.0, 2 * sum(math.comb(count, k) for k in range(fewer + 1)) / 2**count)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> None:
    given = arguments()
    train, valid = (
        list(open_data("imdb", split=split, count=given.texts, form="labelled")) for split in ("train", "valid")
    )
    theirs = regression(train, valid)
    ours = hierarchical(given, valid)
    rows = [
        [
            f"hierarchical attention ({ours['at the last step']:.4f} at its last step)",
            f"{ours['accuracy']:.4f}",
            f"{ours['seconds']:,.0f} s",
        ],
        [
            f"TF-IDF, logistic regression (C {theirs['C']:g})",
            f"{theirs['accuracy']:.4f}",
            f"{theirs['seconds']:,.0f} s",
        ],
    ]
    print(f"\n{len(train):,} reviews to learn from, {len(valid):,} held out\n")
    print(markdown(["", "accuracy", "training"], rows))
    print(f"\nby chance: p = {by_chance(ours['right'], theirs['right']):.2g}\n")
    for one in ours["salient"]:
        print(f"{one['label']} (found: {one['found']}): {', '.join(one['words'])}")
    if given.out:
        plain = {
            name: {key: value for key, value in side.items() if key != "right"}
            for name, side in {"hierarchical": ours, "regression": theirs}.items()
        }
        given.out.write_text(json.dumps(plain, indent=1) + "\n")


if __name__ == "__main__":
    main()
