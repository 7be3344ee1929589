"""Compare: two runs on one input, each as the library has it, and the difference between them."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from regard.decoding import Decoding
from regard.look import Look, look, open_run
from regard.tasks.writing.translation import load_translator
from tests.browser.page import Page
from tests.untrained import TEXT as TEXT_OF_WORDS
from tests.untrained import write_classifier

TEXT = "trois six un cinq"
HERE = f"#/compare/good/poor?text={TEXT.replace(' ', '+')}"
FIRST, SECOND, DIFFERENCE = (
    ".pair > .card:nth-child(1) .matrix",
    ".pair > .card:nth-child(2) .matrix",
    ".difference .matrix",
)
BARS = """
    return [...document.querySelectorAll(".boards > div:last-child li")].map((bar) =>
        [Number.parseFloat(bar.querySelector(".bar i").style.width),
            Number.parseFloat(bar.querySelector(".number").textContent)]);
"""


@pytest.fixture(scope="module")
def looks(runs: Path) -> list[Look]:
    return [look(open_run(runs / name), TEXT) for name in ("good", "poor")]


def test_both_write_what_the_library_says(page: Page, runs: Path) -> None:
    page.open(HERE)
    page.one(SECOND)
    expected = [load_translator(runs / name).translate([TEXT], Decoding(beam=4))[0][0] for name in ("good", "poor")]
    assert expected[0].text != expected[1].text
    assert [" ".join(text.split()) for text in page.texts(".output .large")] == [one.text for one in expected]
    assert page.texts(".output h3") == ["good", "poor"]
    totals = [float(text.replace("−", "-")) for text in page.texts(".output dl > :first-child dd")]
    assert totals == pytest.approx([one.log_prob for one in expected], abs=0.0051)


def test_both_show_their_own_weights(page: Page, looks: list[Look]) -> None:
    page.open(f"{HERE}&layer=encoder.0.self&head=1")
    for selector, seen in zip((FIRST, SECOND), looks, strict=True):
        page.drawn(seen.arrays["encoder.0.self"][1], selector)


def test_maps_side_by_side_have_one_scale_which_the_legend_says(page: Page, looks: list[Look]) -> None:
    """Of two weights the larger one is darker, in whichever of the maps it stands."""
    page.open(f"{HERE}&layer=decoder.0.cross&head=0")
    both = [
        page.drawn(seen.arrays["decoder.0.cross"][0], where) for seen, where in zip(looks, (FIRST, SECOND), strict=True)
    ]
    weights, lightness = (
        np.concatenate([getattr(one, key).ravel() for one in both]) for key in ("weights", "lightness")
    )
    order = np.argsort(weights)
    assert (np.diff(lightness[order]) <= 0).all()
    legends = [page.text(f"{where} .legend") for where in (FIRST, SECOND)]
    assert legends[0] == legends[1]
    assert "one scale for both maps" in legends[0]
    assert "one scale" not in page.text(f"{DIFFERENCE} .legend")


def test_one_scale_stays_when_another_head_is_chosen(page: Page) -> None:
    page.open(f"{HERE}&layer=decoder.0.cross&head=0")
    page.one(DIFFERENCE)
    page.choose("Head", 1, ".pair > .card:nth-child(2)")
    page.until(lambda: page.value("Head", ".pair > .card:nth-child(1)") == "1")
    legends = [page.text(f"{where} .legend") for where in (FIRST, SECOND)]
    assert legends[0] == legends[1]
    assert "one scale for both maps" in legends[0]


def test_the_difference_is_the_first_minus_the_second(page: Page, looks: list[Look]) -> None:
    page.open(f"{HERE}&layer=encoder.0.self&head=1")
    one, other = (seen.arrays["encoder.0.self"][1] for seen in looks)
    drawn = page.drawn(one - other, DIFFERENCE, atol=1e-3)
    assert drawn.rows == drawn.columns == [*TEXT.split(), "</s>"]


def test_what_is_said_of_the_difference_stands_beside_it_and_its_buttons_below(page: Page) -> None:
    page.open(f"{HERE}&layer=encoder.0.self&head=1")
    page.one(".difference .save")
    box = "const { left, right, top, bottom } = document.querySelector(arguments[0]).getBoundingClientRect();"
    places = [
        page.js(f"{box} return [left, right, top, bottom]", one)
        for one in (DIFFERENCE, ".difference .save", ".difference > div:last-child")
    ]
    matrix, buttons, told = places
    assert buttons[2] >= matrix[3]
    assert buttons[1] <= told[0]
    assert told[2] < matrix[3]


def test_the_second_follows_the_first_to_another_layer(page: Page, looks: list[Look]) -> None:
    page.open(HERE)
    page.one(SECOND)
    page.choose("Layer", "encoder.0.self", ".pair > .card:nth-child(1)")
    page.choose("Head", 0, ".pair > .card:nth-child(1)")
    for selector, seen in zip((FIRST, SECOND), looks, strict=True):
        page.drawn(seen.arrays["encoder.0.self"][0], selector)
    page.drawn(looks[0].arrays["encoder.0.self"][0] - looks[1].arrays["encoder.0.self"][0], DIFFERENCE, atol=1e-3)


def test_one_can_be_made_to_write_what_the_other_wrote(page: Page, runs: Path, looks: list[Look]) -> None:
    page.open(f"{HERE}&layer=decoder.0.cross&head=0")
    page.one(DIFFERENCE)
    page.choose("Each writes", "a")
    forced = look(open_run(runs / "poor"), TEXT, looks[0].written.text)
    page.drawn(forced.arrays["decoder.0.cross"][0], SECOND)
    page.drawn(looks[0].arrays["decoder.0.cross"][0], FIRST)
    words = [" ".join(text.split()) for text in page.texts(".output .large")]
    assert words == [looks[0].written.text] * 2


def test_a_typed_sentence_is_read_by_both(page: Page, runs: Path) -> None:
    page.open(HERE)
    page.one(SECOND)
    page.write("Sentence", "deux deux")
    for name, selector in (("good", FIRST), ("poor", SECOND)):
        seen = look(open_run(runs / name), "deux deux")
        shown = page.drawn(seen.arrays["alignment"][0], selector)
        assert shown.columns == ["deux", "deux"]


def test_a_run_compared_with_itself_differs_in_nothing(page: Page) -> None:
    page.open("#/compare/good/good?text=un+deux&layer=encoder.0.self")
    page.drawn(np.zeros((3, 3)), DIFFERENCE)
    page.says(".difference", "0 % of a row")


def test_runs_of_different_families_are_not_subtracted(page: Page) -> None:
    page.open("#/compare/good/decoder?text=un+deux")
    page.says(".compared", "cannot be subtracted")
    assert page.texts(".pair h3")[0] == "good"


def test_rows_are_named_as_suits_the_runs(page: Page) -> None:
    """A recurrent decoder has looked before it writes: its rows are the words written next, as in its own view."""
    page.open("#/compare/recurrent/recurrent?text=a+fox&layer=decoder.0.cross&units=tokens")
    page.one(DIFFERENCE)
    assert [page.value("A row is", f".pair > .card:nth-child({i})") for i in (1, 2)] == ["next", "next"]
    shown = [page.matrix(selector) for selector in (FIRST, SECOND, DIFFERENCE)]
    assert len({str(one and one.rows) for one in shown}) == 1
    page.choose("A row is", "read", ".pair > .card:nth-child(1)")
    page.until(lambda: page.value("A row is", ".pair > .card:nth-child(2)") == "read")
    assert "rows=read" in page.js("return location.hash")
    assert [(one and one.rows[0]) for one in map(page.matrix, (FIRST, SECOND, DIFFERENCE))] == ["<s>"] * 3


@pytest.fixture
def han(runs: Path) -> Iterator[str]:
    """A run that weighs the words of a text, and has no map between words."""
    write_classifier(runs / "han", "han-2016")
    yield "han"
    shutil.rmtree(runs / "han")


def test_what_weighs_words_shows_them_beside_what_has_maps(page: Page, runs: Path, han: str) -> None:
    page.open(f"#/compare/{han}/good?text=un+deux")
    page.drawn(look(open_run(runs / "good"), "un deux").arrays["alignment"][0])
    assert page.texts(".document .word") == ["un", "deux"]
    assert [one.split(":")[0] for one in page.texts(".document .verdicts .name")] == [
        one.label for one in look(open_run(runs / han), "un deux").verdicts
    ]
    assert "no attention" not in page.text("main")
    page.says("main", "weighs words one by one")


def test_bars_of_two_classifiers_have_one_scale_even_where_their_shades_have_not(
    page: Page, runs: Path, han: str
) -> None:
    """A share of all attention is as long in one card as in the other."""
    write_classifier(runs / "flat", "classifier")
    page.open(f"#/compare/{han}/flat?{urlencode({'text': TEXT_OF_WORDS})}")
    page.says(".compared", "Bars have one scale. Shades do not")
    bars = page.js(BARS)
    shutil.rmtree(runs / "flat")
    scales = [width / share for width, share in bars if share >= 5]  # shares are told in whole per cents
    assert len(scales) > 3
    assert max(scales) / min(scales) < 1.25
    assert len({share for _, share in bars}) > 2
