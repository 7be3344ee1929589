"""The same recipe with several seeds."""

from __future__ import annotations

import json
import statistics
from pathlib import Path

import pytest

from regard import load
from regard.runfolder import Run
from regard.training.records import read_records
from tests.conftest import Say
from tests.toy import MODEL, Toy, sentences, write_pairs


def command(folder: Path, seeds: int) -> list[str]:
    files = ["--train", str(folder / "train.tsv"), "--valid", str(folder / "valid.tsv")]
    where = ["--run", str(folder / "runs"), "--seeds", str(seeds)]
    short = "--batch-tokens 600 --warmup 10 --rate 0.005 --max-steps 60 --validate-every 30".split()
    return ["train", "translate", *files, *where, *MODEL, *short]


def test_each_seed_has_a_run_and_their_spread_is_told(regard: Say, tmp_path: Path) -> None:
    write_pairs(tmp_path / "train.tsv", 300, seed=1)
    write_pairs(tmp_path / "valid.tsv", 20, seed=2)
    code, out, _ = regard(*command(tmp_path, 2))
    assert code == 0
    record = json.loads((tmp_path / "runs" / "seeds.json").read_text())
    bleu = []
    for seed in (1, 2):
        run = Run(tmp_path / "runs" / f"seed-{seed}")
        assert run.section("training")["seed"] == seed
        bleu.append(
            max(one["metrics"]["bleu"] for one in read_records(run.metrics_path) if one["event"] == "validation")
        )
    assert bleu[0] != bleu[1]
    assert record["bleu"]["values"] == bleu
    assert record["bleu"]["deviation"] == statistics.stdev(bleu)
    assert f"bleu {statistics.mean(bleu):.4g} ± {statistics.stdev(bleu):.4g}" in out

    done = (tmp_path / "runs" / "seed-1" / "model.safetensors").stat().st_mtime_ns
    assert regard(*command(tmp_path, 3))[0] == 0  # one more: those that are done stay
    assert (tmp_path / "runs" / "seed-1" / "model.safetensors").stat().st_mtime_ns == done
    assert len(json.loads((tmp_path / "runs" / "seeds.json").read_text())["bleu"]["values"]) == 3

    code, _, err = regard(*command(tmp_path, 3), "--dropout", "0.25")
    assert (code, err.count("\n")) == (2, 1)
    assert "has seeds of another recipe: model.embedding.dropout is 0.0 there and 0.25 here" in err
    code, _, err = regard("look", tmp_path / "runs", "un")
    assert code == 2
    assert f"it holds runs of several seeds: name one of them, such as {tmp_path / 'runs' / 'seed-1'}" in err


def test_translators_of_several_seeds_write_together(regard: Say, toy: Toy, tmp_path: Path) -> None:
    for seed, run in ((2, toy.good), (10, toy.poor)):
        (tmp_path / f"seed-{seed}").symlink_to(run)
    texts = sentences(5, seed=6)
    wanted = load(toy.good).beside([load(toy.poor)])(texts, beam=3)
    assert load(tmp_path)(texts, beam=3) == wanted
    code, out, _ = regard("translate", tmp_path, "--beam", 3, *texts)
    assert (code, out.splitlines()) == (0, wanted)
    data = ["--data", toy.file("test.tsv"), "--json"]
    code, out, _ = regard("evaluate", tmp_path, *data)
    named = regard("evaluate", toy.good, "--with", toy.poor, *data)[1]
    assert code == 0
    assert json.loads(out)["scores"] == json.loads(named)["scores"]
    (tmp_path / "others" / "seed-1").mkdir(parents=True)
    (tmp_path / "others" / "seed-1" / "config.json").write_text('{"format": 1, "task": {"kind": "classify"}}')
    with pytest.raises(ValueError, match="several seeds: name one of them, such as"):
        load(tmp_path / "others")
    code, _, err = regard("translate", tmp_path, "--align", "un")
    assert (code, err.count("\n")) == (2, 1)
    assert "several runs have no one alignment" in err


def test_a_folder_of_seeds_is_judged_together_or_one_by_one_and_it_is_said_which(
    regard: Say, toy: Toy, tmp_path: Path
) -> None:
    good, mixed = tmp_path / "good", tmp_path / "mixed"
    for folder, runs in ((good, [toy.good, toy.good]), (mixed, [toy.good, toy.poor, toy.poor])):
        folder.mkdir()
        for seed, run in enumerate(runs, 1):
            (folder / f"seed-{seed}").symlink_to(run)
    data = ["--data", toy.file("test.tsv")]
    single = {
        run: json.loads(regard("evaluate", run, *data, "--json")[1])["scores"]["BLEU"]["score"]
        for run in (toy.good, toy.poor)
    }
    code, out, _ = regard("evaluate", toy.good, *data, "--against", mixed)
    assert code == 0
    assert "3 runs translate together, as one" in out
    code, out, _ = regard("evaluate", mixed, *data, "--each", "--json")
    assert code == 0
    seeds = json.loads(out)["seeds"]["BLEU"]
    assert seeds["values"] == [single[toy.good], single[toy.poor], single[toy.poor]]
    assert seeds["mean"] == pytest.approx(statistics.mean(seeds["values"]))
    assert seeds["deviation"] == pytest.approx(statistics.stdev(seeds["values"]))
    against = json.loads(regard("evaluate", good, *data, "--each", "--against", mixed, "--json")[1])["against"]
    assert against["BLEU"]["value"] == pytest.approx(single[toy.good] - seeds["mean"], abs=0.01)
    assert not against["decided"]  # of three seeds, one of which is as good
    out = regard("evaluate", good, *data, "--each", "--against", toy.poor)[1]
    assert "the means differ by +" in out
    assert "of 2 seeds" in out
    code, _, err = regard("evaluate", toy.good, *data, "--each")
    assert (code, err.count("\n")) == (2, 1)
    assert "--each is for a folder of several seeds" in err


def test_seeds_do_not_move_into_a_run(regard: Say, toy: Toy) -> None:
    code, _, err = regard("train", "translate", "--data", "phrasebook", "--run", toy.good, "--seeds", 2)
    assert (code, err.count("\n")) == (2, 1)
    assert "is a run itself" in err
    assert not (toy.good / "seed-1").exists()


def test_the_command_of_several_seeds_is_given_again_with_resume(regard: Say, tmp_path: Path) -> None:
    write_pairs(tmp_path / "train.tsv", 100, seed=1)
    write_pairs(tmp_path / "valid.tsv", 10, seed=2)
    again = [*command(tmp_path, 2), "--resume"]
    code, out, _ = regard(*again)  # there is nothing yet: it begins
    assert (code, "2 seeds, mean" in out) == (0, True)
    code, same, err = regard(*again)
    assert (code, same, err) == (0, out, "")  # both are done
    code, _, err = regard(*again, "--max-steps", 90)
    assert (code, err.count("\n")) == (2, 1)
    assert "training.max_steps is 60 there and 90 here" in err


@pytest.mark.parametrize("other", [["--seeds", "2"], ["--resume"]], ids=str)
def test_a_rate_is_found_by_itself(regard: Say, toy: Toy, other: list[str]) -> None:
    code, out, err = regard("train", "translate", "--run", toy.good, "--find-rate", *other)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"--find-rate keeps nothing of what it trains: give it without {other[0]}" in err
