"""`regard look`: a page, a picture, numbers; and what is said where it cannot be."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.look import Look, look, open_run
from tests.conftest import Say
from tests.toy import Toy, meaning

TEXT = "un deux trois"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_page_is_written_that_fetches_nothing(regard: Say, toy: Toy) -> None:
    code, out, err = regard("look", toy.good, TEXT)
    assert (code, out, err) == (0, "page.html\n", "")
    text = Path("page.html").read_text(encoding="utf-8")
    assert 'class="look"' in text
    assert "<link" not in text
    assert "src=" not in text


def test_json_is_what_the_library_sees(regard: Say, toy: Toy) -> None:
    code, out, _ = regard("look", toy.good, TEXT, meaning(TEXT), "--json")
    assert code == 0
    assert json.loads(out) == json.loads(json.dumps(look(open_run(toy.good), TEXT, meaning(TEXT)).to_dict()))
    assert not Path("page.html").exists()


def test_a_picture_is_a_png(regard: Say, toy: Toy) -> None:
    pytest.importorskip("matplotlib")
    code, out, _ = regard("look", toy.good, TEXT, "--png", "map.png", "--layer", "encoder.0.self", "--head", 1)
    assert (code, out) == (0, "map.png\n")
    assert Path("map.png").read_bytes().startswith(b"\x89PNG")


def test_without_a_head_says_what_changed(regard: Say, toy: Toy) -> None:
    code, _, err = regard("look", toy.good, TEXT, "--without", "decoder.0.cross.0", "--without", "decoder.0.cross.1")
    assert code == 0
    assert "without decoder.0.cross.0, decoder.0.cross.1: " in err
    assert f"before: {meaning(TEXT)}" in err


def test_importance_has_a_figure_for_each_head(regard: Say, toy: Toy) -> None:
    code, out, _ = regard("look", toy.good, TEXT, "--importance", "--json")
    assert code == 0
    assert {name: len(heads) for name, heads in json.loads(out)["importance"].items()} == {
        "encoder.0.self": 2,
        "decoder.0.self": 2,
        "decoder.0.cross": 2,
    }


def test_gold_links_are_outlined_and_scored(regard: Say, toy: Toy) -> None:
    code, out, _ = regard("look", toy.good, TEXT, meaning(TEXT), "--gold", "0-0 1-1 2-2", "--json")
    assert code == 0
    assert json.loads(out)["alignment"]["gold"] == [[0, 0], [1, 1], [2, 2]]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere", "text"], "there is no run folder nowhere"),
        (["GOOD", ""], "the source is empty"),
        (["GOOD", "un", "--gold", "0:0"], "'0:0' is no link"),
        (["GOOD", "un", "--without", "9.9"], "'9.9' names no head"),
        (["GOOD", "un", "--png", "x.png", "--layer", "decoder.9.cross"], "no map 'decoder.9.cross'"),
        (["GOOD", "un", "--out", "nowhere/there/\0"], ""),
        (["GOOD", "un", "--nonsense", "1"], "unexpected argument '--nonsense'"),
    ],
)
def test_a_mistake_is_one_sentence(regard: Say, toy: Toy, words: list[str], message: str) -> None:
    code, out, err = regard("look", *(str(toy.good) if word == "GOOD" else word for word in words))
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_a_page_can_be_read_back(toy: Toy) -> None:
    seen = look(open_run(toy.good), TEXT)
    assert Look.from_bytes(seen.to_bytes()).map("decoder.0.cross").weights.shape == (4, 4)
