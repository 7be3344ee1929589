"""The contract of a backbone, and the convolution that it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch.nn.functional as F
from torch import Tensor, nn

from regard.config import Part
from regard.nn.initialised import Initialised

CHANNELS = 3  # red, green, blue


@dataclass(frozen=True)
class BackboneConfig(Part, family="backbone"):
    """How a picture becomes a grid of vectors; `width` is that of the model around it."""

    def build(self, width: int) -> Backbone:
        raise TypeError(f"{type(self).__name__} is a family, not a backbone")


class Backbone(nn.Module):
    """Maps pictures (B, 3, H, W) to a grid (B, C, rows, columns) of vectors, C = `width`."""

    width: int

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns that a picture of so many pixels becomes."""
        raise TypeError(f"{type(self).__name__} does not say how large its grid is")


class GridConvolution(Initialised, nn.Conv2d):
    """A convolution whose first values the scheme of its model draws."""

    def __init__(self, inputs: int, outputs: int, size: int, **options: Any) -> None:
        super().__init__(inputs, outputs, size, **options)

    def start(self) -> None:
        self.init.matrix(self.weight.flatten(1), 1)
        if self.bias is not None:
            nn.init.zeros_(self.bias)


class NormedConvolution(nn.Conv2d):
    """A convolution and batch normalisation, drawn as He et al. 2015 (arXiv:1502.01852) draw what a ReLU follows.

    A side of n cells becomes ⌈n / stride⌉. What is added around it is half of what the kernel is larger than one cell;
    with `same`, as TensorFlow has it, no more than is needed, with one cell more behind than in front where it is odd.
    """

    def __init__(
        self,
        inputs: int,
        outputs: int,
        size: int,
        stride: int = 1,
        groups: int = 1,
        same: bool = False,
        eps: float = 1e-5,
    ) -> None:
        super().__init__(inputs, outputs, size, stride, 0 if same else size // 2, groups=groups, bias=False)
        self.same = same
        self.norm = nn.BatchNorm2d(outputs, eps)

    def reset_parameters(self) -> None:
        if not self.weight.is_meta:
            nn.init.kaiming_normal_(self.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> Tensor:
        if self.same:
            (top, bottom), (left, right) = (self.around(length) for length in x.shape[-2:])
            x = F.pad(x, (left, right, top, bottom))
        if self.training and not self.weight.requires_grad:  # frozen: it norms by what it has seen, and sees no more
            self.norm.eval()
        normed: Tensor = self.norm(super().forward(x))
        return normed

    def around(self, length: int) -> tuple[int, int]:
        """How much "same" adds in front of a side and behind it."""
        added = max((self.after(length) - 1) * self.stride[0] + self.kernel_size[0] - length, 0)
        return added // 2, added - added // 2

    def after(self, length: int) -> int:
        """How many cells a side of so many becomes."""
        return -(-length // self.stride[0])
