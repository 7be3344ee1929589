"""Every test starts from the same random numbers."""

from __future__ import annotations

import os

# Some virtual machines advertise AMX and trap on it, which ends the process in the first bf16 product.
os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX512_CORE_BF16")
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")  # models are tiny here: two threads would only wait for each other

import pytest
import torch


@pytest.fixture(autouse=True)
def _seeded() -> None:
    torch.manual_seed(0)
