"""A trained masked language model: a text with masks in, the words that belong there out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from regard.data.batches import by_tokens
from regard.data.given import checked_texts, is_blank
from regard.data.tokenizers import MASKED, Tokenizer
from regard.errors import DataError
from regard.look.parts import Choice
from regard.look.records import Look
from regard.models import EncoderModel
from regard.models.encoder import own_segments
from regard.models.padding import padded
from regard.results import Result
from regard.runfolder import RunError
from regard.tasks.base import Done, Say
from regard.tasks.tool import Tool
from regard.tasks.vectors.embedding import Embedder

INSIDE = "##"  # begins a piece of WordPiece that goes on with the word before it
BATCH, BATCH_TOKENS = 32, 1024  # texts, and tokens with their padding, that are read at once
MESSAGE_CHARACTERS = 40  # letters by which a message names a text


@dataclass(frozen=True)
class Filled(Result):
    """A text, the same with the likeliest piece at each mask, and for each of its masks the likeliest pieces."""

    text: str
    whole: str
    masks: list[list[Choice]]

    def line(self, scores: bool = False) -> str:
        """The text with the likeliest pieces."""
        return " ".join(self.whole.splitlines())

    def lines(self) -> str:
        """A line for each piece, with its probability; a number where there are several masks."""
        named = len(self.masks) > 1
        return "\n".join(
            f"{f'{number}. ' if named else ''}{choice.probability:.4f}\t{choice.token}"
            for number, choices in enumerate(self.masks, 1)
            for choice in choices
        )

    def record(self) -> dict[str, Any]:
        return asdict(self)


class MaskFiller(Tool):
    """Finds masked words: `filler("The cat [MASK] on the mat.")`; a mask is written [MASK] or <mask>.

    Each mask is one piece, and several are judged independently of each other.
    """

    def __init__(self, model: EncoderModel, tokenizer: Tokenizer) -> None:
        if model.head is None:
            raise RunError("this encoder has no output layer, so it cannot find masked words; it can embed texts")
        if tokenizer.mask is None:
            raise RunError("the tokenizer has no mask token (<mask> or [MASK]), so no word can be masked")
        super().__init__(model, tokenizer)
        self.mask = tokenizer.mask
        self.words_in_pieces = tokenizer.kind == "wordpiece"

    def __call__(self, text: str, count: int = 5) -> Filled:
        return self.results([text], count=count)[0]

    def results(
        self,
        inputs: Sequence[str],
        batch: int | None = None,
        say: Say | None = None,
        done: Done | None = None,
        count: int = 5,
    ) -> list[Filled]:
        """Of each text, with so many pieces for each mask; an empty text has no mask, and stays empty."""
        texts = checked_texts(inputs)
        filled = [text for text in texts if not is_blank(text)]
        rows = [self.row(text) for text in filled]

        def work(chosen: Sequence[int]) -> list[Filled]:
            return self.fill([filled[i] for i in chosen], [rows[i] for i in chosen], count)

        found = iter(self.in_order(by_tokens(rows, batch or BATCH, BATCH_TOKENS), work, done))
        return [Filled(text, text, []) if is_blank(text) else next(found) for text in texts]

    @torch.no_grad()
    def fill(self, texts: Sequence[str], rows: Sequence[Sequence[int]], count: int) -> list[Filled]:
        """Of a batch of texts with their tokens."""
        assert self.model.head is not None
        count = min(count, self.tokenizer.vocabulary - len(self.specials))
        tokens, keep = padded([self.tokenizer.framed(row) for row in rows], self.device)
        hidden = tokens.eq(self.mask)
        segments = own_segments(self.model, self.tokenizer, tokens)
        found, states = [], self.model.expected(tokens, keep, hidden, segments)
        for text, line in zip(texts, torch.split(states, hidden.sum(1).tolist()), strict=True):
            shares = self.model.head.logits(line).float().softmax(-1)
            shares, best = shares.index_fill(-1, self.specials, -1.0).topk(count)
            found.append(self.filled(text, best.tolist(), shares.tolist()))
        return found

    def row(self, text: str) -> list[int]:
        """The tokens of a text with masks; it must have one, and be short enough to be read whole."""
        if not MASKED.search(text):
            raise DataError(f"{text[:MESSAGE_CHARACTERS]!r} has no mask: write [MASK] where a word is to be found")
        row = [i for i, _, _ in self.tokenizer.masked(text)]
        longest = self.model.longest
        if longest is not None and len(row) + 2 > longest:
            most = f"the model reads at most {longest - 2}"
            raise DataError(f"{text[:MESSAGE_CHARACTERS]!r} has {len(row)} tokens; {most}: shorten it")
        return row

    def filled(self, text: str, best: list[list[int]], shares: list[list[float]]) -> Filled:
        masks = [
            [Choice(self.tokenizer.token(i).strip(), i, share) for i, share in zip(ids, some, strict=True)]
            for ids, some in zip(best, shares, strict=True)
        ]
        whole, *others = MASKED.split(text)
        for choices, rest in zip(masks, others, strict=True):
            piece = choices[0].token
            joined = self.words_in_pieces and piece.startswith(INSIDE)
            whole = (whole.rstrip() + piece.removeprefix(INSIDE) if joined else whole + piece) + rest
        return Filled(text, whole, masks)

    @property
    def specials(self) -> Tensor:
        """Ids that stand for no word."""
        return torch.tensor(sorted(self.tokenizer.specials), device=self.device)

    def look(self, *texts: str, **options: Any) -> Look:
        """`mask` are numbers of words that are masked."""
        if not (any(MASKED.search(text) for text in texts) or options.get("mask")):
            raise DataError(f"{texts[0][:MESSAGE_CHARACTERS]!r} has no mask: write [MASK] where a word is to be found")
        return super().look(*texts, **options)

    def embedder(self, pool: str = "mean") -> Embedder:
        """The same model as one that makes vectors of texts."""
        return Embedder(self.model, self.tokenizer, pool)
