"""One set of random weights for all sides, as GPT2LMHeadModel and copied into a model of ours.

`python -m benchmarks.generation.prepare FOLDER` writes FOLDER/transformers and FOLDER/regard.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from benchmarks.kept import keep
from regard.zoo import get
from tests.references import links


def theirs() -> GPT2LMHeadModel:
    torch.manual_seed(0)
    model = GPT2LMHeadModel(GPT2Config()).eval()
    with torch.no_grad():
        # With one table for input and output, the likeliest word would always be the one before.
        signs = model.transformer.ln_f.weight
        signs.copy_(torch.randint_like(signs, 2) * 2 - 1)
    return model


def main() -> None:
    folder = Path(sys.argv[1])
    peer, config = theirs(), get("gpt2")
    peer.save_pretrained(folder / "transformers")
    model = config.build()
    links.copy(links.gpt2(model, peer), model)
    keep(folder / "regard", model)


if __name__ == "__main__":
    main()
