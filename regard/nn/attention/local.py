"""Local attention: a window of keys around a place that each query has. Luong et al. 2015, arXiv:1508.04025."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import Part, Size
from regard.nn.linear import Linear


@dataclass(frozen=True)
class WindowConfig(Part, family="window"):
    """Which keys a query may look at: those at most `reach` places from its centre."""

    reach: Size = 10

    def build(self, width: int) -> WindowModule:
        raise TypeError(f"{type(self).__name__} is a family, not a window")


class WindowModule(nn.Module):
    """Queries (R, T, D), their places (T,) and the lengths of their keys (R,) → what it does to scores and weights."""

    def __init__(self, reach: int) -> None:
        super().__init__()
        self.reach = reach

    def centres(self, queries: Tensor, places: Tensor, lengths: Tensor) -> Tensor:
        """(R, T): where each query looks, in places of its keys."""
        raise TypeError(f"{type(self).__name__} does not say where it looks")

    def outside(self, centres: Tensor, keys: int) -> Tensor:
        """(R, 1, T, S): true for keys that are out of reach."""
        return (torch.arange(keys, device=centres.device) - centres.unsqueeze(-1)).abs().unsqueeze(1) > self.reach

    def shape(self, weights: Tensor, centres: Tensor) -> Tensor:
        """The weights (R, 1, T, S) after the softmax."""
        return weights


@dataclass(frozen=True)
class Monotonic(WindowConfig, kind="local-m"):
    """The centre moves with the target: word t looks around source word t."""

    def build(self, width: int) -> WindowModule:
        return MonotonicWindow(self.reach)


class MonotonicWindow(WindowModule):
    def centres(self, queries: Tensor, places: Tensor, lengths: Tensor) -> Tensor:
        last = (lengths - 1).unsqueeze(1)  # beyond the end it stays there, so that a query always sees something
        return torch.minimum(places.to(queries.dtype).expand(queries.shape[:2]), last.to(queries.dtype))


@dataclass(frozen=True)
class Predictive(WindowConfig, kind="local-p"):
    """The centre is predicted, p = S · sigmoid(v' tanh(W h)), and weights fall off around it as a Gaussian with
    deviation reach / 2: they need not sum to one.

    p is any number between 0 and the length S of the source, as in the paper. Places count from 0 here, so that p may
    stand up to one place behind the last word, S - 1.
    """

    def build(self, width: int) -> WindowModule:
        return PredictiveWindow(self.reach, width)


class PredictiveWindow(WindowModule):
    def __init__(self, reach: int, width: int) -> None:
        super().__init__(reach)
        self.inner = Linear(width, width, bias=False)
        self.outer = Linear(width, 1, bias=False)

    def centres(self, queries: Tensor, places: Tensor, lengths: Tensor) -> Tensor:
        share: Tensor = self.outer(self.inner(queries).tanh()).squeeze(-1).sigmoid()  # (R, T)
        return lengths.unsqueeze(1) * share

    def shape(self, weights: Tensor, centres: Tensor) -> Tensor:
        away = torch.arange(weights.shape[-1], device=centres.device) - centres.unsqueeze(-1)
        return weights * torch.exp(-(away**2) / (2 * (self.reach / 2) ** 2)).unsqueeze(1)
