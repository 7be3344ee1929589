"""Without a pointer: everything that matters can be reached and used by keys."""

from __future__ import annotations

import pytest

from regard.look import Look, Subject, look
from tests.browser.page import ALL, Keys, Page

TEXT = "un quatre cinq"


@pytest.fixture(scope="module")
def seen(subject: Subject) -> Look:
    return look(subject, TEXT)


def test_a_sentence_is_typed_and_its_matrix_walked_without_a_pointer(page: Page, seen: Look) -> None:
    page.open("#/run/good/translate")
    page.one(".matrix .cell")
    page.tab_to("textarea")
    page.driver.switch_to.active_element.send_keys(*ALL, TEXT, Keys.ENTER)
    weights = page.drawn(seen.arrays["alignment"][0]).weights
    page.tab_to(".matrix-picture")
    row, column = divmod(int(weights.argmax()), weights.shape[1])
    moves = [
        (Keys.ARROW_DOWN, 0, 0),  # begins at the strongest
        (Keys.ARROW_LEFT, 0, -1),
        (Keys.ARROW_UP, -1, 0),
        (Keys.ARROW_RIGHT, 0, 1),
        (Keys.ARROW_DOWN, 1, 0),
    ]
    for key, down, across in moves:
        page.press(key)
        row, column = min(max(row + down, 0), 2), min(max(column + across, 0), 2)
        now = page.matrix()
        assert now is not None
        assert now.lit == [now.rows[row], now.columns[column]]
        assert now.told.startswith(f"{now.rows[row]} ← {now.columns[column]}: ")
    page.press(Keys.TAB)
    assert page.matrix().lit == []


def test_skipping_leads_past_the_links(page: Page) -> None:
    page.open("#/run/good/translate")
    page.one(".matrix .cell")
    page.press(Keys.TAB)
    assert page.focused(".skip")
    page.press(Keys.ENTER, Keys.TAB)
    assert page.focused("textarea")
    assert page.driver.current_url.split("#")[1].startswith("/run/good/translate")


def test_what_has_the_focus_can_be_seen(page: Page) -> None:
    page.open("#/run/good/translate")
    page.one(".tree .node")
    script = """
        const { outlineStyle, boxShadow, borderColor } = getComputedStyle(document.activeElement);
        const { width, height } = document.activeElement.getBoundingClientRect();
        return [document.activeElement.outerHTML.slice(0, 80),
            outlineStyle !== "none" || boxShadow !== "none", width * height];
    """
    seen = set()
    for _ in range(40):
        page.press(Keys.TAB)
        what, outlined, area = page.js(script)
        if what.startswith("<body"):
            break
        assert outlined, what
        assert area > 0, what
        seen.add(what)
    assert len(seen) > 12


def test_a_view_that_is_left_for_another_gives_it_the_focus(page: Page) -> None:
    page.open("#/runs")
    page.one(".run")
    page.tab_to('.links a[href="#/positions"]')
    page.press(Keys.ENTER)
    page.one(".frame.square")
    assert page.focused("#view")
