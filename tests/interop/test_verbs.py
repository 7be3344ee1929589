"""`regard import` and `regard export`, and every other verb on what was imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from fastapi.testclient import TestClient

transformers = pytest.importorskip("transformers")

import regard as library  # noqa: E402
from regard.look import look, open_run  # noqa: E402
from regard.nn.call.watch import watch  # noqa: E402
from regard.studio.app import make_app  # noqa: E402
from tests.conftest import Say  # noqa: E402
from tests.interop import foreign  # noqa: E402


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("gpt2")
    foreign.gpt2(folder)
    return folder


@pytest.fixture
def run(gpt2: Path, tmp_path: Path, regard: Say) -> Path:
    assert regard("import", gpt2, "--run", tmp_path / "run")[0] == 0
    return tmp_path / "run"


def test_import_says_what_it_found_and_prints_the_run(gpt2: Path, tmp_path: Path, regard: Say) -> None:
    code, out, err = regard("import", gpt2, "--run", tmp_path / "run")
    assert (code, out) == (0, f"{tmp_path / 'run'}\n")
    assert err.startswith("gpt2, ")
    assert "parameters; " in err


def test_an_imported_model_is_described(run: Path, regard: Say) -> None:
    code, out, _ = regard("describe", run, "--json")
    assert code == 0
    assert json.loads(out)["config"]["kind"] == "decoder"


def test_an_imported_model_writes(run: Path, regard: Say) -> None:
    code, out, _ = regard("generate", run, "The little girl", "--tokens", 5, "--seed", 1)
    assert code == 0
    assert out.startswith("The little girl")
    assert regard("generate", run, "The little girl", "--tokens", 5, "--seed", 1)[1] == out


def test_an_imported_model_is_scored(run: Path, tmp_path: Path, regard: Say) -> None:
    (tmp_path / "text.txt").write_text("The little girl had a red ball.\n" * 5)
    code, out, _ = regard("evaluate", run, "--data", tmp_path / "text.txt", "--json")
    assert code == 0
    assert json.loads(out)["scores"]["bits_per_byte"]["score"] > 0
    assert json.loads(out)["bytes"] == 5 * 32


def test_an_imported_model_is_looked_at(run: Path, tmp_path: Path, regard: Say) -> None:
    code, out, _ = regard("look", run, "The little girl", "--json", "--without", "decoder.1.self.2")
    assert code == 0
    seen = json.loads(out)
    assert [layer["name"] for layer in seen["layers"]] == ["decoder.0.self", "decoder.1.self"]
    assert seen["sides"]["text"]["tokens"][0] == "The"  # GPT-2 reads a text as it is
    assert regard("look", run, "The little girl", "--out", tmp_path / "page.html")[0] == 0


def test_an_imported_encoder_is_described_and_looked_at(tmp_path: Path, regard: Say) -> None:
    for name, make in (("head", foreign.bert), ("bare", lambda folder: foreign.bert(folder, "BertModel"))):
        make(tmp_path / name)
        assert regard("import", tmp_path / name, "--run", tmp_path / f"run-{name}")[0] == 0
        assert regard("describe", tmp_path / f"run-{name}")[0] == 0
        code, out, err = regard("look", tmp_path / f"run-{name}", "the little girl", "--json")
        assert code == 0, err
        assert json.loads(out)["sides"]["text"]["tokens"] == ["[CLS]", "the", "little", "girl", "[SEP]"]


def test_what_is_seen_of_an_imported_model_are_the_weights_that_it_has_elsewhere(gpt2: Path, run: Path) -> None:
    subject = open_run(run)
    tokens = torch.tensor(subject.tokenizer.encode(["The little girl"]))
    theirs = transformers.GPT2LMHeadModel.from_pretrained(gpt2, attn_implementation="eager")
    with torch.no_grad():
        expected = theirs(tokens, output_attentions=True).attentions
    with torch.no_grad(), watch(subject.model) as seen:
        subject.model(tokens)
    shown = look(subject, "The little girl")
    assert shown.sides["text"].ids == tokens[0].tolist()
    for i, weights in enumerate(expected):
        torch.testing.assert_close(seen[f"decoder.{i}.self"][0], weights)
        half = torch.as_tensor(shown.arrays[f"decoder.{i}.self"]).float()
        torch.testing.assert_close(half, weights[0], atol=1e-3, rtol=0)


def test_the_studio_writes_what_the_library_writes(run: Path) -> None:
    with TestClient(make_app(run.parent), base_url="http://localhost") as client:
        asked = {"run": run.name, "prompt": "The little girl", "max_tokens": 6, "temperature": 0}
        last = json.loads(client.post("/api/generate", json=asked).text.splitlines()[-1])
    whole = library.load(run)("The little girl", tokens=6, sample=False)
    assert whole == "The little girl" + last["text"]


def test_a_reader_is_trained_from_an_imported_encoder(tmp_path: Path, regard: Say) -> None:
    foreign.bert(tmp_path / "in", "BertModel")
    assert regard("import", tmp_path / "in", "--run", tmp_path / "reader")[0] == 0
    lines = [f"{label}\tthe {word} ball\n" for label, word in (("good", "little"), ("bad", "red"))] * 8
    (tmp_path / "some.tsv").write_text("".join(lines))
    files = ("--train", tmp_path / "some.tsv", "--valid", tmp_path / "some.tsv")
    code, _, err = regard(
        "train", "classify", *files, "--from", tmp_path / "reader", "--run", tmp_path / "run", "--max-steps", 2
    )
    assert code == 0, err
    assert regard("classify", tmp_path / "run", "the red ball")[0] == 0


def test_import_says_which_head_it_does_not_read(tmp_path: Path, regard: Say) -> None:
    foreign.bert(tmp_path / "in", "BertForMultipleChoice")
    code, _, err = regard("import", tmp_path / "in", "--run", tmp_path / "run")
    assert code == 0
    assert err.startswith("left out, for they are the head of another task, which is not read: classifier.bias, ")
    assert err.count("\n") == 2
    assert regard("embed", tmp_path / "run", "the red ball")[0] == 0


def test_export_writes_a_folder_and_says_who_opens_it(run: Path, tmp_path: Path, regard: Say) -> None:
    code, out, err = regard("export", run, "--to", "huggingface", tmp_path / "out")
    assert (code, out) == (0, f"{tmp_path / 'out'}\n")
    assert err == "transformers opens it as GPT2LMHeadModel\n"
    assert {path.name for path in (tmp_path / "out").iterdir()} == {
        "config.json",
        "generation_config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
    }


def test_a_tokenizer_alone_becomes_a_folder_with_it(tmp_path: Path, regard: Say) -> None:
    foreign.byte_level_files(tmp_path / "in", "<|endoftext|>")
    code, _, err = regard("import", tmp_path / "in", "--run", tmp_path / "run")
    assert (code, err) == (0, "a tokenizer alone; 300 tokens\n")
    assert [path.name for path in (tmp_path / "run").iterdir()] == ["tokenizer.json"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["import", "nowhere", "--run", "run"], "there is no file or folder nowhere"),
        (["import", "nowhere"], "--run"),
        (["import", "nowhere", "--run", "run", "--fast"], "unexpected argument '--fast'"),
        (["export", "nowhere", "--to", "huggingface", "out"], "there is no run folder nowhere"),
        (["export", "nowhere", "--to", "pickle", "out"], "invalid choice: 'pickle'"),
        (["export", "nowhere", "out"], "--to"),
    ],
)
def test_a_mistake_is_one_sentence(
    words: list[str], message: str, tmp_path: Path, regard: Say, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, err = regard(*words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1
