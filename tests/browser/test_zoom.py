"""A map that is too large to be read whole: a part of it with its words, the whole beside it, zoom and pan."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.look import look, open_run
from regard.look.page import page as look_page
from tests.browser.page import ActionChains, Keys, Page

COUNT = 126
READABLE = 14  # pixels of the smallest cell whose word can be read
QUICK = 300  # milliseconds on a busy machine; it takes a tenth of that on an idle one
DRAW = """
    const [count, done] = arguments;
    import("regard/matrix.js").then(({ drawMatrix }) => {
        const names = (stem) => Array.from({ length: count }, (_, place) => `${stem}${place}`);
        const weights = (i, j) => (i === j ? 0.9 : 0.1 / (1 + Math.abs(i - j)));
        window.matrix = drawMatrix({ rows: names("row"), columns: names("column"), weights });
        document.querySelector("main").replaceChildren(window.matrix);
        requestAnimationFrame(() => requestAnimationFrame(() => done()));
    });
"""
SEEN = """
    const cells = [...document.querySelectorAll(".matrix .cell")].map(({ dataset }) =>
        [Number(dataset.row), Number(dataset.column)]);
    const [rows, columns] = [0, 1].map((axis) => cells.map((cell) => cell[axis]));
    const box = document.querySelector(".matrix .cell")?.getBoundingClientRect();
    const of = (place) => ({ first: Math.min(...place), last: Math.max(...place) });
    return { mode: document.querySelector(".matrix").dataset.mode, rows: of(rows), columns: of(columns),
        size: box ? box.width : 0, cells: cells.length };
"""
RECTANGLE = """
    const [outer, inner] = [".overview canvas", ".overview .seen"].map((one) =>
        document.querySelector(one).getBoundingClientRect());
    return [(inner.left - outer.left) / outer.width, (inner.top - outer.top) / outer.height,
        inner.width / outer.width, inner.height / outer.height];
"""
TOOK = """
    const [action, done] = arguments;
    const start = performance.now();
    new Function(action)();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
"""


@pytest.fixture
def large(page: Page) -> Iterator[Page]:
    """A page that shows a map of many words and nothing else."""
    page.open("#/positions")
    page.one(".frame.square")
    page.driver.execute_async_script(DRAW, COUNT)
    yield page
    page.driver.get("about:blank")


def seen(page: Page) -> dict[str, Any]:
    return dict(page.js(SEEN))


def rectangle(page: Page) -> list[float]:
    """Left, top, width and height of the part that is seen, as shares of the whole."""
    return list(page.js(RECTANGLE))


def wheel(page: Page, delta: int, **keys: bool) -> None:
    script = """
        const [deltaY, keys] = arguments;
        const picture = document.querySelector(".matrix-picture");
        const box = picture.querySelector(".cells, g").getBoundingClientRect();
        picture.dispatchEvent(new WheelEvent("wheel", { deltaY, ...keys, bubbles: true, cancelable: true,
            clientX: box.left + 5, clientY: box.top + 5 }));
    """
    page.js(script, delta, keys)


def test_a_large_map_begins_with_cells_that_can_be_read_and_their_words(large: Page) -> None:
    part = seen(large)
    assert part["size"] >= READABLE - 1
    assert part["rows"]["first"] == part["columns"]["first"] == 0
    assert part["cells"] == (part["rows"]["last"] + 1) * (part["columns"]["last"] + 1) < COUNT**2
    words = large.texts(".matrix text.word")
    assert words[0] == "row0"
    assert len(words) == part["rows"]["last"] + part["columns"]["last"] + 2


def test_the_whole_stands_beside_a_part_with_a_rectangle_around_what_is_seen(large: Page) -> None:
    part = seen(large)
    expected = [0, 0, (part["columns"]["last"] + 1) / COUNT, (part["rows"]["last"] + 1) / COUNT]
    assert rectangle(large) == pytest.approx(expected, abs=0.02)
    assert large.pixels(".overview canvas").shape == (COUNT, COUNT)
    large.click("Whole", ".matrix")
    assert not large.one(".overview").is_displayed()
    assert large.pixels(".matrix-frame canvas").shape == (COUNT, COUNT)


def test_the_rectangle_can_be_dragged(large: Page) -> None:
    canvas = large.one(".overview canvas")
    half = canvas.size["width"] / 2
    actions = ActionChains(large.driver, duration=0).move_to_element(canvas).click_and_hold()
    actions.move_by_offset(int(half) - 2, int(half) - 2).release().perform()
    part = seen(large)
    assert part["rows"]["last"] == part["columns"]["last"] == COUNT - 1
    left, top, width, height = rectangle(large)
    assert (left + width, top + height) == pytest.approx((1, 1), abs=0.02)


def test_dragging_moves_the_map_with_the_pointer(large: Page) -> None:
    before = seen(large)
    cell = large.one('.cell[data-row="20"][data-column="20"]')
    size = round(before["size"]) + 1
    ActionChains(large.driver, duration=0).move_to_element(cell).click_and_hold().move_by_offset(
        -10 * size, -5 * size
    ).release().perform()
    after = seen(large)
    assert (after["columns"]["first"], after["rows"]["first"]) == pytest.approx((10, 5), abs=1)
    assert after["cells"] == before["cells"]


def test_the_wheel_zooms_with_a_key_alone_and_around_the_pointer(large: Page) -> None:
    before = seen(large)
    wheel(large, -200)
    assert seen(large) == before
    for key in ("ctrlKey", "metaKey"):
        wheel(large, -200, **{key: True})
    after = seen(large)
    assert after["size"] > 1.5 * before["size"]
    assert (after["rows"]["first"], after["columns"]["first"]) == (0, 0)  # where the pointer is
    for _ in range(8):
        wheel(large, 400, ctrlKey=True)
    assert seen(large)["mode"] == "canvas"
    assert not large.one(".overview").is_displayed()


def test_two_fingers_zoom(large: Page) -> None:
    before = seen(large)
    script = """
        const picture = document.querySelector(".matrix-picture");
        picture.setPointerCapture = () => {};
        const box = picture.getBoundingClientRect();
        const put = (type, pointerId, x) => picture.dispatchEvent(new PointerEvent(type, { pointerId, bubbles: true,
            pointerType: "touch", clientX: box.left + x, clientY: box.top + 200 }));
        put("pointerdown", 11, 250); put("pointerdown", 12, 350);
        put("pointermove", 11, 200); put("pointermove", 12, 400);
        put("pointerup", 11, 200); put("pointerup", 12, 400);
    """
    large.js(script)
    assert seen(large)["size"] == pytest.approx(2 * before["size"], rel=0.15)
    large.js(script.replace("250", "1").replace("350", "401").replace("200)", "150)").replace("400)", "250)"))
    assert seen(large)["size"] < 1.5 * before["size"]


def test_keys_zoom_and_pan_and_the_map_follows_the_lit_cell(large: Page) -> None:
    large.js("document.querySelector('.matrix-picture').focus()")
    before = seen(large)
    large.press("+")
    assert seen(large)["size"] > before["size"]
    large.press("-")
    assert seen(large)["size"] == before["size"]
    large.press("0")
    assert seen(large)["mode"] == "canvas"
    large.press("+", "+", "+", "+", "+", "+")
    part = seen(large)
    large.js("matrix.light(0, 0)")
    assert seen(large)["rows"]["first"] == seen(large)["columns"]["first"] == 0
    for _ in range(part["columns"]["last"] - part["columns"]["first"] + 1):
        large.press(Keys.ARROW_RIGHT)
    moved = seen(large)
    assert moved["columns"]["first"] > 0
    assert moved["columns"]["last"] == int(large.texts(".word.lit")[1].removeprefix("column"))
    ActionChains(large.driver, duration=0).key_down(Keys.SHIFT).send_keys(Keys.ARROW_DOWN).key_up(Keys.SHIFT).perform()
    assert seen(large)["rows"]["first"] > moved["rows"]["first"]


def test_buttons_zoom_and_say_what_they_do(large: Page) -> None:
    before = seen(large)
    names = [one.accessible_name for one in large.all(".zoom button")]
    assert names == ["Zoom out", "Zoom in", "Show the whole map"]
    large.one("[aria-label='Zoom in']").click()
    assert seen(large)["size"] > before["size"]
    for _ in range(12):
        if (button := large.one("[aria-label='Zoom in']")).is_enabled():
            button.click()
    assert not large.one("[aria-label='Zoom in']").is_enabled()
    large.one("[aria-label='Zoom out']").click()
    assert large.one("[aria-label='Zoom in']").is_enabled()


def test_a_pointer_tells_the_weight_of_the_cell_below_it_wherever_the_map_stands(large: Page) -> None:
    large.js("matrix.light(90, 80)")
    large.hover('.cell[data-row="85"][data-column="80"]')
    assert large.text(".matrix .told") == "row85 ← column80: 0.02"
    assert large.texts(".matrix text.word.lit") == ["row85", "column80"]


@pytest.mark.parametrize(
    "action", ["matrix.light(480, 480)", "matrix.querySelector('.zoom button:last-child').click()"]
)
def test_a_map_of_500_words_stays_quick(page: Page, action: str) -> None:
    page.open("#/positions")
    page.one(".frame.square")
    times = []
    for _ in range(5):  # of a map drawn anew; the machine may do something else meanwhile
        page.driver.execute_async_script(DRAW, 500)
        times.append(page.driver.execute_async_script(TOOK, action))
    assert min(times) < QUICK
    page.driver.get("about:blank")


def test_another_head_is_shown_where_the_map_stood(page: Page, runs: Path) -> None:
    text = " ".join(["the quick brown fox"] * 12)
    seen_by = look(open_run(runs / "decoder"), text).arrays["decoder.0.self"]
    page.open(f"#/run/decoder/translate?text={text.replace(' ', '+')}&layer=decoder.0.self&head=0&units=tokens")
    canvas = page.one(".overview canvas")
    ActionChains(page.driver, duration=0).move_to_element(canvas).click().perform()
    before = seen(page)
    assert before["rows"]["first"] > 0
    page.choose("Head", 1)
    row, column = before["rows"]["first"], before["columns"]["first"]
    expected = float(seen_by[1, row, column])
    weight = f".cell[data-row='{row}'][data-column='{column}']"
    assert seen(page) == before
    assert float(str(page.one(weight).get_attribute("data-weight"))) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("width", [1280, 360])
def test_a_page_on_disk_has_the_same_map_and_never_scrolls_sideways(
    page: Page, runs: Path, tmp_path: Path, width: int
) -> None:
    found = look(open_run(runs / "decoder"), " ".join(["the quick brown fox"] * 8))
    (tmp_path / "page.html").write_text(look_page(found), encoding="utf-8")
    page.resize(width, 800)
    page.open((tmp_path / "page.html").as_uri() + "#units=tokens")
    page.one(".overview .seen")
    part = seen(page)
    assert part["size"] >= READABLE - 1
    inside, outside = page.js("const d = document.documentElement; return [d.scrollWidth, d.clientWidth]")
    assert inside <= outside
    assert np.isclose(rectangle(page)[2], (part["columns"]["last"] + 1) / len(found.sides["text"].tokens), atol=0.02)
