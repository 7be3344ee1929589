"""A picture of every view of the studio, for the docs: python docs/screenshots.py RUNS [--out docs/pictures]

RUNS is a folder with at least one finished translator (`regard demo` trains one); pictures are taken of the newest that
saved looks while it trained, or else of the newest, and two of them are compared. Of the newest masked language model,
judge of pairs, hierarchical classifier and classifier around an encoder there are pictures too, where they are there.
Needs Chromium and its driver, selenium and Pillow.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import numpy as np
from PIL import Image
from selenium.webdriver import ActionChains, Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.wait import WebDriverWait

# "it" is the car, which is feminine in French; adjectives change their places.
SENTENCE = "An American sailor bought the red car because it was beautiful."
WORD, MEANT = "it", "car"
POINTED = ("car", "voiture")
MASKED, HIDDEN = "The old dog barks because it is happy.", 2  # the word to mask, from 0
PAIR = ("A man is playing a large flute.", "A man plays a musical instrument.")
REVIEW = "I had high hopes. The acting is wonderful. But the story is dull, and what a silly ending!"
FLAGS = """
    --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run --no-default-browser-check
    --disable-background-networking --disable-component-update --disable-sync --disable-extensions --no-proxy-server
    --force-prefers-reduced-motion --hide-scrollbars
""".split()
LOWEST, HIGHEST = 560, 1500  # pixels of a picture
LARGEST = 150_000  # bytes of one with all its colours
KEPT = 160  # colours that stay exactly as they are in one with fewer
SETTLED = """
    const done = arguments[0];
    document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true))));
"""
# Where a picture can end: below everything, or else below the last card that is whole.
ENDS = """
    const [most, page] = [arguments[0], document.documentElement.scrollHeight];
    const cards = [...document.querySelectorAll(".card")].map((card) => card.getBoundingClientRect().bottom + scrollY);
    return page <= most ? page : Math.ceil(Math.max(0, ...cards.filter((end) => end <= most - 24))) + 24 || most;
"""
FIND_CELL = """
    const of = (side, word) => [...document.querySelectorAll(`.matrix text.word[data-${side}]`)]
        .find((one) => one.textContent === word)?.dataset[side];
    const [column, row] = [of("column", arguments[0]), of("row", arguments[1])];
    return document.querySelector(`.matrix .cell[data-row="${row}"][data-column="${column}"]`);
"""


@dataclass(frozen=True)
class Shot:
    """`place` is an address, or a place of the studio; `ready` is there when all is drawn; where `pointed`, the cell of
    two words is pointed at."""

    name: str
    place: str
    ready: str
    pointed: bool = False
    width: int = 1280
    theme: str = "light"
    highest: int = HIGHEST


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", metavar="RUNS", type=Path, help="a folder of run folders")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "pictures", help="default: docs/pictures")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with studio(options.runs) as address, tempfile.TemporaryDirectory() as folder:
        run, other = choose_runs(address)
        readers = list(reading_shots(finished(address)))
        head = telling_head(address, run["name"])
        page = look_page(options.runs / run["name"], Path(folder))
        with browser(Path(folder)) as driver:
            for shot in [*shots(run, other, head, page), *readers]:
                size = take(driver, address, shot, options.out / f"{shot.name}.png")
                print(f"{shot.name}.png  {size // 1024} KB")


def shots(run: dict[str, Any], other: dict[str, Any] | None, head: Head, page: str) -> Iterator[Shot]:
    def at(view: str, **params: Any) -> str:
        return f"#/run/{run['name']}/{view}?{urlencode({'text': SENTENCE, **params})}"

    yield Shot("runs", "#/runs", ".run")
    yield Shot("translate", at("translate"), ".tree .node", pointed=True, highest=2000)
    yield Shot("translate-dark", at("translate"), ".tree .node", pointed=True, theme="dark", highest=2000)
    yield Shot("translate-narrow", at("translate"), ".tree .node", width=400)
    word = SENTENCE.split().index(WORD)
    yield Shot("heads", at("heads", layer=head.layer, head=head.head, word=word), ".strips .cell")
    yield Shot("way", at("way", step=head.step, head=head.head, source=head.place), ".stage .bars")
    yield Shot("positions", "#/positions", ".frame.square")
    if run["playback"]:
        early = run["playback"][len(run["playback"]) // 3]
        yield Shot("playback", f"#/run/{run['name']}/playback?step={early}", ".film .cell")
    else:
        print(f"{run['name']} saved no looks while it trained, so there is no playback.png", file=sys.stderr)
    if other is not None:
        both = f"#/compare/{run['name']}/{other['name']}?{urlencode({'text': SENTENCE})}"
        yield Shot("compare", both, ".difference .cell", highest=2100)
    else:
        print(f"there is no other run like {run['name']}, so there is no compare.png", file=sys.stderr)
    yield Shot("training", f"#/run/{run['name']}/training", ".curve")
    yield Shot("look", page, ".head canvas", pointed=True, highest=2300)


def reading_shots(runs: list[dict[str, Any]]) -> Iterator[Shot]:
    """Of runs that only read: masked words, a pair, one text in two classifiers."""

    def newest(task: str, heads: bool | None = None) -> str | None:
        """The newest run of a task: with heads to see, or without, or whichever it is."""
        usable = (run for run in runs if run["task"] == task and heads in (None, has_view(run, "heads")))
        return next((run["name"] for run in usable), None)

    if filler := newest("mlm"):
        place = urlencode({"text": MASKED, "mask": HIDDEN})
        yield Shot("masked", f"#/run/{filler}/translate?{place}", ".masks .bar", highest=1800)
    if judge := newest("pair", heads=True):
        place = urlencode({"text": PAIR[0], "second": PAIR[1]})
        yield Shot("pair", f"#/run/{judge}/translate?{place}", ".start-head", highest=2300)
    layered, encoder = newest("classify", heads=False), newest("classify", heads=True)
    if layered and encoder:
        yield Shot("documents", f"#/compare/{layered}/{encoder}?{urlencode({'text': REVIEW})}", ".documents .word")


# --- the studio and its runs ------------------------------------------------------------------------------------------


@contextmanager
def studio(runs: Path) -> Iterator[str]:
    """A studio of its own on a free port; gives its address."""
    command = [sys.executable, "-m", "regard", "studio", "--port", "0", "--runs", str(runs)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip() or sys.exit("the studio did not start")
    finally:
        process.terminate()
        process.communicate()


def get(address: str, path: str) -> Any:
    with urllib.request.urlopen(f"{address}api/{path}", timeout=60) as answer:
        return json.load(answer)


def finished(address: str) -> list[dict[str, Any]]:
    """What the studio says of each finished run, the newest first."""
    named = [run["name"] for run in get(address, "runs")["runs"] if run["status"] == "finished"]
    return [get(address, f"runs/{name}") for name in named]


def has_view(run: dict[str, Any], name: str) -> bool:
    return any(view["name"] == name for view in run["views"])


def choose_runs(address: str) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The translator to show, and another to compare it with."""
    usable = [run for run in finished(address) if run["model"] == "encoder-decoder"]
    if not usable:
        sys.exit("there is no finished translator among these runs; `regard demo` trains one")
    usable.sort(key=lambda run: not run["playback"])
    return usable[0], usable[1] if len(usable) > 1 else None


@dataclass(frozen=True)
class Head:
    """A head of the encoder; `place` is the token that looks, `step` where a prompt's way shows its softmax."""

    layer: str
    head: int
    place: int

    @property
    def step(self) -> int:
        """After three steps of the source and five of each block before: queries and keys, scores, softmax."""
        return 3 + 5 * int(self.layer.split(".")[1]) + 2


def telling_head(address: str, run: str) -> Head:
    """The one that knows best what the word means."""
    body = json.dumps({"run": run, "text": SENTENCE, "layers": ["encoder.*"]}).encode()
    request = urllib.request.Request(f"{address}api/look", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        seen = json.load(answer)
    tokens = [token.strip() for token in seen["sides"]["source"]["tokens"]]
    place, meant = tokens.index(WORD), tokens.index(MEANT)
    heads = [(layer["name"], head) for layer in seen["layers"] for head in range(layer["heads"])]
    layer, head = max(heads, key=lambda one: seen["arrays"][one[0]][one[1]][place][meant])
    return Head(layer, head, place)


def look_page(run: Path, folder: Path) -> str:
    """The address of the page that `regard look` writes."""
    file = folder / "page.html"
    command = [sys.executable, "-m", "regard", "look", str(run), SENTENCE, "--out", str(file)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return file.as_uri()


# --- the browser ------------------------------------------------------------------------------------------------------


@contextmanager
def browser(folder: Path) -> Iterator[Chrome]:
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("no Chromium here")
    for flag in (*FLAGS, f"--user-data-dir={folder / 'profile'}"):
        options.add_argument(flag)
    driver = Chrome(options, Service(shutil.which("chromedriver") or sys.exit("no chromedriver here")))
    try:
        yield driver
    finally:
        driver.quit()


def take(driver: Chrome, address: str, shot: Shot, path: Path) -> int:
    """Draw a view, wait until it is all there, and keep it; returns the bytes that it takes."""
    resize(driver, shot.width, LOWEST)
    theme = {"features": [{"name": "prefers-color-scheme", "value": shot.theme}]}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", theme)
    driver.get("about:blank")
    driver.get(shot.place if "://" in shot.place else address + shot.place)
    wait = WebDriverWait(driver, 60)
    wait.until(lambda _: driver.find_elements(By.CSS_SELECTOR, shot.ready))
    wait.until(lambda _: not driver.execute_script("return document.querySelector('.status')?.textContent"))
    for _ in range(2):  # some parts grow with the window
        resize(driver, shot.width, max(LOWEST, driver.execute_script(ENDS, shot.highest)))
    if shot.pointed and (cell := driver.execute_script(FIND_CELL, *POINTED)):
        ActionChains(driver, duration=0).move_to_element(cell).perform()
    driver.execute_async_script(SETTLED)
    data = base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])
    with Image.open(io.BytesIO(data)) as image:
        whole = image.convert("RGB")
    whole.save(path, optimize=True)
    if path.stat().st_size > LARGEST:
        fewer_colours(whole).save(path, optimize=True)
    return path.stat().st_size


def fewer_colours(image: Image.Image) -> Image.Image:
    """256 of them: those of most pixels as they are, and others chosen among all that there are, however rare, so that
    a thin line keeps its colour beside all the greys of letters."""
    pixels = np.asarray(image).reshape(-1, 3)
    colours, which, counts = np.unique(pixels, axis=0, return_inverse=True, return_counts=True)
    rare = Image.fromarray(colours[None]).quantize(256 - KEPT).getpalette() or []
    palette = np.concatenate([colours[np.argsort(-counts)[:KEPT]], np.array(rare).reshape(-1, 3)])
    distances = ((colours[:, None].astype(int) - palette) ** 2).sum(-1)
    chosen = distances.argmin(1).astype(np.uint8)[which.reshape(image.height, image.width)]
    fewer = Image.fromarray(chosen, "P")
    fewer.putpalette(palette.astype(np.uint8).flatten().tolist())
    return fewer


def resize(driver: Chrome, width: int, height: int) -> None:
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


if __name__ == "__main__":
    main()
