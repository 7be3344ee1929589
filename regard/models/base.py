"""What every model has in common, and the state that a decoder carries from step to step."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import torch
from torch import Tensor, nn

from regard.config import ConfigError, Part, Size
from regard.nn.call.cache import Cache
from regard.nn.call.context import Context
from regard.nn.call.gathering import losses_of
from regard.nn.call.geometry import Geometry
from regard.nn.call.masks import Mask, positions_of
from regard.nn.call.memory import Memory
from regard.nn.call.past import Past
from regard.nn.call.watch import attach
from regard.nn.cost import Shape
from regard.nn.embeddings import Embedding
from regard.nn.heads import Head
from regard.nn.init import InitConfig, Xavier
from regard.nn.initialised import left_to_the_model
from regard.nn.pooling import last_real
from regard.nn.stacks import StackLayers
from regard.nn.stacks.stack import SOME_TOKENS

Scaling = Literal["half", "imagenet"]


@dataclass(frozen=True, kw_only=True)
class ModelConfig(Part, family="model"):
    """A whole network; `build` makes it with fresh weights."""

    init: InitConfig = Xavier()

    def build(self) -> Model:
        with left_to_the_model():
            model = self.assemble()
        self.init.apply(model)
        return model

    def assemble(self) -> Model:
        """The modules; in `build` their matrices and tables are not yet initialised."""
        raise TypeError(f"{type(self).__name__} is a family, not a model")

    def text(self) -> TextModelConfig | None:
        """Of itself or of the model inside it, whichever reads tokens; None where none does."""
        return None


@dataclass(frozen=True, kw_only=True)
class TextModelConfig(ModelConfig):
    """Of a model that reads tokens."""

    vocabulary: Size
    width: Size = 512

    def text(self) -> TextModelConfig:
        return self


@dataclass(frozen=True, kw_only=True)
class InputReaderConfig(ModelConfig):
    """Of a model that reads a text or a picture whole."""

    def inside(self) -> InputReaderConfig:
        """The same as the reader of another model, which has no use for what it predicts itself."""
        return self

    def assemble(self) -> InputReader:
        raise TypeError(f"{type(self).__name__} is a family, not a model")


@dataclass(frozen=True, kw_only=True)
class TextReaderConfig(TextModelConfig, InputReaderConfig):
    """Of a model that reads a text whole."""

    def inside(self) -> TextReaderConfig:
        return self

    def assemble(self) -> TextReader:
        raise TypeError(f"{type(self).__name__} is a family, not a model")


@dataclass(frozen=True, kw_only=True)
class PictureReaderConfig(InputReaderConfig):
    """Of a model that reads pictures, of `side` pixels a side unless told. Values from 0 to 255 reach it from -1 to 1,
    with `pixels` of "imagenet" by mean and deviation of the colours there."""

    side: Size = 224
    width: Size = 768
    pixels: Scaling = "half"

    def assemble(self) -> PictureReader:
        raise TypeError(f"{type(self).__name__} is a family, not a model")


@dataclass(frozen=True, kw_only=True)
class WriterConfig(TextModelConfig):
    """Of a model that writes token by token."""


@dataclass(frozen=True, kw_only=True)
class TextWriterConfig(WriterConfig):
    """Of a model that writes on from a text, with no source beside it: a language model."""


@dataclass(frozen=True, kw_only=True)
class LabellerConfig(ModelConfig):
    """Of a model that gives one of so many `labels` to a text, or to each of its tokens."""

    labels: Size = 2


@dataclass(frozen=True, kw_only=True)
class SourceWriterConfig(WriterConfig):
    """Of a model that reads a source and writes a target. They share one token table unless `source_vocabulary` gives
    the source its own."""

    source_vocabulary: Size | None = None


class Model(nn.Module):
    """A network that knows its config and can be watched.

    One that is a part of another, beside a part whose layers may have the same names, has its own `shown_below` a name.
    """

    shown_below = ""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config

    def attention_heads(self) -> dict[str, int]:
        """How many heads each attention layer has, by the names under which `regard.watch` shows them, from first to
        last: of the layers and readers inside, unless a model says otherwise."""
        found: dict[str, int] = {}
        for name, part in self.named_children():
            if isinstance(part, Model):
                below = f"{part.shown_below}." if part.shown_below else ""
                found |= {below + layer: heads for layer, heads in part.attention_heads().items()}
            elif (heads := getattr(part, "attention_heads", None)) is not None:
                found |= heads(name)
        return found

    def attention_names(self) -> list[str]:
        return list(self.attention_heads())

    @property
    def longest(self) -> int | None:
        """The most tokens a row may have: the shortest table of learned positions; None for any number."""
        parts = (module for module in self.modules() if module is not self)
        limits = (getattr(part, "longest", None) for part in parts)
        return min((limit for limit in limits if isinstance(limit, int)), default=None)

    def heads(self, name: str) -> int:
        """The number of heads of an attention layer by its name."""
        found = self.attention_heads()
        if name not in found:
            raise ValueError(f"{type(self).__name__} has no attention layer {name!r}")
        return found[name]

    def reach(self, name: str) -> int | None:
        """How far an attention layer looks from the centre of its window; None of one that has no window."""
        return None

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        """Inputs of a pass of this size, for whoever counts what it costs by running it."""
        return (torch.zeros(batch, length, dtype=torch.long),)

    def cache_values(self) -> tuple[int, int]:
        """Values that decoding holds for each token, and for each source token."""
        return 0, 0

    def check_tokens(self, tokens: Tensor, keep: Tensor | None) -> None:
        if tokens.dim() != 2 or tokens.is_floating_point():
            raise ValueError(
                f"tokens have shape {tuple(tokens.shape)} and {tokens.dtype}; they take (B, T) whole numbers"
            )
        if keep is not None and keep.shape != tokens.shape:
            raise ValueError(f"the mask has shape {tuple(keep.shape)}, the tokens {tuple(tokens.shape)}")

    def whole(self, tokens: Tensor, mask: Mask, memory: Memory | None = None, past: Past | None = None) -> Context:
        """The context of a pass over a whole batch, behind what is remembered of the text before it."""
        geometry = Geometry.whole(tokens, mask) if past is None else past.geometry(tokens, mask)
        return self.called(Context(geometry, memory, past))

    def called(self, context: Context) -> Context:
        """With whoever watches this model, silences a part of it or gathers its extra losses."""
        context.losses = losses_of(self)
        context = attach(context, self)
        return context.enter(self.shown_below) if self.shown_below else context


class InputReader(Model):
    """A model that reads a text or a picture whole, → states (B, N, `states_width`)."""

    states_width: int

    def encode(self, given: Tensor, keep: Tensor | None = None) -> Memory:
        raise TypeError(f"{type(self).__name__} does not say how it reads")

    def after(self, shape: Shape) -> Shape:
        """The shape of the states: a reader may make a text shorter, and makes cells of a picture."""
        return shape


class TextReader(InputReader):
    """A model that reads a text whole: tokens (B, T), of which `keep` are real, → states (B, T, `states_width`)."""

    @property
    def shortens(self) -> bool:
        """Whether it has no state for each token."""
        return self.after(Shape(1, SOME_TOKENS, SOME_TOKENS)).length != SOME_TOKENS

    def features(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        """Its states (B, T, D) as a head takes them; (B, T, 2, D) where it has a head that tells the token after each
        place from the one, and the token before it from the other."""
        return self.encode(tokens, keep).states


class PictureReader(InputReader):
    """A model that reads pictures (B, 3, H, W), → states (B, N, `states_width`) of the cells of a grid."""

    config: PictureReaderConfig

    def after(self, shape: Shape) -> Shape:
        return Shape(shape.batch, self.states, self.states)

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Rows and columns of the cells that pictures of this size become."""
        raise TypeError(f"{type(self).__name__} does not say how large its grid is")

    @property
    def states(self) -> int:
        """How many states a picture of the size that its config names becomes."""
        rows, columns = self.grid(self.config.side, self.config.side)
        return rows * columns


def check_each_token(reader: TextReader) -> None:
    """Raise `ConfigError` where a reader makes its text shorter: what is said of single tokens needs all of them."""
    if reader.shortens:
        raise ConfigError(
            "the reader makes its text shorter, so it has no state for each token: leave out the blocks that do so"
        )


def picture_reader_in(model: Model) -> PictureReader | None:
    """The model itself, or what it reads pictures with."""
    return next((part for part in (model, *model.children()) if isinstance(part, PictureReader)), None)


def reader_in(model: Model) -> TextReader | None:
    """The model itself, or what it reads texts with."""
    return next((part for part in (model, *model.children()) if isinstance(part, TextReader)), None)


class TextLabeller(Model):
    """A model that judges a text: tokens (B, T), of which `keep` are real, → logits (B, labels)."""

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not say how it judges")


class TokenLabeller(Model):
    """A model that judges every token: tokens (B, T), of which `keep` are real, → logits (B, T, labels)."""

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not say how it judges")


@dataclass
class Branches:
    """The K hypotheses of each of R sentences, in one row of the cache: a step adds a column for each of them.

    `came` (R, K, columns) tells by which columns a hypothesis came; it is all that changes when hypotheses branch or
    die, where rows of their own would have to be copied. `places` (columns,) or (R, columns) are the positions.
    """

    size: int
    came: Tensor
    places: Tensor

    def select(self, rows: Tensor, sources: Tensor | None) -> Branches:
        came = self.came.flatten(0, 1).index_select(0, rows).view(-1, self.size, self.came.shape[-1])
        if sources is None or self.places.dim() == 1:
            return Branches(self.size, came, self.places)
        return Branches(self.size, came, self.places.index_select(0, sources))

    def grow(self) -> tuple[Branches, Tensor]:
        """With a column for each hypothesis; and their places (K,) or (R, K)."""
        new = (self.places[..., -1:] + 1).expand(*self.places.shape[:-1], self.size)
        own = torch.eye(self.size, dtype=torch.bool, device=new.device).expand(len(self.came), -1, -1)
        return Branches(self.size, torch.cat([self.came, own], -1), torch.cat([self.places, new], -1)), new


MOST_ROOM = 1024  # columns of a cache that are made at once


@dataclass
class State:
    """All that a decoder carries from one step to the next. Beam search touches it only through `branch` and `select`.

    A state changes in place: its methods return nothing, and `step` and `read` of a model, which move it on, return
    what they computed alone. `copy` makes another one. `keep` (B, columns so far) tells real tokens from padding, None
    while nothing was padded.
    """

    cache: Cache = field(default_factory=Cache)
    memory: Memory | None = None
    mask: Mask = Mask(causal=True)
    keep: Tensor | None = None
    length: int = 0
    batch: int | None = None
    branches: Branches | None = None

    def reserve(self, columns: int) -> None:
        """Make room for so many columns at once, where none is made yet: growing copies what is there."""
        self.cache.room = min(columns, MOST_ROOM)

    def branch(self, size: int) -> None:
        """From now on `size` hypotheses follow each row, which share its cache; tokens come as (R · size, 1)."""
        assert self.batch is not None
        came = torch.ones(self.batch, size, self.length, dtype=torch.bool, device=self.device)
        places = torch.arange(self.length, device=self.device) if self.keep is None else positions_of(self.keep)
        self.branches, self.batch = Branches(size, came, places), self.batch * size

    def select(self, rows: Tensor, sources: Tensor | None = None) -> None:
        """Keep these rows of the batch, in this order; a row may be named twice or not at all.

        `sources` says the same of the memory, whose rows each serve as many consecutive rows of the batch. Where it is
        not given, a memory goes with its row; one that serves several stays as it is.
        """
        if self.branches is not None:
            self._select_branches(self.branches, rows, sources)
            return
        if sources is None and not self.shared:
            sources = rows
        self.cache.select(rows, sources)
        self.memory = self.memory if self.memory is None or sources is None else self.memory.select(sources)
        self.keep = None if self.keep is None else self.keep.index_select(0, rows)
        self.batch = None if self.batch is None else len(rows)

    def _select_branches(self, branches: Branches, rows: Tensor, sources: Tensor | None) -> None:
        """Hypotheses are chosen by what they came by; only sentences that leave take their rows of the cache along."""
        self.branches, self.batch = branches.select(rows, sources), len(rows)
        if sources is not None:
            self.cache.select(sources, sources)
            self.memory = None if self.memory is None else self.memory.select(sources)
            self.keep = None if self.keep is None else self.keep.index_select(0, sources)

    def cut(self, length: int) -> None:
        """Go back to when it had read so many tokens; where a layer is recurrent there is no way back."""
        if not 0 <= length <= self.length or self.branches is not None:
            raise ValueError(f"a state of {self.length} tokens cannot be cut to {length}")
        if length < self.length:
            self.cache.cut(length)
            self.length, self.keep = length, None if self.keep is None else self.keep[:, :length]

    def copy(self) -> State:
        """Another state, to go on from here twice; the memory is shared."""
        assert self.branches is None
        return replace(self, cache=self.cache.duplicate())

    @property
    def device(self) -> torch.device | None:
        return next((cache.device for cache in self.cache.values()), None)

    @property
    def shared(self) -> bool:
        """Whether several rows of the batch attend to one row of the memory."""
        return self.memory is not None and self.batch is not None and len(self.memory.states) < self.batch

    def advance(self, tokens: Tensor, keep: Tensor | None) -> Context:
        """Move on by new tokens (B, T), of which `keep` (B, T) are real; returns the context of the step over them."""
        batch, new = tokens.shape
        if self.batch not in (None, batch):
            raise ValueError(f"the state holds a batch of {self.batch}, the new tokens are a batch of {batch}")
        if self.memory is not None and batch % len(self.memory.states):
            raise ValueError(
                f"the memory holds a batch of {len(self.memory.states)}, the tokens are a batch of {batch}"
            )
        past, self.length, self.batch = self.length, self.length + new, batch
        if self.branches is not None:
            return self._advance_branches(self.branches, new, keep)
        if self.keep is None and keep is None:
            places = torch.arange(self.length, device=tokens.device)
            queries = places if past == 0 else places[past:]
            return Context(Geometry(self.mask, queries, places, self.length), self.memory, self.cache)
        real = tokens.new_ones(batch, past, dtype=torch.bool) if self.keep is None else self.keep
        self.keep = torch.cat([real, torch.ones_like(tokens, dtype=torch.bool) if keep is None else keep], dim=1)
        places = positions_of(self.keep)
        mask = replace(self.mask, keys=self.keep)
        return Context(Geometry(mask, places[:, past:], places, self.length), self.memory, self.cache)

    def _advance_branches(self, branches: Branches, new: int, keep: Tensor | None) -> Context:
        """A column for each hypothesis, which sees those that it came by."""
        if new != 1 or keep is not None:
            raise ValueError(f"{new} tokens for each hypothesis: beams go on by one real token at a time")
        self.branches, places = branches.grow()
        if self.keep is not None:
            self.keep = torch.cat([self.keep, self.keep.new_ones(len(self.keep), branches.size)], dim=1)
        mask = replace(self.mask, keys=self.keep, pairs=self.branches.came.unsqueeze(1))
        seen = self.branches.places
        geometry = Geometry(mask, places, seen, self.length, hypotheses=branches.size)
        return Context(geometry, self.memory, self.cache)


class Writer(Model):
    """A model that writes token by token."""

    config: WriterConfig
    head: Head

    @property
    def branches(self) -> bool:
        """Whether hypotheses of a sentence may share a row of its state."""
        return False

    @property
    def rewinds(self) -> bool:
        """Whether its state can be cut back to an earlier token: where it is made of keys and values alone."""
        return self.branches

    def step(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        """Read new tokens (B, T), a prompt or one each, which moves the state on; returns the logits (B, V) of what
        follows."""
        hidden = self.read(tokens, state, keep)
        with torch.no_grad():
            logits: Tensor = self.head(hidden)
            return logits

    def answer(self, hidden: Tensor, labels: Tensor | None, smoothing: float) -> Tensor:
        """What `forward` gives of hidden states. A loss within it is within what wraps a model (DDP, FSDP)."""
        found: Tensor = self.head(hidden) if labels is None else self.head.loss(hidden, labels, smoothing)
        return found

    def read(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        """As `step`, but up to the head: the hidden states (B, D) of which it makes logits."""
        raise TypeError(f"{type(self).__name__} does not say how it reads")

    def read_all(self, tokens: Tensor, state: State) -> Tensor:
        """As `read`, with the hidden states (B, T, D) of all new tokens."""
        raise ValueError(f"a model of kind {self.config.kind} reads on to one state, not to one of each token")


class TextWriter(Writer):
    """A model that writes on from a text: at once with `features`, or step by step from `begin`."""

    def features(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        """Hidden states (B, T, D) of tokens (B, T), of which `keep` are real, as the head takes them."""
        raise TypeError(f"{type(self).__name__} does not say how it reads")

    def forward(
        self, tokens: Tensor, keep: Tensor | None = None, *, labels: Tensor | None = None, smoothing: float = 0.0
    ) -> Tensor:
        """The logits of what follows each token, or with `labels` (B, T) their mean cross-entropy."""
        return self.answer(self.features(tokens, keep), labels, smoothing)

    def begin(self) -> State:
        """The state before the first token."""
        return State()


class MemoryWriter(Writer):
    """A model that writes of what a memory holds: at once with `decode`, or step by step from `begin`."""

    def decode(self, memory: Memory, target: Tensor, keep: Tensor | None = None) -> Tensor:
        """Hidden states (B, T, D) of target tokens (B, T), shifted right behind the start token."""
        raise TypeError(f"{type(self).__name__} does not say how it writes")

    def begin(self, memory: Memory) -> State:
        """The state before the first target token."""
        return State(memory=memory)


class SourceWriter(MemoryWriter):
    """A model that reads a source whole, then writes a target."""

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        return super().example(batch, length) * 2

    def encode(self, source: Tensor, keep: Tensor | None = None) -> Memory:
        """Source tokens (B, S), of which `keep` are real, → the memory that the decoder reads from."""
        raise TypeError(f"{type(self).__name__} does not say how it reads a source")

    def features(
        self, source: Tensor, target: Tensor, source_keep: Tensor | None = None, target_keep: Tensor | None = None
    ) -> Tensor:
        """Hidden states (B, T, D), as the head takes them."""
        return self.decode(self.encode(source, source_keep), target, target_keep)

    def forward(
        self,
        source: Tensor,
        target: Tensor,
        source_keep: Tensor | None = None,
        target_keep: Tensor | None = None,
        *,
        labels: Tensor | None = None,
        smoothing: float = 0.0,
    ) -> Tensor:
        """The logits of what follows each target token, or with `labels` (B, T) their mean cross-entropy."""
        return self.answer(self.features(source, target, source_keep, target_keep), labels, smoothing)


class StackWriter(Writer):
    """A writer whose decoder is a causal stack of blocks, with a memory or without one."""

    embedding: Embedding
    decoder: StackLayers

    @property
    def branches(self) -> bool:
        return self.decoder.branches

    @torch.no_grad()
    def read(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        context = self.called(state.advance(tokens, keep))
        if state.branches is not None:
            tokens = tokens.view(-1, state.branches.size)  # the hypotheses of a sentence side by side
        x = self.embedding(tokens, context)
        hidden, _ = self.decoder(x, context.enter("decoder"))
        return last_real(hidden, keep) if state.branches is None else hidden.flatten(0, 1)

    @torch.no_grad()
    def read_all(self, tokens: Tensor, state: State) -> Tensor:
        self.check_tokens(tokens, None)
        context = self.called(state.advance(tokens, None))
        hidden: Tensor = self.decoder(self.embedding(tokens, context), context.enter("decoder"))[0]
        return hidden

    def cache_values(self) -> tuple[int, int]:
        return self.decoder.cache_values()
