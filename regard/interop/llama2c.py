"""Checkpoints of llama2.c: a header of seven whole numbers, the weights as they lie in memory, and a list of pieces.

The program turns neighbouring values by rotary positions; Llama's own names go with halves, so the rows of queries and
keys change places, and the rest is the family of `regard.interop.decoders`.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
import torch
from numpy.typing import NDArray
from tokenizers import AddedToken, decoders, models, normalizers
from torch import Tensor

from regard.data.tokenizers import Tokenizer
from regard.errors import DataError, reading
from regard.interop.decoders import LLAMA
from regard.interop.family import Fields
from regard.interop.huggingface import ForeignModel, converted
from regard.interop.rules import halves
from regard.interop.vocabularies import made, splits

HEADER = struct.Struct("<7i")
SIZES = ("width", "hidden", "layers", "heads", "kv_heads", "vocabulary", "length")
LARGEST = 1 << 20  # of any size in a header; a file of something else has larger ones
SPECIALS = ("<unk>", "<s>", "</s>")  # the first three pieces, whatever the file calls them
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]


def files_of(source: Path) -> tuple[Path, Path] | None:
    """The checkpoint and its pieces, in a folder or beside each other; None where there is no binary file at all."""
    folder = source if source.is_dir() else source.parent
    found = sorted(folder.glob("*.bin"))
    pieces = [path for path in found if path.name.startswith("tok")]
    weights = [path for path in found if path not in pieces] if source.is_dir() else [source]
    if not weights or weights[0].suffix != ".bin":
        return None
    if len(weights) > 1:
        names = ", ".join(path.name for path in weights)
        raise DataError(f"{folder} has several checkpoints ({names}): name one of them")
    if sizes_of(weights[0]) is None:
        raise DataError(
            f"{weights[0]} is no whole checkpoint of llama2.c: its length is not what its first seven numbers say (its "
            'later forms, which begin with "ak42", are not read)'
        )
    if len(pieces) != 1:
        raise DataError(f"beside {weights[0]} there is no one file tok*.bin with its pieces")
    return weights[0], pieces[0]


def sizes_of(path: Path) -> dict[str, int] | None:
    """What the header says; None where it is no such header, or the file is not as long as it says."""
    with reading(path), path.open("rb") as file:
        head = file.read(HEADER.size)
    if len(head) < HEADER.size:
        return None
    sizes = dict(zip(SIZES, HEADER.unpack(head), strict=True))
    sane = all(0 < abs(size) < LARGEST for size in sizes.values()) and sizes["width"] % sizes["heads"] == 0
    if not sane or any(size < 0 for name, size in sizes.items() if name != "vocabulary"):
        return None
    values = sum(int(np.prod(shape)) for _, shape in layout(sizes))
    return sizes if path.stat().st_size == HEADER.size + 4 * values else None


def layout(sizes: dict[str, int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The weights in the order in which they lie, by Llama's names; those of all layers lie together."""
    width, hidden, layers = sizes["width"], sizes["hidden"], sizes["layers"]
    head = width // sizes["heads"]
    keys = head * sizes["kv_heads"]
    yield "embed_tokens.weight", (abs(sizes["vocabulary"]), width)
    yield "layers.{}.input_layernorm.weight", (layers, width)
    yield "layers.{}.self_attn.q_proj.weight", (layers, width, width)
    yield "layers.{}.self_attn.k_proj.weight", (layers, keys, width)
    yield "layers.{}.self_attn.v_proj.weight", (layers, keys, width)
    yield "layers.{}.self_attn.o_proj.weight", (layers, width, width)
    yield "layers.{}.post_attention_layernorm.weight", (layers, width)
    yield "layers.{}.mlp.gate_proj.weight", (layers, hidden, width)
    yield "layers.{}.mlp.down_proj.weight", (layers, width, hidden)
    yield "layers.{}.mlp.up_proj.weight", (layers, hidden, width)
    yield "norm.weight", (width,)
    yield "cosines", (sizes["length"], head // 2)
    yield "sines", (sizes["length"], head // 2)
    if sizes["vocabulary"] < 0:  # its way to say that the output has a matrix of its own
        yield "lm_head.weight", (-sizes["vocabulary"], width)


def read_model(path: Path) -> ForeignModel:
    sizes = sizes_of(path)
    assert sizes is not None
    fields = {
        "vocab_size": abs(sizes["vocabulary"]),
        "hidden_size": sizes["width"],
        "intermediate_size": sizes["hidden"],
        "num_hidden_layers": sizes["layers"],
        "num_attention_heads": sizes["heads"],
        "num_key_value_heads": sizes["kv_heads"],
        "max_position_embeddings": sizes["length"],
        "rms_norm_eps": 1e-5,  # as the program has it
        "tie_word_embeddings": sizes["vocabulary"] > 0,
    }
    return converted(LLAMA, Fields(fields, str(path)), dict(named(path, sizes)), str(path))


def named(path: Path, sizes: dict[str, int]) -> Iterator[tuple[str, Tensor]]:
    """The weights by the names that Llama's have elsewhere."""
    values: NDArray[Any] = np.fromfile(path, dtype="<f4", offset=HEADER.size)
    heads = {
        "layers.{}.self_attn.q_proj.weight": sizes["heads"],
        "layers.{}.self_attn.k_proj.weight": sizes["kv_heads"],
    }
    for name, shape in layout(sizes):
        own, values = np.split(values, [int(np.prod(shape))])
        tensor = torch.from_numpy(own.astype(np.float32)).view(shape)
        if name.startswith("layers."):
            for i, one in enumerate(tensor):
                yield name.format(i), halves(one, heads[name]) if name in heads else one
        elif name not in ("cosines", "sines"):  # of the positions, which are computed here
            yield name, tensor


def read_tokenizer(path: Path, size: int) -> Tokenizer:
    """Its list of pieces: any two neighbours merge that make a piece, that of the highest score first. Before a text it
    puts a space. A character that is no piece is written in bytes."""
    pieces = read_pieces(path, size)
    ids: dict[str, int] = {}
    for i, (piece, _) in enumerate(pieces):
        ids[piece if piece not in ids else f"<again{i}>"] = i
    whole = [piece for piece in ids if piece not in (*SPECIALS, *BYTES) and len(piece) > 1]
    order = sorted(whole, key=lambda piece: (-pieces[ids[piece]][1], ids[piece]))
    merges = [pair for piece in order for pair in splits(piece, ids)]
    backend = tokenizers.Tokenizer(
        models.BPE(vocab=ids, merges=merges, unk_token=SPECIALS[0], byte_fallback=all(one in ids for one in BYTES))
    )
    backend.normalizer = normalizers.Prepend(" ")
    backend.decoder = decoders.Sequence([decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    backend.add_special_tokens([AddedToken(name, normalized=False, special=True) for name in SPECIALS])
    return made(backend, str(path), size)


def read_pieces(path: Path, size: int) -> list[tuple[str, float]]:
    """As many pieces as the model has rows, each with its score."""
    with reading(path):
        data, place = path.read_bytes(), 4  # behind the length of the longest
    pieces: list[tuple[str, float]] = []
    try:
        for _ in range(size):
            score, length = struct.unpack_from("<fi", data, place)
            if not 0 <= length <= len(data) - place - 8:
                raise struct.error
            piece = data[place + 8 : place + 8 + length].decode("utf-8")
            pieces.append((piece if len(pieces) >= len(SPECIALS) else SPECIALS[len(pieces)], score))
            place += 8 + length
    except (struct.error, UnicodeDecodeError):
        raise DataError(
            f"{path} holds {len(pieces)} whole pieces, and the model has {size}: they do not belong together"
        ) from None
    return pieces
