"""Small models and contexts for tests."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar, cast, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

import regard.zoo
from regard.config import Config, Part, change, fields_of, kinds
from regard.data.tokenizers import END
from regard.models import (
    Asker,
    BiLMModel,
    Decoder,
    Detector,
    Encoder,
    EncoderDecoder,
    EncoderModel,
    FewShot,
    LabellerConfig,
    Model,
    ModelConfig,
    PictureReaderConfig,
    PictureWriter,
    PictureWriterConfig,
    RecurrentEncoder,
    SourceWriter,
    TextLabeller,
    TokenLabeller,
    Turing,
    TwoStreamModel,
)
from regard.nn.attention import Banded, KernelConfig, MixerConfig, MultiHead
from regard.nn.backbones import ResidualNet
from regard.nn.call.context import Context
from regard.nn.call.gathering import gathering
from regard.nn.call.masks import Mask
from regard.nn.dropout import Dropout
from regard.nn.embeddings import EmbeddingConfig, TokenEmbedding
from regard.nn.feedforward import MLP, Activation, FeedForwardConfig, Gate, Gated
from regard.nn.heads import HeadConfig
from regard.nn.losses import words_loss
from regard.nn.matching import Things
from regard.nn.mixers import Convolution, Recurrence
from regard.nn.norms import LayerNorm, NormConfig
from regard.nn.pooling import FirstToken, LastToken, PoolConfig, SideBySide
from regard.nn.positions import HeadDims, Learned, Position, PositionConfig, Sinusoidal
from regard.nn.residual import PreNorm, ResidualConfig
from regard.nn.stacks import Block, BlockConfig, Stack, StackConfig

M = TypeVar("M", bound=nn.Module)

VOCABULARY = 40
WIDTH = 32
SMALL = {"vocabulary": VOCABULARY, "width": WIDTH, "layers": 2, "heads": 4, "hidden": 48}

POSITIONS: list[PositionConfig] = [
    *(kind() for kind in kinds(PositionConfig).values()),  # type: ignore[misc]
    Sinusoidal(layout="halves"),
    Sinusoidal(join="concat", width=8),
    Sinusoidal(join="qkv"),
    Learned(join="concat", width=8),
    Learned(join="qkv"),
    regard.nn.positions.Rotary(layout="interleaved"),
    regard.nn.positions.SinusoidalGrid(join="qk"),
    regard.nn.positions.Relative(distance=3, per_head=True, tied=True),
    regard.nn.positions.Relative(distance=3, values=False),
    regard.nn.positions.Relative(distance=3, keys=False),
    regard.nn.positions.Buckets(buckets=8, distance=20),
]
SMALL_OTHERS = {"vocabulary": VOCABULARY, "source_vocabulary": VOCABULARY, "width": WIDTH, "hidden": 40}
SMALL_PICTURES = {"inner": 8, "stem": 8, "end": 16, "width": 16}
TINY = {"layers": 3, "heads": 4, "hidden": 24, "joined": 24}
SMALL_OTHERS |= {"slots": 6, "slot_width": 5, "filters": 8}


def has_stacks(config: ModelConfig) -> bool:
    """Whether it is made of blocks, as opposed to recurrent layers."""
    return any(isinstance(getattr(config, field), StackConfig) for field in fields_of(type(config)))


def reads_pictures(config: ModelConfig) -> bool:
    return any(isinstance(part, PictureReaderConfig) for part in (config, getattr(config, "reader", None)))


def sizes_in(config: Config) -> set[str]:
    """The names of the numbers in a config, at any depth."""
    inside = {name: getattr(config, name) for name in fields_of(type(config))}
    own = {name for name, value in inside.items() if isinstance(value, int)}
    listed = [one for value in inside.values() for one in (value if isinstance(value, tuple) else (value,))]
    return own.union(*(sizes_in(value) for value in listed if isinstance(value, Config)))


def tiny(part: Part) -> Any:
    """The same part with small sizes, those of them that it has."""
    given = sizes_in(part)
    return change(part, {name: size for name, size in TINY.items() if name in given})


def registered(family: type[Part], *variants: Part) -> list[Any]:
    """One of every kind of a family, whoever registered it, and variants of them."""
    return list(dict.fromkeys([*(tiny(kind()) for kind in kinds(family).values()), *variants]))


def can_be_causal(kernel: KernelConfig) -> bool:
    return kernel.build(HeadDims(WIDTH, 4, 4, 8, 8), Position(), 0.0).causal


KERNELS: list[KernelConfig] = registered(KernelConfig)
CAUSAL_KERNELS = [kernel for kernel in KERNELS if can_be_causal(kernel)]
FEEDFORWARDS: list[FeedForwardConfig] = registered(
    FeedForwardConfig,
    *(MLP(hidden=24, activation=name) for name in get_args(Activation)),
    *(Gated(hidden=24, gate=name) for name in get_args(Gate)),
)
NORMS: list[NormConfig] = registered(NormConfig, LayerNorm(bias=False))
WIRINGS: list[ResidualConfig] = registered(ResidualConfig)
MIXERS: list[MixerConfig] = registered(
    MixerConfig,
    *(MultiHead(heads=4, kv_heads=2, key_norm=norm) for norm in NORMS),
    Banded(heads=4, reach=2),
    Convolution(taps=5),
    Recurrence(cell="lstm"),
)
HEADS: list[HeadConfig] = registered(HeadConfig)
HEADS += [replace(head, tied=not head.tied) for head in HEADS if hasattr(head, "tied")]  # type: ignore[call-arg]
EMBEDDINGS: list[EmbeddingConfig] = registered(
    EmbeddingConfig, TokenEmbedding(scaled=True), TokenEmbedding(segments=2, norm=LayerNorm())
)
BLOCKS: list[BlockConfig] = registered(BlockConfig)
POOLS: list[PoolConfig] = registered(PoolConfig, LastToken(dense=True), FirstToken(dense=False), SideBySide(count=2))


def small(config: ModelConfig) -> ModelConfig:
    if isinstance(config, Asker):
        reader = change(
            small(config.reader), {"blocks": (1, 1)} if isinstance(config.reader.backbone, ResidualNet) else {}
        )
        glance = tiny(config.glance)
        return replace(config, reader=reader, question=small(config.question), glance=glance, labels=5)
    sizes = SMALL if has_stacks(config) else SMALL_OTHERS
    given = sizes_in(config)
    own = {"source_vocabulary": VOCABULARY} if "source_vocabulary" in given else {}
    own |= {"hidden": 48} if isinstance(config, Turing) else {}
    if isinstance(config, Detector):
        sizes, own = {**SMALL, **SMALL_PICTURES, "width": WIDTH, "side": 64, "count": 5}, {"labels": 3}
    if isinstance(config, PictureReaderConfig):
        patch = getattr(config.backbone, "size", 16) if config.encoder is not None else 32
        sizes, own = SMALL_PICTURES | (SMALL if config.encoder is not None else {}) | {"side": 2 * max(patch, 8)}, {}
    if isinstance(config, PictureWriterConfig):
        own = {"inner": 8, "side": 96}  # of about as many cells as there are words
    return change(config, {name: size for name, size in (sizes | own).items() if name in given})


NEEDED: dict[str, dict[str, Any]] = {
    "few-shot": {"reader": RecurrentEncoder(vocabulary=VOCABULARY)},
    "tagger": {"reader": RecurrentEncoder(vocabulary=VOCABULARY)},
}


def default(kind: type[ModelConfig]) -> ModelConfig:
    """A small model of a kind, with what must be given."""
    known = {"vocabulary": VOCABULARY} if "vocabulary" in fields_of(kind) else {}
    return small(kind(**known, **NEEDED.get(kind.kind, {})))


MODELS: dict[str, ModelConfig] = {
    name: default(cast("type[ModelConfig]", kind)) for name, kind in kinds(ModelConfig).items()
}
ALL_PRESETS = {name: small(preset.config) for name, preset in regard.zoo.presets().items()}
PICTURES = {name: config for name, config in ALL_PRESETS.items() if isinstance(config, PictureReaderConfig)}
DETECTORS = {name: config for name, config in ALL_PRESETS.items() if isinstance(config, Detector)}
CAPTIONERS = {name: config for name, config in ALL_PRESETS.items() if isinstance(config, PictureWriterConfig)}
PRESETS = {
    name: config for name, config in ALL_PRESETS.items() if not reads_pictures(config) and name not in CAPTIONERS
}


def label(config: Part) -> str:
    """A readable test id: the kind and what differs from its defaults."""
    return repr(config).replace(" ", "")


def decoder(**block: Any) -> Decoder:
    """A small pre-norm decoder config; `position` and everything of a block can be given."""
    stack = Stack(layers=2, position=block.pop("position", Learned(length=64)), block=small_block(**block))
    untied = stack.position.join == "concat" if hasattr(stack.position, "join") else False
    return Decoder(vocabulary=VOCABULARY, width=WIDTH, decoder=stack, head=regard.nn.heads.LinearHead(tied=not untied))


def encoder(**block: Any) -> Encoder:
    stack = Stack(layers=2, position=block.pop("position", Learned(length=64)), block=small_block(**block))
    return Encoder(vocabulary=VOCABULARY, width=WIDTH, encoder=stack, head=None)


def encoder_decoder(**block: Any) -> EncoderDecoder:
    position = block.pop("position", Sinusoidal())
    small = small_block(**block)
    return EncoderDecoder(
        vocabulary=VOCABULARY,
        width=WIDTH,
        encoder=Stack(layers=2, position=position, block=small),
        decoder=Stack(layers=2, position=position, block=replace(small, cross=small.attention)),
    )


def placed(part: Part, causal: bool = True) -> Decoder | Encoder:
    """A small model with a part of a block, a stack, an embedding or a head in its place: one that writes, or one that
    reads a text whole."""
    make = decoder if causal else encoder
    if part.family in ("head", "embedding"):
        return replace(make(), **{part.family: part})  # type: ignore[arg-type]
    if part.family in ("block", "stack"):
        stack = part if isinstance(part, StackConfig) else Stack(2, cast(BlockConfig, part), Learned(length=64))
        return replace(make(), **{"decoder" if causal else "encoder": stack})  # type: ignore[arg-type]
    return make(**{"attention" if part.family == "mixer" else part.family: part})


def small_block(**block: Any) -> Block:
    heads = MultiHead(heads=4, kv_heads=block.pop("kv_heads", None), kernel=block.pop("kernel", MultiHead().kernel))
    block.setdefault("residual", PreNorm())
    block.setdefault("feedforward", Gated(hidden=24))
    return Block(attention=block.pop("attention", heads), **block)


def tokens(batch: int = 2, length: int = 9) -> Tensor:
    return torch.randint(0, VOCABULARY, (batch, length))


def whole(batch: int, length: int, mask: Mask | None = None) -> Context:
    return Context.whole(torch.empty(batch, length), mask or Mask())


def randomise(model: nn.Module) -> None:
    """Give every parameter some size, zero-initialised biases too, so that no error hides behind a zero."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter) * 0.1)


def unsettle(model: nn.Module) -> None:
    """Give batch norms some statistics."""
    for name, buffer in model.named_buffers():
        if name.endswith("running_mean"):
            buffer.normal_()
        elif name.endswith("running_var"):
            buffer.uniform_(0.5, 2)


def built(config: ModelConfig) -> Model:
    model = config.build()
    randomise(model)
    return model.eval()


def still(model: M) -> M:
    """Without dropout, for a comparison of two passes in training; batch norms, by which rows of a batch meet, stay in
    use."""
    for layer in model.modules():
        if isinstance(layer, Dropout):
            layer.rate = 0.0
        elif isinstance(layer, nn.BatchNorm2d):
            layer.eval().train = lambda mode=True, layer=layer: layer  # type: ignore[method-assign]
        elif isinstance(layer, nn.RNNBase):
            layer.dropout = 0.0
    return model


def feature_inputs(model: Model, batch: int = 2, length: int = 9) -> tuple[Tensor, ...]:
    """What the model's `forward` takes: token tensors, vectors of bits, or episodes of texts and labels."""
    if isinstance(model.config, FewShot):
        labels = torch.stack([torch.randperm(model.config.ways) for _ in range(batch)])
        if reads_pictures(model.config):
            examples = pictures(model.reader, batch * (model.config.ways + 1))
            return examples.unflatten(0, (batch, -1)), None, labels
        texts = torch.randint(0, VOCABULARY, (batch, model.config.ways + 1, length))
        return texts, torch.ones_like(texts, dtype=torch.bool), labels
    if isinstance(model.config, Turing):
        bits = torch.randint(0, 2, (batch, length, model.config.inputs))
        return (bits.to(next(model.parameters()).dtype),)
    if isinstance(model.config, PictureReaderConfig):
        return (pictures(model, batch),)
    if isinstance(model.config, Detector):
        return (pictures(model.reader, batch),)
    if isinstance(model, PictureWriter):
        return pictures(model.encoder, batch), tokens(batch, length)
    if isinstance(model.config, Asker):
        return pictures(model.reader, batch), tokens(batch, length)
    if isinstance(model, TextLabeller) and reads_pictures(model.config):
        light = torch.linspace(-1, 1, batch).view(-1, 1, 1, 1)  # by which they are told apart
        return ((pictures(model.reader, batch) + light).to(next(model.parameters()).dtype),)
    if isinstance(model, TextLabeller):
        text = tokens(batch, length)
        text[:, length // 2] = END  # of a sentence
        return (text,)
    return tuple(tokens(batch, length) for _ in range(2 if isinstance(model, SourceWriter) else 1))


def pictures(model: Model, batch: int = 2) -> Tensor:
    side = model.config.side
    return torch.rand(batch, 3, side, side).to(next(model.parameters()).dtype)


def training_loss(model: Model, inputs: tuple[Tensor, ...]) -> Tensor:
    """The mean loss of a model that is to give back what it is given, with all that its layers add to it."""
    if isinstance(model.config, Turing):
        return F.binary_cross_entropy_with_logits(model(*inputs), inputs[0][..., : model.config.outputs])
    if isinstance(model.config, FewShot):
        return F.cross_entropy(model(*inputs).flatten(0, 1), inputs[-1][:, 0])
    if isinstance(model.config, PictureReaderConfig):  # how light each colour is
        return (model(*inputs).mean(1)[:, :3] - inputs[0].mean((2, 3))).square().mean()
    if isinstance(model.config, Detector):
        found: Tensor = model(*inputs, things=Things.of([([1], [[0.3, 0.4, 0.2, 0.3]])] * len(inputs[0])))
        return found
    if isinstance(model.config, Asker):
        return F.cross_entropy(model(*inputs), inputs[1][:, 0] % model.config.labels)
    if isinstance(model, TextLabeller) and reads_pictures(model.config):
        assert isinstance(model.config, LabellerConfig)
        return F.cross_entropy(model(*inputs), torch.arange(len(inputs[0])) % model.config.labels)
    if isinstance(model, TextLabeller):
        assert isinstance(model.config, LabellerConfig)
        return F.cross_entropy(model(*inputs), inputs[0][:, 0] % model.config.labels)
    if isinstance(model, TokenLabeller):
        logits: Tensor = model(*inputs)
        return F.cross_entropy(logits.flatten(0, -2), (inputs[0] % logits.shape[-1]).flatten())
    if isinstance(model, BiLMModel):  # in both directions
        return model.head.loss(model.features(*inputs), torch.stack([inputs[0]] * 2, -1))
    if isinstance(model, TwoStreamModel):  # some tokens from those before them, in two segments
        assert model.head is not None
        text, places = inputs[0], torch.arange(2, inputs[0].shape[1], 2).expand(len(inputs[0]), -1)
        visible = torch.ones(text.shape[1], text.shape[1], dtype=torch.bool).tril(-1).expand(len(text), -1, -1)
        states = model.predict(text, visible, places, None, (torch.arange(text.shape[1]) > 4).long().expand_as(text))
        return model.head.loss(states, text.gather(1, places))
    with gathering(model) as extra:
        loss = words_loss(model.head, model.features(*inputs), inputs[-1]) / inputs[-1].numel() + extra.total()
    if isinstance(model, EncoderModel) and model.pool is not None:
        loss = loss + model.pooled(model.encode(*inputs)).square().mean()
    return loss


def newest_samples(run: Path) -> list[dict[str, str]]:
    """Of the last validation of a run."""
    lines = [json.loads(line) for line in (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    samples: list[dict[str, str]] = [line for line in lines if line["event"] == "validation"][-1]["samples"]
    return samples
