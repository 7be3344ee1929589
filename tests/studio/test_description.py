"""The API keeps to its description: whatever is sent, what comes back is what `/openapi.json` says, and never a 500."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.generation import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
    unsupported_method,
)

from regard.look.records import MEDIA_TYPE
from regard.studio.app import make_app
from regard.studio.limits import Limits
from tests.studio.serving import Served, serving

SCHEMA = schemathesis.openapi.from_dict(make_app(Path("runs")).openapi())
OPERATIONS = {operation.label: operation for operation in (found.ok() for found in SCHEMA.get_all_operations())}
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    negative_data_rejection,
    unsupported_method,
]
RUNS = ["good", "poor", "decoder", "encoder", "recurrent", "inattentive", "training", "broken", "empty", "link"]
TEXTS = ["un deux trois", "un", "Hello", "deux " * 40, " ", "x" * 500, "\U0001f600 \u0301\u200d", "</s>"]
LIKELY: dict[str, list[Any]] = {
    "run": RUNS,
    "preset": ["gpt2", "bert-base"],
    **dict.fromkeys(("text", "prompt"), TEXTS),
    "target": [None, "one two", "</s>"],
    "without": [[], ["0.0"], ["decoder.0.cross.1"], ["decoder.0.self.9"]],
    "layers": [[], ["*"], ["decoder.*"], ["encoder.0.self"], ["[", "*"]],
    **{key: [0, 1, -1, 50] for key in ("place", "source_place")},
    "playback": [None, None, None, 100],
    "step": [100, 200, 7],
    "probe": [0, 1, 99],
    "after": [0, 1, 170, 2**53 - 1],
    "kind": ["none", "sinusoidal", "learned", "rotary", "alibi", "relative", "buckets"],
}


@pytest.fixture(scope="module")
def served(runs: Path) -> Iterator[Served]:
    with serving(make_app(runs, limits=Limits(queue=8))) as served:
        yield served


def aimed(case: Any, draw: Any) -> Any:
    """Random names are no run's: mostly something is asked for instead that there may be."""
    if draw(st.integers(0, 4)) == 0:
        return case
    for name in ("body", "path_parameters", "query"):
        given = getattr(case, name)
        if isinstance(given, dict):
            likely = {key: draw(st.sampled_from(LIKELY[key])) for key in given if key in LIKELY}
            setattr(case, name, {**given, **likely})
    if isinstance(case.query, dict) and {"run", "preset"} <= case.query.keys():
        del case.query[draw(st.sampled_from(["run", "preset"]))]
    return case


CASES = [
    *((label, GenerationMode.POSITIVE) for label in OPERATIONS),
    *(
        (label, GenerationMode.NEGATIVE)
        for label, one in OPERATIONS.items()
        if one.body or one.path_parameters or one.query
    ),
]


every_case = pytest.mark.parametrize(("label", "mode"), CASES, ids=lambda part: getattr(part, "value", part))


@every_case
def test_whatever_is_sent_the_answer_is_as_described(served: Served, label: str, mode: GenerationMode) -> None:
    holds(served, label, mode, examples=15)


@pytest.mark.slow
@pytest.mark.hypothesis  # `make fuzz` finds others by their decorator
@every_case
def test_the_same_for_many_more(served: Served, label: str, mode: GenerationMode) -> None:
    holds(served, label, mode, examples=300)


def holds(served: Served, label: str, mode: GenerationMode, examples: int) -> None:
    operation = OPERATIONS[label]
    address = f"http://127.0.0.1:{served.port}"

    @given(data=st.data())
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def check(data: st.DataObject) -> None:
        case = data.draw(operation.as_strategy(mode))
        if mode is GenerationMode.POSITIVE:
            case = aimed(case, data.draw)
        headers = {"Accept": data.draw(st.sampled_from(["*/*", MEDIA_TYPE, "application/json"]))}
        case.call_and_validate(base_url=address, session=session, headers=headers, checks=CHECKS)

    with requests.Session() as session:
        check()


def test_every_operation_says_how_it_fails() -> None:
    description = make_app(Path("runs")).openapi()
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            answers = operation["responses"]
            assert {"401", "403", "413"} <= answers.keys(), path
            for status, answer in answers.items():
                if status != "200":
                    schema = answer["content"]["application/json"]["schema"]
                    assert schema == {"$ref": "#/components/schemas/Problem"}, (path, method, status)
            if "429" in answers:
                assert "Retry-After" in answers["429"]["headers"]
    assert description["paths"].keys() == {
        *("/api/health", "/api/version", "/api/describe", "/api/translate", "/api/generate", "/api/look", "/api/way"),
        *("/api/runs", "/api/runs/{run}", "/api/runs/{run}/records", "/api/runs/{run}/playback"),
        *("/api/runs/{run}/playback/{step}", "/api/positions", "/api/positions/{kind}"),
    }
