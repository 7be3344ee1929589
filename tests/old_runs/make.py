"""Makes small run folders, one for each task, in the format of the version that runs this script.

`python -m tests.old_runs.make tests/old_runs/format-1.zip` made the runs that `test_old_runs.py` loads, uses and
resumes with the present version. They are never made anew: a later format gets a file of its own.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from regard.cli import main
from regard.runfolder import Run, write_text
from regard.training.records import read_records
from tests.documents import write_texts
from tests.tagged_toy import write_tagged
from tests.tasks.test_answering import squad
from tests.toy import write_pairs

STEPS, SAVED = 8, 4  # the steps of a whole run, and the step whose checkpoint a folder keeps
COMMON = f"--max-steps {STEPS} --validate-every {SAVED} --precision fp32 --processes 1 --device cpu --rate 0.01".split()
SMALL = "--width 8 --hidden 8"
BLOCK = f"{SMALL} --layers 1 --heads 2"
TEXT = "--train data/text.txt --valid data/held.txt"
PIECES = "--tokenizer wordpiece --pieces 70"
SCORE = "--model.reader.kernel.hidden 8"
LISTS = "--keys [8,8,8] --values [8,8,8]"


def files(name: str, ending: str = "tsv") -> str:
    return f"--train data/{name}.train.{ending} --valid data/{name}.valid.{ending}"


ANSWERS = {"yes": "agree", "no": "differ"}
WORTH = {"one": "1", "two": "2", "three": "3.5"}

# Name of the run → how it was trained.
RUNS = {
    "transformer": f"train translate {files('pairs')} --tokenizer word {BLOCK}",
    "bahdanau": f"train translate --preset bahdanau-2015 {files('pairs')} --tokenizer word {SMALL} {SCORE}",
    "classify": f"train classify {files('labelled')} {SMALL}",
    "pair": f"train pair {files('judged')} --tokenizer word {SMALL}",
    "pair-scored": f"train pair --scored {files('scored')} --tokenizer word {SMALL}",
    "tag": f"train tag {files('tagged')} {SMALL}",
    "answer": f"train answer {files('asked', 'json')} --tokenizer word --max-length 40 --stride 8 {SMALL}",
    "similar": f"train similar {files('scored')} --tokenizer word {BLOCK}",
    "copy": "train copy --bits 3 --longest 4 --hidden 8 --slots 8 --slot-width 4",
    "fewshot": "train fewshot --train data/classes.train.tsv --ways 2 --shots 2 --tested 3 --validated 3 --judged 10 "
    f"{SMALL} --filters 4 {LISTS}",
    "lm": f"train lm {TEXT} --tokenizer char --context 12 {BLOCK}",
    "mlm": f"pretrain mlm --preset bert-mini {TEXT} {PIECES} --next-sentence --context 24 {BLOCK}",
    "plm": f"pretrain plm {TEXT} {PIECES} --lower true --context 12 --memory 8 {BLOCK}",
    "bilm": f"pretrain bilm {TEXT} {SMALL}",
    "tag-from-bilm": f"train tag {files('tagged')} --from runs/bilm",
    "classify-from-mlm": f"train classify {files('labelled')} --from runs/mlm --max-length 24",
}
SEEDS = f"train translate {files('pairs')} --tokenizer word {BLOCK} --seeds 2"

# Name of the run → a command whose output is kept with it.
USES = {
    "transformer": ["translate", "runs/transformer", "un deux", "--beam", "2", "--scores"],
    "bahdanau": ["translate", "runs/bahdanau", "un deux", "--align"],
    "classify": ["classify", "runs/classify", "I say yes to it.", "--json"],
    "pair": ["pair", "runs/pair", "Is it red?", "I say yes to it.", "--json"],
    "pair-scored": ["pair", "runs/pair-scored", "Is it red?", "I say two to it.", "--json"],
    "tag": ["tag", "runs/tag", "un deux trois", "--json"],
    "answer": ["answer", "runs/answer", "--text", "data/held.txt", "where does anna live", "--json"],
    "similar": ["embed", "runs/similar", "I say yes to it."],
    "lm": ["generate", "runs/lm", "The dog", "--tokens", "6", "--temperature", "0"],
    "mlm": ["fill", "runs/mlm", "The [MASK] sings.", "--json"],
    "plm": ["fill", "runs/plm", "The [MASK] sings.", "--json"],
    "tag-from-bilm": ["tag", "runs/tag-from-bilm", "un deux trois", "--json"],
    "classify-from-mlm": ["classify", "runs/classify-from-mlm", "I say yes to it.", "--json"],
    "seeds": ["translate", "runs/seeds", "un deux", "--scores"],
}


def write_data(folder: Path) -> None:
    folder.mkdir(parents=True)
    for part, count in (("train", 60), ("valid", 8)):
        write_pairs(folder / f"pairs.{part}.tsv", count, count)
        write_tagged(folder / f"tagged.{part}.tsv", count, count)
        squad(folder / f"asked.{part}.json", count, count)
        draw = random.Random(count)
        lines: dict[str, list[str]] = {"labelled": [], "judged": [], "scored": []}
        for _ in range(count):
            asked = f"Is it {draw.choice(['red', 'blue'])}?"
            word, number = draw.choice(sorted(ANSWERS)), draw.choice(sorted(WORTH))
            lines["labelled"].append(f"I say {word} to it.\t{ANSWERS[word]}")
            lines["judged"].append(f"{asked}\tI say {word} to it.\t{ANSWERS[word]}")
            lines["scored"].append(f"{asked}\tI say {number} to it.\t{WORTH[number]}")
        for name, rows in lines.items():
            (folder / f"{name}.{part}.tsv").write_text("\n".join(rows) + "\n")
    names = "ant bee cow dog eel fox gnu hen ibis jay kid lynx".split()
    rows = [
        f"{a} sees {names[i]} and {b}\t{names[i]}"
        for i in range(12)
        for a, b in (("it", "me"), ("she", "you"), ("he", "us"), ("who", "them"), ("one", "two"))
    ]
    (folder / "classes.train.tsv").write_text("\n".join(rows) + "\n")
    write_texts(folder / "text.txt", 80, 0)
    write_texts(folder / "held.txt", 10, 1)


def said(words: list[str]) -> str:
    """What a command prints."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main(words) == 0, words
    return out.getvalue()


def make(folder: Path) -> None:
    write_data(folder / "data")
    os.chdir(folder)
    for name, training in {**RUNS, "seeds": SEEDS}.items():
        said([*training.split(), "--run", f"runs/{name}", *COMMON])
        run = Run(f"runs/{name}")
        expected = {"printed": said(USES[name]) if name in USES else ""}
        for one in run.seeds() or [run]:
            expected |= keep_half(one)
        write_text(run.path / "expected.json", json.dumps(expected, indent=1) + "\n")


def keep_half(run: Run) -> dict[str, Any]:
    """Leave the run as if it had been stopped at `SAVED`; return what the whole run came to."""
    last = {one["event"]: one for one in read_records(run.metrics_path)}
    shutil.rmtree(run.checkpoint(STEPS))
    shutil.rmtree(run.path / "probes", ignore_errors=True)
    (run.path / "report.html").unlink()
    return {"loss": last["step"]["loss"], "metrics": last["validation"]["metrics"]}


if __name__ == "__main__":
    archive = Path(sys.argv[1]).absolute()
    with tempfile.TemporaryDirectory() as temporary:
        make(Path(temporary) / "runs-and-data")
        os.chdir(archive.parent)
        shutil.make_archive(str(archive.with_suffix("")), "zip", Path(temporary) / "runs-and-data")
