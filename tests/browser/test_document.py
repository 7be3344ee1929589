"""A classified text on a page: its labels, its sentences and its words are shaded by what the model attends to."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from regard.look import Look, look, open_run
from regard.look.page import page as html_of
from tests.browser.page import Page
from tests.conftest import Say
from tests.untrained import TEXT, write_classifier


def opened(page: Page, say: Say, folder: Path, preset: str, **changes: object) -> Look:
    run = write_classifier(folder / "run", preset, **changes)
    assert say("look", run, TEXT, "--out", folder / "page.html")[0] == 0
    page.open((folder / "page.html").as_uri())
    page.one(".document")
    return look(open_run(run), TEXT)


def shares(page: Page, selector: str) -> list[float]:
    return [float(str(one.get_attribute("title")).split(":")[-1].strip(" %<")) / 100 for one in page.all(selector)]


def test_sentences_and_words_are_shown_with_their_shares(page: Page, regard: Say, tmp_path: Path) -> None:
    seen = opened(page, regard, tmp_path, "han-2016")
    assert page.one("h1").text == seen.verdicts[0].label
    assert [one.text for one in page.all(".verdicts .name")] == [one.label for one in seen.verdicts]
    assert len(page.all(".weighed")) == 3
    sentences = seen.arrays["pool.1.sentences"][0, 0]
    assert shares(page, ".weight") == pytest.approx(sentences.tolist(), abs=0.006)
    assert [one.text for one in page.all(".word")] == TEXT.split()
    found = sorted(shares(page, ".word"), reverse=True)
    assert found == pytest.approx([share for _, share in seen.salient()], abs=0.006)
    assert page.all(".boards > div")[1].text.split()[5] == seen.salient()[0][0]
    assert not page.all(".head")


def test_a_flat_classifier_shows_running_text_and_its_words(page: Page, regard: Say, tmp_path: Path) -> None:
    opened(page, regard, tmp_path, "classifier")
    assert not page.all(".weighed")
    assert len(page.all(".word")) == len(TEXT.split())
    assert sum(shares(page, ".word")) > 0.5


def test_a_model_without_attention_still_says_what_a_text_is(page: Page, regard: Say, tmp_path: Path) -> None:
    seen = opened(page, regard, tmp_path, "classifier", pool="mean")
    assert page.one("h1").text == seen.verdicts[0].label
    assert "without attention" in page.one(".document .hint").text


def test_what_is_neither_a_label_nor_a_score_is_said_in_words(page: Page, regard: Say, tmp_path: Path) -> None:
    run = write_classifier(tmp_path / "run", "classifier")
    seen = look(replace(open_run(run), says=lambda logits: ("about seven", [])), TEXT)
    (tmp_path / "page.html").write_text(html_of(seen), encoding="utf-8")
    page.open((tmp_path / "page.html").as_uri())
    assert page.one("h1").text == page.one(".verdicts .large").text == "about seven"
    assert len(page.all(".word")) == len(TEXT.split())


@pytest.mark.parametrize("width", [1280, 400])
def test_a_text_never_scrolls_sideways(page: Page, regard: Say, tmp_path: Path, width: int) -> None:
    page.resize(width)
    opened(page, regard, tmp_path, "han-2016")
    inside, outside = page.js("const d = document.documentElement; return [d.scrollWidth, d.clientWidth]")
    assert inside <= outside
