"""A trained masked language model: a text with masks in, the words that belong there out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.checkpoint import RunError
from regard.data.files import DataError
from regard.data.given import checked_texts, is_blank
from regard.data.tokenizers import MASKED, Tokenizer
from regard.look.capture import look
from regard.look.parts import Choice
from regard.look.records import Look
from regard.look.subject import Subject
from regard.models import EncoderModel
from regard.models.encoder import own_segments
from regard.tasks.vectors.embedding import Embedder, by_tokens
from regard.tasks.writing.translator import padded

INSIDE = "##"  # begins a piece of WordPiece that goes on with the word before it
SHOWN = 40  # letters by which a message names a text


@dataclass(frozen=True)
class Filled:
    """A text, the same with the likeliest piece at each mask, and for each of its masks the likeliest pieces."""

    text: str
    whole: str
    masks: list[list[Choice]]


class MaskFiller:
    """Finds masked words: `filler("The cat [MASK] on the mat.")`; a mask is written [MASK] or <mask>.

    Each mask is one piece, and several are judged independently of each other.
    """

    def __init__(self, model: EncoderModel, tokenizer: Tokenizer) -> None:
        if model.head is None:
            raise RunError("this encoder has no output layer, so it cannot find masked words; it can embed texts")
        if tokenizer.mask is None:
            raise RunError("the tokenizer has no mask token (<mask> or [MASK]), so no word can be masked")
        self.model, self.tokenizer, self.mask = model, tokenizer, tokenizer.mask
        self.words_in_pieces = tokenizer.kind == "wordpiece"

    def __call__(self, text: str, count: int = 5) -> Filled:
        return self.fill([text], count)[0]

    @torch.no_grad()
    def fill(self, texts: Sequence[str], count: int = 5, batch: int = 32) -> list[Filled]:
        """Of each text, in their order; batches are made by length. An empty text has no mask, and stays empty."""
        assert self.model.head is not None
        count = min(count, self.tokenizer.vocabulary - len(self.specials))
        texts = checked_texts(texts)
        found: list[Filled | None] = [Filled(text, text, []) if is_blank(text) else None for text in texts]
        places = [place for place, one in enumerate(found) if one is None]
        rows = {place: self.row(texts[place]) for place in places}
        for some in by_tokens([rows[place] for place in places], batch):
            chosen = [places[i] for i in some]
            tokens, keep = padded([self.tokenizer.framed(rows[i]) for i in chosen], self.device)
            hidden = tokens.eq(self.mask)
            segments = own_segments(self.model, self.tokenizer, tokens)
            states = torch.split(self.model.expected(tokens, keep, hidden, segments), hidden.sum(1).tolist())
            for i, line in zip(chosen, states, strict=True):
                shares = self.model.head.logits(line).float().softmax(-1)
                shares, best = shares.index_fill(-1, self.specials, -1.0).topk(count)
                found[i] = self.filled(texts[i], best.tolist(), shares.tolist())
        return [one for one in found if one is not None]

    def row(self, text: str) -> list[int]:
        """The tokens of a text with masks; it must have one, and be short enough to be read whole."""
        if not MASKED.search(text):
            raise DataError(f"{text[:SHOWN]!r} has no mask: write [MASK] where a word is to be found")
        row = [i for i, _, _ in self.tokenizer.masked(text)]
        longest = self.model.longest
        if longest is not None and len(row) + 2 > longest:
            raise DataError(
                f"{text[:SHOWN]!r} has {len(row)} tokens; the model reads at most {longest - 2}: shorten it"
            )
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

    def look(self, text: str, second: str | None = None, **options: Any) -> Look:
        """See which words the model expects at the masks of a text, and what it attends to; a notebook draws it.

        The options are those of `regard.look.look`; `mask` are numbers of words that are masked.
        """
        if not (MASKED.search(f"{text} {second or ''}") or options.get("mask")):
            raise DataError(f"{text[:SHOWN]!r} has no mask: write [MASK] where a word is to be found")
        return look(Subject(self.model, self.tokenizer), text, second=second, **options)

    def embedder(self, pool: str = "mean") -> Embedder:
        """The same model as one that makes vectors of texts."""
        return Embedder(self.model, self.tokenizer, pool)

    @property
    def device(self) -> torch.device:
        return next(self.model.parameters()).device
