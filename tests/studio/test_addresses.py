"""Programs that were written against the HTTP API go on working: its addresses never go away."""

from __future__ import annotations

from fastapi.testclient import TestClient

ADDRESSES = """
GET /api/describe
POST /api/generate
GET /api/health
POST /api/look
GET /api/positions
GET /api/positions/{kind}
GET /api/runs
GET /api/runs/{run}
GET /api/runs/{run}/playback
GET /api/runs/{run}/playback/{step}
GET /api/runs/{run}/records
POST /api/translate
GET /api/version
POST /api/way
""".strip().splitlines()


def test_every_address_is_still_there(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    found = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    assert set(ADDRESSES) <= found


def test_the_completions_of_other_programs_are_still_answered(client: TestClient) -> None:
    for method, path in (("GET", "/v1/models"), ("POST", "/v1/completions")):
        assert client.request(method, path, json={}).status_code not in (404, 405)
