"""The window of local attention: drawn around the cells that a row may look at, and told in words."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.look import Look, look, open_run
from regard.look.page import page as look_page
from tests.browser.page import Page

SOURCE, TARGET = "a quick fox jumps", "the dog rests"
LAYER = "decoder.0.cross"
STUDIO = f"#/compare/local/recurrent?text={SOURCE}&writes=given&target={TARGET}&layer={LAYER}".replace(" ", "+")
READ = """
    const of = (kind, ...keys) => [...document.querySelectorAll(`.matrix .${kind}`)]
        .map(({ dataset }) => keys.map((key) => Number(dataset[key])));
    return [of("window", "row", "from", "to"), of("centre", "row", "centre")];
"""
# Of each cell, whether all of it stands inside of its row's lines, as they are drawn.
INSIDE = """
    return [...document.querySelectorAll(".matrix .cell")].map((cell) => {
        const lines = document.querySelector(`.window[data-row="${cell.dataset.row}"]`).getAttribute("d");
        const sides = [...lines.matchAll(/M([\\d.]+),[\\d.]+V/g)].map(([, x]) => Number(x));
        const [left, width] = [cell.x.baseVal.value, cell.width.baseVal.value];
        return Math.min(...sides) <= left && left + width <= Math.max(...sides);
    });
"""


@pytest.fixture(scope="module")
def seen(runs: Path) -> Look:
    return look(open_run(runs / "local"), SOURCE, TARGET)


@pytest.fixture
def file(seen: Look, tmp_path: Path) -> str:
    """The page of the look on disk."""
    (tmp_path / "page.html").write_text(look_page(seen), encoding="utf-8")
    return (tmp_path / "page.html").as_uri()


def drawn(page: Page) -> tuple[list[Any], list[Any]]:
    page.one(".matrix .window")
    windows, centres = page.js(READ)
    return windows, centres


def test_every_row_of_tokens_has_the_window_of_its_step(page: Page, file: str, seen: Look) -> None:
    page.open(f"{file}#layer={LAYER}&units=tokens")
    page.drawn(seen.arrays[LAYER][0])
    windows, centres = drawn(page)
    window, last = seen.windows[LAYER], len(seen.sides["source"].tokens) - 1
    expected = [
        [row, max(math.ceil(centre - 3), 0), min(math.floor(centre + 3), last) + 1]
        for row, centre in enumerate(window.centres)
    ]
    assert windows == expected
    np.testing.assert_allclose(centres, [[row, centre + 0.5] for row, centre in enumerate(window.centres)], atol=1e-6)
    inside = np.array(page.js(INSIDE)).reshape(seen.arrays[LAYER][0].shape)
    assert np.array_equal(inside, seen.arrays[LAYER][0] > 0)  # what is out of reach has no weight


def test_a_window_between_words_holds_what_their_tokens_see(page: Page, file: str, seen: Look) -> None:
    """It may end within a word, whose column is shared out evenly to its tokens."""
    page.open(f"{file}#layer={LAYER}&rows=read")
    windows, centres = drawn(page)
    source, target = seen.sides["source"].tokens, seen.sides["target"].tokens
    assert [target[1:4], target[5:8], source[2:7]] == [list("the"), list("dog"), list("quick")]
    starts = [0, 1, *(2 + piece / 5 for piece in range(5)), 3, *(4 + piece / 3 for piece in range(3))]
    starts += [5, *(6 + piece / 5 for piece in range(5)), 7, 8]
    own = seen.windows[LAYER].centres[5:8]  # the row of "dog" is the fourth
    first, last = max(math.ceil(min(own) - 3), 0), min(math.floor(max(own) + 3), len(source) - 1)
    assert windows[3] == pytest.approx([3, starts[first], starts[last + 1]])
    assert [row for row, _ in centres].count(3) == 3


def test_an_alignment_has_the_windows_of_its_layer(page: Page, file: str, seen: Look) -> None:
    """Between words alone: what stands for no word has no column."""
    page.open(file)
    page.drawn(seen.arrays["alignment"][0])
    windows, centres = drawn(page)
    assert [row for row, _, _ in windows] == [0, 1, 2]
    assert all(0 <= start < end <= 4 for _, start, end in windows)
    assert len(centres) == sum(len(word) for word in TARGET.split())
    weights = seen.arrays["alignment"][0]
    for row, start, end in windows:
        looked = np.flatnonzero(weights[row] > 0)
        assert math.floor(start) <= looked.min()
        assert looked.max() < math.ceil(end)


def test_where_a_window_stands_is_told(page: Page, file: str, seen: Look) -> None:
    page.open(f"{file}#layer={LAYER}&units=tokens")
    page.drawn(seen.arrays[LAYER][0])
    page.hover('.cell[data-row="2"][data-column="1"]')
    centre = f"{seen.windows[LAYER].centres[2]:.1f}".removesuffix(".0")
    page.says(".matrix .told", f"looks around place {centre}, at most 3 tokens away")
    assert "may look" in page.text(".panel .hint")
    assert "adds up to 1" not in page.text(".panel .hint")  # with a Gaussian around the centre it need not


def test_lines_are_drawn_over_many_cells_too_and_follow_a_playback(page: Page) -> None:
    script = """
        const [count, whole, done] = arguments;
        import("regard/matrix.js").then(({ drawMatrix }) => {
            const names = Array.from({ length: count }, (_, place) => `${place}`);
            const windows = (shift) => names.map((_, row) => ({
                from: Math.max(row - 2 - shift, 0), to: row + 1, centres: [row + 0.5], told: `step ${shift}` }));
            const matrix = drawMatrix({ rows: names, columns: names, weights: () => 0, windows: windows(0) });
            document.querySelector("main").replaceChildren(matrix);
            if (whole) matrix.querySelector("[aria-label='Show the whole map']").click();
            matrix.light(9, 9);
            matrix.update(() => 0, [], windows(0.25));
            const { from, to } = matrix.querySelectorAll(".window")[9].dataset;
            done([matrix.dataset.mode, Number(from), Number(to), matrix.querySelector(".told").textContent]);
        });
    """
    page.open("#/runs")
    page.one(".run")
    for count, whole, mode in ((12, False, "svg"), (90, False, "svg"), (90, True, "canvas")):
        found = page.driver.execute_async_script(script, count, whole)
        assert found == [mode, 6.75, 10, "9 ← 9: 0.00; step 0.25"]


def test_a_centre_behind_the_last_token_is_drawn_at_its_end(page: Page) -> None:
    """Of local-p it is any number up to the length of the source."""
    script = """
        import("regard/windows.js").then(({ windowsOf }) => {
            const window = { reach: 1, centres: [3, 2.8, 2.5, 2.25] };
            const rows = window.centres.map((_, row) => ({ from: row, to: row + 1 }));
            const found = windowsOf({ windows: { layer: window } }, "layer", rows, [0, 1, 2, 3]);
            arguments[0](found.map(({ from, to, centres: [centre] }) => [from, to, centre]));
        });
    """
    page.open("#/runs")
    page.one(".run")
    found = page.driver.execute_async_script(script)
    assert found == [[2, 3, 3], [2, 3, 3], [2, 3, 3], [2, 3, 2.75]]


def test_what_sees_everything_has_no_window(page: Page, seen: Look) -> None:
    """Two runs beside each other in the studio, and no window in their difference."""
    page.open(STUDIO)
    page.one(".difference .cell")
    one, other = page.js("return [...document.querySelectorAll('.panel .matrix')].map((one) => one.innerHTML)")
    assert 'class="window"' in one
    assert 'class="window"' not in other
    assert len(page.all(".panel .window")) == len(page.all(".matrix .window"))
