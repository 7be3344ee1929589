"""Rows of token ids as one padded batch of a model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.data.batches import pad
from regard.data.tokenizers import PAD


def padded(rows: Sequence[np.ndarray[Any, Any]], device: torch.device) -> tuple[Tensor, Tensor | None]:
    """(B, T) on the device and the padding mask, true for real tokens; no mask where all rows are of one length."""
    lengths = np.array([len(row) for row in rows])
    batch = torch.from_numpy(pad(rows, PAD)).to(device)
    if lengths.min() == lengths.max():
        return batch, None
    return batch, (torch.arange(batch.shape[1]) < torch.from_numpy(lengths)[:, None]).to(device)
