"""The page of `regard look`: opened from the disk it shows the look's numbers, and asks nobody for anything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.look import Look, Subject, look
from tests.browser.page import Page
from tests.conftest import Say

TEXT = "cinq deux quatre"


@pytest.fixture
def seen(subject: Subject) -> Look:
    return look(subject, TEXT)


@pytest.fixture
def file(regard: Say, runs: Path, tmp_path: Path) -> str:
    code, _, err = regard("look", runs / "good", TEXT, "--out", tmp_path / "page.html")
    assert (code, err) == (0, "")
    return (tmp_path / "page.html").as_uri()


def test_a_page_on_disk_shows_the_looks_numbers_and_makes_no_request(page: Page, file: str, seen: Look) -> None:
    page.open(file)
    drawn = page.drawn(seen.arrays["alignment"][0])
    assert (drawn.rows, drawn.columns) == (seen.written.words, TEXT.split())
    page.choose("Layer", "decoder.0.cross")
    page.choose("Head", 1)
    page.drawn(seen.arrays["decoder.0.cross"][1])
    page.hover('.cell[data-row="1"][data-column="0"]')
    assert len(page.until(lambda: (now := page.matrix()) and now.lit)) == 2
    assert len(page.all(".head")) == 6
    asked = [url for url in page.requests() if not url.startswith(("data:", "about:"))]
    assert [url.partition("#")[0] for url in asked] == [file]
    entries = page.js("return performance.getEntriesByType('resource').map(({ name }) => name)")
    assert [name for name in entries if not name.startswith("data:")] == []


def test_a_page_on_disk_needs_no_network(page: Page, file: str, seen: Look) -> None:
    with page.offline():
        page.open(file)
        page.drawn(seen.arrays["alignment"][0])


def test_a_notebook_shows_a_look_by_itself(page: Page, seen: Look, tmp_path: Path) -> None:
    """In a frame that may run scripts and nothing else, as a notebook shows it."""
    (tmp_path / "notebook.html").write_text(f"<!doctype html>{seen._repr_html_()}", encoding="utf-8")
    page.open((tmp_path / "notebook.html").as_uri())
    page.driver.switch_to.frame(page.one("iframe"))
    try:
        page.drawn(seen.arrays["alignment"][0])
    finally:
        page.driver.switch_to.default_content()


@pytest.mark.parametrize("width", [1280, 400])
def test_a_page_on_disk_never_scrolls_sideways(page: Page, file: str, seen: Look, width: int) -> None:
    page.resize(width)
    page.open(file)
    page.drawn(seen.arrays["alignment"][0])
    inside, outside = page.js("const d = document.documentElement; return [d.scrollWidth, d.clientWidth]")
    assert inside <= outside


def test_importance_is_told_with_each_head(page: Page, regard: Say, runs: Path, tmp_path: Path) -> None:
    regard("look", runs / "good", TEXT, "--importance", "--out", tmp_path / "page.html")
    page.open((tmp_path / "page.html").as_uri())
    page.one(".head")
    assert all("log-probability falls by" in str(one.get_attribute("title")) for one in page.all(".head"))
    widths = [float(one.get_attribute("style").split("width:")[1].strip(" %;")) for one in page.all(".worth")]
    assert np.isclose(max(widths), 100)
