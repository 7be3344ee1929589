"""Masked language models: learnt from texts, with pairs or without, resumed exactly, and asked for masked words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F

import regard as library
from regard.checkpoint import load_both, read_tensors
from regard.config import ConfigError
from regard.data.examples import TextData
from regard.data.tokenizers import Tokenizer
from regard.models import Encoder, EncoderModel
from regard.runfolder import Run
from regard.tasks.pretraining.hiding import Hidden
from regard.tasks.pretraining.masking import IGNORED
from regard.tasks.pretraining.mlm import MaskedReader, MaskedWords
from regard.training.session import resume
from regard.zoo import get
from tests.conftest import Say, answer
from tests.documents import DOES, QUICK, TINY, training_files
from tests.toy import cut_short, losses, perform


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts, and a run of each way: bert with pairs, roberta without."""
    folder = tmp_path_factory.mktemp("mlm")
    files = training_files(folder)
    steps = ["--max-steps", "160", "--validate-every", "80", "--keep-checkpoints", "9"]
    bert = ["pretrain", "mlm", "--run", str(folder / "bert"), "--preset", "bert-mini", *files, *TINY, *QUICK, *steps]
    roberta = ["pretrain", "mlm", "--run", str(folder / "roberta"), "--preset", "roberta-mini", *files, *TINY, *QUICK]
    perform(*bert, "--next-sentence")
    perform(*roberta, "--tokenizer", "bpe", "--pieces", "340", "--lower", "false", "--whole-words", *steps)
    return folder


def test_hidden_words_are_found_from_those_around_them(folder: Path) -> None:
    for name in ("bert", "roberta"):
        metrics = json.loads((folder / name / "metrics.jsonl").read_text().splitlines()[-2])["metrics"]
        assert metrics["loss"] < 1.6, name  # of about 15 words
        assert metrics["accuracy"] > 0.5, name
    filler = library.load(folder / "bert")
    does = {verb for verbs in DOES.values() for verb in verbs}
    for animal in DOES:
        verbs, animals = filler(f"The {animal} [MASK]."), filler("The [MASK] sings.")
        assert {choice.token for choice in verbs.masks[0][:3]} <= does
        assert {choice.token for choice in animals.masks[0][:3]} <= set(DOES)


@pytest.mark.parametrize("run", ["bert", "roberta"])
def test_samples_are_of_whole_words_where_there_are_any(folder: Path, run: str) -> None:
    """Whoever reads "gre [MASK] ##io" or half a word at either end could not type it."""
    known = {word.lower() for word in (folder / "held.txt").read_text().replace(".", " . ").split()}
    lines = [json.loads(line) for line in (folder / run / "metrics.jsonl").read_text().splitlines()]
    samples = [one for line in lines if line["event"] == "validation" for one in line["samples"]]
    assert samples
    for sample in samples:
        shown = sample["source"].replace("[MASK]", f" {sample['reference']} ").replace(".", " . ").lower()
        assert set(shown.split()) <= known, sample


def test_a_sample_hides_a_whole_word_though_a_part_of_one_was_hidden_before_it() -> None:
    tokenizer = Tokenizer.train(["abcdef fedcba a b c d e f"], "wordpiece", 17, lower=True, mask=True)
    reader = MaskedReader(tokenizer, context=32, chance=0.15, whole_words=False, pairs=False, short=0.1)
    row = tokenizer.encode(["fedc a b cd"])[0]
    pieces = [tokenizer.token(i) for i in row]
    assert pieces == ["f", "##e", "##d", "##c", "a", "b", "c", "##d"]
    for hidden, behind in (([1, 4], "b cd"), ([1], "##dc a b cd")):
        tokens = torch.tensor([row])
        targets, places = tokens[0, hidden], torch.tensor([[0, place] for place in hidden])
        tokens[0, hidden] = tokenizer.mask
        (sample,) = reader.samples(Hidden(targets, targets, tokens, places), targets)
        assert sample["source"].partition("[MASK] ")[2] == behind
        assert sample["reference"] == pieces[hidden[-1]]


@pytest.mark.parametrize("run", ["bert", "roberta"])
def test_it_is_scored_on_any_text(folder: Path, regard: Say, run: str) -> None:
    result = answer(regard, "evaluate", folder / run, "--data", folder / "held.txt")
    last = json.loads((folder / run / "metrics.jsonl").read_text().splitlines()[-2])["metrics"]
    assert {name: result[name] for name in last} == pytest.approx(last, rel=1e-3)  # all passages were validated
    assert result["passages"] > 20
    assert "perplexity" in regard("evaluate", folder / run, "--data", folder / "held.txt")[1]


def test_a_bert_judges_pairs_and_a_roberta_has_no_pooled_vector(folder: Path) -> None:
    bert, _ = load_both(Run(folder / "bert"))
    roberta, _ = load_both(Run(folder / "roberta"))
    assert isinstance(bert.config, Encoder)
    assert isinstance(roberta.config, Encoder)
    assert bert.config.relation
    assert (roberta.config.pool, roberta.config.relation) == (None, False)
    metrics = json.loads((folder / "bert" / "metrics.jsonl").read_text().splitlines()[-2])["metrics"]
    assert "next_sentence" in metrics
    assert "next_sentence" not in (folder / "roberta" / "metrics.jsonl").read_text()


@torch.no_grad()
def test_the_loss_is_the_mean_over_hidden_words_and_that_over_pairs(folder: Path, tmp_path: Path) -> None:
    where = TextData(file=str(folder / "held.txt"))
    task = MaskedWords(train=where, valid=where, next_sentence=True, context=32).open(tmp_path / "run", str)
    model = task.fit(get("bert-mini", width=32, layers=1, heads=2, hidden=32)).build().eval()
    assert isinstance(model, EncoderModel)
    indices = task.batches(400, 1).epoch(0)[0]
    torch.manual_seed(4)
    loss, count = task.loss(model, indices)
    torch.manual_seed(4)
    batch = task.reader.read(task.training, indices, torch.device("cpu"))
    assert batch.segments is not None
    logits = model(batch.tokens, batch.keep, batch.segments)
    words = F.cross_entropy(logits.flatten(0, 1), batch.targets.flatten(), ignore_index=IGNORED)
    pairs = F.cross_entropy(model.follows(model.encode(batch.tokens, batch.keep, batch.segments)), batch.relations)
    assert float(loss) / count == pytest.approx(float(words + pairs), rel=1e-4)
    assert count == (batch.tokens.numel() if batch.keep is None else int(batch.keep.sum()))


def test_a_resumed_run_hides_the_same_words(folder: Path, tmp_path: Path) -> None:
    cut = cut_short(folder / "bert", tmp_path / "cut", 160)
    resume(cut)
    assert losses(cut) == losses(Run(folder / "bert"))
    before = read_tensors(Run(folder / "bert").checkpoint(160) / "model.safetensors")
    after = read_tensors(cut.checkpoint(160) / "model.safetensors")
    assert all(torch.equal(after[name], tensor) for name, tensor in before.items())


def test_without_a_validation_text_the_last_tenth_is_held_out(folder: Path, tmp_path: Path, regard: Say) -> None:
    words = ["--max-steps", "2", "--validate-every", "2"]
    code, _, err = regard(
        "pretrain", "mlm", "--train", folder / "text.txt", "--run", tmp_path / "a", *TINY, *QUICK, *words
    )
    assert code == 0
    assert "the last 10% of the training text are held out" in err


def test_the_mask_comes_behind_all_other_tokens() -> None:
    texts = ["a cat sat on a mat", "a dog sat on a log"] * 3
    for kind, size in (("wordpiece", 40), ("word", 20), ("bpe", 270), ("byte", None)):
        plain, masked = (Tokenizer.train(texts, kind, size, mask=mask) for mask in (False, True))  # type: ignore[arg-type]
        assert plain.mask is None
        assert masked.mask == plain.vocabulary
        assert masked.vocabulary == plain.vocabulary + 1
        assert masked.encode(texts) == plain.encode(texts)
        assert masked.encode(["<mask>"]) == plain.encode(["<mask>"])  # text is text
        assert Tokenizer.from_json(masked.to_json()).mask == masked.mask


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--preset", "gpt2"], "finds no hidden words; take an encoder with a head"),
        (["--preset", "roberta-mini", "--next-sentence"], "takes a model with two segments"),
        (["--context", "4"], "a context of 4 holds no text"),
        (["--preset", "bert-mini", "--context", "600"], "more than the 512 places of the model"),
        (["--chance", "0"], "a chance of 0 hides nothing"),
    ],
)
def test_what_cannot_be_learnt_is_refused(
    folder: Path, tmp_path: Path, regard: Say, words: list[str], message: str
) -> None:
    code, _, err = regard("pretrain", "mlm", "--train", folder / "held.txt", "--run", tmp_path / "run", *words)
    assert code == 2
    assert message in err


def test_next_sentences_take_several_texts_and_any_text_at_all(tmp_path: Path, regard: Say) -> None:
    one, empty = tmp_path / "one.txt", tmp_path / "empty.txt"
    one.write_text("The cat purrs.\nThe cat climbs.\n")
    empty.write_text("\n \n")
    run = ["pretrain", "mlm", "--run", tmp_path / "run", *TINY, "--pieces", "60"]
    code, _, err = regard(*run, "--next-sentence", "--train", one, "--valid", one)
    assert (code, "put an empty line between texts" in err) == (2, True)
    code, _, err = regard(*run, "--train", one, "--valid", empty)
    assert (code, "empty.txt: there is no text in it" in err) == (2, True)


def test_a_pair_is_judged_by_a_model_that_was_asked_to() -> None:
    with pytest.raises(ConfigError, match="told from a pooled vector"):
        get("roberta-mini", relation=True)
