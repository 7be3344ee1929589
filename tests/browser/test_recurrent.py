"""Recurrent taggers and biLMs in the browser: tags, the text as it is read, what is expected from either side."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from regard.look import look, open_run
from regard.look.page import page as page_of
from regard.studio.app import make_app
from tests.browser.page import Page
from tests.studio.serving import serving
from tests.untrained import RECURRENT, TEXT, write_every_recurrent

ASKED = urlencode({"text": TEXT})
NONE = "This model has no attention to show."


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_every_recurrent(tmp_path_factory.mktemp("recurrent") / "runs")


@pytest.fixture(scope="module")
def address(runs: Path) -> Iterator[str]:
    with serving(make_app(runs)) as served:
        yield f"http://127.0.0.1:{served.port}/"


@pytest.mark.parametrize("name", RECURRENT)
def test_words_stand_above_their_tags_beside_attention_or_a_sentence(page: Page, runs: Path, name: str) -> None:
    seen = look(open_run(runs / name), TEXT)
    page.open(f"#/run/{name}/translate?{ASKED}")
    page.one(".tagged")
    assert page.texts(".tagged") == [f"{one.text} {one.label}" for one in seen.marks or []]
    assert (NONE in page.text("main")) == (not seen.layers)
    assert ("Heads" in page.text("#links")) == bool(seen.layers)
    assert bool(page.all(".matrix")) == bool(seen.layers)


def test_the_ground_behind_a_tag_is_darker_where_it_is_surer_and_its_letters_stay_readable(
    page: Page, runs: Path
) -> None:
    seen = look(open_run(runs / "lstm"), TEXT)
    page.open(f"#/run/lstm/translate?{ASKED}")
    page.one(".tagged")
    read = """
        const light = (colour) => { const [r, g, b] = colour.match(/[\\d.]+/g).map(Number);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
        return [...document.querySelectorAll(".tag-name")].map((one) => {
            const { backgroundColor, color, opacity } = getComputedStyle(one);
            return [light(backgroundColor), light(color), Number(opacity)];
        });
    """
    grounds, inks, opacities = np.array(page.js(read)).T
    assert (opacities == 1).all()
    assert (grounds - inks > 100).all()
    surest_first = np.argsort([-one.probability for one in seen.marks or []], kind="stable")
    assert (np.diff(grounds[surest_first]) >= -1).all()
    assert grounds.max() - grounds.min() > 1


def test_a_tagger_without_attention_is_a_page_on_disk(page: Page, runs: Path, tmp_path: Path) -> None:
    seen = look(open_run(runs / "lstm"), TEXT)
    (tmp_path / "page.html").write_text(page_of(seen), encoding="utf-8")
    page.open((tmp_path / "page.html").as_uri())
    page.says("main", NONE)
    assert page.texts(".tagged") == [f"{one.text} {one.label}" for one in seen.marks or []]
    assert "All heads" not in page.text("main")


@pytest.mark.parametrize("name", ["lstmn", "intra"])
def test_what_reads_from_the_start_is_shown_as_it_reads(page: Page, runs: Path, name: str) -> None:
    seen = look(open_run(runs / name), TEXT)
    expected = seen.reader("encoder.0.self")
    page.open(f"#/run/{name}/translate?{ASKED}&layer=encoder.0.self&view=reading")
    page.one("figure.reading")
    assert page.texts("figure.reading .now")[: len(expected.words)] == list(expected.words)
    row = len(expected.words) - 1
    drawn = page.js(
        "return [...document.querySelectorAll(`.reading span[data-row='${arguments[0]}']`)].map((one) => "
        "Number(one.dataset.weight))",
        row,
    )
    assert np.allclose(drawn, expected.weights[row, :row], atol=1e-3)
    page.open(f"#/run/{name}/heads?{ASKED}")
    page.one(".head")
    assert len(page.all(".head")) == len([layer for layer in seen.layers if layer.role == "self"])


def test_what_is_expected_from_either_side_stands_below_each_other(page: Page, runs: Path) -> None:
    seen = look(open_run(runs / "bilm"), TEXT, best=8)
    page.open(f"#/run/bilm/translate?{ASKED}")
    page.one(".chip")
    page.says("main", NONE)
    assert "By what stands before it" in page.text("main")
    assert "By what stands behind it" in page.text("main")
    chips = page.js("return [...document.querySelectorAll('.chip')].map((one) => Number(one.dataset.probability))")
    both = [*seen.predictions, *seen.backward]
    assert chips == pytest.approx([one.probability for one in both], rel=1e-4)


@pytest.mark.parametrize(("first", "second"), [("lstm", "lstmn"), ("elmo", "bilm")])
def test_two_of_them_are_compared(page: Page, first: str, second: str) -> None:
    page.open(f"#/compare/{first}/{second}?{ASKED}")
    page.one(".compared .card")
    page.says(".compared", NONE)
    assert not page.all(".problem")
