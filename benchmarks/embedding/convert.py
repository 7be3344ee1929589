"""The same weights as graphs for onnxruntime: `python -m benchmarks.embedding.convert FOLDER`.

Two of them: what `regard export --to onnx` writes, and BertModel of transformers, in which onnxruntime's own optimiser
has put its fused attention, norms and GELU; the latter also with matrices of bytes.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from onnx import TensorProto
from onnxruntime.quantization import QuantType, quantize_dynamic
from onnxruntime.transformers.optimizer import optimize_model
from torch import Tensor, nn
from transformers import BertModel

from regard.interop import export_onnx

HEADS, WIDTH = 12, 384


class Call(nn.Module):
    """Tokens and a mask in, states out."""

    def __init__(self, model: BertModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
        states: Tensor = self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state
        return states


def theirs(folder: Path) -> None:
    """By the older exporter, whose patterns the optimiser knows."""
    home = folder / "transformers"
    home.mkdir()
    model = BertModel.from_pretrained(folder / "minilm", attn_implementation="eager", add_pooling_layer=False).eval()
    tokens = torch.ones(2, 5, dtype=torch.long)
    axes = {0: "batch", 1: "length"}
    names = {"input_names": ["input_ids", "attention_mask"], "output_names": ["last_hidden_state"]}
    torch.onnx.export(
        Call(model),
        (tokens, torch.ones_like(tokens)),
        str(home / "plain.onnx"),
        **names,
        dynamic_axes={name: axes for group in names.values() for name in group},
        opset_version=17,
        dynamo=False,
    )
    found = optimize_model(str(home / "plain.onnx"), model_type="bert", num_heads=HEADS, hidden_size=WIDTH)
    print(found.get_fused_operator_statistics(), file=sys.stderr)
    found.save_model_to_file(str(home / "model.onnx"))
    quantize_dynamic(
        home / "model.onnx",
        home / "int8.onnx",
        per_channel=True,
        weight_type=QuantType.QInt8,
        extra_options={"DefaultTensorType": TensorProto.FLOAT},  # of what the fused operators give
    )


def main() -> None:
    folder = Path(sys.argv[1])
    export_onnx(folder / "regard", folder / "onnx")
    theirs(folder)


if __name__ == "__main__":
    main()
