"""Any picture can be saved as it is seen, as SVG and as PNG."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.look import Subject, look
from tests.browser.page import Page

TEXT = "trois six un"
SVG = "{http://www.w3.org/2000/svg}"

# By address: what is drawn, and how many pictures there are at least.
PICTURES = {
    f"#/run/good/translate?text={TEXT.replace(' ', '+')}": (".tree .node", 4),
    "#/run/good/heads?text=un+deux": (".stroke", 3),
    "#/run/good/way?text=un+deux&step=5": (".picture canvas", 1),
    "#/run/good/training": (".curve", 3),
    "#/positions": (".frame.square", 1),
    "#/run/decoder/translate?text=the+fox": (".lens", 3),
}

DRAW = """
    const done = arguments[0];
    const pictures = [...document.querySelectorAll(".save")].map((buttons) => buttons.previousElementSibling);
    import("regard/saving.js").then(({ asSvg }) =>
        done(pictures.map((one) => new XMLSerializer().serializeToString(asSvg(one)))));
"""


def saved(page: Page, folder: Path, format: str, number: int = 0) -> Path:
    """What the button behind the picture of this number saves."""
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
    label = f"Save this picture as {format}"
    before = set(folder.iterdir())
    page.until(lambda: len(page.all(f'[aria-label="{label}"]')) > number)
    page.js(f"document.querySelectorAll('[aria-label=\"{label}\"]')[{number}].click()")
    ending = f".{format.lower()}"
    return page.until(lambda: next((one for one in set(folder.iterdir()) - before if one.suffix == ending), None))


def test_a_map_is_saved_with_its_words_and_its_shades(page: Page, tmp_path: Path, subject: Subject) -> None:
    page.open("#/run/good/translate?text=trois+six+un&layer=decoder.0.cross&head=1&units=tokens")
    seen = look(subject, TEXT).arrays["decoder.0.cross"][1]
    drawn = page.drawn(seen)
    root = ET.fromstring(saved(page, tmp_path, "SVG").read_text(encoding="utf-8"))
    assert root.tag == f"{SVG}svg"
    cells = [one for one in root.iter(f"{SVG}rect") if "data-weight" in one.attrib]
    assert [float(one.attrib["data-weight"]) for one in cells] == pytest.approx(seen.ravel().tolist(), abs=1e-3)
    fills = np.array([[float(part) for part in one.attrib["fill"][4:-1].split(",")] for one in cells])
    lightness = fills @ [0.2126, 0.7152, 0.0722]
    np.testing.assert_allclose(lightness, drawn.lightness.ravel(), atol=1)
    words = {"".join(one.itertext()).strip() for one in root.iter(f"{SVG}text")}
    assert {*TEXT.split(), *drawn.rows} <= words
    assert not [one for one in root.iter() if "href" in one.attrib and not one.attrib["href"].startswith("data:")]


def test_the_png_has_twice_the_pixels_and_the_same_colours(page: Page, tmp_path: Path) -> None:
    page.open("#/run/good/translate?text=trois+six+un&layer=decoder.0.cross&head=1")
    page.one(".matrix .cell")
    drawing = ET.fromstring(saved(page, tmp_path, "SVG").read_text(encoding="utf-8"))
    with Image.open(saved(page, tmp_path, "PNG")) as image:
        assert image.size == (2 * int(drawing.attrib["width"]), 2 * int(drawing.attrib["height"]))
        colours = {colour[:3] for _, colour in image.convert("RGB").getcolors(1 << 20)}
    fills = [one.attrib["fill"] for one in drawing.iter(f"{SVG}rect") if "data-weight" in one.attrib]
    wanted = {tuple(int(part) for part in fill[4:-1].split(",")) for fill in fills}
    assert all(min(np.abs(np.subtract(one, colour)).max() for colour in colours) <= 2 for one in wanted)


@pytest.mark.parametrize("place", PICTURES)
def test_every_picture_of_a_view_can_be_saved(page: Page, tmp_path: Path, place: str) -> None:
    ready, least = PICTURES[place]
    page.open(place)
    page.one(ready)
    page.until(lambda: len(page.all(".save")) >= least, "a picture has no buttons")
    drawings = page.driver.execute_async_script(DRAW)
    assert len(drawings) == len(page.all(".save")) >= least
    for drawing in drawings:
        assert len(list(ET.fromstring(drawing).iter())) > 5
    assert not page.all(".save + .save")
