"""A model of ours with its weights, as the side that runs it opens it."""

from __future__ import annotations

import json
from pathlib import Path

from regard.checkpoint import weights_of, write_tensors
from regard.config import to_dict
from regard.models import Model


def keep(folder: Path, model: Model) -> None:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(to_dict(model.config)))
    write_tensors(folder / "weights.safetensors", weights_of(model))
