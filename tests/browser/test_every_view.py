"""Every view: loads without a complaint, fits wide and narrow windows, can be read in light and dark."""

from __future__ import annotations

import pytest

from tests.browser.page import Page

# By address: what is there when the view has drawn all that it draws.
VIEWS = {
    "#/runs": ".run",
    "#/run/good/translate": ".tree .node",
    "#/run/good/heads": ".stroke",
    "#/run/good/way?step=12": ".bars",
    "#/run/good/way?step=99": ".picture .slide",
    "#/run/good/playback": ".film .cell",
    "#/run/good/training": ".curve",
    "#/run/decoder/translate?text=the+quick+brown+fox": ".matrix",
    "#/run/encoder/translate?text=the+quick+brown+fox": ".matrix",
    "#/run/encoder/way?text=a+fox&step=99": ".stage h2",
    "#/run/recurrent/heads?text=a+fox": ".stroke",
    "#/compare/local/recurrent?text=a+fox&writes=given&target=the+fox": ".matrix .window",
    "#/positions": ".frame.square",
    "#/positions?kind=learned&with=alibi": ".scheme + .scheme .frame",
    "#/compare/good/poor?layer=encoder.0.self": ".difference .cell",
}
COLOURS = """
    const { color, backgroundColor } = getComputedStyle(document.body);
    return [color, backgroundColor].map((one) => one.match(/[\\d.]+/g).slice(0, 3).map(Number));
"""


def contrast(page: Page) -> tuple[float, bool]:
    """Of the text on the page's ground (WCAG 2), and whether the ground is darker."""
    channel = lambda c: c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4  # noqa: E731
    ink, paper = (
        sum(part * channel(c / 255) for part, c in zip((0.2126, 0.7152, 0.0722), colour, strict=True))
        for colour in page.js(COLOURS)
    )
    return (max(ink, paper) + 0.05) / (min(ink, paper) + 0.05), paper < ink


def fits(page: Page) -> None:
    """Nothing is wider than the window."""
    script = "const d = document.documentElement; return [d.scrollWidth, d.clientWidth]"
    page.until(lambda: (sizes := page.js(script))[0] <= sizes[1], "the page scrolls sideways")


@pytest.mark.parametrize("place", VIEWS)
def test_a_view_fits_wide_and_narrow_in_light_and_dark(page: Page, place: str) -> None:
    """The width changes under a drawn page; the theme draws it anew, so that each width is also begun with."""
    ready = VIEWS[place]
    page.open(place)
    page.one(ready)
    fits(page)
    assert contrast(page)[0] > 7
    assert not contrast(page)[1]
    page.resize(400, 800)
    fits(page)
    with page.redrawn(ready):
        page.prefer("dark")
    fits(page)
    assert contrast(page)[0] > 7
    assert contrast(page)[1]
    page.resize(1280)
    fits(page)
    assert not page.all(".problem:not(:empty), .status.wrong, [role=alert]")


def test_a_theme_chosen_on_the_page_holds(page: Page) -> None:
    page.open("#/runs")
    page.one(".run")
    page.click("Dark", "nav")
    page.until(lambda: contrast(page)[1])
    page.driver.refresh()
    page.until(lambda: page.all(".run") and contrast(page)[1])


def test_links_carry_the_sentence_from_view_to_view(page: Page) -> None:
    page.open("#/run/good/translate?text=six+six+un")
    page.one(".matrix .cell")
    for view in ("heads", "way", "translate"):
        page.one(f'.links a[data-view="{view}"]').click()
        page.until(lambda view=view: page.all(f".view-{view}") and page.value("Sentence") == "six six un")


def test_texts_of_any_script_run_in_their_own_direction(page: Page) -> None:
    """Typed text and what is written decide by themselves; the words of drawings too."""
    page.open("#/run/good/translate?text=שלום+un")
    page.one(".matrix .cell")
    directions = "return [...document.querySelectorAll(arguments[0])].map((one) => getComputedStyle(one).direction)"
    sentence, translation = page.js(directions, "textarea")
    assert (sentence, translation) == ("rtl", "ltr")
    bidi = "return [...document.querySelectorAll('.matrix text')].map((one) => getComputedStyle(one).unicodeBidi)"
    assert set(page.js(bidi)) == {"plaintext"}
    for selector in (".alternative", ".chip", ".lens"):
        assert all(one.get_attribute("dir") == "auto" for one in page.all(selector)), selector
