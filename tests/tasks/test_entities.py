"""Entities: read from tags in any scheme, and scored as seqeval does; every figure is worked out by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from regard.metrics.certainty import intervals
from regard.metrics.entities import Entity, count_entities, entities_in, scheme_of
from tests.conftest import Say, answer
from tests.tagged_toy import SMALL
from tests.toy import perform


@pytest.mark.parametrize(
    ("labels", "scheme"),
    [
        ({"O", "B-PER", "I-PER"}, "BIO"),
        ({"O", "I-PER", "I-ORG"}, "BIO"),
        ({"O", "B", "I"}, "BIO"),
        ({"O", "B-PER", "I-PER", "E-PER", "S-PER"}, "IOBES"),
        ({"O", "S-PER"}, "IOBES"),
        ({"O", "B-PER", "I-PER", "L-PER", "U-PER"}, "BILOU"),
        ({"O", "B-PER", "E-PER", "U-PER"}, None),
        ({"DET", "NOUN", "X"}, None),
        ({"B-PER", "NOUN"}, None),
        ({"O"}, None),
    ],
)
def test_the_scheme_is_known_by_the_labels(labels: set[str], scheme: str | None) -> None:
    assert scheme_of(labels) == scheme


@pytest.mark.parametrize(
    ("tags", "entities"),
    [
        ("B-PER I-PER O B-LOC", [("PER", 0, 2), ("LOC", 3, 4)]),
        ("B-PER B-PER I-PER", [("PER", 0, 1), ("PER", 1, 3)]),
        ("I-PER I-PER O I-LOC", [("PER", 0, 2), ("LOC", 3, 4)]),  # IOB1, and what goes on from nothing
        ("B-PER I-LOC I-LOC", [("PER", 0, 1), ("LOC", 1, 3)]),  # another type is another entity
        ("S-PER B-LOC I-LOC E-LOC", [("PER", 0, 1), ("LOC", 1, 4)]),
        ("U-PER B-LOC I-LOC L-LOC U-LOC", [("PER", 0, 1), ("LOC", 1, 4), ("LOC", 4, 5)]),
        ("B-LOC E-LOC I-LOC E-LOC", [("LOC", 0, 2), ("LOC", 2, 4)]),  # what is over is not gone on with
        ("S-LOC E-LOC", [("LOC", 0, 1), ("LOC", 1, 2)]),
        ("B-LOC S-LOC", [("LOC", 0, 1), ("LOC", 1, 2)]),
        ("B I O B", [("", 0, 2), ("", 3, 4)]),
        ("B-A-B I-A-B", [("A-B", 0, 2)]),
        ("O O", []),
        ("", []),
    ],
)
def test_entities_are_read_from_tags(tags: str, entities: list[tuple[str, int, int]]) -> None:
    assert entities_in(tags.split()) == [Entity(*one) for one in entities]


def test_scores_are_those_that_are_worked_out_by_hand() -> None:
    gold = ["O O O B-MISC I-MISC I-MISC O".split(), "B-PER I-PER O".split()]
    found = ["O O B-MISC I-MISC I-MISC I-MISC O".split(), "B-PER I-PER O".split()]
    counts = count_entities(gold, found)  # the example of seqeval's page: one of two, found and there
    assert counts.scores() == {"entity_f1": 0.5, "entity_precision": 0.5, "entity_recall": 0.5}
    assert counts.by_type()["MISC"] == {"precision": 0.0, "recall": 0.0, "f1": 0.0, "entities": 1}
    assert counts.by_type()["PER"] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "entities": 1}

    gold = ["B-PER O B-LOC I-LOC B-LOC".split(), "O O".split(), "B-ORG".split()]
    found = ["B-PER B-PER B-LOC I-LOC I-LOC".split(), "B-ORG O".split(), "B-ORG".split()]
    counts = count_entities(gold, found)  # right: a PER and an ORG; found: 5; there: 4
    precision, recall = 2 / 5, 2 / 4
    expected = {"entity_precision": precision, "entity_recall": recall, "entity_f1": 4 / 9}
    assert counts.scores() == pytest.approx(expected)
    types = counts.by_type()
    assert [types[name]["f1"] for name in ("LOC", "ORG", "PER")] == pytest.approx([0, 2 / 3, 2 / 3])
    assert [types[name]["entities"] for name in ("LOC", "ORG", "PER")] == [2, 1, 1]
    assert counts.scores(np.array([2, 2]))["entity_f1"] == 1
    assert counts.scores(np.array([1]))["entity_f1"] == 0
    low, high = intervals(counts.scores, 3)["entity_f1"]
    assert 0 <= low < 4 / 9 < high <= 1


def test_scores_are_seqevals() -> None:
    metrics = pytest.importorskip("seqeval.metrics")
    random = np.random.default_rng(0)
    for labels in ("O B-X I-X B-Y I-Y".split(), "O B-X I-X E-X S-X B-Y I-Y E-Y S-Y".split()):
        gold, found = (
            [[labels[i] for i in random.integers(0, len(labels), random.integers(1, 12))] for _ in range(50)]
            for _ in range(2)
        )
        found = [[*tags, *["O"] * len(right)][: len(right)] for tags, right in zip(found, gold, strict=True)]
        ours = count_entities(gold, found).scores()
        assert ours["entity_f1"] == pytest.approx(metrics.f1_score(gold, found))
        assert ours["entity_precision"] == pytest.approx(metrics.precision_score(gold, found))
        assert ours["entity_recall"] == pytest.approx(metrics.recall_score(gold, found))


# --- in a run ---------------------------------------------------------------------------------------------------------

NAMES = "the/O big/O king/O anna/B-PER of/I-PER rome/I-PER sleeps/O in/O paris/B-LOC now/O"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that learnt names, from CoNLL's form."""
    folder = tmp_path_factory.mktemp("names")
    pairs = [word.split("/") for word in NAMES.split()]
    sentences = ["".join(f"{word} x {tag}\n" for word, tag in pairs[start:]) for start in (0, 1, 2, 3, 6)]
    (folder / "names.conll").write_text("-DOCSTART- -X- O\n\n" + "\n".join(sentences * 8))
    files = ["--train", str(folder / "names.conll"), "--valid", str(folder / "names.conll")]
    steps = ["--metric", "entity_f1", "--max-steps", "60", "--validate-every", "30"]
    perform("train", "tag", "--run", folder / "run", *files, *SMALL, *steps)
    return folder


def test_entities_are_scored_while_training_and_in_the_report(folder: Path) -> None:
    records = [json.loads(line) for line in (folder / "run" / "metrics.jsonl").read_text().splitlines()]
    last = [record["metrics"] for record in records if record["event"] == "validation"][-1]
    assert last["entity_f1"] == last["entity_recall"] == 1
    assert "<h2>Entities</h2>" in (folder / "run" / "report.html").read_text()


def test_entities_are_scored_and_told_by_the_command_line(folder: Path, regard: Say) -> None:
    result = answer(regard, "evaluate", folder / "run", "--data", folder / "names.conll")
    assert (result["scheme"], result["entity_f1"], result["intervals"]["entity_f1"]) == ("BIO", 1, [1, 1])
    assert result["entities"]["PER"]["entities"] == 32
    assert result["entities"]["LOC"]["entities"] == 40
    out = regard("evaluate", folder / "run", "--data", folder / "names.conll")[1]
    assert "entities (BIO): F1 1.0000" in out
    assert answer(regard, "tag", folder / "run", "anna of rome sleeps in paris now")["entities"] == [
        {"type": "PER", "text": "anna of rome", "start": 0, "end": 3},
        {"type": "LOC", "text": "paris", "start": 5, "end": 6},
    ]


def test_entities_choose_no_weights_where_tags_mark_none(regard: Say, tmp_path: Path) -> None:
    (tmp_path / "a.tsv").write_text("the\tDET\ncat\tNOUN\n")
    files = ["--train", tmp_path / "a.tsv", "--valid", tmp_path / "a.tsv"]
    code, _, err = regard("train", "tag", *files, "--run", tmp_path / "run", *SMALL, "--metric", "entity_f1")
    assert (code, "these examples give no 'entity_f1'" in err) == (2, True)
    assert not (tmp_path / "run").exists()
