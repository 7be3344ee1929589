"""What the API says is what the library says."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient

import regard
from regard.config import from_dict
from regard.data.tokenizers import END, START
from regard.decoding import Decoding, complete
from regard.look import open_run
from regard.look.tree import beam_tree
from regard.models import DecoderModel, ModelConfig
from regard.runfolder import Run
from regard.tasks.writing.translation import load_translator
from tests.studio.conftest import CONTEXT
from tests.toy import LONGEST, WORDS, sentences

# --- translate --------------------------------------------------------------------------------------------------------


def test_translations_are_those_of_the_library(client: TestClient, runs: Path) -> None:
    texts = sentences(40, seed=5)
    body = {"run": "poor", "texts": texts, "beam": 5, "nbest": 3, "length_penalty": 0.7}
    answer = client.post("/api/translate", json=body)
    assert answer.status_code == 200
    search = Decoding(beam=5, nbest=3, length_penalty=0.7)
    expected = load_translator(runs / "poor").translate(texts, search, batch=16)
    assert answer.json()["translations"] == [
        {
            "source": text,
            "best": [{"text": one.text, "score": one.score, "log_prob": one.log_prob} for one in best],
            "parts": 1,
        }
        for text, best in zip(texts, expected, strict=True)
    ]
    assert answer.json()["tree"] is None
    assert answer.json()["seconds"] > 0


def test_a_text_is_translated_with_the_tree_of_its_beam(client: TestClient, runs: Path) -> None:
    answer = client.post(
        "/api/translate", json={"run": "poor", "text": "un deux trois", "beam": 3, "tree": True}
    ).json()
    search = Decoding(beam=3, nbest=3)
    assert answer["tree"] == asdict(beam_tree(open_run(runs / "poor"), "un deux trois", search))
    (translation,) = answer["translations"]
    assert len(translation["best"]) == 1
    assert translation["best"][0]["text"] == answer["tree"]["hypotheses"][0]["text"]


def test_a_long_text_is_translated_in_parts(client: TestClient) -> None:
    text = " ".join(WORDS[i % 6] for i in range(3 * LONGEST))
    (translation,) = client.post("/api/translate", json={"run": "good", "text": text}).json()["translations"]
    assert translation["parts"] > 1
    assert len(translation["best"][0]["text"].split()) == 3 * LONGEST


def test_blank_texts_stay_blank(client: TestClient) -> None:
    answer = client.post("/api/translate", json={"run": "good", "texts": ["", "un deux", " \n"]}).json()
    assert [one["best"][0]["text"] for one in answer["translations"]] == ["", "one two", ""]
    assert [one["parts"] for one in answer["translations"]] == [0, 1, 0]
    answer = client.post("/api/translate", json={"run": "good", "text": " ", "tree": True}).json()
    assert answer["tree"] is None


def test_the_breaks_between_lines_come_back(client: TestClient) -> None:
    body = {"run": "good", "texts": ["un deux\ntrois", "un\r\n\r\ndeux\n"]}
    answer = client.post("/api/translate", json=body).json()
    assert [one["best"][0]["text"] for one in answer["translations"]] == ["one two\nthree", "one\r\n\r\ntwo\n"]
    assert [one["parts"] for one in answer["translations"]] == [2, 2]


@pytest.mark.parametrize("run", ["decoder", "encoder", "recurrent"])
def test_a_run_that_cannot_translate_says_so(client: TestClient, run: str) -> None:
    answer = client.post("/api/translate", json={"run": run, "text": "un"})
    assert (answer.status_code, answer.json()) == (409, {"error": f"{run} was not trained to translate"})


# --- generate ---------------------------------------------------------------------------------------------------------


def generated(client: TestClient, **asked: Any) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    answer = client.post("/api/generate", json={"run": "decoder", **asked})
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/x-ndjson"
    *tokens, last = [json.loads(line) for line in answer.text.splitlines()]
    return tokens, last


def expected(runs: Path, prompt: str, options: Decoding) -> tuple[list[int], float]:
    subject = open_run(runs / "decoder")
    assert isinstance(subject.model, DecoderModel)
    read = torch.tensor([[START, *subject.tokenizer.encode([prompt])[0]]])
    ((hypothesis,),) = complete(subject.model, read, None, options, END)
    return hypothesis.tokens, hypothesis.log_prob


@pytest.mark.parametrize(
    "drawing", [{}, {"temperature": 0.5}, {"top_k": 5}, {"top_p": 0.3, "temperature": 2.0}, {"temperature": 1e-30}]
)
@pytest.mark.parametrize("prompt", ["Hello, ", "", "é"])
def test_what_is_written_is_what_the_library_draws(
    client: TestClient, runs: Path, prompt: str, drawing: dict[str, Any]
) -> None:
    tokens, last = generated(client, prompt=prompt, max_tokens=20, seed=7, **drawing)
    ids, log_prob = expected(runs, prompt, Decoding(sample=True, max_length=20, seed=7, **drawing))
    assert [token["id"] for token in tokens] == ids
    assert last["text"] == open_run(runs / "decoder").tokenizer.decode(ids)
    assert last["reason"] == ("max_tokens" if len(ids) == 20 else "end")
    total = sum(torch.tensor([token["probability"] for token in tokens]).log().tolist())
    assert last["reason"] == "end" or total == pytest.approx(log_prob, rel=1e-3)


def test_without_temperature_the_likeliest_is_taken(client: TestClient, runs: Path) -> None:
    tokens, _ = generated(client, prompt="abc", max_tokens=30, temperature=0)
    assert [token["id"] for token in tokens] == expected(runs, "abc", Decoding(max_length=30))[0]


def test_a_seed_repeats_what_was_written_and_none_does_not(client: TestClient) -> None:
    def text(**asked: Any) -> Any:
        return generated(client, prompt="abc", max_tokens=20, temperature=5.0, **asked)[1]["text"]

    assert text(seed=1) == text(seed=1) != text(seed=2)
    assert text() != text()


def test_writing_ends_where_the_model_can_read_no_more(client: TestClient) -> None:
    tokens, last = generated(client, prompt="a" * (CONTEXT - 10), max_tokens=100, temperature=5.0, seed=3)
    assert last["reason"] in ("full", "end")
    assert len(tokens) == 10 or last["reason"] == "end"


def test_a_translator_does_not_write_on(client: TestClient) -> None:
    answer = client.post("/api/generate", json={"run": "good", "prompt": "a"})
    assert answer.status_code == 422
    assert "does not write on from a prompt" in answer.json()["error"]


# --- about ------------------------------------------------------------------------------------------------------------


def test_the_studio_says_what_it_is(client: TestClient) -> None:
    assert client.get("/api/health").json() == {"status": "ok"}
    assert client.get("/api/version").json()["regard"] == regard.__version__
    # A package may say less of its version than the module: 2.15.0, and 2.15.0+cu130.
    stated = client.get("/api/version").json()["torch"]
    assert stated.partition("+")[0] == torch.__version__.partition("+")[0]


def test_descriptions_are_those_of_the_library(client: TestClient, runs: Path) -> None:
    assert client.get("/api/describe?preset=gpt2").json() == regard.describe("gpt2").to_dict()
    config = from_dict(ModelConfig, Run(runs / "good").section("model"))
    assert client.get("/api/describe?run=good").json() == regard.describe(config).to_dict()


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 422), ("?run=good&preset=gpt2", 422), ("?preset=gtp2", 404), ("?run=god", 404), ("?run=broken", 409)],
)
def test_what_cannot_be_described_says_why(client: TestClient, query: str, status: int) -> None:
    answer = client.get(f"/api/describe{query}")
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]
