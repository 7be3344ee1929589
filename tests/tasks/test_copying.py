"""Copying: examples follow from their numbers, a run is trained, resumed, scored and used like any other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.config import ConfigError
from regard.models import Turing
from regard.runfolder import Run
from regard.tasks.made.copying import TEST, Copier, Copy, presented
from regard.training.recipes import make_recipe
from regard.zoo import get
from tests.conftest import Say, answer
from tests.toy import cut_short, losses, perform

SMALL = "--longest 2 --bits 2 --slots 8 --slot-width 6 --hidden 24 --examples 2000 --validated 20".split()


def test_an_example_follows_from_its_number_and_the_seed() -> None:
    one, again, other = (Copy(seed=seed).open(Path(), print) for seed in (1, 1, 2))
    assert np.array_equal(one.lengths, again.lengths)
    assert not np.array_equal(one.lengths, other.lengths)
    assert np.array_equal(one.example(0, 7, 20), again.example(0, 7, 20))
    assert not np.array_equal(one.example(0, 7, 20), one.example(0, 8, 20))
    assert not np.array_equal(one.example(0, 7, 20), other.example(0, 7, 20))
    assert all(np.array_equal(*pair) for pair in zip(one.sequences(40), other.sequences(40), strict=True))
    pairs = zip(one.sequences(40), one.sequences(40, TEST), strict=True)
    assert not any(np.array_equal(*pair) for pair in pairs)
    assert set(one.lengths.tolist()) == set(range(1, 21))


def test_a_sequence_is_shown_between_flags_and_wanted_after_them() -> None:
    short, long = np.array([[1, 0]], dtype=np.uint8), np.array([[0, 1], [1, 1]], dtype=np.uint8)
    shown, wanted, answering = presented([short, long], torch.empty(0))
    assert shown.tolist() == [
        [[0, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        [[0, 0, 1, 0], [0, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0]],
    ]
    assert answering.long().tolist() == [[0, 0, 0, 1, 0, 0], [0, 0, 0, 0, 1, 1]]
    assert wanted[answering].tolist() == [[1, 0], [0, 1], [1, 1]]


def test_lengths_in_one_batch_do_not_disturb_each_other() -> None:
    task = Copy(bits=3).open(Path(), print)
    model = task.fit(Turing(hidden=10, slots=8, slot_width=4)).build().eval()
    sequences = [task.example(0, i, length) for i, length in enumerate((5, 2, 9))]
    together, count = task.copy_loss(model, sequences)
    alone = [task.copy_loss(model, [sequence]) for sequence in sequences]
    assert count == sum(number for _, number in alone) == 3 * 16
    torch.testing.assert_close(together, torch.stack([loss for loss, _ in alone]).sum())


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("copy") / "run"
    training = "--max-steps 300 --validate-every 100 --rate 0.01 --batch-tokens 150 --keep-checkpoints 9".split()
    training += ["--metric", "bit_error_trained"]
    perform("train", "copy", "--run", folder, *SMALL, *training)
    return folder


def test_it_learns_and_gives_back_what_it_is_shown(run: Path) -> None:
    copier = library.load(run)
    assert isinstance(copier, Copier)
    sequence = [[1, 0], [0, 1]]
    assert copier.copy(sequence).tolist() == sequence
    with pytest.raises(ValueError, match=r"shape \(3,\); this machine copies \(length, 2\) bits"):
        copier.copy([1, 0, 1])
    with pytest.raises(ValueError, match="zeros and ones alone"):
        copier.copy([[1, 2]])


def test_evaluate_tells_wrong_bits_by_length(run: Path, regard: Say) -> None:
    result = answer(regard, "evaluate", run, "--count", 10)
    assert result["sequences"] == 10
    rows = {row["length"]: row["bit error"] for row in result["by length"]}
    assert result["bit error"] == rows[4]
    assert rows[2] < 0.1
    code, out, _ = regard("evaluate", run)
    assert code == 0
    assert "wrong bits" in out
    code, _, err = regard("evaluate", run, "--data", "bits.txt")
    assert code == 2
    assert "--data" in err


def test_the_report_shows_where_the_memory_is_written_and_read(run: Path) -> None:
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "memory.0.write, head 0" in page
    assert "memory.0.read, head 0" in page


def test_a_resumed_run_equals_an_uninterrupted_one(run: Path, tmp_path: Path) -> None:
    from regard.training.session import resume

    cut = cut_short(run, tmp_path / "cut", 200, 300)
    resume(cut)
    assert losses(cut) == losses(Run(run))


def test_a_model_that_takes_no_bits_is_refused() -> None:
    with pytest.raises(ConfigError, match="of kind decoder takes no bits"):
        make_recipe("copy", {}, preset="gpt2")
    assert make_recipe("copy", {}).model == get("ntm-2014")
    with pytest.raises(ConfigError, match="'copy' makes its own examples: leave train out"):
        make_recipe("copy", {"train": {"name": "trec"}})


def test_looking_at_a_run_that_reads_no_text_says_so(run: Path, regard: Say) -> None:
    code, _, err = regard("look", run, "hello")
    assert code == 2
    assert "of kind 'turing' reads no text" in err
