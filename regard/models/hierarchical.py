"""Hierarchical attention: words make sentences, sentences make a document. Yang et al. 2016, aclanthology N16-1174.

The tokens of a text come flat, each sentence ended by the END token, as every text labeller reads them. Here they are
laid out as one row a sentence, read, pooled, and laid out again as one row a document.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.config import Config, Rate, Size
from regard.data.tokenizers import END, PAD
from regard.errors import Error
from regard.models.base import LabellerConfig, TextLabeller, TextModelConfig, TextReader, TextReaderConfig
from regard.models.classifier import WORDS
from regard.models.recurrent_encoder import RecurrentEncoder
from regard.nn.call.around import Value, Watcher
from regard.nn.call.context import Context
from regard.nn.call.masks import Mask, real_tokens
from regard.nn.dropout import Dropout
from regard.nn.linear import Linear
from regard.nn.pooling import AttentionPooling, PoolConfig
from regard.nn.recurrent.layers import Cell, RecurrentLayers

SENTENCES = "pool.1.sentences"
SENTENCE_GROUPS = 8  # by length, in a batch


@dataclass(frozen=True)
class SentenceReader(Config):
    """The recurrent layers that read sentence vectors, `hidden` in each direction."""

    cell: Cell = "gru"
    hidden: Size = 50
    layers: Size = 1
    bidirectional: bool = True
    dropout: Rate = 0.0

    def build(self, width: int) -> RecurrentLayers:
        return RecurrentLayers(self.cell, width, self.hidden, self.layers, self.dropout, self.bidirectional)


@dataclass(frozen=True, kw_only=True)
class Hierarchical(LabellerConfig, kind="hierarchical"):
    """A `reader` of words and one of `sentences`, both pooled in the same way; `pooled_dropout` falls on the document.

    The END token parts sentences and is not read, unless a sentence has nothing else.
    """

    reader: TextReaderConfig = RecurrentEncoder(vocabulary=10_000, width=200, cell="gru", hidden=50)
    sentences: SentenceReader = SentenceReader()
    pool: PoolConfig = AttentionPooling()
    pooled_dropout: Rate = 0.0

    def assemble(self) -> HierarchicalModel:
        return HierarchicalModel(self)

    def text(self) -> TextModelConfig:
        return self.reader


class HierarchicalModel(TextLabeller):
    """`forward` gives logits (B, labels)."""

    reader: TextReader

    def __init__(self, config: Hierarchical) -> None:
        super().__init__(config)
        self.reader = config.reader.assemble()
        self.pool = config.pool.build(self.reader.states_width)
        self.sentences = config.sentences.build(config.pool.after(self.reader.states_width))
        width = config.sentences.hidden * self.sentences.directions
        self.sentence_pool = config.pool.build(width)
        self.sentence_dropout = Dropout(config.sentences.dropout)
        self.dropout = Dropout(config.pooled_dropout)
        self.output = Linear(config.pool.after(width), config.labels)

    def forward(self, tokens: Tensor, keep: Tensor | None = None) -> Tensor:
        self.check_tokens(tokens, keep)
        layout = Layout(tokens, keep)
        context = self.whole(tokens, Mask(keys=keep))
        vectors = self.read_sentences(layout, context.enter(WORDS))  # (N, D)
        document, there = layout.documents(self.sentence_dropout(vectors))  # (B, S, D)
        read = self.sentence_dropout(self.sentences.outputs(document, there))
        pooled = self.sentence_pool(read, there, context.enter(SENTENCES))
        logits: Tensor = self.output(self.dropout(pooled))
        return logits

    def read_sentences(self, layout: Layout, context: Context) -> Tensor:
        """The vectors (N, D) of all sentences, read by groups of similar length, so that little is padding."""
        watched = None if context.watcher is None else ByText(context.watcher, layout)
        inner = copy.copy(context)
        inner.watcher = watched
        vectors = []
        for words, real in layout.groups():  # (n, L) each
            memory = self.reader.encode(words, real)
            vectors.append(self.pool(memory.states, memory.keep, inner))
        if watched is not None:
            watched.tell()
        return torch.cat(vectors).index_select(0, layout.order.argsort())

    def attention_heads(self) -> dict[str, int]:
        """Those inside the reader have a row for each sentence of the batch, not for each text."""
        return super().attention_heads() | ({WORDS: 1, SENTENCES: 1} if self.pool.attends else {})

    def example(self, batch: int, length: int) -> tuple[Tensor, ...]:
        raise Error("how long the sentences of a text are is known only of a text: give the pool a `cost` of its own")


class Layout:
    """Where the words of a batch of texts (B, T) stand when each of its N sentences has a row."""

    def __init__(self, tokens: Tensor, keep: Tensor | None) -> None:
        real = torch.ones_like(tokens, dtype=torch.bool) if keep is None else keep
        ends = tokens == END
        begins = torch.cat([torch.ones_like(ends[:, :1]), ends[:, :-1]], 1)  # (B, T): the first word of a sentence
        places = torch.arange(tokens.shape[1], device=tokens.device)
        self.tokens = tokens
        self.sentence = begins.cumsum(1) - 1  # (B, T): which of its text's
        self.word = places - torch.where(begins, places, 0).cummax(1).values  # (B, T): which of its sentence's
        self.read = real & (~ends | begins)  # (B, T)
        self.count = (begins & real).sum(1)  # (B,): the sentences of each text
        self.row = self.sentence + (self.count.cumsum(0) - self.count)[:, None]  # (B, T): among the N of the batch
        self.lengths = self.row[self.read].bincount()  # (N,): the words of each sentence
        self.order = self.lengths.argsort(stable=True)  # (N,): the sentences from short to long

    def groups(self) -> list[tuple[Tensor, Tensor | None]]:
        """Sentences of similar length, in their order: words (n, L) and which are real, None for all."""
        row, word = self.row[self.read], self.word[self.read]
        table = self.tokens.new_full((len(self.lengths), int(self.lengths.max())), PAD)
        table[row, word] = self.tokens[self.read]
        found: list[tuple[Tensor, Tensor | None]] = []
        for rows in self.order.tensor_split(min(SENTENCE_GROUPS, len(self.order))):
            lengths = self.lengths[rows]
            longest = int(lengths[-1])
            real = None if int(lengths[0]) == longest else real_tokens(lengths, longest)
            found.append((table[rows, :longest], real))
        return found

    def documents(self, vectors: Tensor) -> tuple[Tensor, Tensor]:
        """The vectors (N, D) of all sentences as (B, S, D), and which of them are there."""
        there = real_tokens(self.count, int(self.count.max()))  # (B, S)
        return vectors.new_zeros(*there.shape, vectors.shape[1]).masked_scatter(there[..., None], vectors), there


class ByText:
    """Hands the weights of words on as the texts of a batch have them: (B, H, S, T), each sentence of a text attending
    to its own words."""

    def __init__(self, watcher: Watcher, layout: Layout) -> None:
        self.watcher, self.layout, self.model = watcher, layout, watcher.model
        self.groups: list[Callable[[], Tensor]] = []
        self.name = ""

    def see(self, name: str, weights: Callable[[], Tensor]) -> None:
        self.name = name
        self.groups.append(weights)

    def note(self, name: str, value: Value) -> None:
        self.watcher.note(name, value)

    def tell(self) -> None:
        """All groups together."""
        if self.groups:
            self.watcher.see(self.name, self.joined)

    def joined(self) -> Tensor:
        layout, rows = self.layout, [weights()[:, :, 0] for weights in self.groups]  # (n, H, L) each
        longest = int(layout.lengths.max())
        padded = torch.cat([nn.functional.pad(group, (0, longest - group.shape[-1])) for group in rows])
        by_sentence = padded.index_select(0, layout.order.argsort())  # (N, H, L)
        batch, length = layout.tokens.shape
        found = padded.new_zeros(batch, int(layout.count.max()), length, padded.shape[1])
        text, place = layout.read.nonzero(as_tuple=True)
        read = layout.read
        found[text, layout.sentence[read], place] = by_sentence[layout.row[read], :, layout.word[read]]
        return found.permute(0, 3, 1, 2)
