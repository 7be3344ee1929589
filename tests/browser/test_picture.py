"""A look at a picture on its page: the picture darkens where it is not attended to, and cells can be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

import regard
from regard.look.page import page
from tests.browser.chromium import Chrome
from tests.browser.page import Page
from tests.paintings import COLOURS, painting, write_painted

image = pytest.importorskip("PIL.Image")
LIGHT = """
    const canvas = document.querySelector(".picture-large");
    const { width, height } = canvas;
    const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    return data.reduce((sum, value) => sum + value, 0) / (width * height);
"""
CLICK = """
    const canvas = document.querySelector(".picture-large"), { left, top, width } = canvas.getBoundingClientRect();
    const at = { clientX: left + width / 8, clientY: top + width / 8, bubbles: true };
    canvas.dispatchEvent(new MouseEvent("click", at));
"""


def test_a_person_sees_where_it_looks(driver: Chrome, tmp_path: Path) -> None:
    look = regard.load(write_painted(tmp_path / "run")).look(painting("red", 2))
    (tmp_path / "page.html").write_text(page(look), encoding="utf-8")
    driver.get(f"file://{tmp_path / 'page.html'}")
    told = ".picture-view .hint"
    run = driver.execute_script
    assert run("return document.querySelector('h1').textContent") == look.sides["label"].text
    assert look.sides["label"].text in run(f"return document.querySelector('{told}').textContent")
    dark = run(LIGHT)
    run("""
        const select = document.querySelector(".picture-view select");
        select.value = "encoder.1.self";
        select.dispatchEvent(new Event("change"));
    """)
    heads = len(look.arrays["encoder.1.self"])
    assert run("return document.querySelectorAll('.picture-strip button').length") == heads
    assert "head 0, from [CLS]" in run(f"return document.querySelector('{told}').textContent")
    assert run(LIGHT) != dark
    run(CLICK)
    assert "head 0, from 1,1" in run(f"return document.querySelector('{told}').textContent")
    run("document.querySelectorAll('.picture-strip button')[1].click()")
    assert "head 1" in run(f"return document.querySelector('{told}').textContent")


def test_a_picture_is_dropped_and_seen(page: Page, tmp_path: Path) -> None:
    """What is chosen is sent from the page, and the answer is what the library says of it."""
    file = tmp_path / "red.png"
    image.fromarray(painting("red", 5, 40, 30)).save(file)
    page.open("#/run/colours/translate")
    page.one(".picture-drop input").send_keys(str(file))
    page.until(lambda: page.texts(".alternatives .name"))
    assert set(page.texts(".alternatives .name")) == set(COLOURS)
    assert page.js("return document.querySelector('.picture-drop img').naturalHeight") == 40
    broken = tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    page.one(".picture-drop input").send_keys(str(broken))
    page.says(".status", "broken.png is no picture that this browser can read.")


def test_an_edited_caption_is_followed_by_the_map(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "red.png"
    image.fromarray(painting("red", 5)).save(file)
    page.open("#/run/captions/translate")
    page.one(".picture-drop input").send_keys(str(file))
    page.one(".picture-strip canvas")
    page.write("Caption", "a red thing")
    page.until(lambda: page.texts(".picture-strip button span")[:3] == ["a", "red", "thing"])
