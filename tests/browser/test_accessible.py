"""axe finds nothing critical, nor serious, on any view: names of controls, roles, contrast.

axe-core is not a part of this repository. `npm install --prefix DIR axe-core`, and name DIR in REGARD_AXE.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.browser.page import Page
from tests.browser.test_every_view import VIEWS

SCRIPT = Path(os.environ.get("REGARD_AXE", "/nowhere")) / "node_modules" / "axe-core" / "axe.min.js"
RUN = """
    const done = arguments[0];
    axe.run().then(({ violations }) => done(violations
        .filter(({ impact }) => /critical|serious/.test(impact))
        .map(({ id, impact, nodes }) => [impact, id, nodes[0].html])));
"""


@pytest.mark.skipif(not SCRIPT.is_file(), reason="REGARD_AXE names no folder into which npm installed axe-core")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("place", VIEWS)
def test_nothing_serious_is_found(page: Page, place: str, theme: str) -> None:
    page.prefer(theme)
    page.open(place)
    page.one(VIEWS[place])
    page.js(SCRIPT.read_text(encoding="utf-8"))
    assert page.driver.execute_async_script(RUN) == []
