"""The reader's figure: one line a step, the current word marked, those before it shaded by weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.look import Look, look, open_run
from regard.look.page import page as page_of
from tests.browser.conftest import write_untrained
from tests.browser.page import Keys, Page
from tests.helpers import SMALL

TEXT = "abc de fgh ij"
PRESETS = {"lstmn-writer": {"width": 24, "hidden": 24}, "gpt2": SMALL}
READ = """
    return [...document.querySelectorAll(".reading li")].map((line) => [
        line.querySelector(".now").textContent,
        [...line.querySelectorAll("span")].map((one) => [one.textContent, Number(one.dataset.weight),
            one.style.background]),
    ]);
"""


@pytest.fixture(params=PRESETS)
def seen(request: pytest.FixtureRequest, tmp_path: Path) -> Look:
    write_untrained(tmp_path / "run", request.param, **PRESETS[request.param])
    return look(open_run(tmp_path / "run"), TEXT)


@pytest.fixture
def file(seen: Look, tmp_path: Path) -> str:
    (tmp_path / "page.html").write_text(page_of(seen), encoding="utf-8")
    return (tmp_path / "page.html").as_uri()


def test_each_step_is_a_line_with_the_looks_weights(page: Page, file: str, seen: Look) -> None:
    page.open(file)
    page.choose("Shown as", "reading")
    page.one(".reading")
    expected = seen.reader("decoder.0.self")
    drawn = page.js(READ)
    assert [now for now, _ in drawn] == list(expected.words)
    assert [word for word in expected.words if word not in ("<s>", "␣")] == TEXT.split()
    for i, (_, before) in enumerate(drawn):
        assert [word for word, _, _ in before] == expected.words[:i]
        assert np.allclose([weight for _, weight, _ in before], expected.weights[i, :i], atol=1e-3)
    last = drawn[-1][1]
    assert len({shade for _, _, shade in last}) > 1
    page.hover('.reading span[data-row="7"][data-column="1"]')
    page.says(".reading .told", f"ij ← abc {expected.weights[7, 1]:.2f}")


def test_it_is_shared_by_its_address_and_read_with_the_arrow_keys(page: Page, file: str) -> None:
    page.open(f"{file}#view=reading&units=tokens")
    page.one(".reading")
    assert len(page.all(".reading li")) == len(TEXT) + 1
    page.js("document.querySelector('.reading li').focus()")
    page.says(".reading .told", "nothing before it")
    page.press(Keys.ARROW_DOWN)
    page.says(".reading .told", "a ← <s>")
    page.choose("Shown as", "map")
    page.one(".matrix-place .cell")
    assert "view" not in page.js("return location.hash")


def test_a_model_without_attention_says_so_and_shows_its_probabilities(page: Page, tmp_path: Path) -> None:
    write_untrained(tmp_path / "run", "lstm-writer", width=24, hidden=24)
    (tmp_path / "page.html").write_text(page_of(look(open_run(tmp_path / "run"), TEXT)), encoding="utf-8")
    page.open((tmp_path / "page.html").as_uri())
    page.says("main", "This model has no attention to show.")
    assert len(page.texts(".chip")) == len(TEXT) + 1
    assert "All heads" not in page.text("main")
