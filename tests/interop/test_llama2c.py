"""Checkpoints of llama2.c: header, weights and pieces as its program lays them out."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import regard
from regard.checkpoint import load_both
from regard.interop import import_source
from regard.runfolder import Run

transformers = pytest.importorskip("transformers")

from tests.interop import foreign  # noqa: E402

BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
PIECES = ["<unk>", "\n<s>\n", "\n</s>\n", *BYTES, *" abcdeghilnrt", "he", " t", " the", "ed", "re", "red", " b", "in"]
SCORES = [0.0] * (len(PIECES) - 8) + [-1.0, 0.0, -2.0, -6.0, -4.0, -7.0, -5.0, -3.0]


def pairs(weight: np.ndarray[Any, Any], heads: int) -> np.ndarray[Any, Any]:
    """The rows of a head that elsewhere stand in two halves, one beside the other."""
    rows = []
    for head in np.split(weight, heads):
        for first, second in zip(*np.split(head, 2), strict=True):
            rows += [first, second]
    return np.stack(rows)


def checkpoint(folder: Path, tied: bool = True) -> Any:
    """A model of `transformers`, written as the program's own export does."""
    size = len(PIECES)
    given = {**foreign.BERT, "vocab_size": size, "num_key_value_heads": 2, "max_position_embeddings": 24}
    ids = {"bos_token_id": 1, "eos_token_id": 2}
    config = transformers.LlamaConfig(**given, **ids, rms_norm_eps=1e-5, tie_word_embeddings=tied)
    model = transformers.LlamaForCausalLM(config)
    foreign.randomise(model)
    state = {name: tensor.detach().numpy() for name, tensor in model.state_dict().items()}
    folder.mkdir(parents=True)
    with (folder / "tiny.bin").open("wb") as file:
        file.write(struct.pack("<7i", 32, 48, 2, 4, 2, size if tied else -size, 24))
        file.write(state["model.embed_tokens.weight"].tobytes())
        names = ["input_layernorm", "self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj"]
        names += ["post_attention_layernorm", "mlp.gate_proj", "mlp.down_proj", "mlp.up_proj"]
        heads = {"self_attn.q_proj": 4, "self_attn.k_proj": 2}
        for name in names:
            for layer in range(2):
                weight = state[f"model.layers.{layer}.{name}.weight"]
                file.write((pairs(weight, heads[name]) if name in heads else weight).tobytes())
        file.write(state["model.norm.weight"].tobytes())
        file.write(np.zeros((2, 24, 4), dtype=np.float32).tobytes())
        if not tied:
            file.write(state["lm_head.weight"].tobytes())
    write_pieces(folder / "tok280.bin", PIECES)
    return model.eval()


def write_pieces(path: Path, pieces: list[str]) -> None:
    with path.open("wb") as file:
        file.write(struct.pack("<i", 7))
        for piece, score in zip(pieces, SCORES, strict=False):
            text = piece.encode()
            file.write(struct.pack("<fi", score, len(text)) + text)


@pytest.mark.parametrize("tied", [True, False])
def test_the_model_gives_the_logits_that_its_weights_give_elsewhere(tied: bool, tmp_path: Path) -> None:
    theirs = checkpoint(tmp_path / "in", tied)
    import_source(tmp_path / "in", tmp_path / "run")
    ours = load_both(Run(tmp_path / "run"))[0].eval()
    tokens = torch.randint(3, len(PIECES), (2, 9))
    torch.testing.assert_close(ours(tokens), theirs(tokens).logits, rtol=1e-4, atol=1e-5)
    assert regard.load(tmp_path / "run").context == 24


def test_the_checkpoint_itself_may_be_named(tmp_path: Path) -> None:
    checkpoint(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "one")
    import_source(tmp_path / "in" / "tiny.bin", tmp_path / "other")
    one, other = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("one", "other"))
    assert one == other


def test_pieces_merge_by_their_scores_behind_a_space(tmp_path: Path) -> None:
    checkpoint(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    tokenizer = load_both(Run(tmp_path / "run"))[1]
    rows = tokenizer.encode(["the red", "herein", "", "é the"])
    shown = [[tokenizer.token(i) for i in row] for row in rows]
    assert shown == [[" the", " ", "red"], [" ", "he", "re", "in"], [], [" ", "<0xC3>", "<0xA9>", " the"]]
    assert [tokenizer.decode(row) for row in rows] == ["the red", "herein", "", "é the"]
    assert (tokenizer.start, tokenizer.end, tokenizer.unknown, tokenizer.opens) == (1, 2, 0, True)


def test_pieces_of_another_model_are_refused(tmp_path: Path) -> None:
    checkpoint(tmp_path / "in")
    write_pieces(tmp_path / "in" / "tok280.bin", PIECES[:-5])
    with pytest.raises(ValueError, match=r"holds 275 whole pieces, and the model has 280: they do not belong together"):
        import_source(tmp_path / "in", tmp_path / "run")


@pytest.mark.parametrize("size", [10, 1000, -4])
def test_a_checkpoint_that_is_cut_short_is_refused(size: int, tmp_path: Path) -> None:
    checkpoint(tmp_path / "in")
    path = tmp_path / "in" / "tiny.bin"
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(ValueError, match=r"tiny.bin is no whole checkpoint of llama2.c"):
        import_source(tmp_path / "in", tmp_path / "run")
    with pytest.raises(ValueError, match=r"tiny.bin is no whole checkpoint of llama2.c"):
        import_source(path, tmp_path / "run")


def test_a_checkpoint_without_pieces_is_refused(tmp_path: Path) -> None:
    checkpoint(tmp_path / "in")
    (tmp_path / "in" / "tok280.bin").unlink()
    with pytest.raises(ValueError, match=r"beside .*tiny.bin there is no one file tok\*.bin with its pieces"):
        import_source(tmp_path / "in", tmp_path / "run")


STORIES = Path(os.environ.get("REGARD_DATA", "")) / "stories260K"


@pytest.mark.skipif(not STORIES.is_dir() or "REGARD_DATA" not in os.environ, reason="REGARD_DATA has no stories260K")
def test_the_trained_story_teller_tells_a_story(tmp_path: Path) -> None:
    import_source(STORIES, tmp_path / "run")
    writer = regard.load(tmp_path / "run")
    assert writer.tokenizer.encode(["Once upon a time"]) == [[403, 407, 261, 378]]
    story = writer("Once upon a time", 60, sample=False)
    known = "Once upon a time, there was a little girl named Lily. She loved to play outside in the park."
    assert story.startswith(known)
