"""Positions: every scheme is drawn, and what is told is what the API says."""

from __future__ import annotations

import re

import numpy as np

from tests.browser.conftest import Ask
from tests.browser.page import Keys, Page

PRODUCTS = ".frame.square"


def told(page: Page, frame: str, down: int, across: int) -> tuple[list[int], float]:
    """Go to a cell of an image by the arrow keys: where that is, and its value, as told."""
    page.tab_to(frame)
    page.press(Keys.ARROW_DOWN, *[Keys.ARROW_DOWN] * down, *[Keys.ARROW_RIGHT] * across)  # the first key begins at 0, 0
    read = "return document.activeElement.closest('.image').querySelector('.told').textContent"
    where, value = str(page.js(read)).rsplit(":", 1)
    return [int(number) for number in re.findall(r"\d+", where)], float(value.replace("−", "-"))


def size(page: Page, frame: str) -> list[int]:
    return list(
        page.js("const c = document.querySelector(`${arguments[0]} canvas`); return [c.height, c.width]", frame)
    )


def test_what_is_told_is_what_the_api_says(page: Page, ask: Ask) -> None:
    page.open("#/positions?length=16&width=8")
    page.one(PRODUCTS)
    picture = ask("positions/sinusoidal?length=16&width=8")
    assert size(page, ".frame:not(.square)") == [16, 8]
    assert size(page, PRODUCTS) == [16, 16]
    place, value = told(page, ".frame:not(.square)", 3, 2)
    assert place == [3, 2]
    assert abs(value - picture["arrays"]["image"][3][2]) < 0.00051
    place, value = told(page, PRODUCTS, 5, 2)
    assert place == [5, 2]
    assert abs(value - picture["arrays"]["products"][0][5][2]) < 0.00051


def test_another_scheme_is_drawn_with_its_own_numbers(page: Page, ask: Ask) -> None:
    page.open("#/positions?length=16&width=8")
    page.says(".scheme h2", "Sinusoidal")
    for kind, title in (("alibi", "ALiBi"), ("rotary", "Rotary"), ("learned", "Learned")):
        page.choose("Scheme", kind)
        page.says(".scheme h2", title)
        picture = ask(f"positions/{kind}?length=16&width=8")
        place, value = told(page, PRODUCTS, 2, 6)
        assert place == [2, 6]
        assert abs(value - picture["arrays"]["products"][0][2][6]) < 0.00051
        assert bool(page.all(".frame:not(.square)")) == (picture["image"] is not None)


def test_the_length_slider_redraws(page: Page, ask: Ask) -> None:
    page.open("#/positions?length=16&width=8&kind=alibi")
    page.one(PRODUCTS)
    page.field("Length").send_keys(Keys.ARROW_RIGHT * 2)  # eight places each
    page.until(lambda: size(page, PRODUCTS) == [32, 32])
    products = np.array(ask("positions/alibi?length=32&width=8")["arrays"]["products"])
    pixels = page.pixels(f"{PRODUCTS} canvas")
    assert (np.diff(pixels.flatten()[np.argsort(products[0], axis=None)]) <= 0).all()
    assert told(page, PRODUCTS, 20, 4)[1] == round(float(products[0][20][4]), 3)


def test_the_width_slider_redraws(page: Page) -> None:
    page.open("#/positions?length=16&width=8")
    page.one(PRODUCTS)
    page.field("Width").send_keys(Keys.ARROW_RIGHT)
    page.until(lambda: size(page, ".frame:not(.square)") == [16, 16])


def test_heads_differ_where_the_scheme_has_some(page: Page, ask: Ask) -> None:
    page.open("#/positions?length=16&width=8&kind=alibi&heads=4")
    page.one(PRODUCTS)
    page.choose("Head", 3, ".scheme")
    products = ask("positions/alibi?length=16&width=8&heads=4")["arrays"]["products"]
    assert products[0][9][1] != products[3][9][1]
    assert abs(told(page, PRODUCTS, 9, 1)[1] - products[3][9][1]) < 0.00051


def test_two_schemes_stand_side_by_side(page: Page) -> None:
    page.open("#/positions?length=16&width=8&kind=rotary")
    page.one(PRODUCTS)
    page.choose("Beside it", "t5")
    page.until(lambda: page.texts(".scheme h2") == ["Rotary", "T5 buckets"])


def test_every_scheme_that_the_api_knows_can_be_drawn(page: Page, ask: Ask) -> None:
    page.open("#/positions?length=8&width=8")
    page.one(PRODUCTS)
    for scheme in ask("positions")["kinds"]:
        page.choose("Scheme", scheme["kind"])
        page.says(".scheme .says", scheme["about"])
