"""Permuted language models: learnt from texts, resumed exactly, asked for words, and begun from."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F

import regard as library
from regard.checkpoint import load_both, read_tensors
from regard.data.examples import TextData
from regard.models import Classifier, TwoStreamModel
from regard.nn.pooling import LastToken
from regard.runfolder import Run
from regard.tasks.pretraining.plm import PermutedWords
from regard.tasks.vectors.embedding import load_embedder
from regard.training.session import resume
from regard.zoo import get
from tests.conftest import Say, answer
from tests.documents import DOES, QUICK, TINY, training_files
from tests.tagged_toy import write_tagged
from tests.tasks.test_answering import squad
from tests.toy import cut_short, losses, perform

SHORT = ["--context", "12", "--memory", "8"]
TUNED = "--max-steps 60 --validate-every 60 --rate 0.005 --warmup 5".split()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of about one animal each, longer than a segment, and a run."""
    folder = tmp_path_factory.mktemp("plm")
    files = training_files(folder)
    steps = ["--max-steps", "240", "--validate-every", "120", "--keep-checkpoints", "9"]
    given = ["--run", str(folder / "run"), "--tokenizer", "wordpiece", "--lower", "true"]
    perform("pretrain", "plm", *given, *files, *TINY, *QUICK, *steps, *SHORT)
    return folder


def test_words_are_predicted_from_those_around_them(folder: Path) -> None:
    metrics = json.loads((folder / "run" / "metrics.jsonl").read_text().splitlines()[-2])["metrics"]
    assert metrics["loss"] < 1.6  # of about 15 words
    assert metrics["accuracy"] > 0.5
    filler = library.load(folder / "run")
    does = {verb for verbs in DOES.values() for verb in verbs}
    for animal in DOES:
        verbs = filler(f"The {animal} [MASK]. The {animal} [MASK].")
        assert len(verbs.masks) == 2
        assert verbs.masks[0][0].token in does


def test_verbs_use_it(folder: Path, regard: Say) -> None:
    code, out, err = regard("fill", folder / "run", "--text", "The cat [MASK].")
    assert code == 0, err
    assert out.startswith("The cat ")
    assert len(answer(regard, "embed", folder / "run", "--pool", "cls", "The cat purrs.")["vector"]) == 32
    look = json.loads(regard("look", folder / "run", "The cat purrs.", "--json")[1])
    assert look["sides"]["text"]["tokens"][-2:] == ["</s>", "<s>"]


def test_texts_are_closed_by_end_and_start(folder: Path) -> None:
    model, tokenizer = load_both(Run(folder / "run"))
    assert isinstance(model, TwoStreamModel)
    assert tokenizer.framed([7, 8]).tolist() == [7, 8, tokenizer.end, tokenizer.start]
    embedder = load_embedder(folder / "run", "cls")
    found = embedder(["The cat purrs.", "The dog barks. The dog digs."], normalised=False)
    ids = torch.from_numpy(tokenizer.framed(tokenizer.encode(["The cat purrs."])[0]))[None]
    with torch.no_grad():
        states = embedder.model.encode(ids, None, (ids == tokenizer.start).long()).states
    assert np.allclose(found[0], states[0, -1], atol=1e-5)


def test_it_is_scored_on_any_text(folder: Path, regard: Say) -> None:
    result = answer(regard, "evaluate", folder / "run", "--data", folder / "held.txt")
    last = json.loads((folder / "run" / "metrics.jsonl").read_text().splitlines()[-2])["metrics"]
    assert {name: result[name] for name in last} == pytest.approx(last, rel=1e-3)  # all texts were validated
    assert "perplexity" in regard("evaluate", folder / "run", "--data", folder / "held.txt")[1]


@torch.no_grad()
def test_the_loss_is_the_mean_over_what_is_predicted_segment_by_segment(folder: Path, tmp_path: Path) -> None:
    where = TextData(file=str(folder / "held.txt"))
    task = PermutedWords(train=where, valid=where, context=8, memory=4, parts=3, tokenizer="word").open(
        tmp_path / "run", str
    )
    model = task.fit(get("xlnet-mini", width=32, layers=1, heads=2, hidden=32)).build().eval()
    assert isinstance(model, TwoStreamModel)
    indices = task.batches(400, 1).epoch(0)[0]
    torch.manual_seed(4)
    loss, count = task.loss(model, indices)
    torch.manual_seed(4)
    rows = task.store.rows(0, indices)
    parts = list(task.reader.predict(model, rows))
    assert len(parts) > 1
    logits = torch.cat([model.head.logits(part.states) for part in parts])
    expected = F.cross_entropy(logits, torch.cat([part.targets for part in parts]))
    assert float(loss) / count == pytest.approx(float(expected), rel=1e-4)
    assert count == sum(len(row) + 2 for row in rows)
    for part in parts:
        assert torch.equal(part.tokens[part.places[:, 0], part.places[:, 1]], part.targets)


@torch.no_grad()
def test_a_segment_sees_the_one_before_it_and_texts_that_ended_do_not_matter(folder: Path) -> None:
    filler = library.load(folder / "run")
    reader = PermutedWords(context=8, memory=8, parts=2).reader(filler.tokenizer)
    ids = filler.tokenizer.encode(["The cat purrs. The cat climbs. The cat purrs."])[0]
    other = [*filler.tokenizer.encode(["The dog"])[0], *ids[2:]]

    def second(rows: list[list[int]]) -> torch.Tensor:
        generator = torch.Generator().manual_seed(3)
        return list(reader.predict(filler.model, [np.array(row) for row in rows], generator))[1].states

    assert not torch.equal(second([ids]), second([other]))
    short = filler.tokenizer.encode(["The fish swims."])[0]
    drawn = second([short, ids])
    assert len(drawn) >= 1
    assert drawn.isfinite().all()


def test_a_resumed_run_predicts_the_same_words(folder: Path, tmp_path: Path) -> None:
    cut = cut_short(folder / "run", tmp_path / "cut", 240)
    resume(cut)
    assert losses(cut) == losses(Run(folder / "run"))
    before = read_tensors(Run(folder / "run").checkpoint(240) / "model.safetensors")
    after = read_tensors(cut.checkpoint(240) / "model.safetensors")
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


def labelled(path: Path, count: int, seed: int, pairs: bool) -> Path:
    draw = random.Random(seed)
    lines = []
    for _ in range(count):
        one, other = draw.choice(sorted(DOES)), draw.choice(sorted(DOES))
        first, second = (f"The {who} {draw.choice(DOES[who])}." for who in (one, other))
        lines.append(f"{first}\t{second}\t{'same' if one == other else 'other'}" if pairs else f"{first}\t{one}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_classifier_begins_from_it_and_pools_the_start_wherever_it_stands(
    folder: Path, tmp_path: Path, regard: Say
) -> None:
    files = [
        "--train",
        labelled(tmp_path / "a.tsv", 120, 0, False),
        "--valid",
        labelled(tmp_path / "b.tsv", 30, 1, False),
    ]
    for name, more in (("mean", []), ("first", ["--pool", "first"])):
        run = tmp_path / name
        code, _, err = regard("train", "classify", *files, "--from", folder / "run", "--run", run, *TUNED, *more)
        assert code == 0, err
        classifier = library.load(run)
        assert classifier("The cat purrs.") == "cat"
        assert isinstance(classifier.model.config, Classifier)
        row = classifier.source.rows(["The cat purrs."])[0][0]
        assert row[-2:] == [classifier.tokenizer.end, classifier.tokenizer.start]
        look = classifier.look("The cat purrs.")
        assert look.sides["text"].ids == row
        assert look.sides["text"].word_of[-2:] == [None, None]
    assert classifier.model.config.pool == LastToken(dense=True)


def test_pairs_tags_and_answers_begin_from_it(folder: Path, tmp_path: Path, regard: Say) -> None:
    files = ["--train", labelled(tmp_path / "a.tsv", 60, 0, True), "--valid", labelled(tmp_path / "b.tsv", 20, 1, True)]
    steps = ["--max-steps", "4", "--validate-every", "4"]
    begin = ["--from", folder / "run", *steps]
    assert regard("train", "pair", *files, *begin, "--run", tmp_path / "pair")[0] == 0
    assert library.load(tmp_path / "pair")("The cat purrs.", "The dog barks.") in ("same", "other")
    write_tagged(tmp_path / "tags.tsv", 30, 0)
    tagged = ["--train", tmp_path / "tags.tsv", "--valid", tmp_path / "tags.tsv"]
    assert regard("train", "tag", *tagged, *begin, "--run", tmp_path / "tag")[0] == 0
    assert len(library.load(tmp_path / "tag")("The cat purrs.")) == 4
    questions = [str(squad(tmp_path / f"{name}.json", 12, 0)) for name in ("train", "valid")]
    asked = ["--train", questions[0], "--valid", questions[1], "--max-length", "64"]
    assert regard("train", "answer", *asked, *begin, "--run", tmp_path / "answer")[0] == 0
    answerer = library.load(tmp_path / "answer")
    assert answerer("The cat?", "The cat purrs.", threshold=-1e9).text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--preset", "bert-mini"], "has no two streams"),
        (["--context", "3"], "a context of 3 holds no text"),
        (["--share", "1"], "a share of 1 predicts every token"),
        (["--position", "learned", "--length", "64"], "more than the 64 places of the model"),
    ],
)
def test_what_cannot_be_learnt_is_refused(
    folder: Path, tmp_path: Path, regard: Say, words: list[str], message: str
) -> None:
    code, _, err = regard("pretrain", "plm", "--train", folder / "held.txt", "--run", tmp_path / "run", *words)
    assert code == 2
    assert message in err


def test_masks_are_for_one_stream(folder: Path, tmp_path: Path, regard: Say) -> None:
    words = ["--train", folder / "held.txt", "--run", tmp_path / "run", "--preset", "xlnet-mini"]
    code, _, err = regard("pretrain", "mlm", *words)
    assert code == 2
    assert "finds no hidden words" in err
