"""`regard augment`: what is printed can be trained on, and has both sides where they belong."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from regard.data.files import PairFile
from regard.tasks.writing.translation import load_translator
from tests.conftest import Say
from tests.toy import Toy, meaning, sentences


def pairs(out: str) -> list[tuple[str, ...]]:
    return [tuple(line.split("\t")) for line in out.splitlines()]


def test_pairs_are_followed_by_what_both_translators_make_of_their_sides(regard: Say, toy: Toy, tmp_path: Path) -> None:
    given = [(pair.source, pair.target) for pair in PairFile(toy.file("test.tsv"))]
    code, out, _ = regard("augment", "--there", toy.poor, "--back", toy.good, "--data", toy.file("test.tsv"))
    found = pairs(out)
    assert code == 0
    assert found[: len(given)] == given
    poor, good = load_translator(toy.poor), load_translator(toy.good)
    there = [(source, poor(source, beam=5)) for source, _ in given]
    back = [(good(target, beam=5), target) for _, target in given]
    assert found[len(given) :] == [pair for pair in [*there, *back] if all(pair)]
    more = tmp_path / "more.tsv"
    more.write_text(out, encoding="utf-8")
    assert [(pair.source, pair.target) for pair in PairFile(more)] == found


def test_sentences_without_a_translation_get_one(regard: Say, toy: Toy, tmp_path: Path) -> None:
    texts = sentences(12, seed=8)
    file = tmp_path / "texts.fr"
    file.write_text("\n\n".join(texts), encoding="utf-8")
    made = [(text, meaning(text)) for text in texts]
    assert pairs(regard("augment", "--there", toy.good, "--more-sources", file)[1]) == made
    turned = [(target, source) for source, target in made]
    assert pairs(regard("augment", "--back", toy.good, "--more-targets", file, "--beam", 1)[1]) == turned


def test_draws_differ_by_their_seed(regard: Say, toy: Toy) -> None:
    test = ("--data", toy.file("test.tsv"), "--count", 20)
    drawn = [regard("augment", "--there", toy.poor, *test, "--sample", "--seed", seed)[1] for seed in (1, 2, 1)]
    assert drawn[0] == drawn[2] != drawn[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "no translator to make pairs with: name --there RUN, --back RUN or both"),
        (["--there", "RUN"], "has nothing to translate: give --data"),
        (
            ["--there", "RUN", "--data", "test.tsv", "--more-targets", "a.de"],
            "--more-targets a.de is for a translator --back RUN",
        ),
        (["--back", "RUN", "--more-targets", "a.de"], "a.de does not exist"),
        (["--there", "RUN", "--data", "a.tsv"], "a.tsv does not exist"),
        (["--there", "RUN", "--data", "test.tsv", "--beams", "3"], "beams"),
    ],
)
def test_what_is_missing_is_named_before_anything_is_printed(
    regard: Say, toy: Toy, words: Sequence[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy.folder)
    code, out, err = regard("augment", *[str(toy.good) if word == "RUN" else word for word in words])
    assert (code, out) == (2, "")
    assert message in err
    assert len(err.splitlines()) == 1
