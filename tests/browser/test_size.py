"""A large model and a long text: the page stays quick."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.studio.app import make_app
from tests.browser.chromium import Chrome
from tests.browser.conftest import write_untrained
from tests.browser.page import Keys, Page
from tests.studio.serving import serving

TEXT = ("the quick brown fox jumps over the lazy dog and then it rests for a while " * 3)[:199]
QUICK = 500  # milliseconds on a busy machine; it takes a tenth of that on an idle one

pytestmark = pytest.mark.slow


def took(page: Page, action: str) -> float:
    """Milliseconds until the page can draw again."""
    script = f"""
        const done = arguments[0], start = performance.now();
        {action};
        requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
    """
    return float(page.driver.execute_async_script(script))


def test_144_heads_of_200_tokens_stay_quick(driver: Chrome, tmp_path: Path) -> None:
    write_untrained(tmp_path / "large", "gpt2", layers=12, heads=12, width=96)
    with serving(make_app(tmp_path)) as served:
        page = Page(driver, f"http://127.0.0.1:{served.port}/")
        page.open(f"#/run/large/heads?text={TEXT.replace(' ', '+')}")
        page.one(".stroke")
        assert len(page.all(".head")) == 144
        assert took(page, """document.querySelector('[data-layer="decoder.7.self"][data-head="5"]').click()""") < QUICK
        assert took(page, "document.querySelector('.lines .pickable').dispatchEvent(new Event('click'))") < QUICK
        page.one(".strips .matrix")
        page.open(f"#/run/large/translate?units=tokens&text={TEXT.replace(' ', '+')}")
        page.one(".matrix")
        page.click("Whole", ".matrix")
        page.one('.matrix[data-mode="canvas"]')
        change = """
            const heads = document.querySelector("[name=head]");
            heads.value = "7";
            heads.dispatchEvent(new Event("change"));
        """
        assert took(page, change) < QUICK
        page.js("document.querySelector('.matrix-picture').focus()")
        page.press(Keys.ARROW_DOWN)
        page.until(lambda: "←" in page.text(".matrix .told"))
        assert page.complaints() == []
        page.driver.get("about:blank")
