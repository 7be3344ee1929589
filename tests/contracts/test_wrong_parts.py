"""Tests of the tests: parts that are wrong in one way each, and the promise that catches them.

None of them has a `kind`, so that nobody finds them but these tests.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.models import Classifier, Encoder
from regard.models.costs import FORMULAS
from regard.models.costs import cost as cost_of
from regard.models.fewshot import CentroidLearner, Centroids, Learner
from regard.models.recurrent import Luong, LuongReader, Reader, Sizes
from regard.nn.attention import Kernel, ScaledDot
from regard.nn.attention.dot import DotKernel
from regard.nn.attention.hard import ChoiceModule, Soft
from regard.nn.attention.layer import Mixer, MultiHead, SelfAttention
from regard.nn.attention.local import Monotonic, MonotonicWindow, WindowModule
from regard.nn.attention.scores import General, GeneralKernel
from regard.nn.call.context import Context
from regard.nn.cost import Cost, Shape
from regard.nn.embeddings import Embedding, TokenEmbedding, TokenEmbeddingLayer
from regard.nn.feedforward import MLP, FeedForward, MLPLayer
from regard.nn.heads import Head, LinearHead, LinearOutput
from regard.nn.mixers import Convolution, ConvolutionLayer
from regard.nn.norms import LayerNorm, LayerNormalisation, Norm, NormConfig
from regard.nn.pooling import AttentionPool, AttentionPooling, Mean, MeanPool, Pool
from regard.nn.positions import HeadDims, Learned, Position
from regard.nn.positions.absolute import LearnedPosition
from regard.nn.residual import PreNorm, PreNormWiring, Sublayer, Wiring
from regard.nn.stacks import Block, Stack, StackLayers
from regard.nn.stacks.block import BlockLayer
from tests import test_anatomy
from tests.contracts import (
    test_initialised,
    test_kernels,
    test_parts,
    test_pools,
    test_positions,
    test_rows,
    test_stacks,
)
from tests.helpers import VOCABULARY, WIDTH, placed, small_block


def other_row(x: Tensor) -> Tensor:
    return x.roll(1, 0)


def next_token(x: Tensor) -> Tensor:
    return x.roll(-1, 1)


# --- kernels ----------------------------------------------------------------------------------------------------------


class WrongKernel(ScaledDot):
    Module: type[DotKernel]

    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return self.Module(dims, position, dropout, scale=dims.key_width**-0.5)


class SeeingMore(DotKernel):
    """Its mask lacks something."""

    lacks: ClassVar[dict[str, Any]]

    def seen(self, context: Context) -> Context:
        geometry = context.geometry
        return context.at(replace(geometry, mask=replace(geometry.mask, **self.lacks)))

    def mix(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
        return super().mix(q, k, v, self.seen(context))

    def weights(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
        return super().weights(q, k, self.seen(context))


class LeakingKernel(WrongKernel):
    class Module(SeeingMore):
        lacks: ClassVar = {"causal": False}


class PaddingKernel(WrongKernel):
    """Attends to padding."""

    class Module(SeeingMore):
        lacks: ClassVar = {"keys": None}


class RowMixingKernel(WrongKernel):
    class Module(DotKernel):
        def mix(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
            return super().mix(q, k, v, context) + 0.1 * other_row(v[:, :1]).mean(2, keepdim=True)


class KernelWithoutBias(ScaledDot):
    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return super().build(dims, Position(), dropout)


class KernelWithoutDropout(ScaledDot):
    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return super().build(dims, position, 0.0)


class KernelThatDropsValues(WrongKernel):
    """Dropout on what is mixed instead of on the weights."""

    class Module(DotKernel):
        def mix(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
            rate, self.dropout.rate = self.dropout.rate, 0.0
            mixed = super().mix(q, k, v, context)
            self.dropout.rate = rate
            return self.dropout(mixed)


class KernelWithoutGradient(General):
    def build(self, dims: HeadDims, position: Position, dropout: float) -> Kernel:
        return self.Module(dims, position, dropout)

    class Module(GeneralKernel):
        def turned(self, q: Tensor) -> Tensor:
            return torch.einsum("bhti,hij->bhtj", q, self.weight.detach())


class UncachedKernel(WrongKernel):
    """Its scale is that of the queries that happen to come together."""

    class Module(DotKernel):
        def turned(self, q: Tensor) -> Tensor:
            return q / q.shape[2]


class CostlyKernel(WrongKernel):
    class Module(DotKernel):
        def cost(self, shape: Shape) -> Cost:
            return FORMULAS[DotKernel](self, shape) + Cost(shape.tokens)


class WatchedKernel(WrongKernel):
    """Computes otherwise while someone looks."""

    class Module(DotKernel):
        def mix(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
            return super().mix(q, k, v, context) * (1 if context.watcher is None else 1.001)


class KernelOfNothing(WrongKernel):
    """A row that sees nothing has the mean of all values."""

    class Module(DotKernel):
        def weights(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
            hidden = context.geometry.hidden()
            scores = self.biased(q, k, context)
            return (scores if hidden is None else scores.masked_fill(hidden, -1e9)).softmax(-1)

        def mix(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
            return self.combine(self.weights(q, k, context), v, context)


class ShowingOthers(WrongKernel):
    """Shows weights that are not those it mixes by."""

    class Module(DotKernel):
        def scores(self, q: Tensor, k: Tensor, context: Context) -> Tensor:
            return 0.9 * super().scores(q, k, context)


class SinglePrecision(WrongKernel):
    class Module(DotKernel):
        def mix(self, q: Tensor, k: Tensor, v: Tensor, context: Context) -> Tensor:
            return super().mix(q, k, v, context).float()


# --- norms and feed-forwards ------------------------------------------------------------------------------------------


class WrongNorm(LayerNorm):
    Module: type[LayerNormalisation]

    def build(self, width: int) -> Norm:
        return self.Module(width)


class BatchNorm(WrongNorm):
    """The mean and the deviation of each column of the batch."""

    class Module(LayerNormalisation):
        def forward(self, x: Tensor) -> Tensor:
            columns = x.flatten(0, -2)
            normed = (columns - columns.mean(0)) / (columns.var(0, correction=0) + self.eps).sqrt()
            return normed.view(x.shape) * self.weight + self.bias


class BatchNormInTraining(WrongNorm):
    """The same, and in use what was found in training."""

    class Module(LayerNormalisation):
        def __init__(self, width: int) -> None:
            super().__init__(width)
            self.inner = nn.BatchNorm1d(width)

        def forward(self, x: Tensor) -> Tensor:
            return self.inner(super().forward(x).flatten(0, -2)).view(x.shape)


class NormOverTime(WrongNorm):
    class Module(LayerNormalisation):
        def forward(self, x: Tensor) -> Tensor:
            return super().forward(x - x.mean(1, keepdim=True)) if x.dim() == 3 else super().forward(x)


class NormWithoutGradient(WrongNorm):
    class Module(LayerNormalisation):
        def forward(self, x: Tensor) -> Tensor:
            return F.layer_norm(x, self.normalized_shape, self.weight.detach(), self.bias, self.eps)


class CostlyNorm(WrongNorm):
    class Module(LayerNormalisation):
        def cost(self, shape: Shape) -> Cost:
            return FORMULAS[LayerNormalisation](self, shape) + Cost(shape.tokens)


class WrongMLP(MLP):
    Module: type[MLPLayer]

    def build(self, width: int) -> FeedForward:
        return self.Module(width, self)


class RowMixingMLP(WrongMLP):
    class Module(MLPLayer):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            return super().forward(x + other_row(x), context)


class LeakingMLP(WrongMLP):
    class Module(MLPLayer):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            return super().forward(x + next_token(x), context)


class PaddingMLP(WrongMLP):
    class Module(MLPLayer):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            return super().forward(x + x.mean(1, keepdim=True), context)


class MLPWithoutGradient(WrongMLP):
    class Module(MLPLayer):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            hidden = self.activation(self.up(x))
            return F.linear(hidden, self.down.weight.detach(), self.down.bias)


class UncachedMLP(WrongMLP):
    class Module(MLPLayer):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            return super().forward(x, context) / x.shape[1]


class CostlyMLP(WrongMLP):
    class Module(MLPLayer):
        def cost(self, shape: Shape) -> Cost:
            return FORMULAS[MLPLayer](self, shape) + cost_of(self.up, shape)


# --- wirings ----------------------------------------------------------------------------------------------------------


class WrongWiring(PreNorm):
    Module: type[PreNormWiring]

    def build(self, width: int, norm: NormConfig) -> Wiring:
        return self.Module(width, norm, self.dropout)


class WiringOfOtherRows(WrongWiring):
    class Module(PreNormWiring):
        def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
            return self.dropout.add(other_row(x), sublayer(self.norm(x), context))


class WiringWithoutStream(WrongWiring):
    class Module(PreNormWiring):
        def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
            return self.dropout(sublayer(self.norm(x), context))


class WiringWithoutSublayer(WrongWiring):
    class Module(PreNormWiring):
        def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
            return x + 0 * sublayer(self.norm(x), context)


class WiringWithoutDropout(WrongWiring):
    class Module(PreNormWiring):
        def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
            return x + sublayer(self.norm(x), context)


class WiringThatDropsTheStream(WrongWiring):
    class Module(PreNormWiring):
        def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
            return self.dropout(super().forward(x, sublayer, context))


class LeakingWiring(WrongWiring):
    class Module(PreNormWiring):
        def forward(self, x: Tensor, sublayer: Sublayer, context: Context) -> Tensor:
            return super().forward(x + 0.1 * next_token(x), sublayer, context)


# --- positions --------------------------------------------------------------------------------------------------------


class WrongPosition(Learned):
    Module: type[LearnedPosition]

    def build(self, dims: HeadDims) -> Position:
        return self.Module("add", dims.width, self.length)


class RowMixingPosition(WrongPosition):
    class Module(LearnedPosition):
        def embed(self, x: Tensor, context: Context) -> Tensor:
            return super().embed(x + 0.1 * other_row(x), context)


class LeakingPosition(WrongPosition):
    """Places count from the end, which a text that is written does not know."""

    class Module(LearnedPosition):
        def embed(self, x: Tensor, context: Context) -> Tensor:
            return super().embed(x, context) + x.mean(1, keepdim=True)


class ColumnPosition(WrongPosition):
    """The column instead of the place: wrong beside padding on the left, and in every step but the first."""

    class Module(LearnedPosition):
        def embed(self, x: Tensor, context: Context) -> Tensor:
            return x + self.table(torch.arange(x.shape[1]))


class PositionWithoutGradient(WrongPosition):
    class Module(LearnedPosition):
        def embed(self, x: Tensor, context: Context) -> Tensor:
            return x + self.table.weight.detach()[context.geometry.query_positions]


class CostlyPosition(WrongPosition):
    class Module(LearnedPosition):
        def cost(self, shape: Shape) -> Cost:
            return Cost(shape.tokens)


# --- mixers, blocks, stacks -------------------------------------------------------------------------------------------


class WrongAttention(MultiHead):
    Module: type[SelfAttention]

    def build(self, width: int, position: Position, causal: bool) -> Mixer:
        return self.Module(self, self.dims(width, causal), position)


class RowMixingAttention(WrongAttention):
    class Module(SelfAttention):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            return other_row(super().forward(x, context))


class ForgetfulAttention(WrongAttention):
    """What it keeps grows less with every step."""

    class Module(SelfAttention):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            attended = super().forward(x, context)
            for cache in (context.cache or {}).values():
                cache.values *= 0.5
            return attended


class CostlyAttention(WrongAttention):
    class Module(SelfAttention):
        def cost(self, shape: Shape) -> Cost:
            return FORMULAS[SelfAttention](self, shape) + cost_of(self.out, shape)


class WrongConvolution(Convolution):
    Module: type[ConvolutionLayer]

    def build(self, width: int, position: Position, causal: bool) -> Mixer:
        return self.Module(self.dims(width, causal), self.taps)


class LeakingConvolution(WrongConvolution):
    """One that is causal looks ahead by one token."""

    class Module(ConvolutionLayer):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            return next_token(super().forward(x, context))


class PaddingConvolution(WrongConvolution):
    class Module(ConvolutionLayer):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            geometry = context.geometry
            return super().forward(x, context.at(replace(geometry, mask=replace(geometry.mask, keys=None))))


class UncachedConvolution(WrongConvolution):
    class Module(ConvolutionLayer):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            return super().forward(x, replace(context, cache=None))


class ConvolutionWithoutGradient(WrongConvolution):
    class Module(ConvolutionLayer):
        def forward(self, x: Tensor, context: Context) -> Tensor:
            return super().forward(x, context).detach()


class CostlyConvolution(WrongConvolution):
    class Module(ConvolutionLayer):
        def cost(self, shape: Shape) -> Cost:
            return FORMULAS[ConvolutionLayer](self, shape) + cost_of(self.taps, Shape(shape.batch, 1, 1))


class WrongBlock(Block):
    Module: type[BlockLayer]

    def build(self, width: int, position: Position, causal: bool, memory_width: int) -> BlockLayer:
        return self.Module(width, self, position, causal, memory_width)


class RowMixingBlock(WrongBlock):
    class Module(BlockLayer):
        def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
            return super().forward(x + 0.1 * other_row(x), context)


class LeakingBlock(WrongBlock):
    class Module(BlockLayer):
        def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
            return super().forward(x + 0.1 * next_token(x), context)


class BlockWithoutGradient(WrongBlock):
    class Module(BlockLayer):
        def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
            x = self.attention_join(x, self.attention, context)
            return x + self.feedforward_join(x, self.fed, context).detach(), context


class UncachedBlock(WrongBlock):
    class Module(BlockLayer):
        def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
            return super().forward(x / x.shape[1], context)


class CostlyBlock(WrongBlock):
    class Module(BlockLayer):
        def cost(self, shape: Shape) -> Cost:
            return FORMULAS[BlockLayer](self, shape) + cost_of(self.feedforward, shape)


class WrongStack(Stack):
    Module: type[StackLayers]

    def build(self, width: int, causal: bool, memory_width: int = 0) -> StackLayers:
        layers = super().build(width, causal, memory_width)
        layers.__class__ = self.Module
        return layers


class RowMixingStack(WrongStack):
    class Module(StackLayers):
        def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
            return super().forward(x + 0.1 * other_row(x), context)


class LeakingStack(WrongStack):
    class Module(StackLayers):
        def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
            return super().forward(x + 0.1 * next_token(x), context)


class PaddingStack(WrongStack):
    class Module(StackLayers):
        def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
            return super().forward(x + x.mean(1, keepdim=True), context)


class UncachedStack(WrongStack):
    class Module(StackLayers):
        def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
            x, context = super().forward(x, context)
            return x / x.shape[1], context


class StackWithoutGradient(WrongStack):
    class Module(StackLayers):
        def forward(self, x: Tensor, context: Context) -> tuple[Tensor, Context]:
            for layer in self.layers[:-1]:
                x, context = layer(x.detach(), context)
            return super().forward(x.detach(), context)


class CostlyStack(WrongStack):
    class Module(StackLayers):
        def cost(self, shape: Shape) -> Cost:
            return FORMULAS[StackLayers](self, shape) + cost_of(self.layers[0], shape)


# --- embeddings, heads, pools and what is around a recurrent decoder --------------------------------------------------


class WrongEmbedding(TokenEmbedding):
    Module: type[TokenEmbeddingLayer]

    def build(self, vocabulary: int, width: int, position: Position) -> Embedding:
        return self.Module(vocabulary, width, position, self)


class RowMixingEmbedding(WrongEmbedding):
    class Module(TokenEmbeddingLayer):
        def forward(self, tokens: Tensor, context: Context, segments: Tensor | None = None) -> Tensor:
            x = super().forward(tokens, context, segments)
            return x + 0.1 * other_row(x)


class LeakingEmbedding(WrongEmbedding):
    class Module(TokenEmbeddingLayer):
        def forward(self, tokens: Tensor, context: Context, segments: Tensor | None = None) -> Tensor:
            x = super().forward(tokens, context, segments)
            return x + 0.1 * next_token(x)


class UninitialisedEmbedding(WrongEmbedding):
    class Module(TokenEmbeddingLayer):
        def __init__(self, *given: Any) -> None:
            super().__init__(*given)
            self.tokens.weight = nn.Parameter(torch.empty_like(self.tokens.weight))


class WrongHead(LinearHead):
    Module: type[LinearOutput]

    def build(self, vocabulary: int, width: int, embedding: Embedding) -> Head:
        return self.Module(vocabulary, width, embedding if self.tied else None, self.bias, self.cap)


class RowMixingHead(WrongHead):
    class Module(LinearOutput):
        def transform(self, hidden: Tensor) -> Tensor:
            return hidden + 0.1 * other_row(hidden)


class HeadOfAnotherLoss(WrongHead):
    """Its loss is not that of its logits."""

    class Module(LinearOutput):
        def total_loss(self, hidden: Tensor, targets: Tensor, smoothing: float = 0.0, ignore: int = -100) -> Tensor:
            return super().total_loss(0.5 * hidden, targets, smoothing, ignore)


class HeadWithoutGradient(WrongHead):
    class Module(LinearOutput):
        def logits(self, hidden: Tensor) -> Tensor:
            return F.linear(hidden, self.weight.detach(), self.bias)


class CostlyHead(WrongHead):
    class Module(LinearOutput):
        def cost(self, shape: Shape) -> Cost:
            return FORMULAS[LinearOutput](self, shape) + Cost(shape.tokens)


class WrongPool(Mean):
    Module: type[Pool]

    def build(self, width: int) -> Pool:
        return self.Module()


class RowMixingPool(WrongPool):
    class Module(MeanPool):
        def forward(self, states: Tensor, keep: Tensor | None, context: Context | None = None) -> Tensor:
            pooled = super().forward(states, keep, context)
            return pooled + 0.1 * other_row(pooled)


class PaddingPool(WrongPool):
    class Module(MeanPool):
        def forward(self, states: Tensor, keep: Tensor | None, context: Context | None = None) -> Tensor:
            return states.mean(1)


class PoolWithoutGradient(AttentionPooling):
    class Module(AttentionPool):
        def weights(self, states: Tensor, keep: Tensor | None) -> Tensor:
            return super().weights(states, keep).detach()

    def build(self, width: int) -> Pool:
        return self.Module(width, width)


class PoolOfOtherShares(WrongPool):
    class Module(MeanPool):
        def shares(self, count: int) -> list[float]:
            return [1.0] * count


class RowMixingLearner(Centroids):
    def build(self, width: int, ways: int) -> Learner:
        return self.Module(width, ways)

    class Module(CentroidLearner):
        def forward(self, examples: Tensor, labels: Tensor, queries: Tensor, context: Context) -> Tensor:
            return super().forward(other_row(examples), labels, queries, context)


class RowMixingChoice(Soft):
    class Module(ChoiceModule):
        def forward(self, chances: Tensor, context: Context) -> Tensor:
            return other_row(chances)

    def build(self) -> ChoiceModule:
        return self.Module()


class RowMixingWindow(Monotonic):
    class Module(MonotonicWindow):
        def centres(self, queries: Tensor, places: Tensor, lengths: Tensor) -> Tensor:
            return super().centres(queries, places, lengths.max().expand_as(lengths))

    def build(self, width: int) -> WindowModule:
        return self.Module(self.reach)


class RowMixingReader(Luong):
    class Module(LuongReader):
        def after(self, out: Tensor, words: Tensor, extra: Tensor | None, read: Any) -> Tensor:
            return other_row(super().after(out, words, extra, read))

    def build(self, sizes: Sizes) -> Reader:
        return self.Module(sizes, self)


# --- what catches them ------------------------------------------------------------------------------------------------

Contract = Callable[..., None]
parts, rows, kernels, positions = test_parts, test_rows, test_kernels, test_positions
stacks, pools = test_stacks, test_pools


def costs(part: Any) -> None:
    test_anatomy.test_operations_equal_those_that_pytorch_counts(placed(part))


def mixes_rows(part: Any, training: bool = False) -> None:
    _, probes = rows.PROBES[part.family]
    for probe in probes:
        rows.test_a_row_of_a_part_gives_what_it_gives_alone(part, probe, training)


def mixes_rows_in_training(part: Any) -> None:
    mixes_rows(part, training=True)


def with_the_mask(name: str) -> Contract:
    return lambda kernel: kernels.test_combined_weights_equal_the_mix(kernel, kernels.H, name)


def given(contract: Contract, *more: Any) -> Contract:
    return lambda part: contract(part, *more)


def numbers(embedding: Any) -> None:
    test_initialised.test_a_part_that_is_made_has_finite_values_which_follow_from_the_seed("embedding", embedding)


SMALL = {"layers": 2, "block": small_block(), "position": Learned(length=64)}
BLOCK = vars(small_block())
CAUGHT: list[tuple[Any, list[Contract]]] = [
    (LeakingKernel(), [kernels.test_the_future_cannot_leak, with_the_mask("causal")]),
    (PaddingKernel(), [given(kernels.test_padding_never_changes_an_output, "left"), with_the_mask("keys")]),
    (
        RowMixingKernel(),
        [
            given(kernels.test_a_row_in_a_batch_gives_what_it_gives_alone, False),
            given(kernels.test_a_row_in_a_batch_gives_what_it_gives_alone, True),
            mixes_rows,
        ],
    ),
    (KernelWithoutBias(), [given(kernels.test_position_bias_decides_where_a_query_looks, kernels.H)]),
    (KernelWithoutDropout(), [kernels.test_weights_are_dropped_in_training_and_only_then]),
    (KernelThatDropsValues(), [kernels.test_weights_are_dropped_in_training_and_only_then]),
    (KernelWithoutGradient(), [kernels.test_gradients_reach_every_parameter]),
    (UncachedKernel(), [given(kernels.test_cached_steps_equal_the_full_pass, None)]),
    (CostlyKernel(), [costs]),
    (WatchedKernel(), [given(kernels.test_watched_equals_unwatched_bit_for_bit, False)]),
    (KernelOfNothing(), [kernels.test_a_row_that_sees_nothing_gives_zeros_and_no_nan]),
    (ShowingOthers(), [with_the_mask("none")]),
    (SinglePrecision(), [given(kernels.test_precision_stays_what_it_was, torch.float64)]),
    (BatchNorm(), [mixes_rows, given(parts.test_a_norm_norms_each_token_by_itself, False)]),
    (BatchNormInTraining(), [mixes_rows_in_training]),
    (NormOverTime(), [parts.test_the_future_cannot_leak, parts.test_cached_steps_equal_the_full_pass]),
    (NormWithoutGradient(), [parts.test_gradients_reach_every_parameter]),
    (CostlyNorm(), [costs]),
    (RowMixingMLP(hidden=24), [mixes_rows, given(parts.test_a_feedforward_takes_each_token_by_itself, False)]),
    (LeakingMLP(hidden=24), [parts.test_the_future_cannot_leak]),
    (PaddingMLP(hidden=24), [given(parts.test_padding_never_changes_an_output, "right")]),
    (MLPWithoutGradient(hidden=24), [parts.test_gradients_reach_every_parameter]),
    (UncachedMLP(hidden=24), [parts.test_cached_steps_equal_the_full_pass]),
    (CostlyMLP(hidden=24), [costs]),
    (WiringOfOtherRows(), [mixes_rows]),
    (WiringWithoutStream(), [parts.test_the_stream_runs_past_a_sublayer]),
    (WiringWithoutSublayer(), [parts.test_what_a_sublayer_adds_reaches_the_stream]),
    (WiringWithoutDropout(), [parts.test_dropout_falls_on_what_a_sublayer_adds_and_on_nothing_else]),
    (WiringThatDropsTheStream(), [parts.test_dropout_falls_on_what_a_sublayer_adds_and_on_nothing_else]),
    (LeakingWiring(), [parts.test_the_future_cannot_leak]),
    (RowMixingPosition(length=64), [mixes_rows]),
    (LeakingPosition(length=64), [given(positions.test_cached_steps_equal_the_full_pass, test_positions.Mask())]),
    (
        ColumnPosition(length=64),
        [
            given(positions.test_padding_never_changes_an_output_of_an_encoder, "left"),
            given(positions.test_cached_steps_equal_the_full_pass, test_positions.Mask()),
        ],
    ),
    (PositionWithoutGradient(length=64), [positions.test_gradients_reach_every_parameter]),
    (CostlyPosition(length=64), [costs]),
    (RowMixingAttention(heads=4), [mixes_rows]),
    (ForgetfulAttention(heads=4), [parts.test_cached_steps_equal_the_full_pass]),
    (CostlyAttention(heads=4), [costs]),
    (LeakingConvolution(), [parts.test_the_future_cannot_leak]),
    (PaddingConvolution(), [given(parts.test_padding_never_changes_an_output, "right")]),
    (UncachedConvolution(), [parts.test_cached_steps_equal_the_full_pass]),
    (ConvolutionWithoutGradient(), [parts.test_gradients_reach_every_parameter]),
    (CostlyConvolution(), [costs]),
    (RowMixingBlock(**BLOCK), [mixes_rows]),
    (LeakingBlock(**BLOCK), [parts.test_the_future_cannot_leak]),
    (BlockWithoutGradient(**BLOCK), [parts.test_gradients_reach_every_parameter]),
    (UncachedBlock(**BLOCK), [parts.test_cached_steps_equal_the_full_pass]),
    (CostlyBlock(**BLOCK), [costs]),
    (RowMixingStack(**SMALL), [mixes_rows]),
    (LeakingStack(**SMALL), [stacks.test_the_future_cannot_leak]),
    (PaddingStack(**SMALL), [given(stacks.test_a_padded_row_gives_what_the_row_alone_gives, "right")]),
    (UncachedStack(**SMALL), [stacks.test_cached_steps_equal_the_full_pass]),
    (StackWithoutGradient(**SMALL), [stacks.test_gradients_reach_every_parameter]),
    (CostlyStack(**SMALL), [stacks.test_its_cost_is_what_pytorch_counts]),
    (RowMixingEmbedding(), [mixes_rows]),
    (LeakingEmbedding(), [parts.test_the_future_cannot_leak]),
    (UninitialisedEmbedding(), [numbers]),
    (RowMixingHead(), [mixes_rows, given(parts.test_a_head_reads_each_state_by_itself, False)]),
    (HeadOfAnotherLoss(), [parts.test_a_heads_chances_loss_and_best_words_are_of_one_distribution]),
    (HeadWithoutGradient(tied=False, bias=True), [parts.test_a_head_learns_through_its_loss]),
    (CostlyHead(), [costs]),
    (RowMixingPool(), [mixes_rows]),
    (PaddingPool(), [given(pools.test_padding_never_changes_a_vector, "right")]),
    (PoolWithoutGradient(), [pools.test_gradients_reach_every_parameter_and_no_padding]),
    (PoolOfOtherShares(), [pools.test_shares_of_states_are_of_a_whole]),
    (RowMixingLearner(), [mixes_rows]),
    (RowMixingChoice(), [mixes_rows]),
    (RowMixingWindow(reach=2), [mixes_rows]),
    (RowMixingReader(), [mixes_rows]),
]


@pytest.mark.parametrize(
    ("part", "contract"),
    [(part, contract) for part, contracts in CAUGHT for contract in contracts],
    ids=lambda x: getattr(x, "__name__", type(x).__name__),
)
def test_a_wrong_part_is_caught(part: Any, contract: Contract) -> None:
    with pytest.raises(AssertionError):
        contract(part)


def test_a_model_that_mixes_rows_is_caught() -> None:
    model = Classifier(reader=Encoder(vocabulary=VOCABULARY, width=WIDTH, encoder=Stack(**SMALL)), pool=RowMixingPool())
    for contract in (
        lambda: rows.test_a_row_of_a_model_gives_what_it_gives_alone(model, False),
        lambda: rows.test_a_padded_row_of_a_model_gives_what_it_gives_alone(model),
    ):
        with pytest.raises(AssertionError):
            contract()


@pytest.mark.parametrize("part", [part for part, _ in CAUGHT], ids=lambda part: type(part).__name__)
def test_no_wrong_part_is_registered(part: Any) -> None:
    assert type(part) not in part.members.values()
