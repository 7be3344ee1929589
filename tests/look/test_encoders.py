"""Looking at encoders: pairs of texts, masked words, what stands for a whole text, and what a classifier read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.look import Look, Subject, look, open_run, way
from regard.look.importance import importance
from regard.look.parts import Mark
from regard.models import EncoderModel, TaggerModel
from regard.nn.pooling import AttentionPooling, Largest, Mean
from regard.runfolder import Scale
from regard.sides import Label, Score, TwoTexts
from regard.sides.two_texts import pair_tokens
from regard.tasks.answering.answerer import Answerer, TextWindow, read_windows
from regard.tasks.judging.judge import PairJudge
from regard.tasks.pretraining.filling import MaskFiller
from regard.tasks.tagging.tagger import WordTagger
from tests.conftest import Say
from tests.untrained import PAIR, TEXT, write_classifier, write_reader

PRESETS = ("bert-base", "roberta-base", "xlnet-base")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readers")
    for preset in PRESETS:
        for task in ("pair", "mlm", "answer", "classify", "tag"):
            write_reader(folder / f"{task}-{preset}", task, preset)
    write_reader(folder / "headless", None, head=None)
    write_reader(folder / "mean", "classify", pool=Mean())
    write_reader(folder / "attending", "classify", pool=AttentionPooling())
    write_reader(folder / "largest", "classify", pool=Largest())
    write_reader(folder / "scored", "pair", labels=["score"])
    Scale(1.0, 5.0).write(folder / "scored")
    write_classifier(folder / "han", "han-2016")
    return folder


def judge(run: Path) -> PairJudge:
    subject = open_run(run)
    outcome = Label(subject.labels) if subject.scale is None else Score(subject.scale)
    return PairJudge(subject.model, TwoTexts(subject.tokenizer, 64), outcome)  # type: ignore[arg-type]


# --- pairs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_a_pair_is_looked_at_as_it_is_judged(home: Path, preset: str) -> None:
    used = judge(home / f"pair-{preset}")
    seen = look(open_run(home / f"pair-{preset}"), PAIR[0], second=PAIR[1])
    rows, _ = pair_tokens(used.tokenizer, [PAIR], 60)
    with library.watch(used.model) as watched, torch.no_grad():
        used.model(*used.source.batch(rows, used.model))
    assert [layer.name for layer in seen.layers] == list(watched) == ["encoder.0.self", "encoder.1.self"]
    for name in watched:
        np.testing.assert_allclose(seen.arrays[name], watched.last(name)[0].numpy(), atol=1e-6)
    found = {one.label: one.probability for one in seen.verdicts}
    assert [found[label] for label in used.labels] == pytest.approx(used.judge([PAIR])[0].tolist(), abs=1e-6)
    assert used.look(*PAIR).plain() == seen.plain()


@pytest.mark.parametrize(("preset", "between"), [("bert-base", 1), ("roberta-base", 2)])
def test_the_texts_of_a_pair_are_told_apart_inside_the_tokenizers_own_frame(
    home: Path, preset: str, between: int
) -> None:
    subject = open_run(home / f"pair-{preset}")
    side = look(subject, PAIR[0], second=PAIR[1]).sides["text"]
    first, second = subject.tokenizer.encode(PAIR)
    assert side.texts == list(PAIR)
    assert side.text_of == [None, *[0] * len(first), *[None] * between, *[1] * len(second), None]
    assert side.ids == subject.tokenizer.paired(first, second, between == 1)[0].tolist()
    assert side.words == [word for text in PAIR for word in text.split()]
    named = [word for place, word in enumerate(side.word_of) if side.text_of[place] == 1]
    assert sorted({word for word in named if word is not None}) == [4, 5, 6, 7, 8]


def test_segments_are_what_the_encoder_is_told(home: Path) -> None:
    subject = open_run(home / "mlm-bert-base")
    seen = look(subject, PAIR[0], second=PAIR[1])
    assert isinstance(subject.model, EncoderModel)
    first, second = subject.tokenizer.encode(PAIR)
    ids, segments = (torch.from_numpy(row)[None] for row in subject.tokenizer.paired(first, second, segmented=True))
    with torch.no_grad():
        expected = subject.model(ids, segments=segments)[0].log_softmax(-1)
    own = [expected[place, i].exp().item() for place, i in enumerate(seen.written.ids)]
    assert [one.probability for one in seen.predictions] == pytest.approx(own, rel=1e-4)


def test_an_answering_run_is_looked_at_as_it_reads(home: Path) -> None:
    subject = open_run(home / "answer-bert-base")
    seen = look(subject, "Who runs?", second=TEXT)
    answerer = Answerer(subject.model, subject.tokenizer, 64, 16)  # type: ignore[arg-type]
    question, part = subject.tokenizer.encode(["Who runs?", TEXT])
    with library.watch(answerer.model) as watched, torch.no_grad():
        read_windows(answerer.model, answerer.tokenizer, [TextWindow(0, question, part, [])])
    np.testing.assert_allclose(seen.arrays["encoder.1.self"], watched.last("encoder.1.self")[0].numpy(), atol=1e-6)
    assert seen.family == "encoder"
    assert answerer.look("Who runs?", TEXT).plain() == seen.plain()


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("question", ["Who runs?", "Is it a dog?", "long film", "one", "awful?", "home!", "is"])
def test_the_answer_is_marked_where_it_stands(home: Path, preset: str, question: str) -> None:
    subject = open_run(home / f"answer-{preset}")
    seen = look(subject, question, second=TEXT)
    found = Answerer(subject.model, subject.tokenizer, 64, 16)(question, TEXT)  # type: ignore[arg-type]
    assert seen.marks is not None
    (mark,) = seen.marks
    assert mark.text == found.text
    assert mark.label == ("answer" if found.text else "no answer")
    assert mark.probability == pytest.approx(found.score if found.text else 1 - found.score, abs=1e-5)
    spelt = subject.tokenizer.decode(seen.sides["text"].ids[mark.first : mark.last + 1])
    assert spelt.strip().lower() == found.text.lower()


@pytest.mark.parametrize("preset", PRESETS)
def test_that_there_is_no_answer_is_marked_at_the_start(home: Path, preset: str) -> None:
    subject = open_run(home / f"answer-{preset}")
    assert isinstance(subject.model, TaggerModel)
    torch.nn.init.zeros_(subject.model.out.weight)  # no span is better than none
    torch.nn.init.zeros_(subject.model.out.bias)
    seen = look(subject, "Who runs?", second=TEXT)
    assert seen.marks == [Mark(seen.start, seen.start, "no answer", 0.5, "")]  # type: ignore[arg-type]


@pytest.mark.parametrize("preset", PRESETS)
def test_words_are_marked_with_their_tags(home: Path, preset: str) -> None:
    subject = open_run(home / f"tag-{preset}")
    seen = look(subject, TEXT)
    tagger = WordTagger(subject.model, subject.tokenizer, subject.labels, 64)  # type: ignore[arg-type]
    assert seen.marks is not None
    assert [(one.text, one.label) for one in seen.marks] == tagger(TEXT)
    assert tagger.look(TEXT).plain() == seen.plain()
    assert Look.from_bytes(seen.to_bytes()).marks == seen.marks
    other = look(subject, TEXT, without=["encoder.1.self.0"])
    assert other.changes is not None
    assert other.changes.before == " ".join(f"{word}/{tag}" for word, tag in tagger(TEXT))
    assert other.changes.log_prob != other.changes.before_log_prob


def test_a_look_at_what_says_nothing_of_words_has_no_marks(home: Path) -> None:
    assert look(open_run(home / "mlm-bert-base"), TEXT).marks is None
    assert look(open_run(home / "classify-bert-base"), TEXT).marks is None


def test_a_score_stands_on_its_scale(home: Path) -> None:
    subject = open_run(home / "scored")
    seen = look(subject, PAIR[0], second=PAIR[1])
    assert seen.verdicts == []
    assert seen.score is not None
    assert seen.score.value == pytest.approx(judge(home / "scored")(*PAIR), abs=1e-5)
    assert (seen.score.low, seen.score.high) == (1.0, 5.0)
    silent = look(subject, PAIR[0], second=PAIR[1], without=["0.0"])
    assert silent.changes is not None
    assert silent.changes.before == f"{seen.score.value:.2f}"
    assert Look.from_bytes(silent.to_bytes()).plain() == silent.plain()


# --- masked words -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("preset", PRESETS)
def test_what_stands_at_masks_is_what_filling_finds(home: Path, preset: str) -> None:
    subject = open_run(home / f"mlm-{preset}")
    text = "The [MASK] runs <mask>."
    filler = MaskFiller(subject.model, subject.tokenizer)  # type: ignore[arg-type]
    seen = look(subject, text, best=4)
    assert seen.masks is not None
    assert [one.was for one in seen.masks] == [None, None]
    for mask, choices in zip(seen.masks, filler(text, 4).masks, strict=True):
        assert seen.sides["text"].ids[mask.place] == subject.tokenizer.mask
        found = seen.predictions[mask.place]
        assert [one.id for one in found.best] == [one.id for one in choices]
        assert [one.probability for one in found.best] == pytest.approx([one.probability for one in choices], rel=1e-4)
        assert (found.id, found.rank) == (choices[0].id, 1)
    assert filler.look(text, best=4).plain() == seen.plain()


def test_a_word_is_masked_whole_and_what_stood_there_is_judged(home: Path) -> None:
    subject = open_run(home / "mlm-bert-base")
    plain, seen = look(subject, PAIR[0]), look(subject, PAIR[0], mask=[3])  # "home."
    assert plain.masks == []
    places = [place for place, word in enumerate(plain.written.word_of) if word == 3]
    assert plain.written.tokens[places[-1]] == "."
    assert seen.masks is not None
    assert [one.place for one in seen.masks] == places[:-1]  # a mark is no part of what is hidden
    assert [one.id for one in seen.masks] == [plain.written.ids[place] for place in places[:-1]]
    assert seen.written.words == ["The", "dog", "runs", "<mask>."]  # as it is read
    for one in seen.masks:
        assert seen.predictions[one.place].token == one.was
        assert seen.predictions[one.place].id == one.id
    assert Look.from_bytes(seen.to_bytes()).masks == seen.masks


def test_silent_heads_are_measured_at_the_masks_alone(home: Path) -> None:
    subject = open_run(home / "mlm-bert-base")
    whole, less = (look(subject, PAIR[0], mask=[1], without=without) for without in ([], ["encoder.0.self.1"]))
    logs = [sum(np.log(one.probability) for one in seen.judged) for seen in (whole, less)]
    assert len(whole.judged) == len(whole.masks or ())
    assert importance(subject, whole)["encoder.0.self"][1] == pytest.approx(logs[0] - logs[1], abs=1e-4)
    assert less.changes is not None
    assert [less.changes.before_log_prob, less.changes.log_prob] == pytest.approx(logs, abs=1e-4)


# --- what stands for a text -------------------------------------------------------------------------------------------


def test_a_frame_that_closes_texts_is_shown_as_it_is(home: Path) -> None:
    """XLNet's `a <sep> b <sep> <cls>`: the last token stands for all, and it is what the classifier pools."""
    subject = open_run(home / "pair-xlnet-base")
    seen = look(subject, PAIR[0], second=PAIR[1])
    side = seen.sides["text"]
    assert side.text_of[0] == 0
    assert (seen.start, side.ids[-1]) == (len(side.ids) - 1, subject.tokenizer.start)
    np.testing.assert_allclose(seen.arrays["shares"][0, 0], seen.arrays["encoder.rollout"][0, -1], atol=1e-6)


def test_the_place_of_the_token_that_stands_for_all_is_told(home: Path) -> None:
    for name in ("pair-bert-base", "mlm-roberta-base", "classify-bert-base"):
        subject = open_run(home / name)
        seen = look(subject, PAIR[0], second=PAIR[1] if subject.roles.least > 1 else None)
        assert seen.start == 0
        assert seen.sides["text"].ids[0] == subject.tokenizer.start
    assert look(open_run(home / "han"), TEXT).start is None


def test_what_a_word_counts_follows_the_way_in_which_a_text_is_pooled(home: Path) -> None:
    first = look(open_run(home / "classify-bert-base"), TEXT)
    rolled = first.arrays["encoder.rollout"][0]
    np.testing.assert_allclose(first.arrays["shares"][0, 0], rolled[0], atol=1e-6)
    mean = look(open_run(home / "mean"), TEXT)
    np.testing.assert_allclose(mean.arrays["shares"][0, 0], mean.arrays["encoder.rollout"][0].mean(0), atol=1e-6)
    attending = look(open_run(home / "attending"), TEXT)
    pooled, rolled = attending.arrays["pool.0.words"][0, 0], attending.arrays["encoder.rollout"][0]
    np.testing.assert_allclose(attending.arrays["shares"][0, 0], pooled @ rolled, atol=1e-6)
    assert [one.shares for one in (first, mean, attending)] == ["rollout"] * 3
    largest = look(open_run(home / "largest"), TEXT)  # which state counts differs from column to column
    assert ("shares" in largest.arrays, largest.salient()) == (False, [])


def test_a_hierarchical_model_shares_out_sentences_times_words(home: Path) -> None:
    seen = look(open_run(home / "han"), TEXT)
    expected = (seen.arrays["pool.1.sentences"][0] @ seen.arrays["pool.0.words"][0])[0]
    np.testing.assert_allclose(seen.arrays["shares"][0, 0], expected, atol=1e-6)
    assert (seen.shares, seen.rollout) == ("attention", [])
    assert [word for word, _ in seen.salient()[:1]] == [max(seen.salient(), key=lambda one: one[1])[0]]


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("run", "texts", "message"),
    [
        ("classify-bert-base", PAIR, "reads one text at a time; leave the second out"),
        ("han", PAIR, "reads one text at a time"),
        ("pair-bert-base", PAIR[:1], "reads two texts, a first text and a second text: give the second too"),
        ("answer-bert-base", PAIR[:1], "a question and a text"),
        ("pair-bert-base", (PAIR[0], " "), "the second text is empty"),
        ("mlm-bert-base", ("", PAIR[1]), "the text is empty"),
        ("headless", ("A [MASK].",), "this encoder has no output layer"),
        ("pair-bert-base", ("a " * 40, "b " * 40), "at most 64 can be looked at"),
    ],
)
def test_what_a_run_does_not_read_is_said(home: Path, run: str, texts: tuple[str, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        look(open_run(home / run), texts[0], second=texts[1] if len(texts) > 1 else None)


@pytest.mark.parametrize(
    ("run", "message"),
    [
        ("mlm-bert-base", "there is no word 9 to mask: the words of the text count from 0 to 3"),
        ("classify-bert-base", "of kind 'classifier' finds no masked words"),
        ("headless", "this encoder has no output layer"),
    ],
)
def test_what_cannot_be_masked_is_said(home: Path, run: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        look(open_run(home / run), PAIR[0], mask=[9])


def test_a_tokenizer_without_a_mask_masks_nothing(home: Path) -> None:
    from regard.data.tokenizers import Tokenizer

    known = open_run(home / "mlm-bert-base")
    bare = Subject(known.model, Tokenizer.train([TEXT] * 3, "wordpiece", 70, lower=True))
    with pytest.raises(ValueError, match="the tokenizer has no mask token"):
        look(bare, "A [MASK].")


def test_a_text_without_a_mask_has_no_masked_words_to_show(home: Path) -> None:
    with pytest.raises(ValueError, match=r"has no mask: write \[MASK\]"):
        library.load(home / "mlm-bert-base").look("A dog.")


def test_an_encoder_may_read_one_text_and_be_followed_through(home: Path) -> None:
    subject = open_run(home / "headless")
    assert look(subject, PAIR[0]).sides["text"].texts == []
    assert look(subject, PAIR[0], second=PAIR[1]).masks is None
    assert way(subject, PAIR[0], place=1).predictions is None


# --- the command line -------------------------------------------------------------------------------------------------


def test_the_command_line_reads_a_pair_as_regard_pair_does(
    home: Path, regard: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = regard("look", home / "pair-bert-base", *PAIR)
    assert (code, out, err) == (0, "page.html\n", "")
    code, out, _ = regard("look", home / "pair-bert-base", *PAIR, "--json")
    assert json.loads(out)["sides"]["text"]["texts"] == list(PAIR)
    code, _, err = regard("look", home / "classify-bert-base", *PAIR)
    assert (code, err.count("\n")) == (2, 1)


def test_the_command_line_says_what_stands_at_masks(home: Path, regard: Say, tmp_path: Path) -> None:
    run, out = home / "mlm-bert-base", ("--out", tmp_path / "page.html")
    code, _, err = regard("look", run, "The [MASK] runs.", "--best", 2, *out)
    best = look(open_run(run), "The [MASK] runs.", best=2).predictions[2].best
    assert (code, err) == (0, f"mask 1: {', '.join(f'{one.token} {one.probability:.4f}' for one in best)}\n")
    code, _, err = regard("look", run, PAIR[0], "--mask", "DOG", *out)
    assert code == 0
    assert "; dog 0." in err or err.count("mask ") > 1  # as one piece or in several
    code, _, err = regard("look", run, PAIR[0], "--mask", "cat", *out)
    assert code == 2
    assert "--mask: 'cat' is no word of the text" in err
