"""What a reader that does not learn makes of pictures: computed once, and kept in a file beside the run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.checkpoint import weights_of
from regard.config import to_dict
from regard.data.progress import counting
from regard.data.store import Store
from regard.errors import writing
from regard.models import PictureReader
from regard.runfolder import write_text

ABOUT, VALUES = "features.json", "features.f16"
PICTURES_AT_ONCE = 32
DIGEST_BYTES = 16

Indices = NDArray[np.integer[Any]]


class Features:
    """The states (N, D) of each picture in half precision, mapped from a file."""

    def __init__(self, path: Path, shape: tuple[int, ...]) -> None:
        self.values = np.memmap(path, np.float16, "r", shape=shape)

    def states(self, indices: Indices, device: torch.device) -> Tensor:
        """(B, N, D) of these pictures."""
        return torch.from_numpy(self.values[indices].astype(np.float32)).to(device)


def frozen(reader: PictureReader) -> bool:
    """Whether nothing of it learns."""
    return not any(parameter.requires_grad for parameter in reader.parameters())


def features(folder: Path, reader: PictureReader, pictures: Store, read: Callable[[Indices], Tensor]) -> Features:
    """Those in the folder, if they are of this reader and these pictures; otherwise they are computed. `read` gives the
    pictures (B, 3, H, W) of some rows of the store."""
    shape, about = (len(pictures), reader.states, reader.states_width), {"of": key(reader, pictures)}
    known, path = folder / ABOUT, folder / VALUES
    if not known.exists() or json.loads(known.read_text(encoding="utf-8")) != about:
        with writing(folder):
            folder.mkdir(parents=True, exist_ok=True)
            known.unlink(missing_ok=True)  # from here on the old ones are gone
            compute(path, reader, shape, read)
        write_text(known, json.dumps(about) + "\n")
    return Features(path, shape)


def key(reader: PictureReader, pictures: Store) -> str:
    """What decides the features: the reader's config and weights, and the pictures as they are stored."""
    seen = hashlib.blake2b(digest_size=DIGEST_BYTES)
    seen.update(json.dumps(to_dict(reader.config), sort_keys=True).encode())
    for name, weight in weights_of(reader).items():
        seen.update(name.encode())
        seen.update(weight.detach().cpu().contiguous().view(torch.uint8).numpy().tobytes())
    seen.update(f"{len(pictures)} {pictures.tokens(0)}".encode())
    seen.update(np.ascontiguousarray(pictures.stream(0)[:: max(pictures.tokens(0) >> 20, 1)]).tobytes())
    return seen.hexdigest()


@torch.no_grad()
def compute(path: Path, reader: PictureReader, shape: tuple[int, ...], read: Callable[[Indices], Tensor]) -> None:
    values = np.memmap(path, np.float16, "w+", shape=shape)
    learning = reader.training
    reader.eval()
    with counting("computing features of pictures", shape[0]) as done:
        for start in range(0, shape[0], PICTURES_AT_ONCE):
            rows = np.arange(start, min(start + PICTURES_AT_ONCE, shape[0]))
            values[rows] = reader.encode(read(rows)).states.cpu().numpy()
            done(len(rows))
    reader.train(learning)
    values.flush()
