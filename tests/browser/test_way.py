"""A prompt's way: every step has the numbers of the library, and the last ones obey the temperature."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from regard.look import Subject, open_run, way
from regard.look.records import Way
from tests.browser.conftest import Ask
from tests.browser.page import Keys, Page
from tests.untrained import write_classifier

TEXT = "deux cinq trois"
HERE = f"#/run/good/way?text={TEXT.replace(' ', '+')}"


@pytest.fixture(scope="module")
def seen(subject: Subject) -> Way:
    return way(subject, TEXT, place=1, source_place=1)


def title(page: Page) -> str:
    return page.text(".stage h2")


def values(page: Page) -> NDArray[Any]:
    """Of the first bars of the step."""
    return np.array([value for _, value, _ in page.bars(".picture .bars")])


def walk(page: Page) -> list[tuple[str, NDArray[Any]]]:
    """To the end by the arrow key: the title of each step, and its bars if it has any."""
    read = """return [document.querySelector(".stage h2").textContent,
        [...document.querySelectorAll(".picture .bars:first-of-type li")].map((bar) => Number(bar.dataset.value)),
        document.querySelector("[data-focus=next]").disabled]"""
    steps = []
    page.one(".stage h2")
    while True:
        name, bars, last = page.js(read)
        steps.append((name, np.array(bars)))
        if last:
            return steps
        page.press(Keys.ARROW_RIGHT)


def softmax(logits: NDArray[Any]) -> NDArray[Any]:
    raised = np.exp(logits - logits.max())
    return raised / raised.sum()


def test_the_arrow_key_goes_all_the_way_from_the_tokens_to_the_probabilities(page: Page, seen: Way) -> None:
    page.open(HERE)
    steps = walk(page)
    begin, both = ["Tokens", "Embedding", "Position"], ["Queries and keys", "Scores", "Softmax", "Weighted values"]
    masked = ["Queries and keys", "Scores", "Mask", "Softmax", "Weighted values"]
    encoder, decoder = [*begin, *both, "Feed-forward"], [*begin, *masked, *both, "Feed-forward"]
    assert [name for name, _ in steps] == [*encoder, *decoder, "Logits", "Next token"]
    drawn = {name: [values for other, values in steps if other == name] for name in ("Scores", "Softmax")}
    layers = [stage for stage in seen.stages if stage["stage"] == "attention"]
    assert len(layers) == 3
    for number, stage in enumerate(layers):
        np.testing.assert_allclose(drawn["Scores"][number], seen.arrays[stage["scores"]][0], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(drawn["Softmax"][number], seen.arrays[stage["weights"]][0], rtol=1e-4, atol=1e-6)
    assert seen.predictions is not None
    np.testing.assert_allclose(dict(steps)["Logits"], seen.predictions.logits, rtol=1e-4, atol=1e-5)


def test_the_apis_way_is_the_librarys(ask: Ask, seen: Way) -> None:
    answer = ask("way", run="good", text=TEXT, place=1, source_place=1)
    assert answer["stages"] == seen.stages
    for name, array in seen.arrays.items():
        np.testing.assert_allclose(answer["arrays"][name], array, rtol=1e-4, atol=1e-5, err_msg=name)


def test_the_temperature_sharpens_and_levels_as_softmax_does(page: Page, seen: Way) -> None:
    page.open(f"{HERE}&step=99")
    page.until(lambda: title(page) == "Next token")
    assert seen.predictions is not None
    logits = np.array(seen.predictions.logits)
    assert np.exp(logits).sum() == pytest.approx(np.exp(seen.predictions.total))  # all words are shown
    np.testing.assert_allclose(values(page)[:-1], softmax(logits), rtol=1e-4, atol=1e-7)
    slider = page.field("Temperature")
    for key, count, temperature in ((Keys.ARROW_RIGHT, 6, 1.3), (Keys.ARROW_LEFT, 12, 0.7), (Keys.END, 1, 3.0)):
        slider.send_keys(key * count)
        page.until(lambda t=temperature: f"{t:.2f}" in page.text(".slide label"))
        np.testing.assert_allclose(values(page)[:-1], softmax(logits / temperature), rtol=1e-4, atol=1e-7)
    assert page.focused("[type=range]")  # it is still held


def test_each_head_has_its_own_weights(page: Page, seen: Way) -> None:
    page.open(f"{HERE}&step=5")
    page.until(lambda: title(page) == "Softmax")
    for head in (1, 0):
        page.click(str(head), ".head-picks")
        weights = seen.arrays["encoder.0.self"][head]
        page.until(lambda weights=weights: np.allclose(values(page), weights, rtol=1e-4, atol=1e-6))


def test_the_mask_hides_what_comes_later(page: Page, seen: Way) -> None:
    page.open(f"{HERE}&step=13")
    page.until(lambda: title(page) == "Mask")
    stage = next(stage for stage in seen.stages if stage.get("name") == "decoder.0.self")
    hidden = [place for place, (_, _, hidden) in enumerate(page.bars(".picture .bars")) if hidden]
    assert hidden == stage["hidden"] == [2, 3]


def test_another_token_can_be_followed(page: Page, subject: Subject) -> None:
    page.open(f"{HERE}&step=99")
    page.until(lambda: title(page) == "Next token")
    page.click("five", '.token-row[data-side="target"]')
    other = way(subject, TEXT, place=2, source_place=1)
    assert other.predictions is not None
    expected = softmax(np.array(other.predictions.logits))
    page.until(lambda: np.allclose(values(page)[:-1], expected, rtol=1e-4, atol=1e-7))


def test_a_decoders_way_ends_with_what_comes_next(page: Page, runs: Any) -> None:
    page.open("#/run/decoder/way?text=a+cab&step=99")
    page.until(lambda: title(page) == "Next token")
    assert page.texts(".rail [data-step]").count("Softmax") == 2  # blocks
    seen = way(open_run(runs / "decoder"), "a cab")
    assert seen.predictions is not None
    shown = np.exp(np.array(seen.predictions.logits) - seen.predictions.total)
    np.testing.assert_allclose(values(page), [*shown, 1 - shown.sum()], rtol=1e-3, atol=1e-6)
    assert [name for name, _, _ in page.bars(".picture .bars")][-1] == "all others"


def test_numbers_are_shown_on_demand(page: Page, seen: Way) -> None:
    page.open(f"{HERE}&step=1")
    page.until(lambda: title(page) == "Embedding")
    assert not page.all(".numbers")
    page.field("Numbers").click()
    told = [float(text.replace("−", "-")) for text in page.texts(".numbers span")]
    np.testing.assert_allclose(told, seen.arrays["encoder.embedding"], atol=0.00051)


@pytest.mark.parametrize("run", ["recurrent", "local"])
def test_a_recurrent_decoder_is_followed_through_its_step(page: Page, runs: Path, run: str) -> None:
    """State, scores, weights, context vector and new state, with the numbers of the library."""
    seen = way(open_run(runs / run), "a cab", "abc", place=2, source_place=1)
    here = f"#/run/{run}/way?text=a+cab&target=abc&place=2&source=1&numbers=1"
    page.open(here)
    steps = walk(page)
    read = ["Tokens", "Embedding", "State of the encoder", "Tokens", "Embedding", "State before the step"]
    looks = ["Query and keys", "Scores", *(["Window"] if run == "local" else []), "Softmax", "Context vector"]
    asks_first = run == "recurrent"  # Bahdanau's does, Luong's asks with its new state
    step = [*looks, "New state"] if asks_first else ["New state", *looks]
    titles = [name for name, _ in steps]
    assert titles == [*read, *step, "Output", "Logits", "Next token"]
    drawn = dict(steps)
    np.testing.assert_allclose(drawn["Scores"], seen.arrays["decoder.0.cross.scores"][0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(drawn["Softmax"], seen.arrays["decoder.0.cross"][0], rtol=1e-4, atol=1e-5)
    vectors = {
        "State of the encoder": "encoder.state",
        "State before the step": "decoder.before",
        "Context vector": "decoder.0.cross.mixed",
        "New state": "decoder.after",
        "Output": "decoder.output",
    }
    for name, array in vectors.items():
        page.open(f"{here}&step={titles.index(name)}")
        page.until(lambda name=name: title(page) == name)
        told = [float(text.replace("−", "-")) for text in page.texts(".numbers span")]
        expected = seen.arrays[array].ravel()
        np.testing.assert_allclose(told[-len(expected) :], expected, atol=0.00051)


def test_a_model_that_has_no_way_says_so(page: Page, runs: Path) -> None:
    write_classifier(runs / "han", "han-2016")
    page.open("#/run/han/way?text=a+cab")
    page.says("[role=alert]", "There is no way of a single token to show")
    assert page.texts(".links [data-view]") == ["Classify", "Training"]
    shutil.rmtree(runs / "han")
