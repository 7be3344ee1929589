"""Who may ask: this machine alone, unless a token is needed; and no other web page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from regard.studio.access import Access
from regard.studio.address import is_loopback
from regard.studio.app import make_app
from regard.studio.serve import chosen_token

TOKEN = "a token; with, odd=letters ü"
PATHS = ["/", "/static/dom.js", "/api/health", "/api/runs", "/openapi.json", "/nothing"]


@pytest.fixture(scope="module")
def guarded(runs: Path) -> Iterator[TestClient]:
    """A studio that needs a token, asked under any name."""
    with TestClient(make_app(runs, TOKEN), base_url="http://studio.example") as client:
        yield client


@pytest.mark.parametrize("host", ["localhost", "localhost:8311", "127.0.0.1:1", "[::1]:8311", "127.0.0.9", "LOCALHOST"])
def test_names_of_this_machine_are_answered_to(client: TestClient, host: str) -> None:
    assert client.get("/api/health", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:8311",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.168.1.2",
        "",
        "[::1",
        "]",
    ],
)
@pytest.mark.parametrize("path", PATHS)
def test_any_other_name_is_refused_so_that_dns_cannot_be_rebound(client: TestClient, host: str, path: str) -> None:
    answer = client.get(path, headers={"Host": host})
    assert answer.status_code == 403
    assert answer.json()["error"].startswith("this studio answers to localhost alone")


@pytest.mark.parametrize(
    "headers",
    [
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://localhost:9999"},
        {"Origin": "http://["},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ],
)
def test_another_web_page_cannot_use_the_api(client: TestClient, headers: dict[str, str]) -> None:
    answer = client.post("/api/translate", json={"run": "good", "text": "un"}, headers=headers)
    assert answer.status_code == 403
    assert client.get("/", headers=headers).status_code == 200  # it may link here


def test_the_page_itself_can(client: TestClient) -> None:
    headers = {"Origin": "http://localhost", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/translate", json={"run": "good", "text": "un"}, headers=headers).status_code == 200


def test_a_form_of_another_page_cannot_pass_as_json(client: TestClient) -> None:
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        body = '{"run": "good", "text": "un"}'
        assert client.post("/api/translate", content=body, headers={"Content-Type": kind}).status_code == 422


# --- token ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("header", [None, "Bearer wrong", "Bearer", "Basic abc", f"Basic {TOKEN[:5]}", "Bearer \xff"])
def test_nothing_is_shown_without_the_token(guarded: TestClient, path: str, header: str | None) -> None:
    headers = {} if header is None else {"Authorization": header.encode("latin-1")}
    answer = guarded.get(path, headers=headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert "needs its token" in answer.json()["error"]


def test_the_token_is_taken_from_a_header(runs: Path) -> None:
    token = "plain-letters-0123456789"
    with TestClient(make_app(runs, token), base_url="http://studio.example") as client:
        assert client.get("/api/runs", headers={"Authorization": f"Bearer {token}"}).status_code == 200
        assert client.get("/api/runs", headers={"Authorization": f"bearer {token}"}).status_code == 200


def test_the_token_in_the_address_becomes_a_cookie(guarded: TestClient) -> None:
    assert guarded.get("/", params={"token": "wrong"}).status_code == 401
    answer = guarded.get("/", params={"token": TOKEN})
    assert answer.status_code == 200
    assert 'http-equiv="refresh" content="0; url=/"' in answer.text
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert TOKEN not in cookie
    assert guarded.get("/").status_code == 200  # the client keeps cookies
    assert guarded.get("/api/runs").status_code == 200
    guarded.cookies.clear()
    assert guarded.get("/api/runs").status_code == 401


def test_the_token_in_the_address_opens_the_page_alone(guarded: TestClient) -> None:
    assert guarded.get("/api/runs", params={"token": TOKEN}).status_code == 401


def test_two_studios_on_one_machine_have_cookies_of_their_own() -> None:
    one, other = (Access(None, token) for token in ("one token", "another token"))  # type: ignore[arg-type]
    assert one.cookie != other.cookie


@pytest.mark.parametrize(
    ("host", "local"),
    [("localhost", True), ("127.0.0.1", True), ("::1", True), ("0.0.0.0", False), ("::", False), ("studio", False)],
)
def test_a_host_that_lets_others_in_needs_a_token(host: str, local: bool) -> None:
    assert is_loopback(host) == local
    made = chosen_token(host, None)
    assert (made is None) == local
    assert made is None or (len(made) >= 32 and made != chosen_token(host, None))
    assert chosen_token(host, "a" * 16) == "a" * 16
    with pytest.raises(ValueError, match="can be guessed"):
        chosen_token(host, "short")
