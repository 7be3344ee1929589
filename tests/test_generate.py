"""`regard generate`: prompts from anywhere, texts as they come, and what a person may get wrong."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import regard as library
from regard.checkpoint import read_tensors, write_tensors
from regard.data.tokenizers import Tokenizer
from regard.errors import DataError
from regard.models import RecurrentDecoder
from regard.tasks.language.generator import Generator, chosen_drawing
from tests.conftest import Say
from tests.helpers import decoder
from tests.writers import CONTEXT, write_writer

LONG = "the prompt has 30 tokens and the model has 23 of it in sight"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_writer(tmp_path_factory.mktemp("generate") / "writer")


@pytest.fixture(scope="module")
def writer(run: Path) -> Generator:
    return library.load(run)


def piped(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


# --- prompts ----------------------------------------------------------------------------------------------------------


def test_lines_of_standard_input_are_prompts_in_their_order(
    run: Path, writer: Generator, regard: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    prompts = ["a cab", "", "the longest of them", "b", "c", "ABC ab", "d"]
    expected = [writer(prompt, tokens=12, seed=4) for prompt in prompts]
    for batch in (1, 3, 8):
        piped(monkeypatch, "\n".join(prompts) + "\n")
        code, out, err = regard("generate", run, "--tokens", 12, "--seed", 4, "--batch", batch)
        assert (code, err) == (0, "")
        assert out == "\n".join(text + "\n" for text in expected)
        piped(monkeypatch, "\n".join(prompts) + "\n")
        _, out, _ = regard("generate", run, "--tokens", 12, "--seed", 4, "--batch", batch, "--json")
        records = [json.loads(line) for line in out.splitlines()]
        assert [one["prompt"] + one["text"] for one in records] == expected
        assert [one["prompt"] for one in records] == prompts


def test_a_dash_reads_one_prompt_of_several_lines(
    run: Path, writer: Generator, regard: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    piped(monkeypatch, "a\nb")
    assert regard("generate", run, "-", "--seed", 1)[1] == writer("a\nb", seed=1) + "\n"


def test_an_empty_prompt_begins_from_the_start(run: Path, writer: Generator, regard: Say) -> None:
    assert writer.read("") == [writer.tokenizer.start]
    code, out, err = regard("generate", run, "", "--seed", 1, "--tokens", 9)
    assert (code, out, err) == (0, writer("", seed=1, tokens=9) + "\n", "")
    assert len(out) == 10


def test_matrices_of_bytes_write_and_are_scored(run: Path, regard: Say, tmp_path: Path) -> None:
    code, out, _ = regard("generate", run, "ab", "--int8", "--temperature", 0, "--tokens", 9)
    assert (code, out) == (0, library.load(run, int8=True)("ab", temperature=0, tokens=9) + "\n")
    (tmp_path / "text.txt").write_text("abc de " * 20, encoding="utf-8")
    exact, small = (
        json.loads(regard("evaluate", run, "--data", tmp_path / "text.txt", "--json", *more)[1])["scores"]
        for more in ([], ["--int8"])
    )
    assert small["bits_per_byte"] != exact["bits_per_byte"]
    assert small["bits_per_byte"]["score"] == pytest.approx(exact["bits_per_byte"]["score"], rel=0.05)


def test_a_prompt_longer_than_the_context_slides_and_says_so_or_is_refused(
    run: Path, writer: Generator, regard: Say
) -> None:
    prompt = "abcde " * 5
    code, out, err = regard("generate", run, prompt, "--temperature", 0)
    with pytest.warns(UserWarning, match=f"{LONG}: it goes on from the last 23"):
        assert (code, out) == (0, writer(prompt, temperature=0) + "\n")
    assert err == f"{LONG}: it goes on from the last 23\n"
    with pytest.raises(DataError, match=f"{LONG}: shorten it"):
        writer(prompt, long="refuse")
    assert out.removeprefix(prompt) == writer(prompt[-23:], temperature=0).removeprefix(prompt[-23:]) + "\n"
    code, out, err = regard("generate", run, prompt, "--long", "refuse")
    assert (code, out) == (2, "")
    assert err == f"regard generate: {LONG}: shorten it, or let it slide\n"
    assert regard("generate", run, prompt[:23], "--long", "refuse")[0] == 0


def test_a_beam_says_what_it_has_no_room_for(run: Path, regard: Say) -> None:
    code, out, err = regard("generate", run, "a" * 23, "--beam", 2, "--tokens", 5)
    assert (code, len(out)) == (0, 23 + 5 + 1)
    assert err == (
        "the prompt has 23 tokens and the model has 19 of it in sight, with room for 5 more: "
        "it goes on from the last 19\n"
    )
    assert regard("generate", run, "a" * 23, "--beam", 2, "--tokens", 5, "--long", "refuse")[0] == 2
    code, out, err = regard("generate", run, "ab", "--beam", 2, "--tokens", 50)
    assert (code, len(out)) == (0, CONTEXT + 1)
    assert "a beam writes 22 tokens after this prompt" in err


# --- texts ------------------------------------------------------------------------------------------------------------


def test_samples_of_a_prompt_are_several_texts_of_which_the_first_is_the_one(
    run: Path, writer: Generator, regard: Say
) -> None:
    code, out, err = regard("generate", run, "ab", "--samples", 3, "--seed", 1, "--tokens", 30, "--json")
    assert (code, err) == (0, "")
    texts = [json.loads(line)["text"] for line in out.splitlines()]
    assert len(set(texts)) == 3
    assert "ab" + texts[0] == writer("ab", tokens=30, seed=1)
    _, out, _ = regard("generate", run, "ab", "--samples", 3, "--seed", 1, "--tokens", 30)
    assert out == "\n".join(f"ab{text}\n" for text in texts)


@pytest.mark.parametrize("how", [["--temperature", "0"], ["--seed", "3"], ["--beam", "3"]])
def test_scores_are_what_the_model_gives_to_each_token(
    run: Path, writer: Generator, regard: Say, how: list[str]
) -> None:
    code, out, _ = regard("generate", run, "abc", "--tokens", 10, "--scores", *how)
    assert code == 0
    lines = [line.split("\t") for line in out.splitlines()]
    text = "".join(json.loads(token) for _, token in lines)
    assert "abc" + text + "\n" == regard("generate", run, "abc", "--tokens", 10, *how)[1]
    expected = [log for _, log in writer.log_probs("abc" + text)][3:]
    assert [float(log) for log, _ in lines] == pytest.approx(expected, abs=1e-3)
    record = json.loads(regard("generate", run, "abc", "--tokens", 10, "--scores", "--json", *how)[1])
    assert [log for _, log in record["tokens"]] == pytest.approx(expected, abs=1e-3)
    assert record["log_prob"] == pytest.approx(sum(expected), abs=1e-2)


@pytest.mark.parametrize("how", [["--seed", "3"], ["--beam", "2"]])
def test_a_text_ends_before_a_stop_string_and_so_do_its_tokens(run: Path, regard: Say, how: list[str]) -> None:
    words = ("generate", run, "abc", "--tokens", 20, "--json", "--scores", *how)
    whole = json.loads(regard(*words)[1])
    assert whole["reason"] == "length"
    stop = whole["text"][7:10]
    cut = json.loads(regard(*words, "--stop", stop, "--stop", "never")[1])
    assert cut["reason"] == "stop"
    assert cut["text"] == whole["text"][: whole["text"].index(stop)]
    assert cut["tokens"] == whole["tokens"][: len(cut["text"])]
    _, out, _ = regard("generate", run, "abc", "--tokens", 20, *how, "--stop", stop)
    assert out == "abc" + cut["text"] + "\n"


@pytest.mark.parametrize("how", [["--seed", "1"], ["--seed", "2"], ["--seed", "3"], ["--temperature", "0"]])
def test_samples_and_prompts_that_stop_one_after_the_other_are_what_each_is_alone(
    run: Path, writer: Generator, regard: Say, monkeypatch: pytest.MonkeyPatch, how: list[str]
) -> None:
    words = ("generate", run, "--tokens", 24, "--json", *how)
    prompts = ["the cat"] if "--seed" in how else ["the cat", "a", "cab", "b c"]
    samples = ["--samples", 4] if "--seed" in how else []
    found = []
    for stop in ([], ["--stop", "e", "--stop", "a", "--stop", "b"]):
        piped(monkeypatch, "\n".join(prompts))
        code, out, err = regard(*words, *samples, *stop)
        assert (code, err) == (0, "")
        found.append([json.loads(line)["text"] for line in out.splitlines()])
    assert [re.split("[eab]", text)[0] for text in found[0]] == found[1]
    assert len({len(text) for text in found[1]}) > 2  # so that they leave at several steps


def test_a_stream_gives_out_no_letter_of_a_stop_string(writer: Generator) -> None:
    search = chosen_drawing(seed=3)
    whole = writer("abc", tokens=20, seed=3)[3:]
    stop = whole[5:9]
    so_far = ""
    for text in writer.stream("abc", 20, search, stop=[stop]):
        so_far += text
        assert not any(so_far.endswith(stop[:n]) and whole.startswith(so_far) and len(so_far) > 5 for n in range(1, 5))
    assert so_far == whole[: whole.index(stop)]


def test_mistakes_are_said_in_one_sentence(run: Path, regard: Say) -> None:
    for words, said in (
        (("--samples", 3, "--temperature", 0), "temperature 0 gives the same text 3 times"),
        (("--top-k", 5, "--temperature", 0), "there is nothing for top_k to shape"),
        (("--max-length", 3), "--max-length is for translators: take --tokens N"),
        (("--length-penalty", 2), "name one with --beam N"),
        (("--min-length", 50, "--tokens", 6), "--min-length 50 is more than the 6 of --tokens"),
        (("b",), "unexpected argument 'b'"),
        (("--samples", 3, "--nbest", 3), "--samples and --nbest are the same"),
        (("--stop", ""), "a stop string is empty"),
        (("--min-p", 2), "min_p: 2"),
        (("--repetition-penalty", 1.2, "--beam", 2), "repetition_penalty 1.2 with a beam of 2"),
        (("--samples", 0), "'0' is not a whole number of at least 1"),
        (("--long", "cut"), "invalid choice: 'cut'"),
    ):
        code, out, err = regard("generate", run, "a", *words)
        assert (code, out) == (2, ""), words
        assert said in err
        assert err.count("\n") == 1


def test_the_prompt_may_stand_behind_the_options(run: Path, regard: Say) -> None:
    before = regard("generate", run, "--tokens", 5, "--seed", 1, "--beam", 1, "a")
    assert before == regard("generate", run, "a", "--tokens", 5, "--seed", 1, "--beam", 1)
    assert before[0] == 0


def test_what_is_no_utf8_and_weights_that_are_no_numbers_are_refused(run: Path, regard: Say, tmp_path: Path) -> None:
    code, _, err = regard("generate", run, "caf\udce9")
    assert (code, err.count("\n"), "is not valid UTF-8" in err) == (2, 1, True)
    shutil.copytree(run, tmp_path / "nan")
    weights = read_tensors(run / "model.safetensors")
    name = next(iter(weights))
    weights[name][0] = float("nan")
    write_tensors(tmp_path / "nan" / "model.safetensors", weights)
    code, out, err = regard("generate", tmp_path / "nan", "a")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"model.safetensors: {name}: there are values that are infinite or no numbers" in err


def test_a_draft_changes_nothing_but_the_time(
    run: Path, writer: Generator, regard: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = write_writer(tmp_path / "small", decoder(), context=9, seed=8)
    words = ("--tokens", 40, "--temperature", 0)
    plain = regard("generate", run, "a cab", *words)
    assert regard("generate", run, "a cab", *words, "--draft", small) == plain
    assert regard("generate", run, "a cab", *words, "--draft", small, "--ahead", 9) == plain
    piped(monkeypatch, "ab\nc\n")
    code, out, _ = regard("generate", run, "--draft", small, "--samples", 2, "--seed", 1, "--tokens", 9, "--json")
    records = [json.loads(line) for line in out.splitlines()]
    assert code == 0
    assert [(one["prompt"], len(one["text"])) for one in records] == [("ab", 9), ("ab", 9), ("c", 9), ("c", 9)]
    assert records[0]["text"] != records[1]["text"]
    stranger = write_writer(tmp_path / "stranger", tokenizer=Tokenizer.train([], "byte"))
    recurrent = write_writer(tmp_path / "recurrent", RecurrentDecoder(vocabulary=9, width=16, hidden=12))
    for more, said in (
        (("--draft", stranger), "the draft has another tokenizer"),
        (("--draft", recurrent), "recurrent-decoder with a recurrent state cannot write ahead"),
        (("--draft", small, "--beam", 2), "a beam of 2 with a draft"),
        (("--ahead", 2), "--ahead 2 needs a smaller model that writes ahead"),
    ):
        code, out, err = regard("generate", run, "a", *more)
        assert (code, out) == (2, "")
        assert said in err


# --- a process, a pipe, a terminal ------------------------------------------------------------------------------------


def command(*words: object) -> list[str]:
    return [sys.executable, "-m", "regard", "generate", *map(str, words)]


@pytest.fixture
def slow(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which a token takes its time, so that it can be interrupted."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys, time\n"
        "from importlib.abc import MetaPathFinder\n"
        "class Slow(MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'regard.tasks.language.continuations':\n"
        "            sys.meta_path.remove(self)\n"
        "            from regard.decoding.stream import Writing\n"
        "            plain = Writing.step\n"
        "            Writing.step = lambda self: time.sleep(0.03) or plain(self)\n"
        "sys.meta_path.insert(0, Slow())\n"
    )
    here = str(Path(__file__).parents[1])
    return {**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{here}", "OMP_NUM_THREADS": "1", "TERM": "dumb"}


def test_a_pipe_sees_the_text_as_it_is_written_and_keeps_what_an_interrupt_left(
    run: Path, writer: Generator, slow: dict[str, str]
) -> None:
    whole = writer("ab", tokens=300, seed=1)
    process = subprocess.Popen(
        command(run, "ab", "--tokens", 300, "--seed", 1, "--stop", whole[2:12] + "?"),  # which never comes
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=slow,
    )
    assert process.stdout is not None
    first = os.read(process.stdout.fileno(), 3)
    start = time.monotonic()
    while len(first) < 20:
        first += os.read(process.stdout.fileno(), 10)
    assert time.monotonic() - start > 0.2  # it came bit by bit
    process.send_signal(signal.SIGINT)
    rest, err = process.communicate(timeout=30)
    text = (first + rest).decode()
    assert process.returncode == 130
    assert err == b""
    assert text.endswith("\n")
    assert whole.startswith(text[:-1])
    assert 20 <= len(text) < 300


class Terminal:
    """A process on a terminal of its own."""

    def __init__(self, words: list[str], env: dict[str, str]) -> None:
        self.number, self.main = pty.fork()
        if self.number == 0:
            os.execve(words[0], words, env)
        self.seen = ""

    def until(self, pattern: str) -> str:
        """Read until it is there; returns and forgets what came up to it."""
        end = time.monotonic() + 60
        while not (found := re.search(pattern, self.seen)):
            assert time.monotonic() < end, self.seen
            if select.select([self.main], [], [], 0.1)[0]:
                try:
                    self.seen += os.read(self.main, 1000).decode().replace("\r", "")
                except OSError:  # it has ended
                    assert re.search(pattern, self.seen), self.seen
        before, self.seen = self.seen[: found.end()], self.seen[found.end() :]
        return before

    def type(self, text: str) -> None:
        os.write(self.main, text.encode())


def test_on_a_terminal_prompts_are_asked_for_with_a_history(run: Path, writer: Generator, slow: dict[str, str]) -> None:
    terminal = Terminal(command(run, "--tokens", 40, "--temperature", 0, "--stop", "\n"), slow)

    def text(prompt: str) -> str:
        return re.escape(writer(prompt, tokens=40, temperature=0, stop=["\n"])) + "\n"

    terminal.until("write on from what you type.*\n")
    terminal.until("> ")
    terminal.type("cab\n")
    terminal.until("cab\n" + text("cab") + "> ")
    terminal.type("\x10\n")  # Ctrl-P: the line before
    terminal.until("cab\n" + text("cab") + "> ")
    terminal.type("a" * 30 + "\n")
    assert LONG in terminal.until("> $")
    terminal.type("ABC\n")
    begun = terminal.until("ABC\nABC.{3}").removeprefix("ABC\n")
    terminal.type("\x03")  # while it writes
    begun += terminal.until("\n> ").removesuffix("\n> ").removesuffix("^C")
    assert writer("ABC", tokens=40, temperature=0).startswith(begun.replace("^C", ""))
    assert len(begun) < 40
    terminal.type("half a li")
    terminal.until("half a li")
    terminal.type("\x03")  # a line that was begun
    terminal.until("\n> ")
    terminal.type("\x03")  # an empty one
    terminal.until("\n")
    assert os.waitstatus_to_exitcode(os.waitpid(terminal.number, 0)[1]) == 0
    os.close(terminal.main)


def test_python_takes_stop_strings_and_samples(writer: Generator) -> None:
    texts: Any = writer.continued(["ab", "c"], 9, chosen_drawing(seed=1, nbest=2), stop=["\n"])
    assert [len(row) for row in texts] == [2, 2]
    assert "ab" + texts[0][0].text == writer("ab", tokens=9, seed=1, stop=["\n"])
