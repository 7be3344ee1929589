"""CTranslate2 and ONNX run what is exported, and give the same; without their packages it is said what to install."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

pytest.importorskip("transformers")

from regard.checkpoint import load_both
from regard.config import change
from regard.interop import export_ctranslate2, export_onnx, import_source, runtimes
from regard.runfolder import Run
from regard.zoo import get
from tests.helpers import SMALL
from tests.interop import foreign
from tests.interop.test_exporting import write_run


@pytest.mark.parametrize("make", [foreign.gpt2, foreign.llama])
def test_ctranslate2_gives_the_same_logits(make: Callable[[Path], Any], tmp_path: Path) -> None:
    ctranslate2 = pytest.importorskip("ctranslate2")
    theirs = make(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    export_ctranslate2(tmp_path / "run", tmp_path / "out")
    model, tokenizer = load_both(Run(tmp_path / "run"))
    tokens, _ = foreign.some_tokens(theirs.config.vocab_size)
    names = [[tokenizer.backend.id_to_token(i) for i in row] for row in tokens.tolist()]
    found = np.array(ctranslate2.Generator(str(tmp_path / "out")).forward_batch(names))
    torch.testing.assert_close(torch.from_numpy(found), model.eval()(tokens).detach(), rtol=1e-4, atol=1e-4)


def test_ctranslate2_has_no_masked_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtimes, "need", lambda *names: None)
    write_run(tmp_path / "run", change(get("bert-base"), SMALL))
    with pytest.raises(ValueError, match="a head that finds masked words has no counterpart in CTranslate2"):
        export_ctranslate2(tmp_path / "run", tmp_path / "out")


@pytest.mark.slow
@pytest.mark.parametrize("make", [foreign.llama, foreign.bert])
def test_onnx_gives_the_same_for_texts_of_any_length(make: Callable[[Path], Any], tmp_path: Path) -> None:
    pytest.importorskip("onnxscript")
    runtime = pytest.importorskip("onnxruntime")
    make(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    export_onnx(tmp_path / "run", tmp_path / "out")
    ours, tokenizer = load_both(Run(tmp_path / "run"))
    session = runtime.InferenceSession(str(tmp_path / "out" / "model.onnx"))
    for length in (6, 11):
        tokens, keep = foreign.some_tokens(tokenizer.vocabulary, length)
        (found,) = session.run(None, {"input_ids": tokens.numpy(), "attention_mask": keep.long().numpy()})
        with torch.no_grad():
            torch.testing.assert_close(
                torch.from_numpy(found)[keep], ours.eval()(tokens, keep)[keep], rtol=1e-4, atol=1e-4
            )


def test_onnx_takes_encoders_and_decoders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtimes, "need", lambda *names: None)
    write_run(tmp_path / "run", change(get("transformer-tiny"), SMALL))
    with pytest.raises(ValueError, match="a model of kind 'encoder-decoder' is not exported to onnx"):
        export_onnx(tmp_path / "run", tmp_path / "out")


@pytest.mark.parametrize(
    ("export", "packages"), [(export_ctranslate2, "ctranslate2, transformers"), (export_onnx, "onnx, onnxscript")]
)
def test_a_missing_package_is_named(
    export: Callable[[Path, Path], None], packages: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=f"takes the packages {packages}: pip install"):
        export(tmp_path, tmp_path / "out")
