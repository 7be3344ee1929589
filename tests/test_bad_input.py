"""What goes wrong outside the program: one sentence on standard error, exit code 2, and nothing is lost."""

from __future__ import annotations

import gzip
import io
import json
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from regard.checkpoint import read_tensors, weights_of, write_tensors
from regard.config import change, from_dict
from regard.data.tokenizers import Tokenizer
from regard.models import ModelConfig
from regard.runfolder import TOKENS, Run
from tests.conftest import Say
from tests.toy import LONGEST, MODEL, WORDS, Toy, losses, meaning, write_pairs

QUICK = [*MODEL, "--batch-tokens", "200", "--max-steps", "1", "--validate-every", "1"]


def sentence(answer: tuple[int, str, str], progress: bool = False) -> str:
    """The complaint, once it is sure that it is one: alone on standard error, or at the end of some progress."""
    code, out, err = answer
    assert (code, out) == (2, "")
    *before, last = err.splitlines()
    assert last.startswith("regard ")
    assert progress or not before
    assert not any(line.startswith(("regard ", "Traceback", " ")) for line in before)
    return last


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder, with the time at which it was written."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


# --- train ------------------------------------------------------------------------------------------------------------


class Files:
    """A training and a validation file that are right, and the command that takes them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.run = folder, folder / "run"
        self.train = write_pairs(folder / "train.tsv", 30, 0)
        self.valid = write_pairs(folder / "valid.tsv", 5, 1)

    def words(self, *more: object) -> list[object]:
        return [*("train", "translate", "--run", self.run), *("--train", self.train, "--valid", self.valid), *more]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


@pytest.mark.parametrize("which", ["train", "valid"])
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"un\tone\ndeux two\n", "{}, line 2: no tab between source and target"),
        (b"un\tone\ndeux\ttwo\nd\xe9ux\ttwo\n", "{}, line 3: not valid UTF-8 (byte 0xe9 at place 2)"),
        (b"", "{}: no sentence pair (nothing in it)"),
        (b"\n \n\t\n", "{}: no sentence pair (all 3 lines are empty)"),
        (None, "{} does not exist"),
    ],
    ids=["no tab", "not UTF-8", "empty", "only empty lines", "missing"],
)
def test_a_file_that_is_not_as_promised_is_named_and_leaves_no_run(
    regard: Say, files: Files, which: str, content: bytes | None, message: str
) -> None:
    path: Path = getattr(files, which)
    path.unlink()
    if content is not None:
        path.write_bytes(content)
    said = sentence(regard(*files.words(*QUICK)), progress=content is not None)
    assert message.format(path) in said
    assert not files.run.exists()


def test_the_mistake_corrected_the_same_command_trains(regard: Say, files: Files) -> None:
    whole = files.train.read_bytes()
    files.train.write_bytes(whole + b"no tab\n")
    assert "line 31" in sentence(regard(*files.words(*QUICK)), progress=True)
    files.train.write_bytes(whole)
    assert regard(*files.words(*QUICK))[0] == 0


def test_parallel_files_of_different_lengths_say_both(regard: Say, files: Files) -> None:
    for name, count in (("a.fr", 7), ("a.en", 5)):
        (files.folder / name).write_text("un deux\n" * count)
    sides = ["--train-source", files.folder / "a.fr", "--train-target", files.folder / "a.en"]
    said = sentence(
        regard("train", "translate", "--run", files.run, *sides, "--valid", files.valid, *QUICK), progress=True
    )
    assert f"{files.folder / 'a.fr'} has 7 lines and {files.folder / 'a.en'} has 5" in said
    assert not files.run.exists()


def test_a_damaged_gzip_file_is_named(regard: Say, files: Files) -> None:
    path = files.folder / "train.tsv.gz"
    path.write_bytes(gzip.compress(files.train.read_bytes())[:-20])
    files.train = path
    assert f"{path}: the gzip file is cut off or damaged" in sentence(regard(*files.words(*QUICK)), progress=True)
    assert not files.run.exists()


def test_some_empty_lines_are_no_mistake_but_counted(regard: Say, files: Files) -> None:
    for path in (files.train, files.valid):
        path.write_text("\n" + path.read_text() + "\n\nun\t\n")
    code, _, err = regard(*files.words(*QUICK))
    assert code == 0
    assert "4 empty lines of the training pairs were skipped" in err
    assert "4 empty lines of the validation pairs were skipped" in err


@pytest.mark.parametrize(
    "model",
    [
        [*MODEL, "--position", "learned", "--length", "10"],
        "--tokenizer word --preset luong-2015-location --width 16 --hidden 16 --model.reader.kernel.length 10".split(),
    ],
)
def test_pairs_beyond_the_places_of_the_model_are_dropped_and_counted(
    regard: Say, files: Files, model: list[str]
) -> None:
    for path in (files.train, files.valid):
        path.write_text(path.read_text() + f"{'un ' * 12}\t{'one ' * 12}\n")
    code, _, err = regard(*files.words(*model, "--max-steps", "1"))
    assert code == 0, err
    assert "1 training pairs of 10 tokens or more were dropped" in err
    assert "1 validation pairs of 10 tokens or more were dropped" in err


def test_pairs_that_are_too_long_are_dropped_and_counted(regard: Say, files: Files) -> None:
    files.train.write_text(files.train.read_text() + ("un " * 20 + "\tone\n") * 3)
    files.valid.write_text(files.valid.read_text() + "un\t" + "one " * 20 + "\n")
    code, _, err = regard(*files.words(*QUICK, "--max-length", 10))
    assert code == 0
    assert "3 training pairs of 10 tokens or more were dropped" in err
    assert "1 validation pairs of 10 tokens or more were dropped" in err


@pytest.mark.parametrize(
    ("which", "message"),
    [("train", "no training pair is shorter than 10 tokens"), ("valid", "every validation pair is too long")],
)
def test_only_too_long_pairs_are_a_mistake(regard: Say, files: Files, which: str, message: str) -> None:
    getattr(files, which).write_text(("un " * 20 + "\tone\n") * 3)
    assert message in sentence(regard(*files.words(*QUICK, "--max-length", 10)), progress=True)
    assert not files.run.exists()


def test_a_folder_that_exists_is_refused_and_stays_as_it_is(regard: Say, files: Files, toy: Toy) -> None:
    files.run = toy.good
    before = contents(toy.good)
    assert f"{toy.good} exists; go on with --resume, or choose another folder" in sentence(regard(*files.words(*QUICK)))
    assert contents(toy.good) == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--data", "phrasbook"], "unknown data set 'phrasbook': did you mean 'phrasebook'?"),
        (["--data", "phrasebook", "--languages", "en-fa"], "no languages 'en-fa': did you mean 'en-fr'?"),
        ([], "no examples were given for train and valid: name --train and --valid files, or --data NAME"),
        (["--train-source", "a.fr", "--valid", "v.tsv"], "parallel files come in two"),
        (["--data", "phrasebook", "--max-stps", "3"], "unknown option 'max_stps': did you mean 'max_steps'?"),
        (["--data", "phrasebook", "--preset", "transformer-tini"], "did you mean 'transformer-tiny'?"),
        (
            ["--data", "phrasebook", "--preset", "gpt2"],
            "one of kind decoder reads no source, so it cannot learn to translate",
        ),
        (["--data", "phrasebook", "--max-steps", "0"], "max_steps: 0 is not allowed; it takes a whole number"),
        (["--data", "phrasebook", "--columns", "a"], "columns a: name two"),
    ],
)
def test_what_is_unknown_or_missing_names_what_is_meant(
    regard: Say, tmp_path: Path, words: list[str], message: str
) -> None:
    assert message in sentence(regard("train", "translate", "--run", tmp_path / "run", *words))
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("training: {max_steps: 3\nmodel", "is no recipe: while parsing a flow mapping"),
        ("- a\n- b\n", "is no recipe: it holds list instead of fields"),
        ("", "is no recipe: it holds NoneType instead of fields"),
        ("trainig: {max_steps: 3}\n", "unknown key 'trainig': did you mean 'training'?"),
        ("training: {max_stps: 3}\n", "unknown key 'training.max_stps': did you mean 'max_steps'?"),
        ("task: translate\n", "task is 'translate' instead of fields"),
        ("model: 3\n", "model is 3 instead of fields"),
        (None, "recipe.yaml does not exist"),
    ],
    ids=["no YAML", "a list", "empty", "unknown section", "unknown key", "task", "model", "missing"],
)
def test_a_file_that_is_no_recipe_is_refused(regard: Say, files: Files, content: str | None, message: str) -> None:
    path = files.folder / "recipe.yaml"
    if content is not None:
        path.write_text(content)
    said = sentence(regard(*files.words("--config", path)))
    assert message in said
    assert str(path) in said or content is not None
    assert not files.run.exists()


def test_several_files_of_pairs_are_refused_by_name(regard: Say, files: Files) -> None:
    said = sentence(regard(*files.words("--train", files.valid)))
    assert f"{files.train},{files.valid} are several files, where one is read; put them into one" in said


def test_languages_belong_to_named_data(regard: Say, toy: Toy, files: Files) -> None:
    said = sentence(regard(*files.words("--languages", "en-xx")))
    assert "--languages en-xx are those of a named data set" in said
    words = ("--data", toy.file("test.tsv"), "--languages", "en-xx")
    assert "--languages en-xx are those of a named data set" in sentence(regard("evaluate", toy.good, *words))


def test_what_is_no_run_is_not_resumed(regard: Say, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "precious.txt").write_text("keep")
    before = contents(tmp_path)
    resume = ("train", "translate", "--resume", "--run")
    assert "is no run folder: it has no config.json" in sentence(regard(*resume, tmp_path / "mine"))
    said = sentence(regard(*resume, tmp_path / "nowhere"))
    assert (
        f"there is no run in {tmp_path / 'nowhere'} to go on with, and none can begin: no examples were given" in said
    )
    assert contents(tmp_path) == before
    assert not (tmp_path / "new").exists()


def test_a_command_is_given_again_with_resume(regard: Say, files: Files) -> None:
    words = [*files.words("--max-steps", "2"), "--dropout", "0.25"]
    assert regard(*words)[0] == 0
    code, _, err = regard(*words[:-2], "--dropout", "0.25", "--max-steps", "3", "--resume")
    assert (code, "resumed at step 2" in err) == (0, True)


def test_resuming_a_run_that_does_not_exist_begins_it(regard: Say, files: Files) -> None:
    assert regard(*files.words("--max-steps", "2"), "--resume")[0] == 0
    code, _, err = regard(*files.words("--max-steps", "3"), "--resume")
    assert (code, "resumed at step 2" in err) == (0, True)


PRESET = "--tokenizer word --preset bahdanau-2015 --width 16 --hidden 16 --model.reader.kernel.hidden 8".split()


def test_a_command_with_a_preset_or_a_file_is_given_again_with_resume(regard: Say, files: Files) -> None:
    recipe = files.folder / "mine.yaml"
    recipe.write_text("preset: bahdanau-2015\nmodel: {width: 16, hidden: 16}\ntraining: {max_steps: 9, clip: 0.5}\n")
    for name, made in (("preset", PRESET), ("file", ["--config", recipe, "--tokenizer", "word"])):
        files.run = files.folder / name
        words = [*files.words("--max-steps", "2"), *made]
        for end in ("2", "3"):
            code, _, err = regard(*words, "--max-steps", end, "--resume")
            assert code == 0, err
        assert "resumed at step 2" in err
    before = contents(files.run)
    recipe.write_text(recipe.read_text().replace("0.5", "0.7"))
    said = sentence(regard(*words, "--resume"))
    assert "option --config cannot be changed when resuming: training.clip is 0.5 in" in said
    assert "and 0.7 here" in said
    assert contents(files.run) == before


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--train", "other.tsv"], "task.train.file is {train} in {run}, and other.tsv here"),
        (["--data", "phrasebook"], "task.train.name is None in {run}, and phrasebook here"),
        (["--preset", "transformer-base"], "model.width is 32 in {run}, and 512 here"),
        (["--dropout", "0.9"], "model.embedding.dropout is 0.0 in {run}, and 0.9 here"),
        (["--from", "elsewhere"], "the run to begin from is None in {run}, and elsewhere here"),
        (["--frozen"], "frozen is False in {run}, and True here"),
        (["--batch-tokens", "500"], "training.batch_tokens is 600 in {run}, and 500 here"),
    ],
    ids=str,
)
def test_what_decides_a_run_cannot_be_changed_when_it_is_resumed(
    regard: Say, toy: Toy, words: list[str], told: str
) -> None:
    before = contents(toy.good)
    said = sentence(regard("train", "translate", "--run", toy.good, "--resume", *words))
    assert f"option {words[0]} cannot be changed when resuming" in said
    assert told.format(run=toy.good, train=toy.file("train.tsv")) in said
    assert contents(toy.good) == before


# --- a full disk ------------------------------------------------------------------------------------------------------


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """The system itself refuses to write on, in the midst of a file, as on a full disk or over a quota."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_when_the_disk_is_full_the_last_checkpoint_survives_and_the_run_goes_on_from_it(
    regard: Say, files: Files
) -> None:
    # One more snapshot each ten steps: the third makes a file that is larger than any before it.
    training = ["--batch-tokens", "200", "--max-steps", "40", "--validate-every", "10", "--keep-checkpoints", "9"]
    average = ["--average", json.dumps({"kind": "last", "count": 9, "every": 10})]
    whole, cut = Run(files.folder / "whole"), Run(files.folder / "cut")
    files.run = whole.path
    assert regard(*files.words(*MODEL, *training, *average))[0] == 0
    third = (whole.checkpoint(30) / "average.safetensors").stat().st_size

    files.run = cut.path
    with no_file_larger_than(third - 1):
        answer = regard(*files.words(*MODEL, *training, *average))
    assert answer[0] == 2
    last = answer[2].splitlines()[-1]
    assert last.startswith("regard train: ")
    assert "average.safetensors could not be written (" in last
    assert "File too large" in last
    assert cut.checkpoints() == [10, 20]
    assert not [path for path in cut.path.rglob("*") if path.name.endswith(".part")]
    assert regard("translate", cut.path, "un deux")[0] == 0

    assert regard("train", "translate", "--run", cut.path, "--resume")[0] == 0
    assert losses(cut) == losses(whole)
    for path in ("model.safetensors", "checkpoints/step-40/model.safetensors"):
        one, other = read_tensors(cut.path / path), read_tensors(whole.path / path)
        assert all(one[name].equal(other[name]) for name in one.keys() | other.keys())


def test_translations_that_cannot_be_written_are_a_mistake(toy: Toy) -> None:
    words = [sys.executable, "-m", "regard", "translate", str(toy.good), "un deux"]
    with open("/dev/full", "w") as full:
        result = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert result.returncode == 2
    assert result.stderr == "regard translate: standard output cannot be written (No space left on device)\n"


# --- runs that cannot be used -----------------------------------------------------------------------------------------


@pytest.fixture
def copy(toy: Toy, tmp_path: Path) -> Path:
    """Of a good run, to be damaged."""
    return Path(shutil.copytree(toy.good, tmp_path / "copy", ignore=shutil.ignore_patterns("checkpoints")))


def without_weights(run: Run) -> None:
    run.weights_path.unlink()


def weights_of_another_size(run: Run) -> None:
    config = from_dict(ModelConfig, run.section("model"))
    write_tensors(run.weights_path, weights_of(change(config, {"hidden": 50}).build()))


def weights_of_another_depth(run: Run) -> None:
    config = from_dict(ModelConfig, run.section("model"))
    write_tensors(run.weights_path, weights_of(change(config, {"layers": 2}).build()))


def truncated_weights(run: Run) -> None:
    run.weights_path.write_bytes(run.weights_path.read_bytes()[:-1000])


def no_tokenizer(run: Run) -> None:
    run.tokenizer_path.unlink()


def tokenizer_of_another_size(run: Run) -> None:
    Tokenizer.train(["a b c d"] * 2, "word").save(run.tokenizer_path)
    shutil.rmtree(run.path / "tokens")
    config = json.loads(run.config_path.read_text())
    del config["tokenizer"]  # as a run of an older version
    run.config_path.write_text(json.dumps(config))


def tokenizer_of_another_run(run: Run) -> None:
    """Of the same size, so that only what it is can tell."""
    size = Tokenizer.load(run.tokenizer_path).vocabulary
    other = Tokenizer.train([" ".join("abcdefghijklmnopqrstuvwxyz"[: size - 4])] * 2, "word")
    assert other.vocabulary == size
    other.save(run.tokenizer_path)


def tokenizer_of_another_run_alone(run: Run) -> None:
    """Where the corpus is not there any more."""
    tokenizer_of_another_run(run)
    shutil.rmtree(run.path / TOKENS)


def config_cut_off(run: Run) -> None:
    run.config_path.write_text(run.config_path.read_text()[:500])


def config_without_model(run: Run) -> None:
    config = json.loads(run.config_path.read_text())
    run.config_path.write_text(json.dumps({name: section for name, section in config.items() if name != "model"}))


def config_of_the_future(run: Run) -> None:
    run.config_path.write_text(run.config_path.read_text().replace('"format": 1', '"format": 2'))


def no_folder(run: Run) -> None:
    shutil.rmtree(run.path)


@pytest.mark.parametrize("verb", ["translate", "evaluate"])
@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (no_folder, "there is no run folder {run}"),
        (without_weights, "{run}/model.safetensors is missing"),
        (weights_of_another_size, "has shape (50, 32), the model's is (48, 32): it belongs to another configuration"),
        (weights_of_another_depth, "has extra decoder.blocks.1."),
        (truncated_weights, "{run}/model.safetensors is no whole safetensors file"),
        (no_tokenizer, "{run}/tokenizer.json: the tokenizer cannot be read (No such file or directory)"),
        (tokenizer_of_another_size, "{run}/tokenizer.json has 8 pieces, the model 15"),
        (tokenizer_of_another_run, "{run}/tokenizer.json is not the tokenizer that {run}/tokens was made with"),
        (tokenizer_of_another_run_alone, "{run}/tokenizer.json is not the tokenizer that {run}/config.json names"),
        (config_cut_off, "{run}/config.json, line"),
        (config_without_model, "{run}/config.json has no section 'model'"),
        (config_of_the_future, "{run}/config.json has format 2; this version reads format 1"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_run_that_cannot_be_used_says_why(
    regard: Say, toy: Toy, copy: Path, verb: str, damage: Callable[[Run], None], message: str
) -> None:
    damage(Run(copy))
    words = ["un deux"] if verb == "translate" else ["--data", toy.file("test.tsv")]
    assert message.format(run=copy) in sentence(regard(verb, copy, *words))


def test_a_recorded_alignment_that_the_model_does_not_have_is_refused(regard: Say, copy: Path) -> None:
    run = Run(copy)
    config = json.loads(run.config_path.read_text())
    config["alignment"]["layer"] = "decoder.7.cross"
    run.config_path.write_text(json.dumps(config))
    said = sentence(regard("translate", copy, "un", "--align"))
    assert "the model has no layer 'decoder.7.cross': did you mean 'decoder.0.cross'?" in said


# --- translate --------------------------------------------------------------------------------------------------------


@pytest.fixture
def type_in(monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """What stands on standard input."""
    return lambda text: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))


def test_invalid_utf8_on_standard_input_names_the_line(regard: Say, toy: Toy, type_in: Callable[[bytes], None]) -> None:
    type_in(b"un deux\n\nd\xe9ux\n")
    code, out, err = regard("translate", toy.good)
    assert (code, out) == (2, "one two\n\n")  # what came before it is not lost
    assert "standard input, line 3: not valid UTF-8" in err.splitlines()[-1]


def test_a_closed_standard_input_is_said_to_be_closed(toy: Toy) -> None:
    command = f"'{sys.executable}' -m regard translate '{toy.good}' <&-"
    result = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert "standard input is closed" in sentence((result.returncode, result.stdout, result.stderr))


def test_what_came_before_the_input_ended_is_translated(
    regard: Say, toy: Toy, type_in: Callable[[bytes], None]
) -> None:
    type_in(b"un deux\nsix tro")
    code, out, err = regard("translate", toy.good)
    assert (code, err) == (0, "")
    assert out.startswith("one two\n")
    assert out.count("\n") == 2


def test_no_input_gives_no_output(regard: Say, toy: Toy, type_in: Callable[[bytes], None]) -> None:
    type_in(b"")
    assert regard("translate", toy.good) == (0, "", "")


def test_empty_lines_stay_where_they_are(regard: Say, toy: Toy, type_in: Callable[[bytes], None]) -> None:
    type_in(b"\nun deux\n\n   \nsix trois\n")
    assert regard("translate", toy.good) == (0, "\none two\n\n\nsix three\n", "")


def test_a_text_that_is_too_long_is_split_and_nothing_of_it_is_lost(regard: Say, toy: Toy) -> None:
    text = " ".join(WORDS[i % 6] for i in range(4 * LONGEST))
    code, out, err = regard("translate", toy.good, "un deux", text)
    assert code == 0
    assert out == f"one two\n{meaning(text)}\n"
    assert err == f"'{text[:20]}'… has more than the 5 tokens that the model reads: it is translated in 4 parts\n"


def test_a_text_in_parts_has_no_list_of_best_translations(regard: Say, toy: Toy) -> None:
    said = sentence(regard("translate", toy.good, "un " * 20, "--nbest", "2"))
    assert "has more than the 5 tokens" in said
    assert "no 2 best translations; ask for one" in said


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--batch", "0"], "argument --batch: '0' is not a whole number of at least 1"),
        (["--beam", "0"], "beam: 0 is not allowed; it takes a whole number of at least 1"),
        (["--beem", "5"], "unknown key 'beem': did you mean 'beam'?"),
        (["--nbest", "5"], "nbest 5 is more than the beam of 4 can give"),
        (["--temperature", "0.5"], "temperature 0.5: it shapes what is drawn, but a beam of 4 draws nothing"),
        (["--sample", "--beam", "3"], "sample with a beam of 3: samples are drawn one by one"),
    ],
)
def test_a_search_that_cannot_be_is_refused(regard: Say, toy: Toy, words: list[str], message: str) -> None:
    assert message in sentence(regard("translate", toy.good, "un deux", *words))


# --- evaluate ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--data", "nowhere.tsv"], "nowhere.tsv does not exist"),
        ([], "there is nothing to score: give --data, or --source and --target"),
        (["--source", "a.fr"], "source 'a.fr' and target None: parallel files come in two"),
        (["--data", "phrasebook", "--split", "tset"], "phrasebook has no split 'tset': did you mean 'test'?"),
        (["--data", "phrasebok"], "unknown data set 'phrasebok': did you mean 'phrasebook'?"),
        (["--data", "phrasebook", "--batch", "0"], "argument --batch: '0' is not a whole number of at least 1"),
        (["--data", "phrasebook", "--beam", "0"], "beam: 0 is not allowed"),
        (["--data", "phrasebook", "--beem", "3"], "did you mean 'beam'?"),
        (["--data", "phrasebook", "--against", "nowhere"], "there is no run folder nowhere"),
    ],
)
def test_an_evaluation_that_cannot_be_says_why(regard: Say, toy: Toy, words: list[str], message: str) -> None:
    assert message in sentence(regard("evaluate", toy.good, *words))
