"""The page comes at once, from the installed package, and can load nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from regard.studio.page import STATIC, policy


def test_the_page_is_served_with_its_files(client: TestClient) -> None:
    answer = client.get("/")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.text == (STATIC / "studio.html").read_text(encoding="utf-8")
    for path in re.findall(r'(?:src|href)="(/static/[^"]+)"', answer.text):
        assert client.get(path).status_code == 200, path


def test_whether_the_page_is_there_can_be_asked_without_it(client: TestClient) -> None:
    answer = client.head("/")
    assert (answer.status_code, answer.content) == (200, b"")


def test_modules_have_a_type_that_browsers_run(client: TestClient) -> None:
    answer = client.get("/static/dom.js")
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cache-control"] == "no-cache"
    again = client.get("/static/dom.js", headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304


def test_only_its_own_files_may_be_loaded_and_only_its_own_scripts_run(client: TestClient) -> None:
    answer = client.get("/")
    allowed = dict(rule.split(" ", 1) for rule in answer.headers["content-security-policy"].split("; "))
    assert allowed["default-src"] == "'none'"
    assert allowed["connect-src"] == "'self'"
    assert "unsafe" not in answer.headers["content-security-policy"]
    inline = re.findall(r'<script type="importmap">(.*?)</script>', answer.text, re.DOTALL)
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in inline]
    assert len(hashes) == 1
    assert allowed["script-src"] == f"'self' 'sha256-{hashes[0]}'"


def test_a_script_that_is_not_the_pages_own_has_another_hash() -> None:
    assert policy("<script>one</script>") != policy("<script>two</script>")
    assert policy('<script src="/a.js"></script>') == policy("")


@pytest.mark.parametrize(
    "path", ["/", "/api/health", "/api/runs/nobody", "/static/dom.js", "/nothing", "/openapi.json"]
)
def test_every_answer_has_safe_headers(client: TestClient, path: str) -> None:
    headers = client.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert "access-control-allow-origin" not in headers


def test_no_documentation_page_is_loaded_from_elsewhere(client: TestClient) -> None:
    for path in ("/docs", "/redoc"):
        assert client.get(path).status_code == 404


def test_the_page_and_the_list_of_runs_need_no_torch(runs: Path) -> None:
    script = f"""
import sys
from pathlib import Path
from fastapi.testclient import TestClient
from regard.studio.app import make_app
client = TestClient(make_app(Path({str(runs)!r})), base_url="http://localhost")
for path in ("/", "/static/dom.js", "/api/health", "/api/version", "/api/runs", "/api/runs/good/records",
             "/api/runs/good/playback", "/openapi.json"):
    assert client.get(path).status_code == 200, path
binary = {{"Accept": "application/vnd.regard.look"}}
assert client.get("/api/runs/good/playback/100", headers=binary).status_code == 200
sys.exit("torch" in sys.modules)
"""
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
