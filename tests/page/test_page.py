"""Pages: what is drawn says what was given, nothing is fetched, and text cannot become markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import regard
from regard.page.html import html, page
from regard.page.records import (
    BarChart,
    Card,
    Cards,
    Code,
    ConfusionMatrix,
    DotChart,
    Element,
    Folded,
    LineChart,
    Numbers,
    Point,
    Prose,
    ReadingSteps,
    Section,
    Series,
    ShadedText,
    Table,
    WordMatrix,
)
from regard.page.svg import ticks

REGARD = Path(regard.__file__).parent
WEIGHTS = [[0.9, 0.1, 0.0], [0.25, 0.5, 0.25]]


def test_ticks_are_round_and_inside() -> None:
    assert ticks(0, 10) == [0, 2, 4, 6, 8, 10]
    assert ticks(0.13, 0.48) == [0.2, 0.3, 0.4]
    assert ticks(3, 3) == [3]


CURVE = Series.through("a < b", [(0, 1.0), (10, float("nan")), (20, 0.5)])
MARKUP = "<b>&</b>"
EVERY: list[Element] = [
    Section(MARKUP, [Prose(MARKUP)]),
    Prose(MARKUP),
    Code(MARKUP),
    Folded(MARKUP, Code(MARKUP)),
    Numbers({MARKUP: MARKUP}),
    Table([MARKUP], [[MARKUP]], MARKUP),
    Table([MARKUP], [], empty=MARKUP),
    Card(MARKUP, Prose(MARKUP)),
    Cards([Card(MARKUP, Prose(MARKUP))]),
    ShadedText([(MARKUP, 0.5, MARKUP)]),
    WordMatrix([MARKUP, "chat"], ["the", "cat", MARKUP], WEIGHTS, label=MARKUP),
    ConfusionMatrix([MARKUP, "b"], [[0.5, 0.5], [0, 1]]),
    ReadingSteps([MARKUP, "b"], [[1, 0], [0.5, 0.5]], MARKUP),
    LineChart([CURVE, Series(MARKUP, [Point(1, 2, 1, 3)], dashed=True)], MARKUP, MARKUP, mark=(2, MARKUP)),
    LineChart([CURVE], "x", "y", names=[(0, MARKUP)]),
    DotChart([(MARKUP, [Point(0, 1, 0, 2)])], (MARKUP, "b"), MARKUP, MARKUP),
    BarChart([(MARKUP, 3.0, MARKUP)], MARKUP, MARKUP),
]


def test_every_element_is_tried() -> None:
    assert {type(one) for one in EVERY} == set(Element.__subclasses__())


@pytest.mark.parametrize("element", EVERY, ids=lambda one: type(one).__name__)
def test_every_element_is_well_formed_and_its_text_is_never_markup(element: Element) -> None:
    drawn = html([element])
    assert ET.fromstring(f"<div>{drawn}</div>").tag == "div"
    assert MARKUP not in drawn
    assert "&lt;b&gt;&amp;&lt;/b&gt;" in drawn
    assert element._repr_html_() == drawn


def test_an_element_that_nobody_draws_is_named() -> None:
    with pytest.raises(TypeError, match="cannot show Element"):
        html([Element()])


def test_a_curve_leaves_out_what_is_no_number_and_dots_where_there_are_many() -> None:
    drawn = html([LineChart([CURVE], "step", "loss")])
    assert drawn.count("<circle") == 2
    assert "nan" not in drawn
    many = Series.through("many", [(x, x) for x in range(200)])
    assert "<circle" not in html([LineChart([many], "step", "loss")])


def test_a_matrix_draws_each_weight_and_outlines_gold() -> None:
    matrix = WordMatrix(["un", "deux"], ["one", "two", "three"], WEIGHTS, gold=[(0, 0), (1, 1)])
    root = ET.fromstring(html([matrix]))
    cells = {(int(c.attrib["data-row"]), int(c.attrib["data-column"])): c for c in root.iter("rect")}
    assert {place: float(cell.attrib["fill-opacity"]) for place, cell in cells.items()} == {
        (i, j): WEIGHTS[i][j] for i in range(2) for j in range(3)
    }
    assert {place for place, cell in cells.items() if "gold" in cell.attrib["class"]} == {(0, 0), (1, 1)}


def test_bars_stand_in_proportion() -> None:
    root = ET.fromstring(html([BarChart([("a", 10.0, ""), ("b", 5.0, "")], "x", "y")]))
    high, low = (float(bar.attrib["height"]) for bar in root.iter("rect"))
    assert abs(high - 2 * low) < 0.2


def test_every_map_has_the_same_scale_however_thin_its_weights_are() -> None:
    """As a report says of the maps that stand side by side in it."""
    shades = []
    for weights in ([[0.1, 0.2]], [[0.9, 0.1]]):
        root = ET.fromstring(html([WordMatrix(["a"], ["b", "c"], weights, [], "map")]))
        shades.append([float(cell.attrib["fill-opacity"]) for cell in root.iter("rect")])
    assert shades == [[0.1, 0.2], [0.9, 0.1]]


def test_a_table_without_names_of_columns_has_no_row_for_them() -> None:
    root = ET.fromstring(html([Table(["", ""], [["step 1", "une"]], "one")]))
    assert [row[0].tag for row in root.iter("tr")] == ["td"]
    assert (root[0].tag, root[0].text) == ("h3", "one")


def test_nothing_to_draw_draws_nothing() -> None:
    empty: list[Element] = [LineChart([Series("a", [])], "x", "y"), BarChart([], "x", "y"), Table(["a"], [])]
    assert html(empty) == ""
    assert html([Section("left out", [Cards([Card("empty", one) for one in empty])])]) == ""
    assert html([Cards([]), Numbers({})]) == ""


def test_a_page_fetches_nothing_and_escapes_text() -> None:
    elements = [Section("<heading>", [Table(["<th>"], [["<td>"]])]), Section("left out", [])]
    document = page("<title>", "<lead>", elements)
    assert not re.search(r"(src|href)=|https?://|@import|url\(", document)
    assert "<heading>" not in document
    assert "left out" not in document
    assert "&lt;td&gt;" in document


def test_html_is_made_in_this_room_alone() -> None:
    markup = re.compile(
        r"[\"'f]</?(?:p|h[1-6]|div|span|table|tr|td|th|svg|text|rect|iframe|section|a|pre)\b[^\"']*[>=]"
    )
    found = {
        f"{path.relative_to(REGARD)}:{number}"
        for path in REGARD.rglob("*.py")
        if path.parent.name != "page"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if markup.search(line)
    }
    assert not found
