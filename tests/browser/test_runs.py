"""Runs: all are listed, a broken one does not stop the page, and one that trains is followed."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import Ask
from tests.browser.page import Keys, Page

Record = Callable[..., None]


@pytest.fixture
def record(page: Page, runs: Path) -> Iterator[Record]:
    """Writes the next step of a run that trains, named "live"."""
    folder = runs / "live"
    folder.mkdir()
    shutil.copy(runs / "good" / "config.json", folder)

    def record(step: int, **extra: Any) -> None:
        known = {"loss": 3 / step, "rate": 0.001, "tokens_per_second": 1000.0, "seconds": float(step)}
        lines = [{"event": "step", "step": step, "epoch": 1, **known}]
        if extra:
            lines.append({"event": "validation", "step": step, **extra})
        with (folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)

    record(10)
    record(20)
    yield record
    page.open("#/positions")  # nobody asks for it any more
    shutil.rmtree(folder)


def points(page: Page) -> int:
    """How many the curve of the training loss has."""
    return len(str(page.one(".curve polyline").get_attribute("points")).split())


def test_all_runs_are_listed_with_how_they_stand(page: Page, ask: Ask) -> None:
    page.open("#/runs")
    page.one(".run")
    listed = {row.get_attribute("data-run"): row.text for row in page.all(".run")}
    known = {run["name"]: run for run in ask("runs")["runs"]}
    assert list(listed) == list(known)
    assert set(listed) == {"good", "poor", "decoder", "encoder", "recurrent", "local", "colours", "captions", "broken"}
    for name, run in known.items():
        assert run["status"] in listed[name].lower()
    assert f"{known['good']['metrics']['bleu']:.3g}" in listed["good"]


def test_a_broken_run_says_why_and_does_not_stop_the_page(page: Page, ask: Ask) -> None:
    page.open("#/runs")
    why = next(run["error"] for run in ask("runs")["runs"] if run["name"] == "broken")
    assert "config.json is not JSON" in why
    page.says('.run[data-run="broken"]', why)
    assert not page.all('.run[data-run="broken"] a')
    page.one('.run[data-run="good"] a').click()
    page.until(lambda: page.value("Translation"))


@pytest.mark.parametrize(
    ("place", "sentence"),
    [
        ("#/run/broken/translate", "The run broken is broken: its config.json is not JSON"),
        ("#/run/nothing/heads", "There is no run named nothing."),
        ("#/run/good/nowhere", "There is no view named nowhere."),
    ],
)
def test_an_address_that_leads_nowhere_is_told_in_a_sentence(page: Page, place: str, sentence: str) -> None:
    page.open(place)
    page.says("[role=alert]", sentence)
    page.one('.links a[href="#/runs"]').click()
    page.one(".run")


def test_a_server_that_is_away_is_told_in_a_sentence(page: Page) -> None:
    page.open("#/run/good/translate?text=un")
    page.one(".matrix .cell")
    with page.offline():
        page.write("Sentence", "deux")
        page.says(".status.wrong", "The studio's server does not answer.")
    assert "ERR_INTERNET_DISCONNECTED" in " ".join(page.complaints())
    page.until(lambda: page.value("Translation") == "two")  # by itself
    assert not page.one(".status").is_displayed()


def test_a_view_that_could_not_be_opened_opens_when_the_server_is_back(page: Page) -> None:
    page.open("#/runs")
    page.one(".run")
    with page.offline():
        page.js("location.hash = '#/run/good/heads'")
        page.says("[role=alert]", "The studio's server does not answer.")
    assert "ERR_INTERNET_DISCONNECTED" in " ".join(page.complaints())
    page.one(".view-heads .stroke")
    assert not page.all("[role=alert]")


def test_a_run_that_is_deleted_says_so_and_asks_no_more(page: Page, runs: Path) -> None:
    shutil.copytree(runs / "good", runs / "doomed")
    page.open("#/run/doomed/training")
    page.one(".curve polyline")
    shutil.rmtree(runs / "doomed")
    page.says(".problem", "The run doomed was deleted.")
    page.complaints()  # of the answer 404
    page.requests()
    time.sleep(2.5)  # it would have asked again after two seconds
    assert not [url for url in page.requests() if "/api/runs/doomed" in url]


def test_a_deleted_run_is_told_where_it_is_used(page: Page, runs: Path) -> None:
    shutil.copytree(runs / "good", runs / "doomed")
    page.open("#/run/doomed/translate?text=un")
    page.one(".matrix .cell")
    shutil.rmtree(runs / "doomed")
    page.write("Sentence", "deux")
    page.says(".status.wrong", "there is no run 'doomed': it was deleted.")
    page.complaints()


def test_a_run_that_trains_is_followed_in_the_list(page: Page, record: Record) -> None:
    page.open("#/runs")
    page.says('.run[data-run="live"]', "step 20 of 300")
    page.says('.run[data-run="live"]', "training")
    record(30)
    page.says('.run[data-run="live"]', "step 30 of 300")


def test_curves_and_samples_move_while_a_run_trains(page: Page, record: Record) -> None:
    page.open("#/run/live/training")
    page.until(lambda: page.all(".curve polyline") and points(page) == 2)
    figures = lambda: dict(zip(page.texts(".figures dt"), page.texts(".figures dd"), strict=True))  # noqa: E731
    assert figures()["step"] == "20 / 300"
    assert not page.all(".sample")
    sample = {"source": "un deux", "output": "one six", "reference": "one two"}
    record(30, metrics={"loss": 0.5, "bleu": 12.25}, samples=[sample])
    page.until(lambda: points(page) == 3)
    assert figures()["step"] == "30 / 300"
    assert figures()["BLEU"] == "12.3"
    assert figures()["loss"] == "0.100"
    page.says(".sample", "one six")
    page.says(".sample", "Reference: one two")
    assert page.texts(".sample ins") == ["six"]


def test_a_word_without_an_end_never_widens_the_page(page: Page, record: Record) -> None:
    """Models that have learnt little repeat themselves without a space."""
    page.resize(400, 800)
    samples = [{"source": "un", "output": "s" * 200, "reference": "one"}]
    samples += [{"source": "u" * 200, "output": "s", "reference": "one"}]
    record(30, metrics={"loss": 0.5}, samples=samples)
    page.open("#/run/live/training")
    page.says(".sample", "sss")
    inside, outside = page.js("const d = document.documentElement; return [d.scrollWidth, d.clientWidth]")
    assert inside <= outside


def test_views_are_linked_as_soon_as_there_are_weights(page: Page, record: Record, runs: Path) -> None:
    page.open("#/run/live/training")
    page.one(".curve polyline")
    assert page.texts(".links [data-view]") == ["Training"]
    for file in ("tokenizer.json", "model.safetensors"):
        shutil.copy(runs / "good" / file, runs / "live")
    page.until(lambda: page.texts(".links [data-view]") == ["Translate", "Heads", "A prompt’s way", "Training"])


def test_a_run_without_weights_says_when_it_can_be_looked_at(page: Page, record: Record) -> None:
    for view in ("translate", "heads", "way", "playback"):
        page.open(f"#/run/live/{view}")
        page.says("[role=alert]", "live cannot be looked at before its first validation.")


def test_the_curve_tells_its_values(page: Page, ask: Ask) -> None:
    page.open("#/run/good/training")
    page.one(".curve polyline")
    records = [one for one in ask("runs/good/records")["records"] if one["event"] == "step"]
    assert points(page) == len(records)
    page.tab_to("svg.curves")
    page.press(Keys.ARROW_RIGHT)  # to the first step
    page.until(lambda: page.text(".curves-place .told").startswith(f"step {records[0]['step']}:"))
    assert f"training {records[0]['loss']:.3g}" in page.text(".curves-place .told")
