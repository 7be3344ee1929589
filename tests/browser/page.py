"""The page as a person meets it: fields by their labels, drawings as numbers, and waiting instead of sleeping."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tests.browser.chromium import Chrome  # before selenium: it skips where there is none

# isort: split
from selenium.common.exceptions import StaleElementReferenceException, TimeoutException
from selenium.webdriver import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.select import Select
from selenium.webdriver.support.wait import WebDriverWait

T = TypeVar("T")
PATIENCE = 20.0  # seconds; a machine may be busy with other things
HALF = {"rtol": 1e-3, "atol": 1e-6}  # weights travel in half precision
COUNT = itertools.count()
FRAMES = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done()))"
ALL = (Keys.CONTROL, "a", Keys.NULL)  # selects what a field holds, so that it is typed over
LUMINANCE = "([r, g, b]) => 0.2126 * r + 0.7152 * g + 0.0722 * b"

READ_MATRIX = f"""
    const figure = arguments[0];
    if (!figure) return null;
    const light = {LUMINANCE};
    const cells = [...figure.querySelectorAll(".cell")];
    const words = (key) => [...figure.querySelectorAll(`text.word[data-${{key}}]`)]
        .sort((a, b) => a.dataset[key] - b.dataset[key]).map((word) => word.firstChild.textContent);
    return {{
        rows: words("row"), columns: words("column"), label: figure.querySelector("svg").getAttribute("aria-label"),
        cells: cells.map((cell) => [Number(cell.dataset.row), Number(cell.dataset.column),
            Number(cell.dataset.weight), light(cell.style.fill.match(/[\\d.]+/g).map(Number))]),
        gold: cells.filter((cell) => cell.classList.contains("gold"))
            .map((cell) => [Number(cell.dataset.column), Number(cell.dataset.row)]),
        lit: [...figure.querySelectorAll("text.word.lit")].map((word) => word.firstChild.textContent),
        told: figure.querySelector(".told").textContent,
    }};
"""
READ_BARS = """
    return [...arguments[0].querySelectorAll("li")].map((bar) => [bar.querySelector(".name").textContent,
        Number(bar.dataset.value), bar.classList.contains("hidden-bar")]);
"""
# A copy is read: reading a canvas itself slows its drawing down, and the browser complains.
READ_PIXELS = f"""
    const light = {LUMINANCE};
    const {{ width, height }} = arguments[0];
    const copy = new OffscreenCanvas(width, height).getContext("2d", {{ willReadFrequently: true }});
    copy.drawImage(arguments[0], 0, 0);
    const {{ data }} = copy.getImageData(0, 0, width, height);
    if (data[3] === 0) return null;
    return Array.from({{ length: height }}, (_, i) => Array.from({{ length: width }},
        (_, j) => light(data.subarray(4 * (i * width + j), 4 * (i * width + j) + 3))));
"""


@dataclass(frozen=True)
class Matrix:
    """A matrix as it is drawn: `weights` and `lightness` (rows, columns); `gold` has (column, row)."""

    rows: list[str]
    columns: list[str]
    label: str
    weights: NDArray[np.float64]
    lightness: NDArray[np.float64]
    gold: set[tuple[int, int]]
    lit: list[str]
    told: str


class Page:
    """One tab. `address` is where the studio is served."""

    def __init__(self, driver: Chrome, address: str) -> None:
        self.driver, self.address = driver, address

    # --- getting somewhere --------------------------------------------------------------------------------------------

    def open(self, place: str) -> None:
        """A place of the studio ("#/runs"), or another address; always loaded anew."""
        if "://" not in place:  # another query, since another fragment alone would load nothing
            place = f"{self.address}?{next(COUNT)}{place}"
        self.driver.get(place)

    def until(self, holds: Callable[[], T], why: str = "it never happened") -> T:
        """Wait until something is true, and return it; elements may be drawn anew meanwhile."""
        wait = WebDriverWait(self.driver, PATIENCE, 0.03, [StaleElementReferenceException])
        try:
            return wait.until(lambda _: holds())
        except TimeoutException:
            raise AssertionError(f"{why}; the page says: {self.text('main')[:600]!r}") from None

    # --- what is there ------------------------------------------------------------------------------------------------

    def js(self, script: str, *given: Any) -> Any:
        return self.driver.execute_script(script, *given)

    def all(self, selector: str) -> list[WebElement]:
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector: str) -> WebElement:
        """Waits for it to be there, and two frames more: in the first a picture learns its room and is drawn anew."""
        self.until(lambda: self.all(selector), f"there is no {selector}")
        self.driver.execute_async_script(FRAMES)
        return self.until(lambda: next(iter(self.all(selector)), None), f"there is no {selector} any more")

    def text(self, selector: str) -> str:
        return str(self.js("return document.querySelector(arguments[0])?.innerText ?? ''", selector))

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].map((one) => one.textContent.trim())"
        return list(self.js(script, selector))

    def says(self, selector: str, text: str) -> None:
        self.until(lambda: text in self.text(selector), f"{selector} never said {text!r}")

    def field(self, label: str, within: str = "main") -> WebElement:
        """A control by its label."""
        script = """
            const labels = [...document.querySelectorAll(`${arguments[1]} label`)];
            const own = labels.find((one) => one.textContent.trim().startsWith(arguments[0])
                && one.checkVisibility());
            return own ? own.control : null;
        """
        return self.until(lambda: self.js(script, label, within), f"there is no field {label!r}")

    def value(self, label: str, within: str = "main") -> str:
        return str(self.field(label, within).get_property("value"))

    def matrix(self, selector: str = ".matrix") -> Matrix | None:
        """The first matrix inside; None while there is none with cells."""
        found = self.js("return document.querySelector(arguments[0])", selector)
        read = found and self.js(READ_MATRIX, found)
        if not read or not read["cells"]:
            return None
        height, width = (1 + max(cell[axis] for cell in read["cells"]) for axis in (0, 1))
        assert len(read["cells"]) == height * width
        weights, lightness = np.full((height, width), np.nan), np.full((height, width), np.nan)
        for row, column, weight, light in read["cells"]:
            weights[row, column], lightness[row, column] = weight, light
        names = (read["rows"], read["columns"], read["label"])
        gold = {(column, row) for column, row in read["gold"]}
        return Matrix(*names, weights, lightness, gold, read["lit"], read["told"])

    def drawn(self, expected: NDArray[Any], selector: str = ".matrix", **tolerance: float) -> Matrix:
        """The matrix, once it shows these weights; cells of larger weight are darker."""
        seen: Matrix | None = None

        def shows() -> bool:
            nonlocal seen
            seen = self.matrix(selector)
            return seen is not None and seen.weights.shape == expected.shape and close(seen.weights)

        def close(weights: NDArray[Any]) -> bool:
            return np.allclose(weights, expected, **(tolerance or HALF))

        try:
            self.until(shows)
        except AssertionError:
            assert seen is not None, f"no matrix was drawn in {selector}"
            np.testing.assert_allclose(seen.weights, expected, **(tolerance or HALF), err_msg=selector)
        assert seen is not None
        return seen

    def bars(self, selector: str) -> list[tuple[str, float, bool]]:
        """(name, value, whether it is hidden) of a list of bars."""
        return [tuple(bar) for bar in self.js(READ_BARS, self.one(selector))]  # type: ignore[misc]

    def pixels(self, selector: str) -> NDArray[np.float64]:
        """How light each pixel of a canvas is, once it was painted: (height, width)."""
        return np.array(self.until(lambda: self.js(READ_PIXELS, self.one(selector)), f"{selector} stays empty"))

    # --- what a person does -------------------------------------------------------------------------------------------

    def write(self, label: str, text: str, within: str = "main") -> None:
        """Type over what a field holds."""
        self.field(label, within).send_keys(*ALL, text)

    def choose(self, label: str, value: object, within: str = "main") -> None:
        Select(self.field(label, within)).select_by_value(str(value))

    def press(self, *keys: str) -> None:
        """Where the focus is."""
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def click(self, name: str, within: str = "main") -> None:
        """A button by what it says."""
        path = f".//button[normalize-space(.)={json.dumps(name, ensure_ascii=False)}]"
        self.until(lambda: [button.click() for button in self.one(within).find_elements(By.XPATH, path)[:1]])

    def hover(self, selector: str) -> None:
        def point() -> bool:
            self.js("arguments[0].scrollIntoView({ block: 'center' })", self.one(selector))
            ActionChains(self.driver, duration=0).move_to_element(self.one(selector)).perform()
            return True

        self.until(point)

    def leave(self) -> None:
        """Move the pointer to where it does nothing."""
        self.hover("h1")

    def focused(self, selector: str) -> bool:
        return bool(self.js("return document.activeElement.matches(arguments[0])", selector))

    def tab_to(self, selector: str, most: int = 60) -> None:
        """Press Tab until something has the focus."""
        for _ in range(most):
            if self.focused(selector):
                return
            self.press(Keys.TAB)
        raise AssertionError(f"Tab never reached {selector}")

    # --- the window ---------------------------------------------------------------------------------------------------

    def resize(self, width: int, height: int = 900) -> None:
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

    def prefer(self, theme: str) -> None:
        """What the system asks for: light or dark."""
        features = [{"name": "prefers-color-scheme", "value": theme}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    @contextmanager
    def offline(self) -> Iterator[None]:
        """While the block runs, nothing can be reached."""
        for away in (True, False):
            network = {"offline": away, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
            self.driver.execute_cdp_cmd("Network.emulateNetworkConditions", network)
            if away:
                yield

    @contextmanager
    def redrawn(self, selector: str) -> Iterator[None]:
        """After the block, wait until a new element of this kind has taken the place of the old one."""
        self.js("for (const one of document.querySelectorAll(arguments[0])) one.dataset.old = 1", selector)
        yield
        self.until(lambda: self.all(f"{selector}:not([data-old])"), f"{selector} was not drawn again")

    # --- what went wrong ----------------------------------------------------------------------------------------------

    def complaints(self) -> list[str]:
        """Errors and warnings that the browser wrote to its console since last asked."""
        entries = self.driver.get_log("browser")
        return [entry["message"] for entry in entries if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self) -> list[str]:
        """Addresses that were asked for since last asked."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [one["params"]["request"]["url"] for one in messages if one["method"] == "Network.requestWillBeSent"]
