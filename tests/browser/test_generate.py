"""Generate: a decoder writes on token by token, and can be looked at; all of a long text is drawn on a canvas."""

from __future__ import annotations

import json
import urllib.request
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pytest

from regard.look import Look, Subject, look, open_run
from tests.browser.page import HALF, Keys, Page

PROMPT = "a cab did"
HERE = f"#/run/decoder/translate?text={PROMPT.replace(' ', '+')}"
LONG = "the quick brown fox jumps over the lazy dog and then it rests a while"


@pytest.fixture(scope="module")
def decoder(runs: Path) -> Subject:
    return open_run(runs / "decoder")


def streamed(address: str, **body: Any) -> list[dict[str, Any]]:
    """The lines of the API's stream."""
    data = json.dumps({"run": "decoder", "prompt": PROMPT, **body}).encode()
    request = urllib.request.Request(f"{address}api/generate", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=30) as answer:
        return [json.loads(line) for line in answer]


def test_a_decoder_streams_the_tokens_of_the_api(page: Page, address: str) -> None:
    page.open(HERE)
    page.one(".matrix .cell")
    page.js("""
        const fetched = window.fetch;  // every line by itself, however quickly they come here
        window.fetch = async (...asked) => {
            const answer = await fetched(...asked);
            let rest = "";
            const apart = new TransformStream({
                async transform(chunk, controller) {
                    const lines = (rest + new TextDecoder().decode(chunk)).split("\\n");
                    rest = lines.pop();
                    for (const line of lines) {
                        controller.enqueue(new TextEncoder().encode(line + "\\n"));
                        await new Promise((done) => setTimeout(done, 5));
                    }
                },
            });
            return new Response(answer.body.pipeThrough(apart), answer);
        };
        window.batches = 0;
        new MutationObserver(() => (window.batches += 1)).observe(
            document.querySelector(".stream"), { childList: true });
    """)
    *tokens, last = streamed(address, max_tokens=40, temperature=0.8, seed=0)
    page.click("Write on")
    page.says(".status", {"end": "It wrote its end", "max_tokens": "as many tokens as it may"}[last["reason"]])
    written = page.js("return [...document.querySelectorAll('.streamed')].map((one) => one.textContent)")
    assert written == [one["token"] for one in tokens]
    assert len(written) > 5
    kept = parse_qs(page.js("return location.hash").partition("?")[2])
    assert {name: kept[name] for name in ("temperature", "top_k", "top_p", "seed", "max_tokens")} == {
        **{"temperature": ["0.8"], "top_k": ["0"], "top_p": ["1"], "seed": ["0"], "max_tokens": ["40"]}
    }
    assert page.js("return window.batches") > 2  # they came one after the other, not all at once


def test_another_seed_writes_something_else(page: Page, address: str) -> None:
    page.open(f"{HERE}&max_tokens=12")
    page.one(".matrix .cell")
    page.write("Seed", "7")
    page.click("Write on")
    *tokens, _ = streamed(address, max_tokens=12, temperature=0.8, seed=7)
    page.until(lambda: page.texts(".streamed") == [one["token"].strip() for one in tokens])


def test_what_was_written_is_looked_at(page: Page, decoder: Subject, address: str) -> None:
    page.open(f"{HERE}&max_tokens=8&layer=decoder.1.self&head=2&units=tokens")
    page.drawn(look(decoder, PROMPT).arrays["decoder.1.self"][2])
    page.click("Write on")
    *_, last = streamed(address, max_tokens=8, temperature=0.8, seed=0)
    page.drawn(look(decoder, PROMPT + last["text"]).arrays["decoder.1.self"][2])


def test_tokens_are_merged_to_words_as_the_library_does(page: Page, decoder: Subject) -> None:
    seen = look(decoder, PROMPT)
    page.open(f"{HERE}&layer=decoder.0.self&head=3")
    drawn = page.until(page.matrix)
    words = [drawn.rows.index(word) for word in PROMPT.split()]
    columns = [drawn.columns.index(word) for word in PROMPT.split()]
    expected = seen.map("decoder.0.self", 3, words=True).weights
    np.testing.assert_allclose(drawn.weights[np.ix_(words, columns)], expected, **HALF)
    assert len(seen.sides["text"].tokens) > len(drawn.rows)
    np.testing.assert_allclose(drawn.weights.sum(1), 1, atol=1e-3)  # nothing is lost


def test_switching_a_head_off_is_told_for_a_decoder_too(page: Page, decoder: Subject) -> None:
    page.open(f"{HERE}&layer=decoder.0.self&head=1&units=tokens")
    page.drawn(look(decoder, PROMPT).arrays["decoder.0.self"][1])
    page.field("switch this head off").click()
    silent: Look = look(decoder, PROMPT, without=["decoder.0.self.1"])
    page.says(".changes", "decoder.0.self.1")
    page.choose("Layer", "decoder.1.self")
    page.choose("Head", 0)
    page.drawn(silent.arrays["decoder.1.self"][0])


def test_the_whole_of_a_large_map_is_a_canvas_that_tells_the_same_numbers(page: Page, decoder: Subject) -> None:
    seen = look(decoder, LONG).arrays["decoder.0.self"][0]
    assert seen.size > 2500
    page.open(f"#/run/decoder/translate?text={LONG.replace(' ', '+')}&layer=decoder.0.self&head=0&units=tokens")
    page.one(".matrix")
    page.click("Whole", ".matrix")
    for canvas in ('.matrix[data-mode="canvas"] .matrix-frame canvas', ".matrix .overview canvas"):
        pixels = page.pixels(canvas)
        assert pixels.shape == seen.shape
        assert (np.diff(pixels.flatten()[np.argsort(seen, axis=None)]) <= 0).all()
    page.js("document.querySelector('.matrix-picture').focus()")
    page.press(Keys.ARROW_DOWN)  # begins at the strongest
    page.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT)
    row, column = (int(place) for place in np.unravel_index(seen.astype(np.float16).argmax(), seen.shape))
    value = float(page.text(".matrix .told").rsplit(": ", 1)[1])
    assert value == pytest.approx(seen[row + 1, column + 1], abs=0.0051)
    assert len(page.texts(".matrix text.word.lit")) == 2


def test_it_begins_with_a_prompt_of_its_validation_as_a_person_would_give_it(page: Page, runs: Path) -> None:
    sample = {"source": " a fox⏎ and", "output": " b", "reference": " c", "prompt": "a fox\nand"}
    lines = [
        {"event": "validation", "step": 1, "metrics": {"loss": 1.0}, "samples": [sample]},
        {"event": "end", "step": 1, "reason": "all steps done"},
    ]
    (runs / "decoder" / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page.open("#/run/decoder/translate")
    page.until(lambda: page.value("Prompt") == "a fox\nand")
    (runs / "decoder" / "metrics.jsonl").unlink()
