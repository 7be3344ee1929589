"""Translate: type, see the translation, and see where each word looks, with the numbers of the API and the library."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from regard.decoding import Decoding
from regard.look import Look, Subject, look
from regard.tasks.writing.translation import load_translator
from tests.browser.conftest import Ask
from tests.browser.page import ALL, HALF, Keys, Page
from tests.untrained import write_translator

TEXT = "six deux trois un"
HERE = f"#/run/good/translate?text={TEXT.replace(' ', '+')}"


@pytest.fixture(scope="module")
def seen(subject: Subject) -> Look:
    return look(subject, TEXT)


def number(told: str) -> float:
    """ "one ← un: 0.42" → 0.42"""
    return float(re.findall(r": ([\d.e-]+)$", told)[0])


def test_a_typed_sentence_is_translated_as_the_library_does(page: Page, runs: Path) -> None:
    page.open("#/run/good/translate")
    example = page.until(lambda: page.value("Translation"))
    best = load_translator(runs / "good").translate([TEXT], Decoding(beam=4, nbest=4))[0]
    assert best[0].text != example
    page.write("Sentence", TEXT)
    page.until(lambda: page.value("Translation") == best[0].text)
    page.until(lambda: page.texts(".alternative") == [one.text for one in best])
    scores = [float(text.replace("−", "-")) for text in page.texts(".alternatives-list .number")]
    np.testing.assert_allclose(scores, [one.score for one in best], atol=0.0051)
    assert "log-probabilities a token" in page.text(".tree ~ .hint, .card:has(.tree) .hint")
    (shown,) = re.findall(r"Log-probability a token ([−\d.]+)", page.text(".look-grid"))
    assert shown == page.texts(".alternatives-list .number")[0], "the list and the card beside it have one unit"


@pytest.fixture
def silent(runs: Path) -> Iterator[str]:
    """A run whose likeliest translation is an empty one."""
    write_translator(runs / "silent", runs / "good", 9.0)
    yield "silent"
    shutil.rmtree(runs / "silent")


def test_an_empty_translation_is_shown_as_one_and_others_can_be_chosen(page: Page, runs: Path, silent: str) -> None:
    best = load_translator(runs / silent).translate([TEXT], Decoding(beam=4, nbest=4))[0]
    assert best[0].text == ""
    page.open(f"#/run/{silent}/translate?text={TEXT.replace(' ', '+')}")
    page.until(lambda: page.texts(".alternative") == [one.text or "(nothing)" for one in best])
    assert page.value("Translation") == ""
    assert page.field("Translation").get_attribute("placeholder") == "(nothing)"
    page.until(lambda: len(page.all(".chip")) == 1)  # how likely it ends
    page.all(".alternative")[1].click()
    page.until(lambda: page.value("Translation") == best[1].text)
    page.all(".alternative")[0].click()
    page.until(lambda: page.value("Translation") == "" and len(page.all(".chip")) == 1)
    assert not page.all(".status.wrong")


def test_line_breaks_come_back_in_the_box(page: Page, runs: Path) -> None:
    text = "six deux\ntrois un"
    page.open("#/run/good/translate?text=six+deux%0Atrois+un")
    page.until(lambda: page.value("Translation") == load_translator(runs / "good")(text))
    page.says("main", "2 parts")


def test_every_cell_is_the_apis_weight_which_is_the_librarys(page: Page, ask: Ask, seen: Look) -> None:
    answer = ask("look", run="good", text=TEXT)
    assert set(answer["arrays"]) == set(seen.arrays)
    for name, array in seen.arrays.items():
        np.testing.assert_allclose(answer["arrays"][name], array, atol=1e-6, err_msg=name)
    page.open(HERE)
    drawn = page.drawn(np.array(answer["arrays"]["alignment"][0]))
    assert drawn.rows == answer["sides"]["target"]["words"]
    assert drawn.columns == TEXT.split()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_stronger_a_weight_the_farther_its_cell_is_from_the_ground(page: Page, seen: Look, theme: str) -> None:
    page.prefer(theme)
    page.open(f"{HERE}&layer=decoder.0.self&head=0&units=tokens")
    drawn = page.drawn(seen.arrays["decoder.0.self"][0])
    shades = drawn.lightness.flatten()[np.argsort(drawn.weights, axis=None)]
    steps, least = (np.diff(shades), shades[0]) if theme == "dark" else (-np.diff(shades), 255 - shades[0])
    assert (steps >= 0).all()
    assert least < 60  # of 255: no weight is hardly seen
    assert np.ptp(shades) > 60


def test_pointing_at_a_cell_lights_up_both_its_words(page: Page, seen: Look) -> None:
    page.open(HERE)
    drawn = page.drawn(seen.arrays["alignment"][0])
    assert drawn.lit == []
    page.hover('.cell[data-row="2"][data-column="1"]')
    lit = page.until(lambda: (now := page.matrix()) and now.lit and now)
    assert lit.lit == [drawn.rows[2], drawn.columns[1]]
    assert lit.told.startswith(f"{drawn.rows[2]} ← {drawn.columns[1]}: ")
    assert number(lit.told) == pytest.approx(drawn.weights[2, 1], rel=0.5, abs=0.005)
    assert page.texts(".cell.lit") == [""]
    page.leave()
    page.until(lambda: (now := page.matrix()) and not now.lit)


@pytest.mark.parametrize(("side", "place"), [("row", 1), ("column", 3)])
def test_pointing_at_a_word_tells_where_it_looks_or_who_looks_at_it(
    page: Page, seen: Look, side: str, place: int
) -> None:
    page.open(HERE)
    drawn = page.drawn(seen.arrays["alignment"][0])
    page.hover(f'.matrix text.word[data-{side}="{place}"]')
    own, others, weights = {
        "row": (drawn.rows, drawn.columns, drawn.weights[place]),
        "column": (drawn.columns, drawn.rows, drawn.weights[:, place]),
    }[side]
    lit = page.until(lambda: (now := page.matrix()) and now.lit and now)
    assert lit.lit == [own[place]]
    strongest = re.findall(r"[←→] (\S+) ", lit.told)
    assert strongest == [others[int(weights.argmax())]]


def test_every_layer_and_head_shows_its_own_numbers(page: Page, seen: Look) -> None:
    page.open(f"{HERE}&units=tokens")
    page.drawn(seen.arrays["alignment"][0])
    for layer in seen.layers:
        page.choose("Layer", layer.name)
        page.choose("Head", "")
        drawn = page.drawn(seen.arrays[layer.name].mean(0))
        assert drawn.columns == seen.sides[layer.columns].tokens
        for head in range(layer.heads):
            page.choose("Head", head)
            assert page.drawn(seen.arrays[layer.name][head]).label == f"{layer.name}, head {head}"
    for entry in seen.rollout:
        page.choose("Layer", entry.name)
        page.drawn(seen.arrays[entry.name][0])


def test_the_address_keeps_what_is_looked_at(page: Page, seen: Look) -> None:
    page.open(HERE)
    page.drawn(seen.arrays["alignment"][0])
    page.choose("Layer", "encoder.0.self")
    page.choose("Head", 1)
    page.drawn(seen.arrays["encoder.0.self"][1])
    page.driver.refresh()
    assert page.drawn(seen.arrays["encoder.0.self"][1]).label == "encoder.0.self, head 1"


def test_the_weights_follow_an_edited_target(page: Page, subject: Subject, seen: Look) -> None:
    page.open(f"{HERE}&layer=decoder.0.cross&head=0")
    page.drawn(seen.arrays["decoder.0.cross"][0])
    page.write("Translation", "six six five")
    forced = look(subject, TEXT, "six six five")
    drawn = page.drawn(forced.arrays["decoder.0.cross"][0])
    assert [word for word in drawn.rows if word in "six six five".split()] == ["six", "six", "five"]
    probabilities = [float(chip.get_attribute("data-probability")) for chip in page.all(".chip")]
    np.testing.assert_allclose(probabilities, [one.probability for one in forced.predictions], rtol=1e-4)
    page.click("Let the model write again")
    page.drawn(seen.arrays["decoder.0.cross"][0])
    assert page.value("Translation") == seen.written.text


def test_switching_heads_off_shows_what_changes(page: Page, subject: Subject, seen: Look) -> None:
    page.open(f"{HERE}&layer=decoder.0.cross&head=0")
    page.drawn(seen.arrays["decoder.0.cross"][0])
    assert page.all(".changes") == []
    page.field("switch this head off").click()
    page.says(".changes h2", "decoder.0.cross.0")
    page.choose("Head", 1)
    page.field("switch this head off").click()
    page.says(".changes h2", "decoder.0.cross.1")
    silent = look(subject, TEXT, without=["decoder.0.cross.0", "decoder.0.cross.1"])
    assert silent.changes is not None
    assert silent.changes.text != silent.changes.before
    page.drawn(silent.arrays["decoder.0.cross"][1])
    assert page.value("Translation") == silent.changes.text
    shown = page.js(
        "return [...document.querySelector('.changes .large').childNodes].map((n) => [n.nodeName, n.textContent])"
    )
    now = [word for kind, text in shown if kind != "DEL" for word in text.split()]
    before = [word for kind, text in shown if kind != "INS" for word in text.split()]
    assert (" ".join(now), " ".join(before)) == (silent.changes.text, silent.changes.before)
    told = re.findall(r"−?\d+\.\d+", page.text(".changes .hint"))
    assert [float(one.replace("−", "-")) for one in told] == pytest.approx(
        [silent.changes.log_prob, silent.changes.before_log_prob], abs=0.0051
    )
    for name in ("decoder.0.cross.1", "decoder.0.cross.0"):
        page.click(f"{name} ×")
        page.until(lambda name=name: name not in page.text(".changes"))
    page.drawn(seen.arrays["decoder.0.cross"][1])
    assert page.value("Translation") == seen.written.text


def test_gold_links_are_outlined_where_they_are_known(page: Page, ask: Ask) -> None:
    probe = ask("runs/good/playback")["probes"][0]
    seen = ask("look", run="good", text=probe["source"], target=probe["target"])
    page.open(f"#/run/good/translate?text={probe['source']}&target={probe['target']}")
    drawn = page.drawn(np.array(seen["arrays"]["alignment"][0]), **HALF)
    assert drawn.gold == {(s, t) for s, t in seen["alignment"]["gold"]}
    assert len(drawn.gold) == len(probe["source"].split())


def test_an_alternative_of_the_beam_can_be_looked_at(page: Page, subject: Subject) -> None:
    page.open(HERE)
    page.until(lambda: len(page.all(".alternative")) == 4)
    other = page.texts(".alternative")[1]
    page.all(".alternative")[1].click()
    page.until(lambda: page.value("Translation") == other)
    page.drawn(look(subject, TEXT, other).arrays["alignment"][0])


def test_the_tree_can_be_walked_by_keyboard(page: Page, ask: Ask) -> None:
    page.open(HERE)
    page.one(".tree .node")
    tree = ask("translate", run="good", text=TEXT, beam=4, nbest=4, tree=True)["tree"]
    assert len(page.all(".tree .node")) == len(tree["nodes"])
    page.tab_to(".tree .node")
    page.press(Keys.ARROW_RIGHT)
    first = next(node for node in tree["nodes"] if node["parent"] == 0 and 0 in node["hypotheses"])
    page.says(".tree-place .told", f"“{first['token']}”")


def test_an_emptied_sentence_leaves_nothing_behind(page: Page, seen: Look) -> None:
    page.open(HERE)
    page.drawn(seen.arrays["alignment"][0])
    page.field("Sentence").send_keys(*ALL, Keys.BACKSPACE)
    page.says(".status", "Type a sentence")
    page.until(lambda: not page.one(".look-view").is_displayed())
    assert page.value("Translation") == ""


def test_a_long_text_is_looked_at_whole_and_translated_in_parts(page: Page, runs: Path, subject: Subject) -> None:
    page.open(HERE)
    page.one(".tree .node")
    long = "un deux trois quatre cinq six un deux"
    page.write("Sentence", long)
    page.drawn(look(subject, long).arrays["alignment"][0])
    page.says("main", "2 parts")
    assert page.value("Translation") == load_translator(runs / "good")(long)
    assert page.all(".alternative") == []
    assert not page.all(".status.wrong")


def test_alternatives_of_another_sentence_do_not_stay(page: Page) -> None:
    page.open(HERE)
    page.one(".tree .node")
    page.write("Sentence", "un " * 3400)  # longer than what is taken
    page.says(".status.wrong", "10000 characters")
    assert not page.one(".tree").is_displayed()
    assert "422" in " ".join(page.complaints())


def test_an_alternative_without_a_space_stays_inside_its_card(page: Page) -> None:
    """Models that have learnt little repeat themselves without one."""
    page.resize(400, 800)
    page.open("#/run/good/translate?text=un+deux")
    page.one(".alternative")
    page.js("document.querySelector('.alternative').textContent = 's'.repeat(200)")
    right = "return document.querySelector(arguments[0]).getBoundingClientRect().right"
    assert page.js(right, ".alternative") <= page.js(right, ".alternatives-list")
