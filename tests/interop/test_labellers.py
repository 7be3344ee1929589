"""What labels texts, tags words and finds answers elsewhere does so here, and the other way round."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

transformers = pytest.importorskip("transformers")

import regard as library  # noqa: E402
from regard.checkpoint import load_both  # noqa: E402
from regard.config import ConfigError, change  # noqa: E402
from regard.errors import DataError  # noqa: E402
from regard.interop import export_huggingface, import_source  # noqa: E402
from regard.interop.runtimes import check_headless  # noqa: E402
from regard.models import Classifier, Encoder, Tagger  # noqa: E402
from regard.nn.pooling import FirstToken, Mean  # noqa: E402
from regard.runfolder import Run, Scale, keep_labels, read_labels  # noqa: E402
from regard.tasks.judging.judge import PairJudge, TextClassifier  # noqa: E402
from regard.tasks.tagging.tagger import WordTagger  # noqa: E402
from regard.zoo import get  # noqa: E402
from tests.conftest import Say  # noqa: E402
from tests.helpers import SMALL  # noqa: E402
from tests.interop import foreign  # noqa: E402
from tests.interop.test_exporting import assert_equal, assert_same_model, opened, write_run  # noqa: E402

TEXT, OTHER = "the little girl had a red ball", "play balls"
MAKERS: dict[str, Callable[..., Any]] = {
    "Bert": foreign.bert,
    "Roberta": foreign.roberta,
    "DistilBert": foreign.distilbert,
    "XLNet": foreign.xlnet,
}
KINDS = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
NAMES = {0: "O", 1: "B-PER", 2: "I-PER"}


def kind_of(name: str, kind: str) -> str:
    return f"{name}{kind}{'Simple' if (name, kind) == ('XLNet', KINDS[2]) else ''}"


def label(folder: Path, names: dict[int, str] = NAMES) -> None:
    """Name the labels of a model, of which it has as many."""
    path = folder / "config.json"
    about = json.loads(path.read_text())
    about |= {"id2label": names, "label2id": {name: number for number, name in names.items()}}
    path.write_text(json.dumps(about))


def made(folder: Path, name: str, kind: str, labels: int = 3) -> Any:
    """A model of theirs with labels."""
    theirs = MAKERS[name](folder, kind_of(name, kind), **({} if kind == KINDS[2] else {"num_labels": labels}))
    if labels == len(NAMES) and kind != KINDS[2]:
        label(folder)
    return theirs


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", MAKERS)
def test_outputs_are_the_same_there_and_back(
    name: str, kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    theirs, said = made(tmp_path / "in", name, kind), []
    import_source(tmp_path / "in", tmp_path / "run", said.append)
    assert said == []
    ours, tokenizer = load_both(Run(tmp_path / "run"))
    tokens, keep = foreign.some_tokens(theirs.config.vocab_size)
    if name == "XLNet":  # which is padded on the left
        keep = keep.flip(1)
    tokens[~keep] = tokenizer.pad
    found = ours.eval()(tokens, keep)

    def expected(model: Any) -> torch.Tensor:
        given = model(tokens, attention_mask=keep.long())
        return torch.stack([given.start_logits, given.end_logits], -1) if kind == KINDS[2] else given.logits

    real = keep if found.dim() == 3 else slice(None)
    assert_equal(found[real], expected(theirs)[real])
    export_huggingface(tmp_path / "run", tmp_path / "out")
    again = opened(tmp_path / "out", caplog)
    assert type(again) is type(theirs)
    assert_equal(expected(again)[real], expected(theirs)[real])
    if kind != KINDS[2]:
        assert again.config.id2label == NAMES
    import_source(tmp_path / "out", tmp_path / "again")
    assert_same_model(tmp_path / "run", tmp_path / "again")


@pytest.mark.parametrize("name", MAKERS)
def test_texts_and_pairs_are_judged_as_their_tokenizer_frames_them(name: str, tmp_path: Path) -> None:
    theirs = made(tmp_path / "in", name, KINDS[0])
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "one")
    import_source(tmp_path / "in", tmp_path / "two", task="pair")
    classifier, judge = library.load(tmp_path / "one"), library.load(tmp_path / "two")
    assert isinstance(classifier, TextClassifier)
    assert isinstance(judge, PairJudge)
    more = {"return_tensors": "pt", "return_token_type_ids": name in ("Bert", "XLNet")}
    alone, together = (theirs(**tokenizer(*texts, **more)).logits.softmax(-1)[0] for texts in ((TEXT,), (TEXT, OTHER)))
    assert [classifier.scores(TEXT)[one] for one in NAMES.values()] == pytest.approx(alone.tolist(), abs=1e-5)
    assert judge.judge([(TEXT, OTHER)])[0].tolist() == pytest.approx(together.tolist(), abs=1e-5)
    assert classifier.labels == tuple(NAMES.values())  # not in the order of the alphabet


def test_words_are_tagged_at_their_first_piece(tmp_path: Path) -> None:
    theirs = made(tmp_path / "in", "Bert", KINDS[1])
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    tagger, words = library.load(tmp_path / "run"), [*TEXT.split(), "balls"]
    assert isinstance(tagger, WordTagger)
    given = tokenizer(words, is_split_into_words=True, return_tensors="pt")
    firsts = [given.word_ids().index(i) for i in range(len(words))]
    expected = theirs(**given).logits[0, firsts].argmax(-1).tolist()
    assert tagger(" ".join(words)) == list(zip(words, (NAMES[i] for i in expected), strict=True))


def test_one_label_is_a_score_of_pairs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    theirs = made(tmp_path / "in", "Bert", KINDS[0], labels=1)
    tokenizer = transformers.AutoTokenizer.from_pretrained(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    judge = library.load(tmp_path / "run")
    assert isinstance(judge, PairJudge)
    given = tokenizer(TEXT, OTHER, return_tensors="pt")
    expected = theirs(**given).logits.item()
    assert judge(TEXT, OTHER) == pytest.approx(expected, abs=1e-5)
    with pytest.raises(DataError, match="task classify: the model is for pair"):
        import_source(tmp_path / "in", tmp_path / "other", task="classify")
    Scale(1.0, 5.0).write(tmp_path / "run")
    export_huggingface(tmp_path / "run", tmp_path / "out")
    again = opened(tmp_path / "out", caplog)
    assert again(**given).logits.item() == pytest.approx(1 + 4 * expected, abs=1e-4)


def encoder() -> Encoder:
    config = change(get("bert-base"), SMALL)
    assert isinstance(config, Encoder)
    return config.inside()


def test_what_was_trained_here_is_opened_there(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    framed = {"kind": "classify", "framed": True, "max_length": 20}
    config = Classifier(reader=encoder(), pool=FirstToken(), labels=3)
    run = write_run(tmp_path / "run", config, "wordpiece", task=framed)
    keep_labels(run, ["bad", "fair", "good"])
    classifier = library.load(run)
    assert isinstance(classifier, TextClassifier)
    assert export_huggingface(run, tmp_path / "out") == "BertForSequenceClassification"
    theirs, tokenizer = opened(tmp_path / "out", caplog), transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    given = theirs(**tokenizer(TEXT, return_tensors="pt")).logits.softmax(-1)[0]
    expected = classifier.scores(TEXT)
    found = {theirs.config.id2label[i]: share for i, share in enumerate(given.tolist())}
    assert found == pytest.approx(expected, abs=1e-5)
    import_source(tmp_path / "out", tmp_path / "again")
    assert read_labels(tmp_path / "again") == ("bad", "fair", "good")


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (lambda config, task: (replace(config, pool=Mean()), task), "pool mean has no counterpart"),
        (lambda config, task: (config, {**task, "framed": False}), "sentence by sentence, which has no counterpart"),
        (lambda config, task: (Tagger(reader=config.reader), {"kind": "classify"}), "kind 'tagger' has no counterpart"),
    ],
)
def test_what_has_no_class_there_is_refused(tmp_path: Path, changed: Callable[..., Any], message: str) -> None:
    config, task = changed(Classifier(reader=encoder(), pool=FirstToken()), {"kind": "classify", "framed": True})
    run = write_run(tmp_path / "run", config, "wordpiece", task=task)
    keep_labels(run, ["a", "b"])
    with pytest.raises(ConfigError, match=message):
        export_huggingface(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        ({0: "a", 2: "b", 3: "c"}, "does not give each of the numbers from 0 on a name"),
        ({0: "a", 1: "a", 2: "c"}, "does not give each of the numbers from 0 on a name"),
        (["a", "b", "c"], "no table of numbers and names"),
        ({0: "a", 1: "b"}, "classifier.weight has shape"),
    ],
)
def test_names_that_do_not_fit_are_refused(tmp_path: Path, names: Any, message: str) -> None:
    made(tmp_path / "in", "Bert", KINDS[1])
    path = tmp_path / "in" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "id2label": names}))
    with pytest.raises(DataError, match=message):
        import_source(tmp_path / "in", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_decoder_that_labels_is_refused(tmp_path: Path) -> None:
    foreign.llama(tmp_path / "in")
    path = tmp_path / "in" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "architectures": ["LlamaForSequenceClassification"]}))
    with pytest.raises(DataError, match="LlamaForSequenceClassification has no counterpart here"):
        import_source(tmp_path / "in", tmp_path / "run")


def test_ctranslate2_has_no_labels() -> None:
    for config in (Classifier(reader=encoder(), pool=FirstToken()), Tagger(reader=encoder())):
        with pytest.raises(ConfigError, match="a head that gives labels has no counterpart in CTranslate2"):
            check_headless(config)


def test_the_command_line_takes_the_task(tmp_path: Path, regard: Say) -> None:
    made(tmp_path / "in", "Roberta", KINDS[0])
    assert regard("import", tmp_path / "in", "--run", tmp_path / "run", "--task", "pair")[0] == 0
    assert regard("pair", tmp_path / "run", TEXT, OTHER)[1].strip() in NAMES.values()
    code, _, err = regard("classify", tmp_path / "run", TEXT)
    assert code == 2
    assert "not to classify" in err
    code, _, err = regard("import", tmp_path / "in", "--run", tmp_path / "x", "--task", "tag")
    assert code == 2
