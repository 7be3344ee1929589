"""Texts as an encoder reads them: one, or two as one sequence, with masks where words are hidden."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

import numpy as np

from regard.data import tagged
from regard.data.tokenizers import MASKED
from regard.errors import Error
from regard.look.parts import Masked, Side
from regard.look.subject import MAX_LOOKED_TOKENS, Subject
from regard.models import EncoderModel

Pieces = Sequence[tuple[int, int, int]]  # id, start, end in the text


def read_texts(
    subject: Subject, text: str, second: str | None = None, mask: Collection[int] = ()
) -> tuple[Side, list[Masked] | None]:
    """What is read, between its special tokens, and the masks in it; None where the model finds no masked words.

    `mask` are words to hide, by their numbers from 0 on over both texts.
    """
    texts = given(subject, text, second)
    if mask or (isinstance(subject.model, EncoderModel) and any(MASKED.search(one) for one in texts)):
        check_masks(subject)
    cut = [subject.tokenizer.masked(one) if subject.fills else subject.tokenizer.pieces(one) for one in texts]
    pieces = [i for some in cut for i, _, _ in some]
    words, word_of = words_of(texts, cut)
    spelt = [one[start:end].strip() for one, some in zip(texts, cut, strict=True) for _, start, end in some]
    hidden: set[int] = set()
    for number in mask:
        own = hidden_pieces(spelt, word_of, checked(number, words))
        words[number] = veiled(subject, [i if i in own else spelt[i] for i in places_of(word_of, number)])
        hidden.update(own)
    frame = framed(subject, [len(some) for some in cut])
    places = [i + len(pieces) if i < 0 else None for i in frame]  # which piece each token is; None for a special one
    ids = [i if place is None else pieces[place] for i, place in zip(frame, places, strict=True)]
    masks = []
    for at, place in enumerate(places):
        if subject.fills and ids[at] == subject.tokenizer.mask:  # written in the text
            masks.append(Masked(at))
        elif subject.tokenizer.mask is not None and place in hidden:
            masks.append(Masked(at, subject.tokenizer.token(ids[at]), ids[at]))
            ids[at] = subject.tokenizer.mask
    two = len(texts) > 1
    side = Side(
        text="\n".join(texts),
        tokens=[subject.tokenizer.token(i) for i in ids],
        ids=ids,
        words=words,
        word_of=[None if place is None else word_of[place] for place in places],
        texts=texts if two else [],
        text_of=[None if place is None else int(place >= len(cut[0])) for place in places] if two else [],
    )
    return side, masks if subject.fills else None


# --- what may be asked ------------------------------------------------------------------------------------------------


def given(subject: Subject, text: str, second: str | None) -> list[str]:
    """The texts, as many as the run reads; what a tagger reads, with its words apart."""
    roles = subject.roles
    check_second(subject, second)
    if second is None and roles.least > 1:
        raise Error(f"this run reads two texts, a {' and a '.join(roles.names)}: give the second too")
    texts = [text] if second is None else [text, second]
    for name, one in zip(roles.names, texts, strict=False):
        if not one.strip():
            raise Error(f"the {name} is empty: there is nothing to look at")
    return [" ".join(tagged.words_in(one)) for one in texts] if subject.task == "tag" else texts


def check_second(subject: Subject, second: str | None) -> None:
    if second is not None and not subject.roles.two:
        raise Error("this run reads one text at a time; leave the second out")


def check_masks(subject: Subject) -> None:
    """Whether the model finds masked words."""
    if not isinstance(subject.model, EncoderModel):
        raise Error(
            f"a model of kind {subject.model.config.kind!r} finds no masked words; a run of regard pretrain mlm does"
        )
    if subject.model.head is None:
        raise Error("this encoder has no output layer, so it finds no masked words: take the mask out of the text")
    if subject.tokenizer.mask is None:
        raise Error("the tokenizer has no mask token (<mask> or [MASK]), so no word can be masked")


def checked(number: int, words: Sequence[str]) -> int:
    if not 0 <= number < len(words):
        raise Error(f"there is no word {number} to mask: the words of the text count from 0 to {len(words) - 1}")
    return number


def framed(subject: Subject, lengths: Sequence[int]) -> list[int]:
    """The ids of special tokens around the pieces of one text or two; a piece is a negative number, counted from the
    end. So the tokenizer alone says how texts are framed."""
    count = sum(lengths)
    if len(lengths) == 1:
        frame = subject.tokenizer.framed(range(-count, 0))
    else:
        first, second = range(-count, -lengths[1]), range(-lengths[1], 0)
        frame = subject.tokenizer.paired(first, second, subject.segmented)[0]
    longest = min(subject.most or MAX_LOOKED_TOKENS, subject.model.longest or MAX_LOOKED_TOKENS, MAX_LOOKED_TOKENS)
    if len(frame) > longest:
        names = " and the ".join(subject.roles.names[: len(lengths)])
        raise Error(
            f"the {names} {'has' if len(lengths) == 1 else 'have'} {len(frame)} tokens with the special ones; at most "
            f"{longest} can be looked at"
        )
    return [int(i) for i in frame]


# --- words ------------------------------------------------------------------------------------------------------------


def words_of(texts: Sequence[str], cut: Sequence[Pieces]) -> tuple[list[str], list[int | None]]:
    """The words of all texts, and which of them each piece belongs to."""
    words: list[str] = []
    word_of: list[int | None] = []
    for text, pieces in zip(texts, cut, strict=True):
        found, own = words_in(text, [start for _, start, _ in pieces])
        word_of += [None if i is None else i + len(words) for i in own]
        words += found
    return words, word_of


def words_in(text: str, starts: Sequence[int | None]) -> tuple[list[str], list[int | None]]:
    """What white space parts, and the word of each piece, of which `starts` says where it begins.

    It is the word that ends first after that: a piece may begin with the space before its word.
    """
    found = list(re.finditer(r"\S+", text))
    ends = np.array([word.end() for word in found])
    places = [None if start is None else int(np.searchsorted(ends, start, "right")) for start in starts]
    return [word.group() for word in found], [None if i is None or i == len(found) else i for i in places]


def places_of(word_of: Sequence[int | None], word: int) -> list[int]:
    return [i for i, other in enumerate(word_of) if other == word]


def hidden_pieces(spelt: Sequence[str], word_of: Sequence[int | None], word: int) -> list[int]:
    """The pieces of a word that a mask hides: all but the punctuation around it."""
    own = places_of(word_of, word)
    return [i for i in own if any(letter.isalnum() for letter in spelt[i])] or own


def veiled(subject: Subject, pieces: Sequence[str | int]) -> str:
    """The pieces of a word with one mask in place of those that are hidden; punctuation around it stays."""
    assert subject.tokenizer.mask is not None
    name = subject.tokenizer.token(subject.tokenizer.mask)
    shown = [name if isinstance(piece, int) else piece for piece in pieces]
    return re.sub(f"(?:{re.escape(name)})+", name, "".join(shown))
