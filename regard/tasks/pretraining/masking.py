"""Masked words: which tokens of a text are hidden, and by what. BERT's way, drawn anew each time a text is read."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regard.data.tokenizers import Tokenizer
from regard.errors import DataError

IGNORED = -100  # the target of a place that predicts nothing
MASKED, REPLACED = 0.8, 0.1  # shares of the chosen tokens: hidden, taken for another; the rest stays as it is
CONTINUES = "##"  # how WordPiece begins a piece that is not the first of its word


class Masking:
    """Chooses each token with the same `chance`; special tokens never. Of the chosen ones 80% become the mask, 10% some
    other token, 10% stay: the model is not told which. Devlin et al. 2019, arXiv:1810.04805, section 3.1.

    With `whole_words` the pieces of a word are chosen together. Draws come from torch's generator on the CPU, whose
    state a checkpoint holds, so that a resumed run hides the same tokens.
    """

    def __init__(self, tokenizer: Tokenizer, chance: float = 0.15, whole_words: bool = False) -> None:
        if tokenizer.mask is None:
            raise DataError("the tokenizer has no mask token (<mask> or [MASK]): it was not made for masked words")
        self.mask, self.chance = tokenizer.mask, chance
        self.special = torch.zeros(tokenizer.vocabulary, dtype=torch.bool)
        self.special[sorted(tokenizer.specials)] = True
        self.ordinary = (~self.special).nonzero().squeeze(-1)
        self.glue = glue(tokenizer) if whole_words else None

    def __call__(
        self, tokens: Tensor, keep: Tensor | None = None, generator: torch.Generator | None = None
    ) -> tuple[Tensor, Tensor]:
        """Tokens (B, T) on the CPU, of which `keep` are real, → what the model reads instead of them, and what it is to
        find: the token at each chosen place, `IGNORED` at others."""
        open_to_it = ~self.special[tokens] if keep is None else ~self.special[tokens] & keep
        draws = torch.rand(tokens.shape, generator=generator)
        if self.glue is not None:
            draws = draws.gather(1, first_pieces(tokens, open_to_it, self.glue))
        chosen = (draws < self.chance) & open_to_it
        fate = torch.rand(tokens.shape, generator=generator)
        others = self.ordinary[torch.randint(len(self.ordinary), tokens.shape, generator=generator)]
        read = tokens.masked_fill(chosen & (fate < MASKED), self.mask)
        read = torch.where(chosen & (fate >= MASKED) & (fate < MASKED + REPLACED), others, read)
        return read, tokens.masked_fill(~chosen, IGNORED)


def first_pieces(tokens: Tensor, open_to_it: Tensor, glue: tuple[Tensor, Tensor]) -> Tensor:
    """(B, T): the place of the first piece of the word that each token belongs to."""
    begins, ends = glue
    inside = torch.zeros_like(open_to_it)
    inside[:, 1:] = begins[tokens[:, 1:]] & ends[tokens[:, :-1]] & open_to_it[:, 1:] & open_to_it[:, :-1]
    places = torch.arange(tokens.shape[1]).expand_as(tokens)
    return places.masked_fill(inside, 0).cummax(1).values


def glue(tokenizer: Tokenizer) -> tuple[Tensor, Tensor]:
    """(V,) and (V,): whether a piece may go on with the word before it, and whether its word may go on behind it.

    WordPiece marks pieces that go on. Others have the space in front of a word, so that a letter behind a letter goes
    on; bytes that are no whole character are letters of some script.
    """
    pieces = [tokenizer.token(i) for i in range(tokenizer.vocabulary)]
    if tokenizer.kind in ("wordpiece", "word"):
        begins = [piece.startswith(CONTINUES) for piece in pieces]
        return torch.tensor(begins), torch.ones(len(pieces), dtype=torch.bool)
    broken = np.array([piece.startswith("\\x") for piece in pieces])
    begins = np.array([piece[:1].isalnum() for piece in pieces]) | broken
    ends = np.array([piece[-1:].isalnum() for piece in pieces])
    return torch.from_numpy(begins), torch.from_numpy(ends)
