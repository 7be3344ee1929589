"""Every test starts from the same random numbers."""

from __future__ import annotations

import json
import os
import signal

# Some virtual machines advertise AMX and trap on it, which ends the process in the first bf16 product.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # models are tiny here: two threads would only wait for each other

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # started behind a shell's &: its children would not hear Ctrl-C
    signal.signal(signal.SIGINT, signal.default_int_handler)

from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
import torch

from regard import extensions
from regard.errors import Error
from tests.toy import Toy, train_toy

# Property tests find the same in every run of `make test`; `make fuzz` loads the other profile and prints its seed.
hypothesis.settings.register_profile("repeatable", derandomize=True, max_examples=300, deadline=None)
hypothesis.settings.register_profile("fuzz", database=None, max_examples=10_000, deadline=None, print_blob=True)
hypothesis.settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    about = "a file or module with parts of one's own, over which the contract tests then run too"
    parser.addoption("--import", action="append", default=[], metavar="FILE", help=about)


def pytest_configure(config: pytest.Config) -> None:
    try:
        for name in config.getoption("--import"):
            extensions.bring(name)
    except Error as error:
        raise pytest.UsageError(str(error)) from error


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)


@pytest.fixture(scope="session")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Toy:
    """Two runs on the toy language, trained once for all tests: they are read, never written."""
    return train_toy(tmp_path_factory.mktemp("toy"))


Say = Callable[..., tuple[int, str, str]]


@pytest.fixture
def regard(capsys: pytest.CaptureFixture[str]) -> Say:
    """The command line in this process: words in; exit code, standard output and standard error out."""
    from regard.cli import main

    def run(*words: object) -> tuple[int, str, str]:
        capsys.readouterr()
        try:
            code = main([str(word) for word in words])
        except SystemExit as ending:  # argparse's way
            code = int(ending.code or 0)
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return run


def answer(regard: Say, *words: object) -> Any:
    """The JSON that a verb prints, which must succeed."""
    code, out, err = regard(*words, "--json")
    assert code == 0, err
    return json.loads(out)
