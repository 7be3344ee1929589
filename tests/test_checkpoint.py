"""Run folders are written atomically and read strictly."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
import torch

from regard.checkpoint import check_finite, put_weights, read_tensors, weights_of, write_tensors
from regard.runfolder import Run, RunError, write_text
from tests.helpers import PICTURES, PRESETS, feature_inputs


def test_weights_come_back_equal_and_what_is_tied_is_stored_once(tmp_path: Path) -> None:
    model = PRESETS["transformer-tiny"].build().eval()
    write_tensors(tmp_path / "model.safetensors", weights_of(model))
    stored = read_tensors(tmp_path / "model.safetensors")
    assert "head.weight" not in stored
    assert sum(tensor.numel() for tensor in stored.values()) == sum(p.numel() for p in model.parameters())
    other = PRESETS["transformer-tiny"].build().eval()
    put_weights(other, stored, "there")
    inputs = feature_inputs(model)
    assert torch.equal(model(*inputs), other(*inputs))


def test_what_batch_norms_have_seen_is_among_the_weights() -> None:
    model, other = (PICTURES["resnet-18"].build() for _ in range(2))
    given = torch.rand(4, 3, 32, 32) + 1
    model(given)
    put_weights(other, weights_of(model), "there")
    assert torch.equal(model.eval()(given), other.eval()(given))
    lacking = {name: tensor for name, tensor in weights_of(model).items() if not name.endswith("running_var")}
    with pytest.raises(RunError, match=r"x lacks backbone.first.norm.running_var, .* belongs to another configuration"):
        put_weights(other, lacking, "x")


def test_weights_of_another_configuration_are_refused_and_nothing_is_changed() -> None:
    weights = weights_of(PRESETS["gpt2"].build())
    model = PRESETS["bert-base"].build()
    before = {name: tensor.clone() for name, tensor in weights_of(model).items()}
    with pytest.raises(RunError, match=r"x lacks .* and has extra .*: it belongs to another configuration"):
        put_weights(model, weights, "x")
    other = regard_gpt2(hidden=50)
    with pytest.raises(RunError, match=r"has shape \(48, 32\), the model's is \(50, 32\)"):
        put_weights(other, weights, "x")
    assert all(torch.equal(before[name], tensor) for name, tensor in weights_of(model).items())


@pytest.mark.parametrize("broken", [torch.nan, torch.inf, -torch.inf])
def test_a_weight_that_is_infinite_or_no_number_is_named_with_its_file(broken: float) -> None:
    weights = {"a": torch.ones(3, 2), "b": torch.ones(4)}
    check_finite(weights, Path("model.safetensors"))
    weights["b"][2] = broken
    with pytest.raises(RunError, match=r"^model.safetensors: b: there are values that are infinite or no numbers"):
        check_finite(weights, Path("model.safetensors"))


def regard_gpt2(**changes: int) -> torch.nn.Module:
    from regard.config import change

    return change(PRESETS["gpt2"], changes).build()


@pytest.mark.parametrize("content", [b"", b"\x10\x00\x00", b"not safetensors at all, but long enough to have a header"])
def test_a_foreign_or_truncated_file_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(content)
    with pytest.raises(RunError, match=r"model\.safetensors is no whole safetensors file"):
        read_tensors(path)


def test_a_cut_off_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    write_tensors(path, {"a": torch.randn(100)})
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(RunError, match="is no whole safetensors file"):
        read_tensors(path)


def test_a_full_disk_leaves_the_old_file_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "config.json"
    write_text(path, "old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RunError, match=r"config\.json could not be written \(No space left on device\)"):
        write_text(path, "new")
    assert path.read_text() == "old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["config.json"]


def test_a_checkpoint_that_fails_is_not_there(tmp_path: Path) -> None:
    run = Run(tmp_path)
    with run.writing_checkpoint(10) as folder:
        write_text(folder / "progress.json", "{}")

    def fill_the_disk() -> None:
        with run.writing_checkpoint(20) as folder:
            write_text(folder / "progress.json", "{}")
            raise OSError(errno.ENOSPC, "No space left on device")

    with pytest.raises(RunError, match="checkpoint 20"):
        fill_the_disk()
    assert run.checkpoints() == [10]
    assert not any(path.name.startswith(".") for path in run.checkpoints_path.iterdir())


def test_a_half_written_checkpoint_is_not_mistaken_for_a_whole_one(tmp_path: Path) -> None:
    run = Run(tmp_path)
    (run.checkpoints_path / ".step-30.part").mkdir(parents=True)
    assert run.checkpoints() == []


def test_only_the_newest_checkpoints_are_kept(tmp_path: Path) -> None:
    run = Run(tmp_path)
    for step in (5, 100, 20):
        with run.writing_checkpoint(step):
            pass
    run.forget_checkpoints(keep=2)
    assert run.checkpoints() == [20, 100]


def test_what_is_no_run_folder_is_said_to_be_none(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="there is no run folder"):
        Run(tmp_path / "nowhere").read_config()
    with pytest.raises(RunError, match=r"is no run folder: it has no config\.json"):
        Run(tmp_path).read_config()
    (tmp_path / "config.json").write_text('{"format": 1,\n oops')
    with pytest.raises(RunError, match=r"config\.json, line 2: this is not JSON"):
        Run(tmp_path).read_config()
    (tmp_path / "config.json").write_text('{"format": 99}')
    with pytest.raises(RunError, match="has format 99; this version reads format 1"):
        Run(tmp_path).read_config()
