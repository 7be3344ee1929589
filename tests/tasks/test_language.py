"""Language modelling: any model that writes on from a text learns one, is scored exactly, resumes exactly, writes."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.config import ConfigError
from regard.data.examples import TextData
from regard.data.tokenizers import END, START, Tokenizer
from regard.decoding import Decoding
from regard.errors import DataError
from regard.models import TextWriter
from regard.runfolder import Run
from regard.tasks.language.generator import Generator, chosen_drawing
from regard.tasks.language.scoring import as_written, measure, sliding
from regard.tasks.language.task import LanguageModelling
from tests.conftest import Say, answer
from tests.helpers import built, decoder, newest_samples
from tests.toy import losses, perform
from tests.writers import write_writer

NAMES = ("Ann", "Bob", "Carl", "Dora")
SHAPES = {
    "writer": "--width 32 --heads 2 --layers 2 --length 48",
    "lstm-writer": "--width 24 --hidden 32",
    "lstmn-writer": "--width 24 --hidden 24",
}
TRAINING = "--tokenizer char --context 48 --batch-tokens 512 --optimiser adamw --rate 0.01 --warmup 10 --dropout 0"


def rhyme(count: int, seed: int) -> str:
    """Who greets is greeted back: the third word of a line is known from the first."""
    random = np.random.default_rng(seed)
    pairs = random.choice(len(NAMES), (count, 2))
    return "".join(f"{NAMES[a]} greets {NAMES[b]}; {NAMES[b]} greets {NAMES[a]}.\n" for a, b in pairs)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("language")
    (folder / "train.txt").write_text(rhyme(600, 1), encoding="utf-8")
    (folder / "valid.txt").write_text(rhyme(40, 2), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def runs(home: Path) -> dict[str, Path]:
    """A run of each kind of model."""
    for preset, shape in SHAPES.items():
        words = ["train", "lm", "--preset", preset, "--train", home / "train.txt", "--valid", home / "valid.txt"]
        more = [*shape.split(), *TRAINING.split(), "--max-steps", 120, "--validate-every", 60]
        perform(*words, "--run", home / preset, *more)
    return {preset: home / preset for preset in SHAPES}


every_run = pytest.mark.parametrize("preset", SHAPES)


# --- training ---------------------------------------------------------------------------------------------------------


@every_run
def test_it_learns_and_its_best_weights_score_what_the_run_says(
    runs: dict[str, Path], home: Path, preset: str, regard: Say
) -> None:
    records = [json.loads(line) for line in (runs[preset] / "metrics.jsonl").read_text().splitlines()]
    last = [record for record in records if record["event"] == "validation"][-1]
    assert last["metrics"]["bits_per_byte"] < 1.0  # a fair guess of two names is 0.13, of letters 4
    found = answer(regard, "evaluate", runs[preset], "--data", home / "valid.txt")["scores"]
    scores = {name: one["score"] for name, one in found.items()}
    assert {name: scores[name] for name in last["metrics"]} == pytest.approx(last["metrics"], rel=1e-5)
    assert scores["perplexity"] == pytest.approx(math.exp(scores["loss"]))


@every_run
def test_a_run_that_was_stopped_goes_on_to_the_same_losses(
    runs: dict[str, Path], home: Path, tmp_path: Path, preset: str
) -> None:
    from regard.training.session import read_recipe, resume, start

    recipe = read_recipe(Run(runs[preset]))
    short = replace(recipe, training=replace(recipe.training, max_steps=20, validate_every=10))
    whole, halved = Run(tmp_path / "whole"), Run(tmp_path / "halved")
    start(whole, short)
    half = replace(short, training=replace(short.training, max_minutes=1e-9))
    start(halved, half)
    assert len(losses(halved)) < len(losses(whole))
    config = halved.read_config()
    config["training"]["max_minutes"] = None
    halved.write_config(config)
    resume(halved)
    assert losses(halved)[-1] == losses(whole)[-1]


@every_run
def test_a_sample_has_its_prompt_as_it_stands_in_the_text(home: Path, runs: dict[str, Path], preset: str) -> None:
    """Not with the signs that a line of a table needs."""
    text, samples = (home / "valid.txt").read_text(), newest_samples(runs[preset])
    assert samples
    assert all(sample["prompt"] in text for sample in samples)
    assert any("\n" in sample["prompt"] for sample in samples)


@every_run
def test_a_run_is_looked_at(runs: dict[str, Path], preset: str) -> None:
    seen = library.load(runs[preset]).look("Ann greets Bob; Bob")
    assert seen.family == "decoder"
    assert len(seen.predictions) == len("Ann greets Bob; Bob") + 1
    names = {"writer": ["decoder.0.self", "decoder.1.self"], "lstm-writer": [], "lstmn-writer": ["decoder.0.self"]}
    assert [layer.name for layer in seen.layers] == names[preset]
    assert bool(Run(runs[preset]).probed()) == bool(names[preset])
    report = (runs[preset] / "report.html").read_text(encoding="utf-8")
    assert "How sure it was of each token" in report
    assert ("What it looked back at" in report) == bool(names[preset])
    assert "regard train lm --config" in report


def test_without_a_validation_text_the_last_tenth_is_held_out(home: Path, tmp_path: Path) -> None:
    said: list[str] = []
    config = LanguageModelling(train=TextData(file=str(home / "train.txt")), tokenizer="char", context=32)
    task = config.open(tmp_path, said.append)
    whole = (home / "train.txt").read_text(encoding="utf-8")
    assert task.tokenizer.decode(task.valid.tolist()) == whole[len(whole) * 90 // 100 :]
    assert task.store.tokens(0) == len(whole) * 90 // 100
    assert any("the last 10% of the training text are held out" in line for line in said)


def test_documents_are_parted_by_the_end(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in ("abc", "de", "f")), encoding="utf-8")
    data = TextData(file=str(path))
    task = LanguageModelling(train=data, valid=data, tokenizer="char", context=2).open(tmp_path / "run", lambda _: None)
    (stream,) = task.store.windows(0, [0], task.store.tokens(0))
    expected = Tokenizer.encode(task.tokenizer, ["abc", "de", "f"])
    assert stream.tolist() == [*expected[0], END, *expected[1], END, *expected[2]]
    assert task.size == len("abcdef")


def test_only_so_many_tokens_are_validated_and_their_bytes_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("é" * 50, encoding="utf-8")
    config = LanguageModelling(
        train=TextData(file=str(path)), valid=TextData(file=str(path)), tokenizer="byte", context=8, validated=11
    )
    task = config.open(tmp_path / "run", lambda _: None)
    assert len(task.valid) == task.size == 10  # half of an é is left out


def test_models_that_cannot_learn_it_are_refused(home: Path, tmp_path: Path) -> None:
    data = TextData(file=str(home / "train.txt"))
    with pytest.raises(ConfigError, match="a context of 100 is more than the 64 places of the model"):
        LanguageModelling(train=data, context=100, tokenizer="byte").within(decoder())
    with pytest.raises(ConfigError, match="one of kind encoder does not write on from a text"):
        LanguageModelling(train=data).check_model(library.presets()["bert-base"].config)


@pytest.mark.parametrize("empty", ["train", "valid"])
def test_an_empty_text_is_named_before_anything_is_learnt(home: Path, tmp_path: Path, empty: str) -> None:
    (tmp_path / "empty.txt").write_text("\n  \n")
    files = {"train": home / "train.txt", "valid": home / "train.txt", empty: tmp_path / "empty.txt"}
    config = LanguageModelling(**{name: TextData(file=str(path)) for name, path in files.items()})
    said: list[str] = []
    with pytest.raises(DataError, match=r"empty\.txt: there is no text in it"):
        config.open(tmp_path / "run", said.append)
    assert not said


# --- scoring ----------------------------------------------------------------------------------------------------------


def writer() -> TextWriter:
    model = built(decoder())
    assert isinstance(model, TextWriter)
    return model.double()


@pytest.mark.parametrize("count", [1, 7, 8, 9, 12, 13, 50])
def test_every_token_is_scored_once_with_half_a_context_before_it(count: int) -> None:
    ids = 4 + np.arange(count) % 30
    model = writer()
    written = as_written(model, ids, context=8, start=START, likeliest=2)
    found = [one.log_prob for one in written]
    assert [one.token for one in written] == ids.tolist()
    for place in range(count):
        window = 0 if place < 8 else (place - 8) // 4 + 1  # windows begin every 4 tokens, and have 8
        before = ids[4 * window : place]
        assert place == len(before) or len(before) >= 4
        with torch.no_grad():
            logs = model(torch.tensor([[START, *before]]))[0, -1].log_softmax(-1)
        assert found[place] == pytest.approx(float(logs[ids[place]]))
        assert [token for token, _ in written[place].likeliest] == logs.topk(2).indices.tolist()
        assert [log for _, log in written[place].likeliest] == pytest.approx(logs.topk(2).values.tolist())
    assert sum(int(scored.sum()) for _, scored in sliding(ids, 8)) == count
    assert measure(model, ids, 10, 8, START, END).nats == pytest.approx(-sum(found))


@pytest.mark.parametrize("stride", [1, 3, 8])
def test_a_stride_says_how_much_text_stands_before_every_token(stride: int) -> None:
    ids = np.arange(4, 31)
    model = writer()
    nats = 0.0
    for place in range(len(ids)):
        window = 0 if place < 8 else (place - 8) // stride + 1
        before = ids[stride * window : place]
        assert place == len(before) or len(before) >= 8 - stride
        with torch.no_grad():
            nats -= float(model(torch.tensor([[START, *before]]))[0, -1].log_softmax(-1)[ids[place]])
    assert measure(model, ids, 10, 8, START, END, stride=stride).nats == pytest.approx(nats)
    assert sum(int(scored.sum()) for _, scored in sliding(ids, 8, stride)) == len(ids)


def test_models_with_other_vocabularies_compare_by_word_and_by_byte(tmp_path: Path, regard: Say) -> None:
    text = "the cat sat on\nthe mat  and é\n" * 4
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    for kind in ("byte", "char"):
        tokenizer = Tokenizer.train([text], kind)
        folder = write_writer(tmp_path / kind, tokenizer=tokenizer)
        generator = library.load(folder)
        score = generator.score(text, stride=5)
        assert (score.words, score.size) == (4 * 8, len(text.encode()))
        assert score.word_perplexity == pytest.approx(math.exp(score.nats / 32))
        assert math.log2(score.word_perplexity) * 32 == pytest.approx(score.bits_per_byte * score.size)
        words = ("evaluate", folder, "--data", tmp_path / "text.txt", "--stride", 5)
        found = answer(regard, *words)
        assert (found["stride"], found["words"]) == (5, 32)
        assert found["scores"]["word_perplexity"]["score"] == pytest.approx(score.word_perplexity)
        assert "stride 5" in found["scores"]["word_perplexity"]["signature"]
        assert "word perplexity" in regard(*words)[1]


def test_bits_per_byte_count_bytes_and_not_tokens() -> None:
    tokenizer = Tokenizer.train([], "byte")
    model = library.build(decoder(), vocabulary=tokenizer.vocabulary).eval()
    assert isinstance(model, TextWriter)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.zero_()  # so that every byte costs the same
    score = Generator(model, tokenizer, 16).score("é🌙a")
    assert score.tokens == score.size == 7
    assert score.bits_per_byte == pytest.approx(math.log2(tokenizer.vocabulary))
    assert score.perplexity == pytest.approx(tokenizer.vocabulary)


@every_run
def test_a_score_is_the_sum_of_what_the_tokens_cost(runs: dict[str, Path], preset: str) -> None:
    generator = library.load(runs[preset])
    text = rhyme(5, 3)
    assert generator.score(text).nats == pytest.approx(-sum(log for _, log in generator.log_probs(text)), rel=1e-4)
    assert "".join(token for token, _ in generator.log_probs(text)) == text
    assert generator.score(text).bits_per_byte < generator.score(text[::-1]).bits_per_byte


# --- writing ----------------------------------------------------------------------------------------------------------


@every_run
def test_it_writes_the_same_with_the_same_seed_in_python_and_on_the_command_line(
    runs: dict[str, Path], preset: str, regard: Say
) -> None:
    generator = library.load(runs[preset])
    text = generator("Ann greets", tokens=40, seed=5, temperature=0.5)
    assert text.startswith("Ann greets")
    assert len(text) == len("Ann greets") + 40
    code, out, err = regard("generate", runs[preset], "Ann greets", "--tokens", 40, "--seed", 5, "--temperature", 0.5)
    assert (code, out, err) == (0, text + "\n", "")


@every_run
def test_it_writes_beyond_its_context(runs: dict[str, Path], preset: str) -> None:
    text = library.load(runs[preset])(tokens=300, temperature=0)
    assert len(text) == 300
    words = text.replace(";", " ").replace(".", " ").split()
    assert sum(word in (*NAMES, "greets") for word in words[-20:]) > 8  # of random letters none would be


@every_run
def test_a_beam_is_likelier_than_the_greedy_way(runs: dict[str, Path], preset: str, regard: Say) -> None:
    generator = library.load(runs[preset])
    greedy, best = (generator("Ann greets ", tokens=12, **some) for some in ({"temperature": 0}, {"beam": 8}))
    assert generator.score(best).nats <= generator.score(greedy).nats + 1e-4
    code, out, _ = regard("generate", runs[preset], "Ann greets ", "--tokens", 12, "--beam", 8)
    assert (code, out) == (0, best + "\n")


def test_a_stream_gives_whole_characters() -> None:
    tokenizer = Tokenizer.train([], "byte")
    model = library.build(decoder(), vocabulary=tokenizer.vocabulary).eval()
    assert isinstance(model, TextWriter)
    generator = Generator(model, tokenizer, 16)
    pieces = list(generator.stream("", 200, Decoding(sample=True, seed=1)))
    assert all(pieces)
    assert len(pieces) < 200
    text = "é🌙"
    ids = tokenizer.encode([text])[0]
    assert [tokenizer.decode(ids[:end]).endswith("\ufffd") for end in (1, 2, 3)] == [True, False, True]


def test_searches_are_chosen_by_what_is_asked() -> None:
    assert chosen_drawing().sample
    assert not chosen_drawing(beam=3).sample
    assert not chosen_drawing(temperature=0, seed=1).sample
    with pytest.raises(ConfigError, match="nothing is drawn"):
        chosen_drawing(temperature=0, sample=True)


def test_mistakes_are_said_in_one_sentence(runs: dict[str, Path], toy: object, regard: Say, tmp_path: Path) -> None:
    run = runs["writer"]
    for words, said in (
        (("generate", run, "a", "--top-q", 1), "unknown"),
        (("generate", run, "a", "b"), "unexpected argument 'b'"),
        (("generate", tmp_path / "no"), "no"),
        (("evaluate", run), "there is nothing to score"),
        (("evaluate", run, "--data", "tinyshakespear"), "did you mean 'tinyshakespeare'"),
        (("evaluate", run, "--data", "x", "--beam", 3), "unknown key 'beam'"),
        (("evaluate", run, "--data", "x", "--stride", "all"), "stride: 'all' is not allowed"),
        (("evaluate", run, "--data", "x", "--stride", 49), "a stride of 49 is not allowed: windows of 48 tokens move"),
        (("translate", run, "a"), "not to translate"),
        (("train", "lm", "--run", tmp_path / "new"), "no examples were given for train"),
        (("train", "lm", "--train", tmp_path / "none.txt", "--run", tmp_path / "new"), "does not exist"),
    ):
        code, out, err = regard(*words)
        assert (code, out) == (2, ""), words
        assert said in err
        assert err.count("\n") == 1 or words[0] == "train"
