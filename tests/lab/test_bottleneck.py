"""The bottleneck: what is said follows from the counts; the command trains, goes on and reports."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from regard.data.catalogue import open_data
from regard.errors import DataError
from regard.lab.bottleneck import ATTENTION, FIXED, TRANSFORMER, Bottleneck
from regard.lab.experiment import Result
from regard.lab.lengths import by_length
from regard.models import EncoderDecoder
from regard.runfolder import Run
from regard.tasks.writing.translator import Translator
from tests.conftest import Say
from tests.lab import synthetic
from tests.toy import losses

GROUPS = [
    {"name": "1–10", "trained": True, "sentences": 50},
    {"name": "11–20", "trained": True, "sentences": 50},
    {"name": "21–40", "trained": False, "sentences": 50},
]
TINY = "--seeds 1 --pairs 200 --pieces 400 --sentences 2 --lengths [10,40] --width 32 --heads 2 --layers 1".split()
TINY += ["--batch-tokens", "400", "--valid", "4"]


def result(*qualities: float) -> Result:
    return synthetic.result(qualities, GROUPS)


def test_a_fall_is_told_from_none_and_from_what_is_not_decided() -> None:
    falling = [result(0.9, 0.3, 0.1), result(0.9, 0.31, 0.1)]
    steady = [result(0.9, 0.9, 0.5), result(0.9, 0.89, 0.5)]
    two_minds = [result(0.9, 0.9, 0.5), result(0.9, 0.5, 0.5)]
    verdicts = {}
    for other in (steady, two_minds):
        outcome = Bottleneck().outcome({FIXED: falling, ATTENTION: other})
        verdicts[other is steady] = [one["verdict"] for one in outcome.values["contestants"].values()]
        assert "from 1–10 to 11–20 words" in outcome.conclusions[0]  # of trained lengths alone
        assert "21–40*" in outcome.tables[0].header
    assert verdicts[True] == ["falls", "holds"]
    assert verdicts[False][1] == "not decided"


def test_one_seed_says_something_about_these_runs_alone() -> None:
    falling, steady = [result(0.9, 0.3, 0.1)], [result(0.9, 0.9, 0.5)]
    outcome = Bottleneck(seeds=1).outcome({FIXED: falling, ATTENTION: steady})
    falls, holds, gap, sure = outcome.conclusions
    assert falls.startswith("In these runs fixed context falls with length: its BLEU changes by -")
    assert holds.startswith("In these runs attention holds")
    assert gap.startswith("In these runs attention is higher than fixed context at 11–20 words: by +")
    assert "not of the models" in sure
    slow = [{**falling[0], "steps": 20, "seconds": 90.0}]
    busy = Bottleneck(seeds=1).outcome({FIXED: falling, ATTENTION: slow})
    assert "took from 60 to 90 seconds" in busy.conclusions[-1]


def test_what_learnt_nothing_is_not_said_to_hold_and_not_compared() -> None:
    nothing, something = [result(0.01, 0.01, 0.01)] * 2, [result(0.9, 0.9, 0.9), result(0.9, 0.88, 0.9)]
    outcome = Bottleneck().outcome({FIXED: nothing, ATTENTION: something, TRANSFORMER: something})
    assert outcome.values["contestants"][FIXED]["verdict"] == "too low"
    assert outcome.values["contestants"][FIXED]["change"] is None
    told = [sentence for sentence in outcome.conclusions if FIXED in sentence.lower()]
    assert len(told) == 1
    assert re.match(r"Fixed context \(\d\.\d BLEU\) learnt too little to be compared\.$", told[0])
    for everybody in (nothing, nothing * 2):
        Bottleneck().outcome({FIXED: everybody, ATTENTION: everybody})


def test_test_sentences_are_of_the_lengths_that_are_asked_for() -> None:
    def read(split: str, count: int) -> list:  # type: ignore[type-arg]
        return list(open_data("phrasebook", "en-fr", split, min(count, 250)))

    groups = by_length(read, ["test", "long"], (6, 12, 20, 30, 50), 12, ["test"])
    assert (groups[0].name, groups[0].trained) == ("1–6", True)
    assert [group.trained for group in groups] == sorted((group.trained for group in groups), reverse=True)
    for group in groups:
        low, high = map(int, group.name.split("–"))
        assert len(group.pairs) <= 12
        assert all(low <= len(pair.source.split()) <= high for pair in group.pairs)
    with pytest.raises(DataError, match="fewer than two"):
        by_length(read, ["test"], (2, 60), 12, ["test"])


def test_as_many_words_are_learnt_of_long_sentences_as_of_short_ones_and_none_of_the_tested(tmp_path: Path) -> None:
    lab = Bottleneck(pairs=60, valid=10, sentences=4, lengths=(10, 40))
    train, valid = ([pair.source for pair in data.pairs()] for data in lab.examples(tmp_path))
    for sources, most in ((train, (50, 10)), (valid, (9, 2))):  # five times as many as are a fifth as long
        short = sum(len(source.split()) <= 10 for source in sources)
        assert (short, len(sources) - short) == most
    tested = {pair.source for pair in lab.test}
    assert not tested & {*train, *valid}
    assert not {*train} & {*valid}
    assert all(group.trained for group in lab.groups)
    rare = Bottleneck(even=False, sentences=2, lengths=(10, 20, 40))
    assert [group.trained for group in rare.groups] == [True, True, False]
    assert rare.examples(tmp_path)[0].name == "phrasebook"


def test_the_command_goes_on_where_it_was_stopped_and_says_the_same_again(
    regard: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stopped(self: Bottleneck, translator: Translator) -> Result:
        if isinstance(translator.model.config, EncoderDecoder):
            raise KeyboardInterrupt
        return measure(self, translator)

    measure = Bottleneck.measure
    folder = tmp_path / "lab"
    words = ["lab", "bottleneck", *TINY, "--steps", "12", "--run", folder]
    monkeypatch.setattr(Bottleneck, "measure", stopped)
    code, out, err = regard(*words)
    assert (code, out) == (130, "")
    assert "same command" in err.splitlines()[0]
    assert "trial 1 of 3: fixed context, seed 1\n" in err
    assert re.search(r"trial 3 of 3: Transformer, seed 1; about \d+ minutes left\n", err)
    assert re.search(r"about \d+ minutes, as quick as the machine is now\n", err)
    steps = {path: losses(Run(path.parent)) for path in folder.glob("trials/*/metrics.jsonl")}
    times = {path: path.stat().st_mtime_ns for path in folder.glob("trials/*/result.json")}
    assert (len(steps), len(times)) == (3, 2)
    monkeypatch.undo()
    code, out, err = regard(*words)
    assert code == 0
    assert err.count("trial ") == 1
    assert "step 12/12" not in err  # it was trained to the end before it was stopped
    assert {path: losses(Run(path.parent)) for path in steps} == steps
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert f"open {folder}/report.html" in out
    assert regard(*words)[:2] == (0, out)
    code, out, _ = regard(*words, "--json")
    assert json.loads(out)["contestants"]["Transformer"]["steps"] == [12]
    code, _, err = regard(*words, "--rate", "0.001")
    assert code == 2
    assert "was begun with rate 0.004, not 0.001" in err


def test_equal_time_is_planned_from_measured_steps(regard: Say, tmp_path: Path) -> None:
    code, _, _ = regard("lab", "bottleneck", *TINY, "--budget", "0.05", "--run", tmp_path)
    assert code == 0
    paces = json.loads((tmp_path / "pace.json").read_text())
    assert sorted(paces) == sorted((FIXED, ATTENTION, TRANSFORMER))
    found = json.loads((tmp_path / "results.json").read_text())["contestants"]
    for name, pace in paces.items():
        assert found[name]["steps"] == [max(10, round(1.0 / pace))]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["botleneck"], "unknown experiment 'botleneck': did you mean 'bottleneck'?"),
        (["bottleneck", "--pears", "3"], "unknown option 'pears': did you mean 'pairs'?"),
        (["bottleneck", "--budget", "-1"], "budget: -1.0 is not allowed"),
        (["bottleneck", "--lengths", "[5,3]"], "they take rising numbers of words"),
        (["bottleneck", "--data", "multi40k"], "unknown data set 'multi40k'"),
        (["bottleneck", "--heads", "3"], "width 64 is not divisible by 3 heads"),
        (["--pairs=3"], "name an experiment first"),
    ],
)
def test_a_mistake_is_one_sentence_and_leaves_nothing(
    regard: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = regard("lab", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.splitlines()[-1].startswith("regard lab: ")
    assert list(tmp_path.iterdir()) == []


def test_without_a_name_the_experiments_are_listed(regard: Say) -> None:
    code, out, err = regard("lab")
    assert (code, err) == (0, "")
    assert "bottleneck" in out
