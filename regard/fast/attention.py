"""Quicker twins of the kernels whose score is a product, for CPUs."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.nn.attention.dot import DotKernel
from regard.nn.attention.kernel import Kernel
from regard.nn.attention.scores import ContentKernel, GeneralKernel
from regard.nn.call.context import Context


class FastDotKernel(DotKernel):
    def mix(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
        """With dropout by the weights: PyTorch's fused attention has none on a CPU, and its own way around draws its
        random numbers one by one."""
        if self.dropout.active and q.device.type == "cpu":
            return Kernel.mix(self, q, k, v, context)
        return super().mix(q, k, v, context)

    def fused(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
        """In fp32 also where products are in bf16: its gradient takes ten times as long in bf16 on a CPU."""
        if q.device.type == "cpu" and torch.is_autocast_enabled("cpu"):
            with torch.autocast("cpu", enabled=False):
                return super().fused(q.float(), k.float(), v.float(), context)
        return super().fused(q, k, v, context)


class FastGeneralKernel(FastDotKernel, GeneralKernel):
    pass


class FastContentKernel(FastDotKernel, ContentKernel):
    pass
