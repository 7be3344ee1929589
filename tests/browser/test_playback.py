"""Playback: the slider goes through the looks that were saved while the run trained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.look import Look
from regard.runfolder import Run
from tests.browser.page import Keys, Page

STEPS = [100, 200, 300]
FILM = ".film .matrix"


@pytest.fixture(scope="module")
def saved(runs: Path) -> dict[int, list[Look]]:
    """The probes by step, as they lie in the run folder."""
    run = Run(runs / "good")
    return {step: [Look.from_bytes(path.read_bytes()) for path in run.probes(step)] for step in run.probed()}


def test_sliding_shows_the_alignment_of_each_saved_step(page: Page, saved: dict[int, list[Look]]) -> None:
    assert list(saved) == STEPS
    page.open("#/run/good/playback?layer=alignment")
    for step in reversed(STEPS):
        page.until(lambda step=step: page.text(".player output") == str(step))
        drawn = page.drawn(saved[step][0].arrays["alignment"][0], FILM)
        assert drawn.gold == set(saved[step][0].alignment.gold)
        assert drawn.rows == saved[step][0].written.words
        page.field("Step").send_keys(Keys.ARROW_LEFT)
    first, last = (saved[step][0].arrays["alignment"][0] for step in (100, 300))
    assert abs(first - last).max() > 0.01  # something formed


def test_arrow_keys_go_through_time_wherever_the_focus_is(page: Page, saved: dict[int, list[Look]]) -> None:
    page.open("#/run/good/playback?layer=decoder.0.cross&head=1")
    page.drawn(saved[300][0].arrays["decoder.0.cross"][1], FILM)
    page.press(Keys.ARROW_LEFT)
    page.drawn(saved[200][0].arrays["decoder.0.cross"][1], FILM)
    page.press(Keys.ARROW_LEFT, Keys.ARROW_RIGHT, Keys.ARROW_RIGHT)
    page.drawn(saved[300][0].arrays["decoder.0.cross"][1], FILM)


def test_another_sentence_and_head_can_be_chosen(page: Page, saved: dict[int, list[Look]]) -> None:
    page.open("#/run/good/playback?layer=encoder.0.self&step=100")
    page.drawn(saved[100][0].arrays["encoder.0.self"].mean(0), FILM)
    page.choose("Head", 0)
    page.drawn(saved[100][0].arrays["encoder.0.self"][0], FILM)
    page.choose("Sentence", 3)
    page.drawn(saved[100][3].arrays["encoder.0.self"][0], FILM)


def test_playing_ends_at_the_last_step(page: Page, saved: dict[int, list[Look]]) -> None:
    page.open("#/run/good/playback?layer=alignment&step=200")
    page.drawn(saved[200][0].arrays["alignment"][0], FILM)
    page.click("▶ Play")
    page.drawn(saved[300][0].arrays["alignment"][0], FILM)
    page.says(".play", "Play")


def test_the_scores_are_those_of_the_step(page: Page, runs: Path, saved: dict[int, list[Look]]) -> None:
    lines = [json.loads(line) for line in (runs / "good" / "metrics.jsonl").read_text().splitlines()]
    bleu = {line["step"]: line["metrics"]["bleu"] for line in lines if line["event"] == "validation"}
    page.open("#/run/good/playback?layer=alignment&step=100")
    page.drawn(saved[100][0].arrays["alignment"][0], FILM)
    for step in (100, 200):
        page.until(lambda step=step: page.text(".player output") == str(step))
        shown = dict(zip(page.texts(".scores dt"), page.texts(".scores dd"), strict=True))
        assert float(shown["BLEU"]) == pytest.approx(bleu[step], rel=0.01)
        page.press(Keys.ARROW_RIGHT)


def test_a_run_without_saved_looks_says_so(page: Page) -> None:
    page.open("#/run/decoder/playback")
    page.says("[role=alert]", "This run saved no looks")
    assert page.texts(".links [data-view]") == ["Generate", "Heads", "A prompt’s way", "Training"]
