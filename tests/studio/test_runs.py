"""Runs are found and read without being trusted: whatever a folder holds, the list is there."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient

from regard.config import to_dict
from regard.look.records import MEDIA_TYPE
from regard.models import TextWriter
from regard.studio import metrics
from regard.studio.app import make_app
from regard.studio.shelf import writes_on
from regard.training.records import read_records
from regard.zoo import get, presets
from tests.studio.conftest import PROBED, write_training
from tests.toy import Toy


def listed(client: TestClient) -> dict[str, dict[str, Any]]:
    answer = client.get("/api/runs")
    assert answer.status_code == 200
    return {run["name"]: run for run in answer.json()["runs"]}


@pytest.fixture
def own(tmp_path: Path) -> TestClient:
    """A studio whose folder of runs is the test's own."""
    (tmp_path / "runs").mkdir()
    return TestClient(make_app(tmp_path / "runs"), base_url="http://localhost")


# --- the list ---------------------------------------------------------------------------------------------------------


def test_every_folder_is_listed_with_how_it_stands(client: TestClient) -> None:
    found = listed(client)
    assert {name: run["status"] for name, run in found.items()} == {
        "good": "finished",
        "poor": "finished",
        "decoder": "finished",
        "encoder": "finished",
        "recurrent": "finished",
        "inattentive": "finished",
        "training": "training",
        "broken": "broken",
        "empty": "broken",
        "link": "broken",
    }
    assert found["good"]["task"] == "translate"
    assert found["good"]["model"] == "encoder-decoder"
    assert (found["good"]["step"], found["good"]["max_steps"]) == (300, 300)
    assert found["good"]["metrics"].keys() == {"loss", "bleu", "chrf"}
    assert found["decoder"]["model"] == "decoder"
    assert found["decoder"]["task"] is None
    assert found["recurrent"]["model"] == found["inattentive"]["model"] == "recurrent"


def test_a_run_says_which_views_it_has(client: TestClient) -> None:
    """None leads to an error: no heads without attention, no way where there is none, no playback of nothing."""
    names = ("good", "decoder", "encoder", "recurrent", "inattentive", "training")
    runs = {name: client.get(f"/api/runs/{name}").json() for name in names}
    assert {name: run["family"] for name, run in runs.items()} == {
        **dict.fromkeys(("good", "recurrent", "inattentive", "training"), "encoder-decoder"),
        **{"decoder": "decoder", "encoder": "encoder"},
    }
    views = {name: [view["name"] for view in run["views"]] for name, run in runs.items()}
    assert views == {
        "good": ["translate", "heads", "way", "playback", "training"],
        "decoder": ["translate", "heads", "way", "training"],
        "encoder": ["translate", "heads", "way", "training"],
        "recurrent": ["translate", "heads", "way", "training"],
        "inattentive": ["translate", "way", "training"],
        "training": ["training"],  # it has no weights before its first validation
    }
    for name, own in views.items():
        answer = client.post("/api/way", json={"run": name, "text": "un deux"})
        assert (answer.status_code == 200) == ("way" in own)


def test_a_run_has_more_views_from_its_first_validation_on(own: TestClient, toy: Toy, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "fresh"
    write_training(folder, toy.good / "config.json", 1)
    names = lambda: [view["name"] for view in own.get("/api/runs/fresh").json()["views"]]  # noqa: E731
    assert names() == ["training"]
    for file in ("model.safetensors", "tokenizer.json"):
        shutil.copy(toy.good / file, folder)
    assert names() == ["translate", "heads", "way", "training"]


def test_the_newest_run_comes_first(own: TestClient, toy: Toy, tmp_path: Path) -> None:
    for age, name in enumerate(("b", "c", "a")):
        write_training(tmp_path / "runs" / name, toy.good / "config.json", 1)
        for path in (*(tmp_path / "runs" / name).iterdir(), tmp_path / "runs" / name):
            os.utime(path, (time.time() - age, time.time() - age))
    assert list(listed(own)) == ["b", "c", "a"]


def test_a_broken_folder_says_why_in_one_sentence(client: TestClient) -> None:
    found = listed(client)
    assert found["broken"]["error"].startswith("its config.json is not JSON: line 1")
    assert found["empty"]["error"] == "it has no config.json"
    assert found["link"]["error"] == "link leads out of the runs folder"
    assert found["good"]["error"] is None


@pytest.mark.parametrize(
    ("file", "text", "error"),
    [
        ("config.json", "[1]", "holds no object"),
        ("config.json", '{"format": 2}', "format 2; this version reads format 1"),
        ("config.json", '{"format": 1, "model": 3}', "no section 'model'"),
        ("config.json", "[" * 100_000, "not JSON"),
        ("config.json", "\udcff", "not JSON"),
        ("model.safetensors", "short", "no safetensors file"),
        ("model.safetensors", "\2\0\0\0\0\0\0\0{}rest", "is not whole"),
        ("model.safetensors", '\n\0\0\0\0\0\0\0{"a": [1]}', "no safetensors file"),
    ],
)
def test_whatever_is_broken_the_others_are_listed(
    own: TestClient, toy: Toy, tmp_path: Path, file: str, text: str, error: str
) -> None:
    for name in ("whole", "spoilt"):
        shutil.copytree(toy.good, tmp_path / "runs" / name)
    (tmp_path / "runs" / "spoilt" / file).write_text(text, encoding="utf-8", errors="surrogateescape")
    found = listed(own)
    assert found["whole"]["status"] == "finished"
    assert found["spoilt"]["status"] == "broken"
    assert error in found["spoilt"]["error"]
    detail = own.get("/api/runs/spoilt")
    assert detail.status_code == 200
    assert detail.json()["error"] == found["spoilt"]["error"]


@pytest.mark.parametrize(
    "section", [{"training": 7, "task": [], "alignment": "x"}, {"task": {"kind": 3}}, {"model": {"kind": "unheard-of"}}]
)
def test_a_config_of_odd_sections_is_still_shown(
    own: TestClient, toy: Toy, tmp_path: Path, section: dict[str, Any]
) -> None:
    shutil.copytree(toy.good, tmp_path / "runs" / "odd")
    path = tmp_path / "runs" / "odd" / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **section}))
    assert listed(own)["odd"]["status"] == "finished"
    assert own.get("/api/runs/odd").status_code == 200
    answer = own.post("/api/translate", json={"run": "odd", "text": "un"})
    assert answer.status_code in (200, 409)


def test_a_pipe_in_place_of_a_file_does_not_hold_up_the_list(own: TestClient, tmp_path: Path) -> None:
    (tmp_path / "runs" / "pipe").mkdir()
    os.mkfifo(tmp_path / "runs" / "pipe" / "config.json")
    assert listed(own)["pipe"]["error"] == "it has no config.json"


def test_a_name_that_is_not_utf8_is_listed_as_broken(own: TestClient, tmp_path: Path) -> None:
    os.mkdir(os.fsencode(tmp_path / "runs") + b"/\xff")
    assert [run["error"] for run in listed(own).values()] == ["its name is not UTF-8"]


def test_a_folder_of_runs_that_is_not_there_is_an_empty_list(tmp_path: Path) -> None:
    with TestClient(make_app(tmp_path / "none"), base_url="http://localhost") as client:
        assert client.get("/api/runs").json() == {"runs": []}


# --- one run ----------------------------------------------------------------------------------------------------------


def test_a_run_is_shown_with_its_model_and_samples(client: TestClient, runs: Path) -> None:
    answer = client.get("/api/runs/good").json()
    assert answer["config"] == json.loads((runs / "good" / "config.json").read_text())
    assert answer["parameters"] == client.get("/api/describe?run=good").json()["parameters"]
    assert [layer["name"] for layer in answer["layers"]] == ["encoder.0.self", "decoder.0.self", "decoder.0.cross"]
    assert answer["layers"][2] == {
        "name": "decoder.0.cross",
        "stack": "decoder",
        "index": 0,
        "role": "cross",
        "rows": "target",
        "columns": "source",
        "heads": 2,
    }
    assert answer["samples"][0].keys() == {"source", "output", "reference"}
    assert answer["alignment"]["layer"] == "decoder.0.cross"
    assert answer["playback"] == PROBED


@pytest.mark.parametrize(
    "name",
    ["nobody", "..", ".", "%2e%2e", "..%2f", "..%5c..", "%2fetc", "good%2f..%2fgood", "good%00", "%ff", "~", "a" * 300],
)
@pytest.mark.parametrize("rest", ["", "/records", "/playback", "/playback/100"])
def test_no_name_leads_anywhere_but_to_a_run(client: TestClient, name: str, rest: str) -> None:
    answer = client.get(f"/api/runs/{name}{rest}")
    if name == "." and rest == "":  # the client itself makes /api/runs/ of it
        return
    assert answer.status_code in (404, 422), answer.text
    assert list(answer.json()) == ["error"]


@pytest.mark.parametrize("name", ["../outside", "..", "/", "good/../poor", "good/", "link", "", "\0"])
def test_no_body_leads_anywhere_but_to_a_run(client: TestClient, name: str) -> None:
    for path, body in (("translate", {"text": "un"}), ("look", {"text": "un"}), ("generate", {"prompt": "a"})):
        answer = client.post(f"/api/{path}", json={"run": name, **body})
        assert answer.status_code in (404, 409, 422)
        assert list(answer.json()) == ["error"]


@pytest.mark.parametrize("file", ["metrics.jsonl", "config.json", "model.safetensors", "tokenizer.json", "probes"])
def test_a_link_inside_a_run_does_not_lead_out_of_the_folder(
    own: TestClient, toy: Toy, tmp_path: Path, file: str
) -> None:
    folder = tmp_path / "runs" / "run"
    shutil.copytree(toy.good, folder)
    secret = tmp_path / "secret"
    secret.write_text('{"event": "step", "step": 1, "secret": 1}\n')
    if (folder / file).is_dir():
        shutil.rmtree(folder / file)
    (folder / file).unlink(missing_ok=True)
    (folder / file).symlink_to(secret)
    assert listed(own)["run"]["status"] == "broken"
    for path in ("/api/runs/run/records", "/api/runs/run", "/api/runs/run/playback", "/api/describe?run=run"):
        answer = own.get(path)
        assert answer.status_code == 409
        assert answer.json() == {"error": f"run: run/{file} leads out of the runs folder"}
    assert own.post("/api/translate", json={"run": "run", "text": "un"}).status_code == 409


def test_nor_does_a_link_deep_inside(own: TestClient, toy: Toy, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "run"
    shutil.copytree(toy.good, folder)
    secret = tmp_path / "secret.look"
    shutil.copy(folder / "probes" / "step-100" / "0.look", secret)
    (folder / "probes" / "step-100" / "0.look").unlink()
    (folder / "probes" / "step-100" / "0.look").symlink_to(secret)
    steps = own.get("/api/runs/run/playback").json()["steps"]
    assert 100 in steps
    looks = len(list((toy.good / "probes" / "step-100").iterdir()))
    assert own.get(f"/api/runs/run/playback/100?probe={looks - 1}").status_code == 404  # one fewer
    answer = own.post("/api/look", json={"run": "run", "text": "un"})
    assert answer.status_code == 409
    assert "run/probes/step-100/0.look leads out of the runs folder" in answer.json()["error"]


def test_an_unknown_run_names_the_nearest(client: TestClient) -> None:
    error = client.get("/api/runs/god").json()["error"]
    assert error.startswith("there is no run 'god': did you mean 'good'? (known: broken, ")


# --- a run that trains ------------------------------------------------------------------------------------------------


def test_a_run_that_trains_is_followed(own: TestClient, toy: Toy, tmp_path: Path) -> None:
    folder, config = tmp_path / "runs" / "run", toy.good / "config.json"
    write_training(folder, config, 3)
    first = own.get("/api/runs/run/records").json()
    assert [record["step"] for record in first["records"]] == [1, 2, 3]
    assert own.get(f"/api/runs/run/records?after={first['next']}").json() == {
        "records": [],
        "next": first["next"],
        "restarted": False,
    }
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('{"event": "step", "step": 4}\n{"event": "st')  # as if caught while it is written
    second = own.get(f"/api/runs/run/records?after={first['next']}").json()
    assert [record["step"] for record in second["records"]] == [4]
    with (folder / "metrics.jsonl").open("a") as file:
        file.write('ep", "step": 5}\n')
    third = own.get(f"/api/runs/run/records?after={second['next']}").json()
    assert [record["step"] for record in third["records"]] == [5]
    assert listed(own)["run"]["status"] == "training"
    assert listed(own)["run"]["step"] == 5


def test_a_run_that_was_resumed_is_told_anew(own: TestClient, toy: Toy, tmp_path: Path) -> None:
    folder, config = tmp_path / "runs" / "run", toy.good / "config.json"
    write_training(folder, config, 9)
    first = own.get("/api/runs/run/records").json()
    (folder / "metrics.jsonl").unlink()
    write_training(folder, config, 2)
    second = own.get(f"/api/runs/run/records?after={first['next']}").json()
    assert second["restarted"]
    assert [record["step"] for record in second["records"]] == [1, 2]


def test_a_run_that_fell_silent_was_stopped(own: TestClient, toy: Toy, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "run"
    write_training(folder, toy.good / "config.json", 3)
    old = time.time() - 1000
    for path in (*folder.iterdir(), folder):
        os.utime(path, (old, old))
    assert listed(own)["run"]["status"] == "stopped"
    with (folder / "metrics.jsonl").open("a") as file:  # a step that took ten minutes: so may the next
        file.write('{"event": "step", "step": 4, "seconds": 600.0}\n')
    os.utime(folder / "metrics.jsonl", (old, old))
    assert listed(own)["run"]["status"] == "training"


@pytest.mark.parametrize(("reason", "status"), [("interrupted", "stopped"), ("all steps done", "finished")])
def test_the_last_record_says_how_a_run_ended(
    own: TestClient, toy: Toy, tmp_path: Path, reason: str, status: str
) -> None:
    folder = tmp_path / "runs" / "run"
    shutil.copytree(toy.good, folder)
    with (folder / "metrics.jsonl").open("a") as file:
        file.write(json.dumps({"event": "end", "step": 3, "reason": reason}) + "\n")
    assert listed(own)["run"]["status"] == status


def test_a_run_without_weights_cannot_be_used_yet(client: TestClient) -> None:
    answer = client.post("/api/translate", json={"run": "training", "text": "un"})
    assert answer.status_code == 409
    assert "no weights yet" in answer.json()["error"]


def test_a_better_model_is_used_as_soon_as_it_is_written(own: TestClient, toy: Toy, tmp_path: Path) -> None:
    folder = tmp_path / "runs" / "run"
    shutil.copytree(toy.poor, folder)

    def log_prob() -> float:
        answer = own.post("/api/translate", json={"run": "run", "text": "un deux trois"}).json()
        value: float = answer["translations"][0]["best"][0]["log_prob"]
        return value

    poor = log_prob()
    shutil.copy(toy.good / "model.safetensors", folder / ".part")
    os.replace(folder / ".part", folder / "model.safetensors")
    assert log_prob() > poor


def test_records_are_those_of_the_file(client: TestClient, runs: Path) -> None:
    answer = client.get("/api/runs/good/records").json()
    assert answer["records"] == read_records(runs / "good" / "metrics.jsonl")
    assert answer["next"] == (runs / "good" / "metrics.jsonl").stat().st_size


def test_many_records_are_thinned_evenly_and_validations_stay() -> None:
    records = [{"event": "validation" if step % 500 == 0 else "step", "step": step} for step in range(10_000)]
    kept = metrics.thinned(records)
    assert len(kept) == 1000
    assert (kept[0]["step"], kept[-1]["step"]) == (0, 9999)
    assert sum(record["event"] == "validation" for record in kept) == 20
    steps = [record["step"] for record in kept]
    assert steps == sorted(set(steps))
    assert max(later - earlier for earlier, later in itertools.pairwise(steps)) <= 12


def test_records_that_json_cannot_hold_are_told_as_null(own: TestClient, toy: Toy, tmp_path: Path) -> None:
    write_training(tmp_path / "runs" / "run", toy.good / "config.json", 1)
    with (tmp_path / "runs" / "run" / "metrics.jsonl").open("a") as file:
        file.write('{"event": "step", "step": 2, "loss": NaN, "rate": 1e999, "text": "\\ud800"}\nnonsense\n[1]\n')
    answer = own.get("/api/runs/run/records")
    assert answer.status_code == 200
    assert answer.json()["records"][1:] == [{"event": "step", "step": 2, "loss": None, "rate": None, "text": "?"}]
    assert own.get("/api/runs").status_code == 200


def test_a_file_that_cannot_be_read_is_one_sentence(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise PermissionError(13, "Permission denied", "/a/secret/path")

    monkeypatch.setattr("regard.studio.runs_routes.news", refused)
    answer = client.get("/api/runs/good/records")
    assert answer.status_code == 409
    assert answer.json() == {"error": "a file of the run cannot be read (Permission denied)"}


@pytest.mark.parametrize("after", [1, 2**53 - 1])
def test_a_place_that_ends_no_line_starts_anew(client: TestClient, after: int) -> None:
    assert client.get(f"/api/runs/good/records?after={after}").json()["restarted"]


# --- playback ---------------------------------------------------------------------------------------------------------


def test_saved_looks_are_played_back_as_they_were_saved(client: TestClient, runs: Path) -> None:
    answer = client.get("/api/runs/good/playback").json()
    assert answer["steps"] == PROBED
    probe = runs / "good" / "probes" / "step-200" / "1.look"
    binary = client.get("/api/runs/good/playback/200?probe=1", headers={"Accept": MEDIA_TYPE})
    assert binary.headers["content-type"] == MEDIA_TYPE
    assert binary.content == probe.read_bytes()
    plain = client.get("/api/runs/good/playback/200?probe=1").json()
    assert plain["sides"]["source"]["text"] == answer["probes"][1]["source"]
    assert plain["sides"]["target"]["text"] == answer["probes"][1]["target"]
    body = {"run": "good", "text": answer["probes"][1]["source"], "playback": 200}
    assert client.post("/api/look", json=body).json() == plain


@pytest.mark.parametrize(
    "path", ["good/playback/11", "good/playback/100?probe=9", "decoder/playback/0", "good/playback/9999999999999"]
)
def test_a_look_that_was_not_saved_is_not_found(client: TestClient, path: str) -> None:
    answer = client.get(f"/api/runs/{path}")
    assert answer.status_code == 404
    assert list(answer.json()) == ["error"]
    body = {"run": "good", "text": "of no probe", "playback": 100}
    assert client.post("/api/look", json=body).status_code == 404


def test_a_spoilt_look_is_refused(own: TestClient, toy: Toy, tmp_path: Path) -> None:
    shutil.copytree(toy.good, tmp_path / "runs" / "run")
    probes = tmp_path / "runs" / "run" / "probes" / "step-1"
    probes.mkdir(parents=True)
    (probes / "0.look").write_bytes(b"nothing of the kind")
    answer = own.get("/api/runs/run/playback/1")
    assert (answer.status_code, answer.json()) == (409, {"error": "step-1/0.look is no look"})


def test_a_config_says_whether_its_model_writes_on_from_a_prompt() -> None:
    """By a preset of each kind of model."""
    configs = {get(name).kind: get(name) for name in presets()}
    with torch.device("meta"):
        writers = {kind for kind, config in configs.items() if isinstance(config.build(), TextWriter)}
    assert {kind for kind, config in configs.items() if writes_on({"model": to_dict(config)})} == writers
    assert {"decoder", "lstmn"} <= writers
    assert not writes_on({"model": {"kind": "nothing of the kind"}})
