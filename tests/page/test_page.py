"""Pages: what is drawn says what was given, nothing is fetched, and text cannot become markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

from regard.page.html import cards, page, table
from regard.page.svg import Curve, bar_chart, line_chart, ticks, word_matrix

WEIGHTS = [[0.9, 0.1, 0.0], [0.25, 0.5, 0.25]]


def test_ticks_are_round_and_inside() -> None:
    assert ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert ticks(0.13, 0.48) == [0.2, 0.3, 0.4]
    assert ticks(3, 3) == [3]


def test_every_drawing_is_well_formed() -> None:
    curve = Curve("a < b", [(0, 1.0), (10, float("nan")), (20, 0.5)])
    for svg in (
        line_chart([curve], "step", "loss & more"),
        bar_chart([("1–5", 3.0, "<three>")], "words", "by length"),
        word_matrix(["chat", "<b>"], ["the", "cat", "&"], WEIGHTS),
    ):
        assert ET.fromstring(svg).tag == "svg"


def test_a_matrix_draws_each_weight_and_outlines_gold() -> None:
    root = ET.fromstring(word_matrix(["un", "deux"], ["one", "two", "three"], WEIGHTS, gold=[(0, 0), (1, 1)]))
    cells = {(int(c.attrib["data-row"]), int(c.attrib["data-column"])): c for c in root.iter("rect")}
    assert {place: float(cell.attrib["fill-opacity"]) for place, cell in cells.items()} == {
        (i, j): WEIGHTS[i][j] for i in range(2) for j in range(3)
    }
    assert {place for place, cell in cells.items() if "gold" in cell.attrib["class"]} == {(0, 0), (1, 1)}


def test_bars_stand_in_proportion() -> None:
    root = ET.fromstring(bar_chart([("a", 10.0, ""), ("b", 5.0, "")], "x", "y"))
    high, low = (float(bar.attrib["height"]) for bar in root.iter("rect"))
    assert abs(high - 2 * low) < 0.2


def test_nothing_to_draw_draws_nothing() -> None:
    assert line_chart([Curve("a", [])], "x", "y") == bar_chart([], "x", "y") == cards([("empty", "")]) == ""
    assert table(["a"], []) == ""


def test_a_page_fetches_nothing_and_escapes_text() -> None:
    html = page("<title>", "<lead>", [("<heading>", table(["<th>"], [["<td>"]])), ("left out", "")])
    assert not re.search(r"(src|href)=|https?://|@import|url\(", html)
    assert "<heading>" not in html
    assert "left out" not in html
    assert "&lt;td&gt;" in html
