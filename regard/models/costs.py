"""What a model costs, by formulas: one for each kind of part, so that a model of any size is described without running.

A part of one's own may say what it costs in a method `cost(shape)`. What has neither is found by running the model
without storage (`counting.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.extensions import outside
from regard.models.asker import QUESTION_TOKENS, AskerModel
from regard.models.bag_of_words import BagOfWordsModel, WeightedPlaces
from regard.models.base import Model
from regard.models.bilm import BiLMModel
from regard.models.caption_readers import VinyalsReader
from regard.models.captioner import RecurrentCaptionerModel, TransformerCaptionerModel
from regard.models.classifier import ClassifierModel
from regard.models.counting import counted
from regard.models.decoder import DecoderModel
from regard.models.encoder import EncoderModel
from regard.models.encoder_decoder import EncoderDecoderModel
from regard.models.ensemble import Ensemble
from regard.models.fewshot import CentroidLearner, FewShotModel, SnailLearnerLayers
from regard.models.hierarchical import HierarchicalModel
from regard.models.layered import LayeredWriter
from regard.models.lstmn import LSTMNEncoderModel
from regard.models.picture_encoder import PictureEncoderModel
from regard.models.recurrent import Reader, RecurrentModel, RecurrentWriter
from regard.models.recurrent_encoder import RecurrentEncoderModel
from regard.models.tagger import TaggerModel
from regard.models.turing import TuringModel
from regard.nn.attention.banded import BandedAttention
from regard.nn.attention.dot import DotKernel
from regard.nn.attention.hard import ChoiceModule
from regard.nn.attention.kernel import Kernel
from regard.nn.attention.layer import Attention, CrossAttention, SelfAttention
from regard.nn.attention.local import PredictiveWindow, WindowModule
from regard.nn.attention.scores import AdditiveKernel, ContentKernel, GeneralKernel, LocationKernel
from regard.nn.attention.source import SourceAttention
from regard.nn.backbones.base import CHANNELS
from regard.nn.backbones.patches import PatchLayer
from regard.nn.cost import Cost, Shape
from regard.nn.dropout import Dropout
from regard.nn.embeddings import TokenEmbeddingLayer
from regard.nn.feedforward import GatedLayer, MLPLayer, identity
from regard.nn.glances import GlimpsesGlance, Hop, StackedGlance, WordGuidedGlance
from regard.nn.heads import LinearOutput, TransformOutput
from regard.nn.mixers import ConvolutionLayer, RecurrenceLayer
from regard.nn.norms import LayerNormalisation, RMSNormalisation
from regard.nn.pooling import AttentionPool, FirstTokenPool, LastTokenPool, Pool
from regard.nn.positions.absolute import LearnedPosition
from regard.nn.positions.base import Position
from regard.nn.positions.distance import BucketPosition, RelativePosition
from regard.nn.positions.grid import LearnedGridPosition, SinusoidalGridPosition
from regard.nn.positions.number import OrderPosition
from regard.nn.positions.rotary import RotaryPosition
from regard.nn.positions.transformer_xl import TransformerXLPosition
from regard.nn.recurrent.intra import IntraLayer, IntraLayers
from regard.nn.recurrent.layers import GATES, RecurrentLayers
from regard.nn.recurrent.slots import MemoryHeads
from regard.nn.recurrent.temporal import DenseBlock, Round, TemporalStack
from regard.nn.residual import Wiring
from regard.nn.stacks import BlockLayer, StackLayers

Formula = Callable[[Any, Shape], Cost]

FORMULAS: dict[type[nn.Module], Formula] = {}
BUILDING = {"__init__", "reset_parameters", "extra_repr"}  # methods of a part that compute nothing
WORDS_OF_A_SENTENCE = 20  # where a cost is asked for without a text


class UnknownCostError(TypeError):
    """There is no formula for a part."""


def cost(part: nn.Module, shape: Shape) -> Cost:
    """Of a pass of this shape: as the part itself says, or by the formula of its class or of the nearest above it."""
    own: Callable[[Shape], Cost] | None = getattr(part, "cost", None)
    if own is not None:
        return own(shape)
    for kind in type(part).__mro__:
        if kind in FORMULAS:
            return FORMULAS[kind](part, shape)
        if outside(kind.__module__) and any(map(callable, (vars(kind)[name] for name in vars(kind).keys() - BUILDING))):
            break  # it computes in its own way: what stands above it costs something else
    raise UnknownCostError(f"{type(part).__name__} does not say what it costs")


def cost_of(model: Model, batch: int, length: int) -> Cost:
    """By the formulas of its parts; where one has none, by running the model without storage."""
    try:
        return cost(model, Shape(batch, length, length))
    except UnknownCostError:
        return counted(model, batch, length)


def reading(part: Model, shape: Shape) -> Cost:
    """Of the reader of another model, which may be counted by itself."""
    return cost_of(part, shape.batch, shape.length)


def of(*kinds: type[nn.Module]) -> Callable[[Formula], Formula]:
    def register(formula: Formula) -> Formula:
        FORMULAS.update(dict.fromkeys(kinds, formula))
        return formula

    return register


def total(costs: Iterable[Cost]) -> Cost:
    return sum(costs, Cost())


def rows(count: int) -> Shape:
    """So many vectors, whichever sequences they belong to."""
    return Shape(count, 1, 1)


def dropped(dropout: Dropout, values: int) -> int:
    """What dropout keeps of so many values: its mask."""
    return values if dropout.rate else 0


def kept_beside(activation: Callable[[Tensor], Tensor]) -> int:
    """For each value, how many others than its result an activation keeps."""
    return 0 if activation in (F.relu, torch.sigmoid, identity) else 1


@of(BagOfWordsModel, DecoderModel, LayeredWriter, RecurrentEncoderModel, LSTMNEncoderModel, TuringModel)
@of(IntraLayers, PredictiveWindow, Reader, RecurrenceLayer, SourceAttention, TemporalStack, nn.ModuleList)
def layers_inside(part: nn.Module, shape: Shape) -> Cost:
    """Of what passes every token through all of its layers and multiplies nothing itself."""
    return total(cost(layer, shape) for layer in part.children())


@of(ChoiceModule, Dropout, Pool, Position, WindowModule)
def nothing(part: nn.Module, shape: Shape) -> Cost:
    """Of what has no matrix; one of these families that has must say what it costs."""
    if any(isinstance(layer, nn.Linear) for layer in part.modules()):
        raise UnknownCostError(f"{type(part).__name__} does not say what it costs")
    return Cost()


# --- layers of each token by itself -----------------------------------------------------------------------------------


@of(nn.Linear)
def linear(part: nn.Linear, shape: Shape) -> Cost:
    return Cost(shape.tokens * part.in_features * part.out_features)


@of(LayerNormalisation, RMSNormalisation)
def norm(part: LayerNormalisation | RMSNormalisation, shape: Shape) -> Cost:
    """What is to be scaled, and each token's size, of a layer norm also its mean."""
    return Cost(kept=shape.tokens * (part.normalized_shape[0] + (2 if isinstance(part, LayerNormalisation) else 1)))


@of(Wiring)
def wiring(part: Wiring, shape: Shape) -> Cost:
    """The norm, the sublayer's input and the random mask; not the rest of the sublayer."""
    values = shape.tokens * part.width
    return cost(part.norm, shape) + Cost(kept=values + dropped(part.dropout, values))


@of(MLPLayer)
def mlp(part: MLPLayer, shape: Shape) -> Cost:
    hidden = shape.tokens * part.up.out_features
    # Dropout keeps its mask and its output, and the activation's output only where the activation itself needs it.
    needed = kept_beside(part.activation) * hidden
    masked = dropped(part.dropout, hidden) * (1 if needed else 2)
    kept = hidden + needed + masked
    return cost(part.up, shape) + cost(part.down, shape) + Cost(kept=kept)


@of(GatedLayer)
def gated(part: GatedLayer, shape: Shape) -> Cost:
    hidden = shape.tokens * part.down.in_features
    opened = 0 if part.activation is identity else hidden
    kept = 3 * hidden + opened + dropped(part.dropout, hidden)
    return cost(part.up, shape) + cost(part.down, shape) + Cost(kept=kept)


@of(TokenEmbeddingLayer)
def token_embedding(part: TokenEmbeddingLayer, shape: Shape) -> Cost:
    kept = 2 * shape.tokens + dropped(part.dropout, shape.tokens * part.width)  # the ids, 8 bytes each
    if part.segments is not None:
        kept += 2 * shape.tokens
    norm = Cost() if part.norm is None else cost(part.norm, shape)
    return norm + Cost(kept=kept + kept_of_places(part.position, shape))


def kept_of_places(position: Position, shape: Shape) -> int:
    """What a position scheme keeps once for all layers; numbers of 8 bytes count twice."""
    if isinstance(position, BucketPosition):
        return 2 * shape.length * shape.keys
    if isinstance(position, RotaryPosition):
        return shape.length * position.width  # cosines and sines
    if isinstance(position, TransformerXLPosition):
        return (shape.length + shape.keys) * position.dims.width  # the sinusoids
    if isinstance(position, LearnedGridPosition):
        return 2 * shape.length
    if isinstance(position, LearnedPosition | OrderPosition) and position.join != "qkv":
        return shape.length * (2 if isinstance(position, LearnedPosition) else 1)
    return 0


@of(LinearOutput)
def linear_output(part: LinearOutput, shape: Shape) -> Cost:
    """As `regard train` trains it, which never keeps all logits (`regard/fast/crossentropy.py`)."""
    vocabulary, width = part.weight.shape
    bias = 0 if part.bias is None else vocabulary
    # The gradients of hidden states, weight and bias, made in the forward pass; and the count of the mean, 8 bytes.
    return Cost(shape.tokens * vocabulary * width, kept=shape.tokens * width + vocabulary * width + bias + 2)


@of(TransformOutput)
def transform_output(part: TransformOutput, shape: Shape) -> Cost:
    kept = shape.tokens * part.dense.out_features * (1 + kept_beside(part.activation))  # of the dense layer: its input
    return linear_output(part, shape) + cost(part.dense, shape) + cost(part.norm, shape) + Cost(kept=kept)


# --- attention --------------------------------------------------------------------------------------------------------


@of(AdditiveKernel, LocationKernel)
def weighing(part: Kernel, shape: Shape) -> Cost:
    """Of scoring and mixing; what is kept beyond q, k and v themselves, the mix included."""
    dims = part.dims
    pairs = shape.tokens * dims.heads * shape.keys
    masked = 2 * dropped(part.dropout, pairs)  # the random mask, and the weights it leaves
    mixed = shape.tokens * dims.heads * dims.value_width
    shared = dims.heads - dims.groups  # keys and values that are spread over more heads
    spread_out = shape.batch * shape.keys * shared * (dims.key_width + dims.value_width)
    own = scoring(part, shape) + placing(part, shape)
    return own + Cost(pairs * dims.value_width, kept=pairs + masked + mixed + spread_out)


@of(DotKernel)
def dot_product(part: DotKernel, shape: Shape) -> Cost:
    """By fused attention, which keeps no weights, unless they are dropped or a position scheme learns from them."""
    dims, position = part.dims, part.position
    learns = position.values is not None or isinstance(position, BucketPosition | TransformerXLPosition)
    if part.dropout.rate or learns:
        return weighing(part, shape)
    pairs = shape.tokens * dims.heads
    mixed = pairs * dims.value_width
    turned = isinstance(position, RotaryPosition)  # new queries and keys
    moved = shape.tokens * (dims.heads + dims.groups) * dims.key_width if turned else 0
    own = scoring(part, shape) + placing(part, shape)
    return own + Cost(mixed * shape.keys, kept=mixed + pairs + moved)  # and the log-sum of each row


def scoring(part: Kernel, shape: Shape) -> Cost:
    """Of the scores alone."""
    heads, asked, width = part.dims.heads, part.dims.asked_width, part.dims.key_width
    queries, keys = shape.tokens * heads, shape.batch * shape.keys
    if isinstance(part, AdditiveKernel):
        hidden = part.v.shape[-2]
        values, pairs = queries * asked + keys * heads * width, queries * shape.keys
        return Cost((values + pairs) * hidden, kept=values + pairs * hidden)
    found = Cost(queries * shape.keys * width)
    if isinstance(part, GeneralKernel):
        found += Cost(queries * asked * width, kept=queries * (asked + width))
    if isinstance(part, ContentKernel):
        found += Cost(kept=3 * queries * width + 2 * keys * part.dims.groups * width)
    return found


def placing(part: Kernel, shape: Shape) -> Cost:
    """Of what a position scheme does in one layer."""
    position, queries = part.position, shape.tokens * part.dims.heads
    if isinstance(position, RelativePosition):
        steps, pairs, found = 2 * position.distance + 1, queries * shape.keys, Cost()
        if position.key_table is not None:
            width = position.key_table.shape[-1]
            found += Cost(queries * steps * width, kept=queries * (width + steps) + 2 * pairs)
        if position.value_table is not None:
            width = position.value_table.shape[-1]
            found += Cost(queries * steps * width, kept=queries * steps + 2 * pairs)
        return found
    if isinstance(position, TransformerXLPosition):  # without segments, whose two vectors cost next to nothing
        steps, width = shape.length + shape.keys, part.dims.heads * part.dims.key_width
        turned = steps * position.dims.width * width
        keys = shape.once(id(position), Cost(turned, kept=steps * width, constant=turned))
        return keys + Cost(shape.tokens * width * steps, kept=shape.tokens * width)
    return cost(position, shape)


def norming(part: Attention, queries: int, keys: int) -> Cost:
    """Of so many tokens that ask and are asked, head by head."""
    norms = ((part.query_norm, queries * part.dims.heads), (part.key_norm, keys * part.dims.groups))
    return total(cost(norm, rows(count)) for norm, count in norms if norm is not None)


@of(SelfAttention)
def self_attention(part: SelfAttention, shape: Shape) -> Cost:
    layers = cost(part.qkv, shape) + cost(part.kernel, shape) + cost(part.out, shape)
    own = Cost(kept=shape.tokens * part.qkv.out_features) + norming(part, shape.tokens, shape.tokens)
    return layers + own + placed_beside(part, shape)


def placed_beside(part: SelfAttention, shape: Shape) -> Cost:
    """Of places that queries and keys are made of, which are the same for all rows, and of the bias alone."""
    position = part.kernel.position
    if not isinstance(position, SinusoidalGridPosition) or position.config.join == "add":
        return Cost()
    places = (shape.length + 1) * part.qkv.in_features
    return Cost(places * part.qkv.out_features, kept=places, constant=places * part.qkv.out_features)


@of(BandedAttention)
def banded_attention(part: BandedAttention, shape: Shape) -> Cost:
    """Fused attention, which weights that are dropped do without, keeps the mask."""
    mask = Cost() if part.kernel.dropout.rate else Cost(kept=shape.length * shape.keys)
    return self_attention(part, shape) + shape.once(("band", part.reach), mask)


@of(CrossAttention)
def cross_attention(part: CrossAttention, shape: Shape) -> Cost:
    memory = rows(shape.batch * shape.keys)
    layers = cost(part.q, shape) + cost(part.kv, memory) + cost(part.kernel, shape) + cost(part.out, shape)
    kept = shape.tokens * part.q.out_features + memory.tokens * part.kv.out_features
    return layers + Cost(kept=kept) + norming(part, shape.tokens, memory.tokens)


@of(FirstTokenPool, LastTokenPool)
def one_token(part: FirstTokenPool | LastTokenPool, shape: Shape) -> Cost:
    if part.dense is None:
        return Cost()
    return cost(part.dense, rows(shape.batch)) + Cost(kept=shape.batch * part.dense.out_features)


@of(AttentionPool)
def attention_pool(part: AttentionPool, shape: Shape) -> Cost:
    mixed = Cost(shape.tokens * part.hidden.in_features, kept=shape.tokens * (1 + part.hidden.out_features))
    return cost(part.hidden, shape) + cost(part.score, shape) + mixed


@of(WeightedPlaces)
def weighted_places(part: WeightedPlaces, shape: Shape) -> Cost:
    return Cost(shape.tokens * part.bias.numel(), kept=shape.tokens * part.bias.numel())


# --- glances: `length` are the cells of a picture, `keys` the words of a question -------------------------------------


@of(StackedGlance)
def stacked_glance(part: StackedGlance, shape: Shape) -> Cost:
    seen = Cost(shape.tokens * part.width, kept=shape.tokens)
    return (
        cost(part.enter, shape) + Cost(kept=shape.tokens * part.width) + total(cost(h, shape) + seen for h in part.hops)
    )


@of(Hop)
def hop_of_a_glance(part: Hop, shape: Shape) -> Cost:
    hidden = shape.tokens * part.score.in_features
    layers = cost(part.cells, shape) + cost(part.question, rows(shape.batch)) + cost(part.score, shape)
    return layers + Cost(kept=hidden + dropped(part.dropout, hidden))


@of(GlimpsesGlance)
def glimpses_glance(part: GlimpsesGlance, shape: Shape) -> Cost:
    cells, hidden, maps = part.cells.in_features, part.cells.out_features, part.score.out_features
    once = rows(shape.batch)
    layers = cost(part.cells, shape) + cost(part.question, once) + cost(part.score, shape) + cost(part.join, once)
    kept = shape.tokens * (2 * cells + hidden + maps) + dropped(part.dropout, shape.tokens * (cells + hidden))
    return layers + Cost(shape.tokens * maps * cells, kept=kept + shape.batch * part.width)


@of(WordGuidedGlance)
def word_guided_glance(part: WordGuidedGlance, shape: Shape) -> Cost:
    layers = cost(part.matched, shape) + total(cost(evidence, shape) for evidence in part.evidence)
    fits = shape.tokens * shape.keys * part.width
    kept = shape.tokens * (3 * part.width + shape.keys + 2) + shape.batch * part.width
    return layers + Cost(fits + 3 * shape.tokens * part.width, kept=kept)


# --- what reads step by step ------------------------------------------------------------------------------------------


@of(ConvolutionLayer)
def convolution(part: ConvolutionLayer, shape: Shape) -> Cost:
    return cost(part.taps, shape) + Cost(kept=shape.batch * (shape.length + part.size - 1) * part.dims.width)


@of(RecurrentLayers)
def recurrent_layers(part: RecurrentLayers, shape: Shape) -> Cost:
    """Multiplications; what autograd keeps is PyTorch's affair, about the gates and the states."""
    found = Cost()
    for layer in range(part.layers):
        width = part.width if layer == 0 else part.hidden * part.directions
        gates = shape.tokens * part.directions * GATES[part.cell] * part.hidden
        states = shape.tokens * part.directions * part.hidden
        found += Cost(gates * (width + part.hidden), kept=gates + 2 * states)
    return found


@of(nn.LSTM)
def projected_lstm(part: nn.LSTM, shape: Shape) -> Cost:
    """As that of recurrent layers, of one whose states may be projected."""
    gates, projected = GATES["lstm"] * part.hidden_size, part.proj_size
    products = gates * (part.input_size + (projected or part.hidden_size)) + projected * part.hidden_size
    return Cost(shape.tokens * products, kept=shape.tokens * (gates + 2 * part.hidden_size + projected))


@of(IntraLayer)
def intra_attention(part: IntraLayer, shape: Shape) -> Cost:
    """A step's pairs are those with the steps before it; weights, gates and tape are kept for all of them."""
    later = shape.batch * (shape.length - 1)
    looks = Cost(later * part.hidden**2 + later * shape.length // 2 * 3 * part.hidden)
    kept = shape.tokens * (5 + 1 + 2 + 2 + 4) * part.hidden + shape.tokens * shape.length
    return total(cost(layer, shape) for layer in (part.enter, part.key, part.gates)) + looks + Cost(kept=kept)


@of(Round)
def temporal_round(part: Round, shape: Shape) -> Cost:
    taps = [dense.taps for dense in part.dense if isinstance(dense, DenseBlock)]
    kept = sum(layer.in_features + 2 * layer.out_features for layer in taps) + part.out_width
    attention = linear(part.attention.qkv, shape) + cost(part.attention.kernel, shape)
    return total(cost(layer, shape) for layer in taps) + attention + Cost(kept=shape.tokens * kept)


@of(MemoryHeads)
def memory_heads(part: MemoryHeads, shape: Shape) -> Cost:
    heads, values = part.readers + part.writers, part.slots * part.width
    products = heads * (values + part.slots * part.shifts) + heads * values
    kept = (3 + 2 * part.writers) * values + 7 * heads * part.slots + sum(part.sizes)
    return cost(part.ask, shape) + Cost(shape.tokens * products, kept=shape.tokens * kept)


# --- stacks and models ------------------------------------------------------------------------------------------------


@of(BlockLayer)
def block(part: BlockLayer, shape: Shape) -> Cost:
    across = replace(shape, keys=shape.memory)
    layers = [part.attention, part.attention_join, part.feedforward, part.feedforward_join, part.cross_join]
    found = total(cost(layer, shape) for layer in layers if layer is not None)
    return found if part.cross is None else found + cost(part.cross, across)


@of(StackLayers)
def stack(part: StackLayers, shape: Shape) -> Cost:
    found = Cost(kept=shape.batch * shape.memory * part.memory_width)  # the memory's states, once for all blocks
    for layer in part.layers:
        found += cost(layer, shape)
        shape = replace(layer.after(shape), memory=shape.memory)
    return found if part.norm is None else found + cost(part.norm, shape)


@of(EncoderModel)
def encoder(part: EncoderModel, shape: Shape) -> Cost:
    head = Cost() if part.head is None else cost(part.head, part.encoder.after(shape))
    return cost(part.embedding, shape) + cost(part.encoder, shape) + head


@of(EncoderDecoderModel)
def encoder_decoder(part: EncoderDecoderModel, shape: Shape) -> Cost:
    embeddings = cost(part.source_embedding, shape) + cost(part.embedding, shape)
    target = Shape(shape.batch, shape.length, shape.length, memory=part.encoder.after(shape).length)
    return embeddings + cost(part.encoder, shape) + cost(part.decoder, target) + cost(part.head, target)


@of(Ensemble)
def ensemble(part: Ensemble, shape: Shape) -> Cost:
    return total(cost(model, shape) for model in part.models)


@of(PatchLayer)
def patches(part: PatchLayer, shape: Shape) -> Cost:
    """Of pictures of `length` × `keys` pixels."""
    rows, columns = part.grid(shape.length, shape.keys)
    products = shape.batch * rows * columns * part.project.weight.numel()
    return Cost(products, kept=shape.batch * CHANNELS * shape.length * shape.keys)


@of(PictureEncoderModel)
def picture_encoder(part: PictureEncoderModel, shape: Shape) -> Cost:
    """Of pictures of the size that its config names, however long texts are."""
    side = part.config.side
    rows, columns = part.grid(side, side)
    read = part.after(shape)
    found = cost(part.backbone, Shape(shape.batch, side, side))
    if part.project is not None:
        found += cost(part.project, Shape(shape.batch, rows * columns, 1))
    if part.encoder is None:
        return found
    kept = kept_of_places(part.encoder.position, read) + dropped(part.dropout, read.tokens * part.states_width)
    return found + cost(part.encoder, read) + Cost(kept=kept)


@of(RecurrentModel)
def recurrent(part: RecurrentModel, shape: Shape) -> Cost:
    return cost(part.source_embedding, shape) + cost(part.encoder, shape) + recurrent_writing(part, shape)


def recurrent_writing(part: RecurrentWriter, shape: Shape) -> Cost:
    """Of the half that writes, from a memory of so many `keys`."""
    bridge = Cost() if part.bridge is None else cost(part.bridge, rows(shape.batch))
    opening = cost(part.decoder, rows(shape.batch)) if part.reader.opens else Cost()
    layers = (part.embedding, part.decoder, part.reader, part.head)
    return bridge + opening + total(cost(layer, shape) for layer in layers)


@of(VinyalsReader)
def vinyals_reader(part: VinyalsReader, shape: Shape) -> Cost:
    """What opens enters once a row."""
    entered = cost(part.enter, rows(shape.batch))
    return entered if part.out is None else entered + cost(part.out, shape)


@of(RecurrentCaptionerModel)
def recurrent_captioner(part: RecurrentCaptionerModel, shape: Shape) -> Cost:
    return reading(part.encoder, shape) + recurrent_writing(part, replace(shape, keys=part.encoder.states))


@of(TransformerCaptionerModel)
def transformer_captioner(part: TransformerCaptionerModel, shape: Shape) -> Cost:
    target = Shape(shape.batch, shape.length, shape.length, memory=part.encoder.states)
    layers = (part.embedding, part.decoder, part.head)
    return reading(part.encoder, shape) + total(cost(layer, target) for layer in layers)


@of(BiLMModel)
def bilm(part: BiLMModel, shape: Shape) -> Cost:
    found = cost(part.embedding, shape) + cost(part.ahead, shape) + cost(part.back, shape)
    return found if part.head is None else found + cost(part.head, rows(2 * shape.tokens))


@of(ClassifierModel)
def classifier(part: ClassifierModel, shape: Shape) -> Cost:
    pooled = cost(part.pool, part.reader.after(shape))
    return reading(part.reader, shape) + pooled + cost(part.output, rows(shape.batch))


@of(AskerModel)
def asker(part: AskerModel, shape: Shape) -> Cost:
    """Of a short question about each picture, however many cells that has."""
    words = Shape(shape.batch, QUESTION_TOKENS, QUESTION_TOKENS)
    read = reading(part.reader, shape) + reading(part.question, words)
    cells = replace(part.reader.after(shape), keys=QUESTION_TOKENS)
    return read + cost(part.glance, cells) + cost(part.output, rows(shape.batch))


@of(TaggerModel)
def tagger(part: TaggerModel, shape: Shape) -> Cost:
    return reading(part.reader, shape) + cost(part.out, shape)


@of(HierarchicalModel)
def hierarchical(part: HierarchicalModel, shape: Shape) -> Cost:
    words = min(shape.length, WORDS_OF_A_SENTENCE)
    count = -(-shape.length // words)
    below, above = Shape(shape.batch * count, words, words), Shape(shape.batch, count, count)
    read = reading(part.reader, below) + cost(part.sentences, above)
    pooling = cost(part.pool, part.reader.after(below)) + cost(part.sentence_pool, above)
    return read + pooling + cost(part.output, rows(shape.batch))


@of(FewShotModel)
def few_shot(part: FewShotModel, shape: Shape) -> Cost:
    """Of as many episodes of one example of each label and one query, in texts of such a length."""
    ways = part.config.ways
    texts = Shape(shape.batch * (ways + 1), shape.length, shape.length)
    return reading(part.reader, texts) + cost(part.learner, Shape(shape.batch, ways, ways))


@of(CentroidLearner)
def centroids(part: CentroidLearner, shape: Shape) -> Cost:
    return Cost(shape.tokens * part.ways * part.width)


@of(SnailLearnerLayers)
def snail_learner(part: SnailLearnerLayers, shape: Shape) -> Cost:
    read = Shape(shape.batch, shape.length + 1, shape.length + 1)  # the query behind the examples
    return cost(part.layers, read) + cost(part.out, rows(shape.batch))
