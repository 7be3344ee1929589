"""Looking at what reads with recurrent layers: taggers, what answers, biLMs; with attention or without."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.look import Look, Subject, look, open_run, way
from regard.look.capture import described
from regard.look.importance import importance
from regard.models import BiLMModel, FewShot, Tagger
from regard.tasks.answering.answerer import Answerer
from regard.tasks.pretraining.bilm import ContextVectors
from regard.tasks.tagging.tagger import WordTagger
from tests.conftest import Say
from tests.helpers import encoder
from tests.untrained import BILM, PAIR, RECURRENT, TEXT, write_recurrent

LAYERS = {"lstm": [], "lstmn": ["encoder.0.self", "encoder.1.self"], "elmo": []}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recurrent")
    for name, reader in RECURRENT.items():
        write_recurrent(folder / name, Tagger(reader=reader), "tag")
        write_recurrent(folder / f"answer-{name}", Tagger(reader=reader), "answer")
        write_recurrent(folder / f"bare-{name}", reader, "similar")
    write_recurrent(folder / "bilm", BILM, "bilm")
    write_recurrent(folder / "few-shot", FewShot(reader=RECURRENT["lstm"]), "fewshot")
    return folder


# --- taggers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", RECURRENT)
def test_words_are_marked_with_their_tags(home: Path, name: str) -> None:
    subject = open_run(home / name)
    seen = look(subject, TEXT)
    tagger = WordTagger(subject.model, subject.tokenizer, subject.labels, 64)  # type: ignore[arg-type]
    assert seen.marks is not None
    assert [(one.text, one.label) for one in seen.marks] == tagger(TEXT)
    (scores,) = tagger.scores([[one.text for one in seen.marks]])
    sure = scores.softmax(-1).amax(-1).tolist()
    assert [one.probability for one in seen.marks] == pytest.approx(sure, abs=1e-6)
    assert (seen.family, seen.predictions, seen.lens, seen.rollout) == ("encoder", [], None, [])
    assert library.load(home / name).look(TEXT).plain() == seen.plain()
    assert Look.from_bytes(seen.to_bytes()).plain() == seen.plain()


@pytest.mark.parametrize("name", RECURRENT)
def test_attention_is_shown_where_a_reader_has_some(home: Path, name: str) -> None:
    subject = open_run(home / name)
    seen = look(subject, TEXT)
    with library.watch(subject.model) as watched, torch.no_grad():
        subject.model(torch.tensor([seen.written.ids]))
    assert [layer.name for layer in seen.layers] == list(watched) == LAYERS[name]
    for layer in seen.layers:
        np.testing.assert_allclose(seen.arrays[layer.name], watched.last(layer.name)[0].numpy(), atol=1e-6)
        assert (layer.rows, layer.columns) == ("text", "text")


def test_a_silent_head_changes_what_is_said_of_words(home: Path) -> None:
    subject = open_run(home / "lstmn")
    whole, less = look(subject, TEXT), look(subject, TEXT, without=["encoder.0.self.0"])
    assert less.changes is not None
    assert less.changes.before == " ".join(f"{one.text}/{one.label}" for one in whole.marks or [])
    assert less.changes.log_prob != less.changes.before_log_prob


def test_without_attention_there_is_no_head_to_silence_or_to_weigh(home: Path) -> None:
    subject = open_run(home / "lstm")
    with pytest.raises(ValueError, match=r"'0\.0' names no head: this model has no attention"):
        look(subject, TEXT, without=["0.0"])
    assert importance(subject, look(subject, TEXT)) == {}


@pytest.mark.parametrize("name", RECURRENT)
def test_an_answer_is_marked_as_it_is_found(home: Path, name: str) -> None:
    subject = open_run(home / f"answer-{name}")
    seen = look(subject, "Who runs?", second=TEXT)
    answerer = Answerer(subject.model, subject.tokenizer, 64, 16)  # type: ignore[arg-type]
    found = answerer("Who runs?", TEXT)
    (mark,) = seen.marks or []
    assert mark.text == found.text
    assert mark.probability == pytest.approx(found.score if found.text else 1 - found.score, abs=1e-5)
    assert answerer.look("Who runs?", TEXT).plain() == seen.plain()


# --- a biLM -----------------------------------------------------------------------------------------------------------


def test_each_direction_expects_what_it_learnt_to(home: Path) -> None:
    """Forwards all tokens but the start, backwards all but the end: the losses are those of validation."""
    subject = open_run(home / "bilm")
    seen = look(subject, TEXT)
    assert isinstance(subject.model, BiLMModel)
    ids = seen.written.ids
    assert [(one.place, one.id) for one in seen.predictions] == list(enumerate(ids))[1:]
    assert [(one.place, one.id) for one in seen.backward] == list(enumerate(ids))[:-1]
    reader = ContextVectors(subject.model, subject.tokenizer)
    means = [-np.mean([np.log(one.probability) for one in way]) for way in (seen.predictions, seen.backward)]
    assert means == pytest.approx(reader.losses([TEXT]), abs=1e-5)
    with torch.no_grad():
        logits = subject.model(torch.tensor([ids]))[0]  # (T, 2, V)
    best = [one.best[0].id for one in seen.predictions], [one.best[0].id for one in seen.backward]
    assert best == (logits[:-1, 0].argmax(-1).tolist(), logits[1:, 1].argmax(-1).tolist())
    assert library.load(home / "bilm").look(TEXT).plain() == seen.plain()
    assert Look.from_bytes(seen.to_bytes()).plain() == seen.plain()


def test_a_direction_knows_nothing_of_the_other_side(home: Path) -> None:
    subject = open_run(home / "bilm")
    one, other = (look(subject, f"The film is {word} dog.") for word in ("a", "one"))
    at = [place for place, (a, b) in enumerate(zip(one.written.ids, other.written.ids, strict=True)) if a != b]
    assert len(at) == 1
    same = [
        [a.best == b.best for a, b in zip(*both, strict=True)]
        for both in ((one.predictions, other.predictions), (one.backward, other.backward))
    ]
    assert [ahead.place for ahead, alike in zip(one.predictions, same[0], strict=True) if alike] == [
        *range(1, at[0] + 1)
    ]
    assert [back.place for back, alike in zip(one.backward, same[1], strict=True) if alike] == [
        *range(at[0], len(one.backward))
    ]


def test_others_expect_nothing_from_behind(home: Path) -> None:
    assert look(open_run(home / "lstm"), TEXT).backward == []


# --- what is refused, and what is not ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["bare-lstm", "bare-elmo", "few-shot"])
def test_what_shows_nothing_of_tokens_cannot_be_looked_at(home: Path, name: str) -> None:
    with pytest.raises(ValueError, match="without an encoder cannot be looked at yet"):
        look(open_run(home / name), TEXT)


def test_a_reader_by_itself_shows_its_attention(home: Path) -> None:
    seen = look(open_run(home / "bare-lstmn"), TEXT)
    assert ([layer.name for layer in seen.layers], seen.marks, seen.family) == (LAYERS["lstmn"], None, "encoder")


@pytest.mark.parametrize("name", [*RECURRENT, "bilm"])
def test_there_are_no_blocks_to_follow_a_token_through(home: Path, name: str) -> None:
    with pytest.raises(ValueError, match="has no blocks to follow a token through"):
        way(open_run(home / name), TEXT)


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("lstm", {"mask": [0]}, "of kind 'tagger' finds no masked words"),
        ("bilm", {"mask": [0]}, "of kind 'bilm' finds no masked words"),
        ("lstm", {"second": PAIR[1]}, "reads one text at a time"),
        ("bilm", {"second": PAIR[1]}, "reads one text at a time"),
        ("bilm", {"target": PAIR[1]}, "writes no target"),
    ],
)
def test_what_they_cannot_do_is_said(home: Path, name: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        look(open_run(home / name), PAIR[0], **options)  # type: ignore[arg-type]


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*RECURRENT, "bilm"])
def test_the_command_line_looks_at_them(home: Path, regard: Say, tmp_path: Path, name: str) -> None:
    run, file = home / name, tmp_path / "page.html"
    seen = look(open_run(run), TEXT)
    told = f"{' '.join(f'{one.text}/{one.label}' for one in seen.marks)}\n" if seen.marks else ""
    assert regard("look", run, TEXT, "--out", file) == (0, f"{file}\n", told)
    assert 'class="look"' in file.read_text(encoding="utf-8")
    code, out, _ = regard("look", run, TEXT, "--json", "--importance" if not seen.layers else "--words")
    assert code == 0
    expected = {**seen.to_dict(), **({} if seen.layers else {"importance": {}})}
    assert json.loads(out) == json.loads(json.dumps(expected))


def test_a_picture_of_no_attention_is_refused(home: Path, regard: Say, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    code, _, err = regard("look", home / "lstm", TEXT, "--png", tmp_path / "map.png")
    assert code == 2
    assert "this model has no attention to draw" in err


def test_what_attends_to_several_texts_at_once_is_refused_in_a_sentence(home: Path) -> None:
    model = FewShot(reader=encoder()).build()
    subject = Subject(model, open_run(home / "lstm").tokenizer)
    with pytest.raises(ValueError, match="'few-shot' attends to several texts at once"):
        described(subject, model.attention_names()[-1], 1)
