"""What a model costs, found by running it without storage: for parts that do not say it themselves."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.models.base import Model
from regard.nn.cost import Cost


def counted(model: Model, batch: int, length: int) -> Cost:
    """Multiply-adds as PyTorch counts them, and what autograd keeps of a pass.

    The whole model runs on the meta device, which takes seconds where formulas take none.
    """
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode  # its import takes a second

    with torch.device("meta"):
        twin = model.config.build().train()
        inputs = twin.example(batch, length)
    kept: dict[int, Tensor] = {}
    weights = {storage(tensor) for tensor in (*twin.parameters(), *twin.buffers())}

    def keep(tensor: Tensor) -> Tensor:
        kept[storage(tensor)] = tensor
        return tensor

    plain = sdpa_kernel(SDPBackend.MATH)  # the one of which every product is counted
    with plain, FlopCounterMode(display=False) as counter:
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            logits = twin(*inputs)
        forward = counter.get_total_flops()
        logits.sum().backward()
    values = sum(tensor.untyped_storage().nbytes() for at, tensor in kept.items() if at not in weights)
    training = counter.get_total_flops()
    return Cost(forward // 2, values // 4, (3 * forward - training) // 2)


def storage(tensor: Tensor) -> int:
    """Which storage a tensor has; on the meta device all have the same address."""
    return int(tensor.untyped_storage()._cdata)
