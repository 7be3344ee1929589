"""A studio that is really served, over runs as a person has them, and a browser that is really opened."""

from __future__ import annotations

import json
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import torch

import regard
from regard.checkpoint import weights_of, write_tensors
from regard.config import to_dict
from regard.data.tokenizers import Tokenizer
from regard.look import Subject, open_run
from regard.runfolder import Run
from regard.studio.app import make_app
from tests.helpers import SMALL, randomise
from tests.paintings import write_captioner, write_painted
from tests.studio.serving import serving
from tests.toy import Toy

if TYPE_CHECKING:  # they need a browser, and skip where there is none
    from tests.browser.chromium import Chrome
    from tests.browser.page import Page

Ask = Callable[..., Any]


def write_untrained(folder: Path, preset: str, **changes: Any) -> None:
    """A run that nobody trained, of characters: so its words have several tokens."""
    tokenizer = Tokenizer.train(["abcdefghijklmnop qrstuvwxyz"] * 2, "char")
    torch.manual_seed(3)
    model = regard.build(preset, **{**changes, "vocabulary": tokenizer.vocabulary})
    randomise(model)
    run = Run(folder)
    run.write_config({"model": to_dict(model.config)})
    tokenizer.save(run.tokenizer_path)
    write_tensors(run.weights_path, weights_of(model))


@pytest.fixture(scope="session")
def runs(toy: Toy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("browser") / "runs"
    shutil.copytree(toy.good, folder / "good")
    shutil.copytree(toy.poor, folder / "poor")
    write_untrained(folder / "decoder", "gpt2", **SMALL)
    write_untrained(folder / "encoder", "bert-base", **SMALL)
    write_untrained(folder / "recurrent", "bahdanau-2015", width=32, hidden=32)
    write_untrained(folder / "local", "luong-2015-local-p", width=32, hidden=32, reach=3)
    write_painted(folder / "colours")
    write_captioner(folder / "captions")
    (folder / "broken").mkdir()
    (folder / "broken" / "config.json").write_text("{]")
    return folder


@pytest.fixture(scope="session")
def address(runs: Path) -> Iterator[str]:
    with serving(make_app(runs)) as served:
        yield f"http://127.0.0.1:{served.port}/"


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    from tests.browser.chromium import open_chromium

    driver = open_chromium(tmp_path_factory.mktemp("chromium"))
    yield driver
    driver.quit()


@pytest.fixture
def page(driver: Chrome, address: str) -> Iterator[Page]:
    """A wide, light page. Whatever a test does, the console stays silent and nobody but the studio is asked."""
    from tests.browser.page import Page

    page = Page(driver, address)
    page.resize(1280)
    page.prefer("light")
    page.complaints()
    page.requests()
    yield page
    assert page.complaints() == []
    assert [url for url in page.requests() if not url.startswith((address, "data:", "file:", "about:"))] == []


@pytest.fixture(scope="session")
def ask(address: str) -> Ask:
    """The API as another program uses it: JSON in, JSON out."""

    def ask(path: str, **body: Any) -> Any:
        data = json.dumps(body).encode() if body else None
        request = urllib.request.Request(f"{address}api/{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.loads(answer.read())

    return ask


@pytest.fixture(scope="session")
def subject(runs: Path) -> Subject:
    """The good run as the library opens it."""
    return open_run(runs / "good")
