"""Recurrent encoder-decoders: from one fixed context to attention over the source.

Sutskever et al. 2014, arXiv:1409.3215; Cho et al. 2014, arXiv:1406.1078; Bahdanau et al. 2015, arXiv:1409.0473; Luong
et al. 2015, arXiv:1508.04025.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor, nn

from regard.config import Count, Part, Rate, Size
from regard.models.base import MemoryWriter, SourceWriter, SourceWriterConfig, State, WriterConfig
from regard.nn.attention.hard import ChoiceConfig, Soft
from regard.nn.attention.kernel import KernelConfig
from regard.nn.attention.local import WindowConfig
from regard.nn.attention.scores import Additive, General
from regard.nn.attention.source import NAME, SourceAttention
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask
from regard.nn.call.memory import Memory
from regard.nn.dropout import Dropout
from regard.nn.embeddings import Embedding, EmbeddingConfig, TokenEmbedding
from regard.nn.heads import HeadConfig, LinearHead
from regard.nn.linear import Linear
from regard.nn.positions.base import Position
from regard.nn.recurrent.layers import Cell, RecurrentLayers, States, places_from_the_end, rows_of

PLACE = "decoder.0"  # where the attention stands, as watching names it
STATE = "decoder.state"
FED = "decoder.fed"


# --- how a decoder reads its source -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReaderConfig(Part, family="reader"):
    """How a recurrent decoder comes to know the source."""

    def build(self, sizes: Sizes) -> Reader:
        raise TypeError(f"{type(self).__name__} is a family, not a reader")


@dataclass(frozen=True)
class Sizes:
    """Widths: of word vectors and outputs, of the decoder's state, of the memory."""

    width: int
    hidden: int
    memory: int


class Reader(nn.Module):
    """What enters the cell beside a word's vector, and what becomes of the cell's output."""

    stepwise = True  # whether what enters a step depends on the one before
    feeds = False  # whether that is the output
    asks_first = False  # whether its attention is asked by the state before a step, not by the one after
    beside: str | None = None  # what enters the cell beside the word: "context", "output" or "summary"
    extra = 0  # the width of what enters the cell
    hands_over = False  # whether the decoder starts from all states of the encoder, not from those of its top alone
    opens = False  # whether the decoder starts from nothing and takes the summary in as a word before the first

    def __init__(self, attention: SourceAttention | None = None) -> None:
        super().__init__()
        self.attention = attention

    def opening(self, summary: Tensor) -> Tensor:
        """What stands before the first word (B, D), where it `opens`."""
        raise TypeError(f"{type(self).__name__} does not say what stands before the first word")

    def begun(self, parts: States) -> States:
        """The parts of the first state, as a bridge from the summary makes them."""
        first, *others = parts
        return (first.tanh(), *others)

    def before(self, state: Tensor, fed: Tensor, read: Read) -> Tensor | None:
        """(B, extra) for the next step, from the top layer's state (B, H) and the last output (B, D)."""
        return None

    def settle(self, read: Read) -> None:
        """After all steps of a pass: leave what is to be added to the loss."""

    def after(self, out: Tensor, words: Tensor, extra: Tensor | None, read: Read) -> Tensor:
        """Outputs of the cell (B, T, H), word vectors (B, T, D) and what entered beside them → (B, T, D)."""
        raise TypeError(f"{type(self).__name__} does not say what becomes of the output")


class Read:
    """The source as one call reads it: the memory's context, its keys and values, the weights of each step and the
    chances by which they were chosen; for a watcher also where its window stood."""

    def __init__(self, attention: SourceAttention | None, context: Context, batch: int, first: Tensor) -> None:
        memory = context.memory
        assert memory is not None
        assert memory.summary is not None
        self.summary = memory.summary.repeat_interleave(batch // len(memory.summary), 0)
        self.attention, self.context, self.first = attention, context, first
        self.memory = None if attention is None else attention.ready(context)  # keys and values
        self.weights: list[Tensor] = []
        self.chances: list[Tensor] = []
        self.centres: list[Tensor] = []
        self.silent = bool(context.silent(NAME))

    def attend(self, queries: Tensor, step: int = 0) -> Tensor:
        """The contexts (B, T, M) of queries (B, T, H), the first of which stands `step` places on."""
        assert self.attention is not None
        assert self.memory is not None
        places = self.first + step + torch.arange(queries.shape[1], device=queries.device)
        mixed, weights, chances, centres = self.attention(queries, *self.memory, places, self.context)
        self.weights.append(weights)
        self.chances.append(chances)
        if centres is not None and self.context.watcher is not None:
            self.centres.append(centres)
        return torch.zeros_like(mixed) if self.silent else mixed

    def tell(self) -> None:
        """Let a watcher see all steps together; and hard attention learn from what it drew."""
        if self.attention is None or not self.weights:
            return
        self.context.see(NAME, lambda: torch.cat(self.weights, 2))
        self.context.note(f"{NAME}.chances", lambda: torch.cat(self.chances, 2))
        if self.centres:
            self.context.note(f"{NAME}.centres", lambda: torch.cat(self.centres, 1))
        if self.attention.choice.draws:
            self.attention.choice.settle(NAME, torch.cat(self.chances, 2), torch.cat(self.weights, 2), self.context)


@dataclass(frozen=True)
class Start(ReaderConfig, kind="start"):
    """The source is where the decoder's states start from, layer by layer, and is never seen again. arXiv:1409.3215"""

    def build(self, sizes: Sizes) -> Reader:
        return StartReader(sizes)


class StartReader(Reader):
    stepwise = False
    hands_over = True

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.out = Linear(sizes.hidden, sizes.width)

    def after(self, out: Tensor, words: Tensor, extra: Tensor | None, read: Read) -> Tensor:
        written: Tensor = self.out(out)
        return written


@dataclass(frozen=True)
class Fixed(ReaderConfig, kind="fixed"):
    """The encoder's last state is all there is of the source, at every step. arXiv:1406.1078"""

    output: Literal["plain", "maxout"] = "plain"

    def build(self, sizes: Sizes) -> Reader:
        return FixedReader(sizes, self.output)


class Deep(Reader):
    """The output layer sees the state, the last word and the context. Pascanu et al. 2014, arXiv:1312.6026."""

    def __init__(self, sizes: Sizes, output: str, attention: SourceAttention | None = None) -> None:
        super().__init__(attention)
        self.pairs = 2 if output == "maxout" else 1
        self.out = Linear(sizes.hidden + sizes.width + sizes.memory, self.pairs * sizes.width)
        self.extra = sizes.memory

    def after(self, out: Tensor, words: Tensor, extra: Tensor | None, read: Read) -> Tensor:
        assert extra is not None
        joined: Tensor = self.out(torch.cat([out, words, extra], -1))
        return joined.tanh() if self.pairs == 1 else joined.view(*joined.shape[:-1], -1, 2).amax(-1)


class FixedReader(Deep):
    stepwise = False
    beside = "summary"

    def before(self, state: Tensor, fed: Tensor, read: Read) -> Tensor:
        return read.summary


@dataclass(frozen=True)
class Bahdanau(ReaderConfig, kind="bahdanau"):
    """The state before a step asks the source, and the answer enters the step. arXiv:1409.0473

    The answer is the expectation over positions, or with the `choice` "hard" one of them. arXiv:1502.03044"""

    kernel: KernelConfig = Additive()
    output: Literal["plain", "maxout"] = "maxout"
    window: WindowConfig | None = None
    choice: ChoiceConfig = Soft()

    def build(self, sizes: Sizes) -> Reader:
        return BahdanauReader(sizes, self)


class BahdanauReader(Deep):
    asks_first = True
    beside = "context"

    def __init__(self, sizes: Sizes, config: Bahdanau) -> None:
        attention = SourceAttention(config.kernel, config.window, config.choice, sizes.hidden, sizes.memory)
        super().__init__(sizes, config.output, attention)

    def before(self, state: Tensor, fed: Tensor, read: Read) -> Tensor:
        return read.attend(state.unsqueeze(1), len(read.weights)).squeeze(1)


@dataclass(frozen=True)
class Luong(ReaderConfig, kind="luong"):
    """The state after a step asks the source; both make the output, tanh(W [c; h]), which with `feeding` enters the
    next step. Global, or local with a `window`; soft or hard by its `choice`. arXiv:1508.04025"""

    kernel: KernelConfig = General()
    feeding: bool = True
    window: WindowConfig | None = None
    choice: ChoiceConfig = Soft()

    def build(self, sizes: Sizes) -> Reader:
        return LuongReader(sizes, self)


class LuongReader(Reader):
    def __init__(self, sizes: Sizes, config: Luong) -> None:
        super().__init__(SourceAttention(config.kernel, config.window, config.choice, sizes.hidden, sizes.memory))
        self.join = Linear(sizes.memory + sizes.hidden, sizes.width, bias=False)
        self.stepwise = self.feeds = config.feeding
        self.extra = sizes.width if config.feeding else 0
        self.beside = "output" if config.feeding else None

    def before(self, state: Tensor, fed: Tensor, read: Read) -> Tensor | None:
        return fed if self.stepwise else None

    def after(self, out: Tensor, words: Tensor, extra: Tensor | None, read: Read) -> Tensor:
        context = read.attend(out, sum(weights.shape[2] for weights in read.weights))
        joined: Tensor = self.join(torch.cat([context, out], -1))
        return joined.tanh()


# --- the model --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class RecurrentWriterConfig(WriterConfig):
    """Of a recurrent decoder that knows what it writes of by its `reader`; `hidden` is the width of its states.

    With `sampling`, training now and then goes on from the model's own word instead of the given one; the chance of it
    rises in a line over the first `rising` batches: scheduled sampling, arXiv:1506.03099.
    """

    cell: Cell = "gru"
    hidden: Size = 256
    layers: Size = 1
    reader: ReaderConfig = Bahdanau()
    dropout: Rate = 0.0
    sampling: Rate = 0.0
    rising: Count = 0
    embedding: EmbeddingConfig = TokenEmbedding()
    head: HeadConfig = LinearHead(tied=False, bias=True)


class RecurrentWriter(MemoryWriter):
    """The half that writes; what reads, a text or a picture, gives the memory with its summary."""

    config: RecurrentWriterConfig
    embedding: Embedding
    reader: Reader
    batches: Tensor

    def add_decoder(self, memory: int, summary: int) -> None:
        """The parts that write, from a memory and a summary of these widths."""
        config, self.memory_width = self.config, memory
        self.decoder = RecurrentLayers(
            config.cell, config.width + self.reader.extra, config.hidden, config.layers, config.dropout
        )
        self.parts = 2 if config.cell == "lstm" else 1  # of a state
        states = self.parts * config.layers * config.hidden
        straight = self.reader.opens or (self.reader.hands_over and summary == states)
        self.bridge = None if straight else Linear(summary, states)
        self.head = config.head.build(config.vocabulary, config.width, self.embedding)
        self.dropout = Dropout(config.dropout)
        if config.sampling and config.rising:
            self.register_buffer("batches", torch.zeros(()))  # that it has learnt from

    def reset_parameters(self) -> None:
        if self.config.sampling and self.config.rising:
            self.batches.zero_()

    def decode(self, memory: Memory, target: Tensor, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(target, keep)
        context = self.whole(target, Mask(causal=True), memory)
        words = self.dropout(self.embedding(target, context))
        context = context.enter(PLACE).across()
        read = Read(self.reader.attention, context, len(target), context.geometry.query_positions[:1])
        start = self.start(read)
        if self.training and self.config.sampling:
            out = self.sampled(target, words, start, read, self.next_chance())
        else:
            out, _, _ = self.run(words, *start, read)
        read.tell()
        self.reader.settle(read)
        dropped: Tensor = self.dropout(out)
        return dropped

    def start(self, read: Read) -> tuple[States, Tensor]:
        """The states before the first word, and the output before it, which is nothing."""
        fed = read.summary.new_zeros(len(read.summary), self.config.width)
        shape = (len(fed), self.parts, self.decoder.layers, -1)
        if self.reader.opens:
            nothing = fed.new_zeros(self.parts, len(fed), self.decoder.layers, self.config.hidden).unbind(0)
            return self.decoder.step(self.reader.opening(read.summary), nothing)[1], fed
        if self.bridge is None:
            return read.summary.view(shape).unbind(1), fed
        return self.reader.begun(self.bridge(read.summary).view(shape).unbind(1)), fed

    def run(self, words: Tensor, states: States, fed: Tensor, read: Read) -> tuple[Tensor, States, Tensor]:
        """Word vectors (B, T, D) → outputs (B, T, D), the states and the output after the last."""
        if not self.reader.stepwise:
            extra = self.reader.before(states[0][:, -1], fed, read)
            extra = None if extra is None else extra.unsqueeze(1).expand(-1, words.shape[1], -1)
            if extra is not None:
                read.context.note("beside", extra[:, -1])
            out, states = self.decoder(words if extra is None else torch.cat([words, extra], -1), states)
            outputs = self.reader.after(out, words, extra, read)
            return outputs, states, outputs[:, -1]
        outs: list[Tensor] = []
        extras: list[Tensor] = []
        fed_outputs: list[Tensor] = []
        for word in words.unbind(1):
            extra = self.reader.before(states[0][:, -1], fed, read)
            assert extra is not None
            read.context.note("beside", extra)
            out, states = self.decoder.step(torch.cat([word, extra], -1), states)
            if self.reader.feeds:
                fed = self.reader.after(out.unsqueeze(1), word.unsqueeze(1), extra.unsqueeze(1), read).squeeze(1)
                fed_outputs.append(fed)
            outs.append(out)
            extras.append(extra)
        if self.reader.feeds:
            return torch.stack(fed_outputs, 1), states, fed
        written = self.reader.after(torch.stack(outs, 1), words, torch.stack(extras, 1), read)
        return written, states, written[:, -1]

    def next_chance(self) -> float:
        """With which the model's own words are taken in one more batch."""
        if not self.config.rising:
            return self.config.sampling
        self.batches += 1
        return self.config.sampling * min(1.0, float(self.batches) / self.config.rising)

    def sampled(self, target: Tensor, words: Tensor, start: tuple[States, Tensor], read: Read, chance: float) -> Tensor:
        """Word by word, going on from the model's own word with some chance."""
        states, fed = start
        outputs: list[Tensor] = []
        for place in range(target.shape[1]):
            word = words[:, place]
            if outputs:
                best = self.head(outputs[-1][:, 0]).argmax(-1, keepdim=True)
                own = self.dropout(self.embedding(best, read.context))
                drawn = torch.rand(len(target), 1, device=target.device) < chance
                word = torch.where(drawn, own.squeeze(1), word)
            out, states, fed = self.run(word.unsqueeze(1), states, fed, read)
            outputs.append(out)
        return torch.cat(outputs, 1)

    @torch.no_grad()
    def read(self, tokens: Tensor, state: State, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        if keep is not None:
            raise ValueError("a recurrent decoder reads its tokens one after the other: leave padding out")
        context = self.called(state.advance(tokens, keep))
        words = self.embedding(tokens, context)
        context = context.enter(PLACE).across()
        read = Read(self.reader.attention, context, len(tokens), context.geometry.query_positions[:1])
        held, fed = state.cache.held(STATE), state.cache.held(FED)
        states, last = self.start(read) if held is None or fed is None else (held, fed[0])
        context.note("before", lambda: torch.stack(states))  # (parts, B, layers, H)
        out, states, last = self.run(words, states, last, read)
        context.note("after", lambda: torch.stack(states))
        context.note("output", last)
        state.cache.hold(STATE, *states)
        state.cache.hold(FED, last)
        read.tell()
        return out[:, -1]

    def attention_heads(self) -> dict[str, int]:
        return {} if self.reader.attention is None else {f"{PLACE}.{NAME}": 1}

    def reach(self, name: str) -> int | None:
        attention = self.reader.attention if name in self.attention_names() else None
        return None if attention is None or attention.window is None else attention.window.reach

    def cache_values(self) -> tuple[int, int]:
        """A state is held whatever the length; of each source token its state, and its key."""
        return 0, 0 if self.reader.attention is None else 2 * self.memory_width


@dataclass(frozen=True, kw_only=True)
class Recurrent(RecurrentWriterConfig, SourceWriterConfig, kind="recurrent"):
    """A recurrent encoder, of states as wide as the decoder's in each direction, and a recurrent decoder.

    The encoder reads `backwards` from the end of each source: then its first words are nearest to those that are
    written first, arXiv:1409.3215.
    """

    bidirectional: bool = True
    backwards: bool = False

    def assemble(self) -> RecurrentModel:
        return RecurrentModel(self)


class RecurrentModel(RecurrentWriter, SourceWriter):
    config: Recurrent

    def __init__(self, config: Recurrent) -> None:
        super().__init__(config)
        width, vocabulary = config.width, config.vocabulary
        self.embedding = config.embedding.build(vocabulary, width, Position())
        self.source_embedding = config.embedding.build(config.source_vocabulary or vocabulary, width, Position())
        if config.source_vocabulary is None:
            self.source_embedding.tokens = self.embedding.tokens
        self.encoder = RecurrentLayers(
            config.cell, width, config.hidden, config.layers, config.dropout, config.bidirectional
        )
        memory = config.hidden * self.encoder.directions
        self.reader = config.reader.build(Sizes(width, config.hidden, memory))
        parts = 2 if config.cell == "lstm" else 1
        handed = parts * config.layers * memory  # all states of the encoder
        self.add_decoder(memory, handed if self.reader.hands_over else memory)

    def encode(self, source: Tensor, keep: Tensor | None = None) -> Memory:
        self.check_tokens(source, keep)
        x = self.dropout(self.source_embedding(source, self.whole(source, Mask(keys=keep))))
        turned = places_from_the_end(x, keep) if self.config.backwards else None
        states, last = self.encoder(x if turned is None else rows_of(x, turned), keep=keep)
        states = states if turned is None else rows_of(states, turned)
        top = last[0][:, -self.encoder.directions :].flatten(1)
        summary = torch.cat([part.flatten(1) for part in last], -1) if self.reader.hands_over else top
        return Memory(self.dropout(states), keep, summary)
