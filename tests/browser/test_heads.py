"""Heads: a picture for every head, one opened, a word picked; all by keyboard if one likes."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from regard.look import Look, Subject, look
from tests.browser.page import Keys, Page

TEXT = "quatre un six"
HERE = f"#/run/good/heads?text={TEXT.replace(' ', '+')}"


@pytest.fixture(scope="module")
def seen(subject: Subject) -> Look:
    return look(subject, TEXT)


def test_there_is_a_picture_for_every_head_of_every_layer(page: Page, seen: Look) -> None:
    page.open(HERE)
    page.one(".head")
    shown = [(one.get_attribute("data-layer"), int(one.get_attribute("data-head"))) for one in page.all(".head")]
    assert shown == [(layer.name, head) for layer in seen.layers for head in range(layer.heads)]
    assert len(shown) == 3 * 2


def pictures(page: Page, seen: Look) -> list[tuple[NDArray[np.float32], NDArray[np.float64]]]:
    """The weights of each head, and how light its pixels are."""
    heads = [(layer.name, head) for layer in seen.layers for head in range(layer.heads)]
    selector = '.head canvas[data-layer="{}"][data-head="{}"]'
    return [(seen.arrays[name][head], page.pixels(selector.format(name, head))) for name, head in heads]


def test_a_picture_is_darker_where_its_head_looks_more(page: Page, seen: Look) -> None:
    page.open(HERE)
    page.choose("Shades", "own")
    for weights, lightness in pictures(page, seen):
        assert lightness.shape == weights.shape
        assert (np.diff(lightness.flatten()[np.argsort(weights, axis=None)]) <= 0).all()
        assert np.ptp(lightness) > 60


def test_all_pictures_have_one_scale_unless_it_is_asked_otherwise(page: Page, seen: Look) -> None:
    page.open(HERE)
    assert page.value("Shades") == "one"
    page.says(".head-scale", "in every picture")
    weights, lightness = (
        np.concatenate([one.ravel() for one in side]) for side in zip(*pictures(page, seen), strict=True)
    )
    assert (np.diff(lightness[np.argsort(weights)]) <= 0).all()


def test_an_opened_head_draws_a_line_for_every_weight_that_can_be_seen(page: Page, seen: Look) -> None:
    page.open(HERE)
    page.one(".stroke")
    page.all('.head[data-layer="encoder.0.self"][data-head="1"]')[0].click()
    page.says(".opened-head h2", "encoder.0.self, head 1")
    weights = seen.arrays["encoder.0.self"][1]
    read = """return [...document.querySelectorAll(".stroke")].map((one) =>
        [one.dataset.row, one.dataset.column, one.dataset.weight, one.getAttribute("stroke-opacity")].map(Number))"""
    lines = {(row, column): (weight, opacity) for row, column, weight, opacity in page.js(read)}
    assert set(lines) == {(i, j) for i, j in np.ndindex(weights.shape) if weights[i, j].astype(np.float16) >= 0.02}
    for place, (weight, opacity) in lines.items():
        assert weight == pytest.approx(weights[place], rel=1e-3)
        assert opacity == pytest.approx(weights[place], abs=0.002)


def test_a_word_picked_by_keyboard_shows_where_every_head_looks_from_there(page: Page, seen: Look) -> None:
    page.open(HERE)
    page.one(".stroke")
    page.tab_to(".head")
    page.press(Keys.ARROW_RIGHT, Keys.ENTER)
    page.says(".opened-head h2", "encoder.0.self, head 1")
    page.tab_to(".lines .pickable")
    page.press(Keys.ENTER)
    page.drawn(seen.arrays["encoder.0.self"][:, 0], ".strips .matrix")
    page.press(Keys.ARROW_DOWN)
    strips = page.drawn(seen.arrays["encoder.0.self"][:, 1], ".strips .matrix")
    assert strips.rows == ["0.0", "0.1"]
    assert strips.columns == [*TEXT.split(), "</s>"]
    assert page.text(".strips h3 .lit") == "un"
    assert {line.get_attribute("data-row") for line in page.all(".stroke")} == {"1"}
    page.press(Keys.ESCAPE)
    page.until(lambda: not page.all(".strips .matrix"))


def test_arrow_keys_go_from_layer_to_layer(page: Page) -> None:
    page.open(HERE)
    page.one(".head")
    page.tab_to(".head")
    page.press(Keys.ARROW_DOWN)
    assert page.focused('[data-layer="decoder.0.self"][data-head="0"]')
    page.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER)
    page.says(".opened-head h2", "decoder.0.cross, head 1")


def test_another_sentence_is_looked_at_anew(page: Page, subject: Subject) -> None:
    page.open(f"{HERE}&layer=decoder.0.self&head=0&word=0")
    page.one(".strips .matrix")
    page.write("Sentence", "cinq cinq")
    page.until(lambda: "five" in page.texts(".lines .pickable"))
    expected = look(subject, "cinq cinq").arrays["decoder.0.self"][0]
    assert page.pixels('.head[data-layer="decoder.0.self"][data-head="0"] canvas').shape == expected.shape
    assert not page.all(".strips .matrix")  # the picked word was another sentence's


def test_what_is_typed_never_becomes_markup(page: Page) -> None:
    page.open(HERE)
    page.one(".stroke")
    page.write("Sentence", "un <img/src='/static/none.png'> <script>deux</script>")
    page.until(lambda: "<script>deux</script>" in page.texts(".lines .word text"))
    assert page.all("main img, main script") == []
    assert [url for url in page.requests() if url.endswith("none.png")] == []
