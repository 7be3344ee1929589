"""`regard studio`: listens where it was asked to, says where that is, and ends when it is told to."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from regard.studio.address import address_of, listen
from tests.conftest import Say
from tests.toy import Toy


@contextmanager
def studio(*words: object) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command in a process of its own, and the address that it prints."""
    command = [sys.executable, "-m", "regard", "studio", "--port", "0", *map(str, words)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def get(address: str, path: str = "", **headers: str) -> tuple[int, bytes]:
    request = urllib.request.Request(address + path, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status, answer.read()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read()


def test_the_studio_serves_the_runs_of_a_folder_until_it_is_interrupted(runs: Path) -> None:
    with studio("--runs", runs) as (process, address):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        assert get(address)[0] == 200
        names = {run["name"] for run in json.loads(get(address, "api/runs")[1])["runs"]}
        assert {"good", "broken"} <= names
        body = json.dumps({"run": "good", "text": "un deux"}).encode()
        request = urllib.request.Request(f"{address}api/translate", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            assert json.loads(answer.read())["translations"][0]["best"][0]["text"] == "one two"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        assert (process.returncode, out, err) == (0, "", "")


def test_a_studio_for_others_prints_its_token_and_needs_it(runs: Path) -> None:
    with studio("--runs", runs, "--host", "0.0.0.0") as (_, address):
        found = re.fullmatch(r"http://([^/]+):(\d+)/\?token=([\w-]{32,})", address)
        assert found
        local = f"http://127.0.0.1:{found[2]}/"
        assert get(local, "api/health")[0] == 401
        assert get(local, "api/health", Authorization=f"Bearer {found[3]}")[0] == 200


def test_connections_can_be_made_before_anything_heavy_is_imported() -> None:
    script = "import sys, regard.studio.serve as s; sys.exit(any(m in sys.modules for m in ('fastapi', 'torch')))"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


def test_torch_is_imported_by_itself_after_a_quiet_moment(runs: Path) -> None:
    with studio("--runs", runs) as (process, _):
        maps = Path(f"/proc/{process.pid}/maps")
        if not maps.exists():
            pytest.skip("only Linux tells what a process has loaded")
        end = time.monotonic() + 60
        while "libtorch_cpu" not in maps.read_text():
            assert time.monotonic() < end
            time.sleep(0.1)


def test_work_imports_nothing_of_ours_that_another_worker_could_see_half_made(runs: Path) -> None:
    """Two workers that imported at once answered the first translation of a fresh studio with a status of 500."""
    script = """
import sys
from pathlib import Path
from fastapi.testclient import TestClient
from regard.studio.app import make_app
from regard.studio.bench import ready
ready()
before = set(sys.modules)
with TestClient(make_app(Path(sys.argv[1])), base_url="http://localhost") as client:
    for run in ("good", "decoder", "recurrent", "encoder"):
        assert client.get(f"/api/runs/{run}").status_code == 200
        assert client.get("/api/describe", params={"run": run}).status_code == 200
        asked = {"run": run, "text": "un deux"}
        assert client.post("/api/way", json=asked).status_code == 200
        looked = client.post("/api/look", json=asked | {"importance": run != "encoder"})
        assert looked.status_code == 200, looked.text
    assert client.post("/api/translate", json={"run": "good", "text": "un deux", "tree": True}).status_code == 200
    assert client.post("/v1/completions", json={"model": "decoder", "prompt": "un", "max_tokens": 3}).status_code == 200
    assert client.post("/api/generate", json={"run": "decoder", "prompt": "un"}).status_code == 200
    assert client.get("/v1/models").status_code == 200
    assert client.get("/api/positions").status_code == 200
print(sorted(module for module in set(sys.modules) - before if module.split(".")[0] == "regard"))
"""
    done = subprocess.run([sys.executable, "-c", script, runs], capture_output=True, text=True, check=False)
    assert (done.stdout, done.returncode) == ("[]\n", 0), done.stderr


def test_a_port_that_is_taken_is_one_sentence(regard: Say, runs: Path) -> None:
    taken = listen("127.0.0.1", 0)
    port = taken.getsockname()[1]
    code, out, err = regard("studio", "--runs", runs, "--port", port)
    taken.close()
    assert (code, out) == (2, "")
    assert (
        err
        == f"regard studio: port {port} of 127.0.0.1 cannot be used (Address already in use); choose another --port\n"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--token", "short"], "a token of 5 letters can be guessed; it takes at least 16"),
        (["--host", "no.such.host.invalid"], "there is no such address"),
        (["--port", "70000"], "'70000' is no port: 0 to 65535"),
        (["--prot", "80"], "unknown option --prot"),
        (["extra"], "unexpected argument 'extra'"),
    ],
)
def test_a_mistake_is_one_sentence(regard: Say, words: list[str], message: str) -> None:
    code, out, err = regard("studio", *words)
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_a_run_in_place_of_a_folder_of_runs_is_told(regard: Say, toy: Toy) -> None:
    code, _, err = regard("studio", "--runs", toy.good)
    assert code == 2
    assert f"is a run itself; name the folder that it lies in: --runs {toy.folder}" in err
    file = toy.folder / "train.tsv"
    assert "is no folder" in regard("studio", "--runs", file)[2]


def test_an_address_can_be_opened_from_elsewhere() -> None:
    with listen("0.0.0.0", 0) as listener:
        address = address_of(listener, "abc")
        assert "0.0.0.0" not in address
        assert address.endswith(f":{listener.getsockname()[1]}/?token=abc")


def test_an_address_of_ipv6_stands_in_brackets() -> None:
    if not os.path.exists("/proc/net/if_inet6"):
        pytest.skip("this machine has no IPv6")
    try:
        listener = listen("::1", 0)
    except ValueError:
        pytest.skip("this machine has no IPv6 loopback")
    with listener:
        assert address_of(listener, None) == f"http://[::1]:{listener.getsockname()[1]}/"
