"""An output layer that starts as the best that can be made of vectors as they are: logistic regression.

Fine-tuning from a head that knows nothing bends what was learnt before: Kumar et al. 2022, arXiv:2202.10054.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.config import ConfigError
from regard.models import ClassifierModel, Model
from regard.tasks.base import Task

MOST = 4_096  # examples that are looked at
AT_ONCE = 32
PENALTY = 10.0  # of the squared weights, in examples
ITERATIONS = 200


@runtime_checkable
class HeadTask(Protocol):
    """A task whose examples have a vector and a label each."""

    def vectors(self, model: ClassifierModel, indices: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Tensor:
        """(N, D): what the output layer takes for these training examples."""

    def numbers(self) -> Tensor:
        """(examples,): the label of each training example."""


@torch.no_grad()
def solve_head(task: Task[Any], model: Model) -> None:
    """Put the weights of a logistic regression on some training examples into the output layer of a classifier."""
    if not (isinstance(task, HeadTask) and isinstance(model, ClassifierModel)):
        raise ConfigError("initial.head_first: the model gives no label to a whole text; leave it out")
    right = task.numbers()
    chosen = np.linspace(0, len(right) - 1, min(len(right), MOST)).astype(np.int64)
    training = model.training
    model.eval()
    parts = [task.vectors(model, chosen[i : i + AT_ONCE]).float() for i in range(0, len(chosen), AT_ONCE)]
    model.train(training)
    weight, bias = regression(torch.cat(parts), right[chosen].to(parts[0].device), model.output.out_features)
    model.output.weight.copy_(weight)
    assert model.output.bias is not None
    model.output.bias.copy_(bias)


def regression(vectors: Tensor, right: Tensor, labels: int) -> tuple[Tensor, Tensor]:
    """The weight (labels, D) and bias (labels,) that tell the labels (N,) of vectors (N, D) best, where weights of
    values that are scaled to one deviation are penalised alike."""
    middle, deviation = vectors.mean(0), vectors.std(0) + 1e-6
    scaled = (vectors - middle) / deviation
    weight = scaled.new_zeros(labels, scaled.shape[1], requires_grad=True)
    bias = scaled.new_zeros(labels, requires_grad=True)
    solver = torch.optim.LBFGS([weight, bias], max_iter=ITERATIONS, line_search_fn="strong_wolfe")

    def loss() -> Tensor:
        solver.zero_grad()
        total = F.cross_entropy(scaled @ weight.t() + bias, right) + PENALTY / len(right) * weight.square().sum()
        total.backward()  # type: ignore[no-untyped-call]
        return total

    with torch.enable_grad():
        solver.step(loss)  # type: ignore[no-untyped-call]
    own = weight.detach() / deviation
    return own, bias.detach() - own @ middle
