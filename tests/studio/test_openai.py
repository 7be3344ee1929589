"""Clients of OpenAI's API work with the studio: its own package, and plain HTTP."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
import torch
from fastapi.testclient import TestClient

import regard as library
from regard.models import RecurrentDecoder
from regard.studio.app import make_app, studio_of
from regard.studio.limits import Limits
from regard.tasks.language.generator import Generator
from tests.helpers import encoder
from tests.studio.conftest import write_untrained
from tests.studio.serving import Served, serving
from tests.writers import CONTEXT, write_writer


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("openai") / "runs"
    write_writer(folder / "writer")
    write_writer(folder / "lstm", RecurrentDecoder(vocabulary=9, width=16, hidden=12))
    write_untrained(folder / "encoder", encoder())
    return folder


@pytest.fixture(scope="module")
def served(home: Path) -> Iterator[Served]:
    with serving(make_app(home)) as served:
        yield served


@pytest.fixture(scope="module")
def client(served: Served) -> Iterator[openai.OpenAI]:
    address = f"http://127.0.0.1:{served.port}/v1"
    with openai.OpenAI(base_url=address, api_key="none", max_retries=0) as client:
        yield client


@pytest.fixture(scope="module")
def plain(home: Path) -> Iterator[TestClient]:
    with TestClient(make_app(home, limits=Limits(body=4000)), base_url="http://localhost") as client:
        yield client


@pytest.fixture(scope="module")
def writer(home: Path) -> Generator:
    return library.load(home / "writer")


# --- with OpenAI's own package ----------------------------------------------------------------------------------------


def test_the_models_are_the_runs_that_write(client: openai.OpenAI) -> None:
    assert {model.id for model in client.models.list()} == {"writer", "lstm"}
    assert client.models.retrieve("writer").owned_by == "regard"
    with pytest.raises(openai.NotFoundError, match="there is no run 'nobody'"):
        client.models.retrieve("nobody")


@pytest.mark.parametrize("name", ["writer", "lstm"])
def test_a_completion_is_what_the_library_writes(client: openai.OpenAI, home: Path, name: str) -> None:
    writer = library.load(home / name)
    for options in ({"temperature": 0}, {"seed": 3}, {"seed": 3, "temperature": 0.7, "top_p": 0.9}):
        found = client.completions.create(model=name, prompt="a cab", max_tokens=12, **options)  # type: ignore[call-overload]
        (choice,) = found.choices
        assert "a cab" + choice.text == writer("a cab", tokens=12, **options)
        assert (found.object, choice.finish_reason, choice.logprobs) == ("text_completion", "length", None)
        assert found.usage.model_dump(include={"prompt_tokens", "completion_tokens", "total_tokens"}) == {
            "prompt_tokens": 5,
            "completion_tokens": 12,
            "total_tokens": 17,
        }


def test_several_prompts_and_samples_come_in_order(client: openai.OpenAI, writer: Generator) -> None:
    found = client.completions.create(model="writer", prompt=["ab", "c"], n=2, seed=1, max_tokens=9, echo=True)
    assert [choice.index for choice in found.choices] == [0, 1, 2, 3]
    texts = [choice.text for choice in found.choices]
    assert (texts[0], texts[2]) == (writer("ab", tokens=9, seed=1), writer("c", tokens=9, seed=1))
    assert len(set(texts)) == 4
    assert found.usage is not None
    assert found.usage.completion_tokens == 36
    same = client.completions.create(model="writer", prompt="ab", n=3, temperature=0, max_tokens=5)
    assert len(same.choices) == 3
    assert len({choice.text for choice in same.choices}) == 1


def test_a_stream_is_the_same_text_in_parts(client: openai.OpenAI) -> None:
    asked: dict[str, Any] = {"model": "writer", "prompt": ["ab", "c"], "n": 2, "seed": 1, "max_tokens": 9}
    whole = client.completions.create(**asked)
    texts, reasons = [""] * 4, [None] * 4
    usage = None
    for part in client.completions.create(**asked, stream=True, stream_options={"include_usage": True}):
        usage = part.usage or usage
        for choice in part.choices:
            texts[choice.index] += choice.text
            reasons[choice.index] = choice.finish_reason or reasons[choice.index]
    assert texts == [choice.text for choice in whole.choices]
    assert reasons == ["length"] * 4
    assert usage == whole.usage


def test_a_text_ends_before_a_stop_string(client: openai.OpenAI, writer: Generator) -> None:
    text = writer("ab", tokens=20, seed=2)[2:]
    stop = text[6:9]
    for stream in (False, True):
        asked: dict[str, Any] = {"model": "writer", "prompt": "ab", "max_tokens": 20, "seed": 2, "stop": [stop, "?"]}
        found = client.completions.create(**asked, stream=stream)
        choices = [choice for part in found for choice in part.choices] if stream else found.choices
        assert "".join(choice.text for choice in choices) == text[: text.index(stop)]
        assert choices[-1].finish_reason == "stop"


def test_samples_that_stop_one_after_the_other_are_what_they_are_without_a_stop(client: openai.OpenAI) -> None:
    asked: dict[str, Any] = {"model": "writer", "prompt": "the cat", "max_tokens": 24, "n": 4, "seed": 2}
    whole = [choice.text for choice in client.completions.create(**asked).choices]
    stop = ["e", "a", "b", "c"]
    for stream in (False, True):
        found = client.completions.create(**asked, stop=stop, stream=stream)
        texts = [""] * 4
        for choice in [choice for part in found for choice in part.choices] if stream else found.choices:
            texts[choice.index] += choice.text
        assert texts == [re.split("[eabc]", text)[0] for text in whole]


def test_log_probabilities_are_the_models_own_with_the_likeliest_beside(
    client: openai.OpenAI, writer: Generator
) -> None:
    for options in ({"temperature": 0}, {"seed": 4}):
        found = client.completions.create(
            model="writer",
            prompt="abc",
            max_tokens=7,
            logprobs=3,
            echo=True,
            **options,  # type: ignore[call-overload]
        )
        (choice,) = found.choices
        scores = choice.logprobs
        assert "".join(scores.tokens) == choice.text
        assert scores.text_offset == list(range(len(choice.text)))
        expected = writer.log_probs(choice.text)
        assert scores.token_logprobs == pytest.approx([log for _, log in expected], abs=1e-4)
        for place, best in enumerate(scores.top_logprobs):
            with torch.no_grad():
                read = torch.tensor([writer.read(choice.text[:place])])
                logs = writer.model(read)[0, -1].log_softmax(-1).topk(3)
            assert best == {
                writer.tokenizer.token(token): pytest.approx(log, abs=1e-4)
                for token, log in zip(logs.indices.tolist(), logs.values.tolist(), strict=True)
            }
    scored = client.completions.create(model="writer", prompt="abc", max_tokens=0, logprobs=0, echo=True)
    assert scored.choices[0].text == "abc"
    assert scored.choices[0].logprobs is not None
    assert len(scored.choices[0].logprobs.token_logprobs or []) == 3


def test_prompts_may_be_tokens(client: openai.OpenAI, writer: Generator) -> None:
    texts = ["abc", "c a"]
    ids = [writer.tokens(text) for text in texts]
    for prompt, same in ((ids[0], texts[0]), (ids, texts)):
        asked: dict[str, Any] = {"model": "writer", "seed": 3, "max_tokens": 6, "logprobs": 2, "echo": True}
        found, expected = (client.completions.create(prompt=one, **asked) for one in (prompt, same))
        assert found.choices == expected.choices
        assert found.usage == expected.usage
    with pytest.raises(openai.BadRequestError, match="the prompt has a token 9000: the model knows 0 to"):
        client.completions.create(model="writer", prompt=[1, 9000])


def test_errors_reach_the_client_in_its_form(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.completions.create(model="nobody", prompt="a")
    assert missing.value.code == "model_not_found"
    with pytest.raises(openai.BadRequestError, match=f"the prompt has 30 tokens and the model has {CONTEXT - 1}"):
        client.completions.create(model="writer", prompt="a" * 30)
    with pytest.raises(openai.BadRequestError, match="presence_penalty is not supported here"):
        client.completions.create(model="writer", prompt="a", presence_penalty=0.5)
    with pytest.raises(openai.ConflictError, match="encoder does not write on from a prompt"):
        client.completions.create(model="encoder", prompt="a")
    with pytest.raises(openai.ConflictError):
        for _ in client.completions.create(model="encoder", prompt="a", stream=True):
            pass


# --- by plain HTTP ----------------------------------------------------------------------------------------------------


def test_a_stream_is_made_of_server_sent_events(plain: TestClient) -> None:
    asked = {"model": "writer", "prompt": "ab", "max_tokens": 4, "seed": 1, "stream": True}
    answer = plain.post("/v1/completions", json=asked)
    assert answer.headers["content-type"].startswith("text/event-stream")
    *parts, done, rest = answer.text.split("\n\n")
    assert (done, rest) == ("data: [DONE]", "")
    found = [json.loads(part.removeprefix("data: ")) for part in parts]
    assert len(found) == 4
    assert len({part["id"] for part in found}) == 1
    assert found[-1]["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("asked", "status", "said"),
    [
        ({"prompt": "a"}, 400, "model: field required"),
        ({"model": "writer", "prompt": []}, 400, "a list of 0 prompts is not allowed"),
        ({"model": "writer", "prompt": [1, "a"]}, 400, "prompt: it takes a text, the numbers of its tokens, or a list"),
        ({"model": "writer", "prompt": [[1], "a"]}, 400, "prompt: it takes a text"),
        ({"model": "writer", "prompt": [[1], []]}, 400, "prompt: it takes a text"),
        ({"model": "writer", "max_tokens": -1}, 400, "max_tokens"),
        ({"model": "writer", "temperature": 300}, 400, "temperature"),
        ({"model": "writer", "stop": ""}, 400, "stop takes at most 4 texts, and none that is empty"),
        ({"model": "writer", "best_of": 3}, 400, "best_of 3 is not supported"),
        ({"model": "writer", "wish": 1}, 400, "wish"),
        ({"model": "writer", "prompt": "a" * 5000}, 413, "the body has more than 4,000 bytes"),
        ({"model": "../runs/writer"}, 404, "there is no run"),
    ],
)
def test_mistakes_are_answered_in_the_form_of_that_api(
    plain: TestClient, asked: dict[str, Any], status: int, said: str
) -> None:
    answer = plain.post("/v1/completions", json=asked)
    assert answer.status_code == status
    error = answer.json()["error"]
    assert said in error["message"]
    assert error["type"] == "invalid_request_error"


def test_other_pages_and_names_may_not_ask(plain: TestClient) -> None:
    asked = {"model": "writer", "prompt": "a"}
    for headers in ({"Origin": "http://evil.example"}, {"Host": "evil.example"}):
        answer = plain.post("/v1/completions", json=asked, headers=headers)
        assert answer.status_code == 403
        assert set(answer.json()["error"]) == {"message", "type", "param", "code"}


# --- what was read before ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["writer", "lstm"])
def test_a_prompt_that_begins_as_an_earlier_one_goes_on_from_it_to_the_same_text(home: Path, name: str) -> None:
    writer, app = library.load(home / name), make_app(home)
    with TestClient(app, base_url="http://localhost") as client:
        loaded = studio_of(app).shelf.take(name)
        read: list[int] = []
        plain = loaded.subject.model.read
        loaded.subject.model.read = lambda tokens, *rest: read.append(tokens.shape[1]) or plain(tokens, *rest)  # type: ignore[method-assign]
        for prompt, new in (("the cat", 8), ("the cat sat", 4), ("the cat ate", 3 if name == "writer" else 4)):
            read.clear()
            asked = {"model": name, "prompt": prompt, "max_tokens": 9, "n": 2, "seed": 1}
            texts = [choice["text"] for choice in client.post("/v1/completions", json=asked).json()["choices"]]
            assert prompt + texts[0] == writer(prompt, tokens=9, seed=1)
            assert texts[0] != texts[1]
            assert read[0] == new
