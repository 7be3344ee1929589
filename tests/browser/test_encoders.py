"""Encoders in the browser: pairs with their texts apart, answers, tags, masks, what [CLS] reads, HAN beside BERT."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pytest

from regard.look import look, open_run
from regard.studio.app import make_app
from tests.browser.page import Keys, Page
from tests.conftest import Say
from tests.studio.serving import serving
from tests.untrained import PAIR, TEXT, write_classifier, write_reader

# How high the bar of each token is, in pixels; a copy is read, as in page.py.
BARS = """
    const { width, height } = arguments[0];
    const copy = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(arguments[0], 0, 0);
    const { data } = copy.getImageData(0, 0, width, height);
    const filled = (x) => Array.from({ length: height }, (_, y) => data[4 * (y * width + x) + 3] / 255);
    return Array.from({ length: width / 4 }, (_, place) => filled(4 * place).filter((alpha) => alpha > 0.1).length);
"""
BOTH = urlencode({"text": PAIR[0], "second": PAIR[1]})


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("encoders") / "runs"
    write_reader(folder / "pair", "pair")
    write_reader(folder / "mlm", "mlm")
    write_reader(folder / "bert", "classify")
    write_reader(folder / "answer", "answer")
    write_reader(folder / "tag", "tag")
    write_classifier(folder / "han", "han-2016")
    return folder


@pytest.fixture(scope="module")
def address(runs: Path) -> Iterator[str]:
    with serving(make_app(runs)) as served:
        yield f"http://127.0.0.1:{served.port}/"


def fits(page: Page) -> None:
    inside, outside = page.js("const d = document.documentElement; return [d.scrollWidth, d.clientWidth]")
    assert inside <= outside


def test_a_pair_begins_with_a_sample_of_its_validation(page: Page, runs: Path) -> None:
    sample = {"source": " | ".join(PAIR), "output": "no", "reference": "yes", "first": PAIR[0], "second": PAIR[1]}
    lines = [
        {"event": "validation", "step": 1, "metrics": {"loss": 1.0}, "samples": [sample]},
        {"event": "end", "step": 1, "reason": "all steps done"},
    ]
    (runs / "pair" / "metrics.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    page.open("#/run/pair/translate")
    page.one(".verdicts .name")
    assert (page.value("First text"), page.value("Second text")) == PAIR
    (runs / "pair" / "metrics.jsonl").unlink()


def test_one_text_of_a_pair_looking_at_the_other_is_singled_out(page: Page, runs: Path) -> None:
    seen = look(open_run(runs / "pair"), PAIR[0], second=PAIR[1])
    side = seen.sides["text"]
    page.open(f"#/run/pair/translate?{BOTH}&layer=encoder.1.self&head=1&units=tokens")
    page.drawn(seen.arrays["encoder.1.self"][1])
    assert len(page.all(".matrix .breaks line")) == 2
    assert page.texts(".verdicts .name") == [one.label for one in seen.verdicts]
    first, second = ([place for place, text in enumerate(side.text_of) if text == number] for number in (0, 1))
    page.choose("From text to text", "01")
    drawn = page.drawn(seen.arrays["encoder.1.self"][1][np.ix_(first, second)])
    assert not page.all(".matrix .breaks line")
    assert drawn.rows[0] == side.tokens[first[0]]
    assert "texts=01" in page.js("return location.hash")
    share = seen.arrays["encoder.1.self"][1][np.ix_(first, second)].sum(1).mean()
    chosen = page.js("return document.querySelector('select[name=texts]').selectedOptions[0].textContent")
    assert float(chosen.split(":")[1].strip(" %")) == pytest.approx(100 * share, abs=0.51)
    page.resize(400)
    fits(page)


def test_heads_of_a_pair_are_shown_with_the_texts_apart(page: Page, runs: Path) -> None:
    page.open(f"#/run/pair/heads?{BOTH}&texts=10&layer=encoder.0.self&head=0&units=tokens")
    page.one(".stroke")
    side = look(open_run(runs / "pair"), PAIR[0], second=PAIR[1]).sides["text"]
    assert len(page.all(".head")) == 4
    assert len(page.all(".head .cut")) == 8
    assert len(page.all(".lines .pickable")) == side.text_of.count(1)
    page.choose("From text to text", "")
    page.until(lambda: len(page.all(".lines .pickable")) == len(side.tokens))
    page.write("Second text", "A dog.")
    page.until(lambda: len(page.all(".lines .pickable")) < len(side.tokens))


def test_a_clicked_word_is_masked_and_its_likeliest_words_are_shown(page: Page, runs: Path) -> None:
    subject = open_run(runs / "mlm")
    page.open(f"#/run/mlm/translate?{urlencode({'text': PAIR[0]})}")
    page.one(".plain-word")
    page.all(".plain-word")[1].click()
    page.one("button.masked-word")
    seen = look(subject, PAIR[0], mask=[1], best=8)
    assert seen.masks is not None
    shown = page.texts(".masks .alternatives:first-child .name")
    found = seen.predictions[seen.masks[0].place]
    assert shown[:8] == [one.token.removeprefix("##") for one in found.best]
    assert (len(shown) == 9) == (found.rank > 8)
    assert "mask=1" in page.js("return location.hash")
    page.all("button.masked-word")[0].click()
    page.until(lambda: not page.all(".masks"))


def test_the_answer_is_underlined_in_its_text(page: Page, runs: Path) -> None:
    page.open(f"#/run/answer/translate?{urlencode({'text': 'one', 'second': TEXT})}")
    page.one("mark.answer")
    (mark,) = look(open_run(runs / "answer"), "one", second=TEXT).marks or []
    assert " ".join(page.texts("mark.answer")).strip(".!") == mark.text
    assert page.texts(".marks .large b") == [mark.text]
    assert " ".join(page.texts(".marked-text")) == TEXT
    page.resize(400)
    fits(page)


def test_words_stand_above_their_tags(page: Page, runs: Path) -> None:
    page.open(f"#/run/tag/translate?{urlencode({'text': TEXT})}")
    page.one(".tagged")
    marks = look(open_run(runs / "tag"), TEXT).marks or []
    assert page.texts(".tagged") == [f"{one.text} {one.label}" for one in marks]
    page.resize(400)
    fits(page)


def test_masks_that_are_written_stand_on_a_page_on_disk(page: Page, regard: Say, runs: Path, tmp_path: Path) -> None:
    text = "The [MASK] runs <mask>."
    assert regard("look", runs / "mlm", text, "--out", tmp_path / "page.html")[0] == 0
    page.open((tmp_path / "page.html").as_uri())
    page.one(".masks .bar")
    seen = look(open_run(runs / "mlm"), text)
    assert seen.masks is not None
    best = [seen.predictions[one.place].best[0] for one in seen.masks]
    assert [name.split()[0] for name in page.texts(".masks .alternatives li:first-child .name")] == [
        one.token.removeprefix("##") for one in best
    ]
    assert page.all("mark.masked-word")
    assert not page.all("button.plain-word")
    assert len(page.all(".start-head")) == 4


def test_what_the_first_token_reads_is_opened_by_keyboard(page: Page, runs: Path) -> None:
    seen = look(open_run(runs / "pair"), PAIR[0], second=PAIR[1])
    page.open(f"#/run/pair/translate?{BOTH}&units=tokens")
    page.one(".start-head")
    row = seen.arrays["encoder.1.self"][1][0]
    page.tab_to(".start-head")
    page.press(Keys.ARROW_RIGHT, Keys.ARROW_DOWN)
    page.says(".starts-place .told", "encoder.1.self, head 1: ")
    page.says(".starts-place .told", f"{seen.sides['text'].tokens[int(row.argmax())].strip()} {row.max():.2f}, ")
    page.press(Keys.ENTER)
    drawn = page.drawn(seen.arrays["encoder.1.self"][1], ".matrix-place .matrix")
    assert drawn.lit == [seen.sides["text"].tokens[0]]
    words = [place for place, text in enumerate(seen.sides["text"].text_of) if text is not None]
    full = max(seen.arrays[layer.name][:, 0, words].max() for layer in seen.layers)
    canvas = page.one('.start-head[data-layer="encoder.1.self"][data-head="1"] canvas')
    assert page.js(BARS, canvas) == pytest.approx((40 * np.minimum(row / full, 1)).tolist(), abs=1.01)


def test_a_hierarchical_model_stands_beside_an_encoder_on_one_text(page: Page, runs: Path) -> None:
    looks = [look(open_run(runs / name), TEXT) for name in ("han", "bert")]
    page.open(f"#/compare/han/bert?{urlencode({'text': TEXT})}")
    page.one(".documents .word")
    assert page.texts(".verdicts .name") == [one.label for seen in looks for one in seen.verdicts]
    assert len(page.all(".weighed")) == 3
    moved = [float(str(one.get_attribute("data-moved"))) for one in page.all(".documents .word")]
    shares = [seen.sides["text"].by_words() @ seen.arrays["shares"].reshape(-1) for seen in looks]
    expected = shares[0] / shares[0].sum() - shares[1] / shares[1].sum()
    assert moved == pytest.approx(expected.tolist(), abs=2e-3)
    assert not page.all(".matrix")  # one of the two has no map to subtract
    page.resize(400)
    fits(page)
    with page.redrawn(".documents"):
        page.prefer("dark")
    fits(page)


def test_a_pair_that_is_not_whole_is_asked_for(page: Page) -> None:
    page.open("#/run/pair/translate?text=A+dog")
    page.says(".status", "Type the second text")
    assert not page.all(".look-view:not([hidden])")
