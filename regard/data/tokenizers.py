"""Text to token ids and back, with the `tokenizers` library; one `tokenizer.json` says everything.

Six kinds. `bpe` (the default), `unigram` and `byte` work on the bytes of UTF-8 and give back any text exactly; `char`
does so for the characters it has seen; `wordpiece` and `word` split at white space and punctuation, and lose the
spacing. The four special tokens have fixed ids in every kind that is trained here, and no text becomes one of them, not
even "</s>". Tokenizers from elsewhere have others: what a special token is for is known by the name it bears.

The same texts give the same file, byte for byte: the library's trainers depend on the order of its hash tables in two
places (see `_wordpiece` and `_unigram`), and that is undone here.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import tokenizers
from numpy.typing import NDArray
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from regard.config import nearest
from regard.errors import DataError, Error, writing

PAD, START, END, UNKNOWN = range(4)
SPECIALS = ("<pad>", "<s>", "</s>", "<unk>")
MASK = "<mask>"  # where one is asked for, it comes behind all other tokens: their ids do not depend on it
NAMES = {  # what the special tokens of the world's tokenizers are called, by what they are for
    "pad": ("<pad>", "[PAD]", "<|pad|>"),
    "start": ("<s>", "[CLS]", "<cls>", "<bos>", "<|startoftext|>", "<|begin_of_text|>"),
    "end": ("</s>", "[SEP]", "<sep>", "<eos>", "<|endoftext|>", "<|end_of_text|>"),
    "unknown": ("<unk>", "[UNK]"),
    "mask": ("<mask>", "[MASK]"),
}

MASKED = re.compile("|".join(re.escape(name) for name in NAMES["mask"]))  # as people write a mask in a text

Kind = Literal["bpe", "unigram", "wordpiece", "word", "char", "byte"]
Progress = Callable[[str], None]

LOWER = normalizers.Lowercase()
SMALLEST, LARGEST = 512, 32_000
TEXTS_AT_ONCE = 1_000
TEXTS_BETWEEN_REPORTS = 100_000


class Tokenizer:
    """Turns texts into ids and back. Made by `train`, `load` or `from_json`; equal where the JSON is equal.

    `start`, `end` and `pad` are the ids of special tokens; where one of them is missing, as GPT-2 has the end alone,
    the end stands in for it, and for the end the unknown token, where that is all there is, as in GPT. `opens` tells
    whether a text is read behind the start. `unknown` and `mask` may be None. `around` are the special tokens before
    and behind a text as encoders read it: the start and the end, or, where the file says so, none before it and both
    behind it, as XLNet has them.
    """

    def __init__(self, backend: tokenizers.Tokenizer) -> None:
        backend.encode_special_tokens = True  # the text "</s>" is text; the library does not keep this in the file
        self.backend = backend
        self._json = backend.to_str(pretty=False)
        data = json.loads(self._json)
        self.specials = frozenset(added["id"] for added in data["added_tokens"] if added["special"])
        found = {role: self._named(names) for role, names in NAMES.items()}
        found |= {role: backend.token_to_id(name) for role, name in closing(data["post_processor"]).items()}
        end, start, pad = found["end"], found["start"], found["pad"]
        if end is None and self.specials == {found["unknown"]}:
            end = found["unknown"]
        if end is None:
            raise DataError(f"no token ends a text: one of {', '.join(NAMES['end'])} must be there")
        self.end, self.opens = end, start is not None
        self.start, self.pad = end if start is None else start, end if pad is None else pad
        self.unknown, self.mask = found["unknown"], found["mask"]
        self.closes = bool(closing(data["post_processor"]))
        self.around = ([], [self.end, self.start]) if self.closes else ([self.start], [self.end])
        decoder = json.dumps(data["decoder"], separators=(",", ":"))
        self._bytes, self._spaced = '"type":"ByteLevel"' in decoder, '"type":"Metaspace"' in decoder

    def _named(self, names: Sequence[str]) -> int | None:
        ids = (self.backend.token_to_id(name) for name in names)
        return next((i for i in ids if i is not None), None)

    @classmethod
    def train(
        cls,
        texts: Iterable[str],
        kind: Kind = "bpe",
        size: int | None = None,
        progress: Progress | None = None,
        lower: bool = False,
        mask: bool = False,
        closes: bool = False,
    ) -> Tokenizer:
        """Learn a tokenizer of at most `size` tokens, specials included; without a size, `suited` chooses one. A
        `mask` is one token more, for models that learn to fill in what is hidden.

        Texts may be read several times: a one-time iterator is kept in memory, so give a list, a file or anything that
        can be iterated again. With `lower` it reads all texts in lower case, and gives them back so. Where it `closes`
        texts, encoders read them before the end and the start instead of between the start and the end.
        """
        if kind not in _TRAINERS:
            raise Error(f"unknown kind of tokenizer {kind!r}: {nearest(str(kind), _TRAINERS)}")
        if size is not None and size <= len(SPECIALS):
            raise Error(f"a vocabulary of {size} is not allowed; it takes more than {len(SPECIALS)} tokens")
        again = list(texts) if iter(texts) is texts else texts
        backend = _TRAINERS[kind](_Lower(again) if lower else again, size, progress or _silent)
        backend.add_special_tokens([*SPECIALS, MASK] if mask else list(SPECIALS))
        if lower:
            backend.normalizer = LOWER
        if closes:
            backend.post_processor = closing_template(SPECIALS[START], SPECIALS[END], START, END)
        return cls(backend)

    @property
    def kind(self) -> Kind:
        """The kind by which it was trained, as the file shows it."""
        data = json.loads(self._json)
        model = data["model"]["type"]
        if model == "BPE" and not data["model"]["merges"]:
            return "char" if data["pre_tokenizer"] is None else "byte"
        return _KINDS[model]

    @property
    def vocabulary(self) -> int:
        """The number of ids, specials included."""
        return self.backend.get_vocab_size()

    @property
    def fingerprint(self) -> str:
        """A short stable hash: tokens on disk say with which tokenizer they were made."""
        return hashlib.sha256(self._json.encode()).hexdigest()[:16]

    def encode(self, texts: Sequence[str]) -> list[list[int]]:
        """The ids of each text; no special tokens are added."""
        try:
            found = self.backend.encode_batch_fast(list(texts), add_special_tokens=False)
        except TypeError:
            refuse_halves(texts)
            raise
        return [encoding.ids for encoding in found]

    def framed(self, ids: Iterable[int]) -> NDArray[np.int64]:
        """Between the start and the end, or before both, as encoders read a text."""
        before, behind = self.around
        return np.array([*before, *ids, *behind])

    def paired(
        self, first: Iterable[int], second: Iterable[int], segmented: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Two texts as an encoder reads them, and the segment of each token.

        `[CLS] a [SEP] b [SEP]`, where the second and its end are segment 1. A model without segments has all 0, and two
        ends between the texts, as RoBERTa does, unless the file has one, as DistilBERT's. Where it closes texts: `a
        <sep> b <sep> <cls>`, where the last is a segment of its own, as XLNet has it.
        """
        before, behind = self.around
        ahead, rest = [*before, *first, self.end], [*self.between(segmented), *second, self.end]
        closing = behind[1:]
        segments = np.repeat([0, int(segmented), 2 * int(segmented)], [len(ahead), len(rest), len(closing)])
        return np.array([*ahead, *rest, *closing]), segments

    def between(self, segmented: bool) -> list[int]:
        """Ends between two texts beside that of the first: as many as the file says, if it frames texts at all."""
        single, pair = (self.backend.num_special_tokens_to_add(both) for both in (False, True))
        framed = single == len(self.around[0]) + len(self.around[1])
        return [self.end] * (pair - single - 1 if framed else int(not segmented))

    def decode(self, ids: Sequence[int]) -> str:
        """The text of these ids; special tokens are dropped."""
        return self.backend.decode([int(i) for i in ids], skip_special_tokens=True)

    def decode_batch(self, rows: Sequence[Sequence[int]]) -> list[str]:
        return self.backend.decode_batch([[int(i) for i in row] for row in rows], skip_special_tokens=True)

    def pieces(self, text: str) -> list[tuple[int, int, int]]:
        """(id, start, end) of every token, in characters of the text; parts of one character share its place."""
        try:
            encoding = self.backend.encode(text, add_special_tokens=False)
        except TypeError:
            refuse_halves([text])
            raise
        return [(i, start, end) for i, (start, end) in zip(encoding.ids, encoding.offsets, strict=True)]

    def masked(self, text: str) -> list[tuple[int, int, int]]:
        """As `pieces`, of a text in which masks are written [MASK] or <mask>: each is one piece, the mask."""
        if self.mask is None:
            raise Error("the tokenizer has no mask token (<mask> or [MASK]), so no word can be masked")
        spaced = self.kind in ("char", "byte")  # else the space before a word belongs to the piece that is sought
        found: list[tuple[int, int, int]] = []
        at = 0
        for hidden in MASKED.finditer(text):
            before = text[at : hidden.start()]
            found += [(i, at + start, at + end) for i, start, end in self.pieces(before if spaced else before.rstrip())]
            found.append((self.mask, *hidden.span()))
            at = hidden.end()
        return found + [(i, at + start, at + end) for i, start, end in self.pieces(text[at:])]

    def halves(self) -> NDArray[np.int64]:
        """(V, 2): the two pieces that each piece of BPE was merged of, -1 for one that was not merged."""
        model = json.loads(self._json)["model"]
        if model["type"] != "BPE":
            raise Error(f"a {self.kind} tokenizer merges no pieces; splitting them takes bpe")
        table = np.full((self.vocabulary, 2), -1, dtype=np.int64)
        for left, right in model["merges"]:
            ids = model["vocab"]
            table[ids[left + right]] = ids[left], ids[right]
        return table

    def token(self, i: int) -> str:
        r"""The piece as a person reads it; bytes that are no whole character are written \xc3."""
        piece = self.backend.id_to_token(i) if i >= 0 else None
        if piece is None:
            raise ValueError(f"token {i} is not in the vocabulary of {self.vocabulary}")
        if i in self.specials or not self._bytes:
            return piece.replace("▁", " ") if self._spaced else piece
        return bytes(_BYTES[letter] for letter in piece).decode("utf-8", errors="backslashreplace")

    def to_json(self) -> str:
        return self._json

    @classmethod
    def from_json(cls, text: str) -> Tokenizer:
        try:
            backend = tokenizers.Tokenizer.from_str(text)
        except Exception as error:  # the library raises bare exceptions
            raise DataError(f"not a tokenizer ({error})") from None
        return cls(backend)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write beside and rename, so that a crash leaves the old file or the new one."""
        path = Path(path)
        beside = path.with_name(f"{path.name}.{os.getpid()}.part")
        with writing(path):
            try:
                beside.write_text(self._json, encoding="utf-8")
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        try:
            return cls.from_json(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise DataError(f"{path}: the tokenizer cannot be read ({error.strerror})") from None
        except ValueError as error:
            raise DataError(f"{path}: {error}; copy it again or train it anew") from None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self._json == other._json

    def __hash__(self) -> int:
        return hash(self._json)

    def __repr__(self) -> str:
        return f"Tokenizer({self.kind}, {self.vocabulary:,} tokens)"


def refuse_halves(texts: Iterable[str]) -> None:
    """Raise `DataError` for a text with a lone surrogate, which Python makes of bytes that are not UTF-8."""
    for text in texts:
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            raise DataError(f"{text[:40]!a} is not valid UTF-8; write it so, or give it as a file after <") from None


def closing_template(start: str, end: str, start_id: int, end_id: int) -> processors.PostProcessor:
    """What says that texts are read before the end and the start, in XLNet's way: `a <sep> b <sep> <cls>`."""
    return processors.TemplateProcessing(
        single=f"$A:0 {end}:0 {start}:2",
        pair=f"$A:0 {end}:0 $B:1 {end}:1 {start}:2",
        special_tokens=[(start, start_id), (end, end_id)],
    )


def closing(processor: Any) -> dict[str, str]:
    """The names of the end and the start where a file says that texts are read before both; else none."""
    single = processor.get("single") if isinstance(processor, dict) else None
    if not isinstance(single, list) or len(single) != 3 or "Sequence" not in single[0]:
        return {}
    end, start = (piece.get("SpecialToken", {}).get("id") for piece in single[1:])
    return {"end": end, "start": start} if end in NAMES["end"] and start in NAMES["start"] else {}


class _Lower:
    """Texts in lower case; they can be iterated again and again."""

    def __init__(self, texts: Iterable[str]) -> None:
        self.texts = texts

    def __iter__(self) -> Iterator[str]:
        return map(LOWER.normalize_str, self.texts)


def suited(words: int) -> int:
    """A vocabulary size for subwords from a corpus of `words` words, all languages together.

    Grows with the power 2/3 of the corpus, so that a typical subword is seen often enough to be learnt: 4,000 for ten
    thousand sentence pairs (240,000 words), 8,000 for thirty thousand, 32,000 from some two hundred thousand on. A
    multiple of 64, which suits matrix multiplication.
    """
    size = round(1.04 * math.pow(words, 2 / 3) / 64) * 64
    return min(max(size, SMALLEST), LARGEST)


# --- training, one function a kind ------------------------------------------------------------------------------------


def _bpe(texts: Iterable[str], size: int | None, say: Progress) -> tokenizers.Tokenizer:
    backend = _byte_level(models.BPE())
    trainer = trainers.BpeTrainer(
        vocab_size=size or _chosen(texts, say),
        min_frequency=2,
        special_tokens=list(SPECIALS),
        initial_alphabet=list(_BYTES),
        show_progress=False,
    )
    backend.train_from_iterator(_chunks(texts, say, "learning subwords"), trainer)
    return backend


def _unigram(texts: Iterable[str], size: int | None, say: Progress) -> tokenizers.Tokenizer:
    """Unigram over bytes. The trainer adds up in the order of a hash table and of threads, so the last digits of a
    score vary, and unseen bytes are given small steps above the lowest score in any order: both are rounded away."""
    least = len(SPECIALS) + len(_BYTES)
    if size is not None and size < least:
        raise DataError(f"pieces {size}: a unigram tokenizer takes at least {least}, the bytes among them")
    backend = _byte_level(models.Unigram())
    trainer = trainers.UnigramTrainer(
        vocab_size=size or _chosen(texts, say),
        special_tokens=list(SPECIALS),
        unk_token=SPECIALS[UNKNOWN],
        initial_alphabet=list(_BYTES),
        show_progress=False,
    )
    backend.train_from_iterator(_chunks(texts, say, "learning subwords"), trainer)
    scores = json.loads(backend.to_str())["model"]["vocab"][len(SPECIALS) :]
    lowest = min(score for _, score in scores)
    steps = lowest + 1e-4 * (len(_BYTES) + 1)
    even = [(piece, round(lowest if len(piece) == 1 and score < steps else score, 4)) for piece, score in scores]
    even.sort(key=lambda entry: (-entry[1], entry[0]))
    return _byte_level(models.Unigram([(token, 0.0) for token in SPECIALS] + even, UNKNOWN, False))


def _wordpiece(texts: Iterable[str], size: int | None, say: Progress) -> tokenizers.Tokenizer:
    """WordPiece. Left alone, the trainer numbers the continuing letters ("##a") in the order of a hash table, and ties
    between merges then fall differently each time. So a first pass finds the letters, and the second is given them in
    order, in front of everything it learns."""
    size = size or _chosen(texts, say)
    letters = _learn_wordpiece(_chunks(texts, say, "reading letters"), 0, list(SPECIALS))
    order = sorted(set(letters) - set(SPECIALS), key=lambda letter: (letter.startswith("##"), letter))
    vocabulary = _learn_wordpiece(_chunks(texts, say, "learning subwords"), size, [*SPECIALS, *order])
    return _words(models.WordPiece(vocab=vocabulary, unk_token=SPECIALS[UNKNOWN]))


def _learn_wordpiece(texts: Iterator[list[str]], size: int, first: list[str]) -> dict[str, int]:
    backend = _words(models.WordPiece(unk_token=SPECIALS[UNKNOWN]))
    trainer = trainers.WordPieceTrainer(vocab_size=size, min_frequency=2, special_tokens=first, show_progress=False)
    backend.train_from_iterator(texts, trainer)
    return backend.get_vocab()


def _word(texts: Iterable[str], size: int | None, say: Progress) -> tokenizers.Tokenizer:
    """Whole words, the most frequent first; by default those seen at least twice, so that the unknown is learnt."""
    split = pre_tokenizers.BertPreTokenizer().pre_tokenize_str
    counts = Counter(
        word for chunk in _chunks(texts, say, "counting words") for text in chunk for word, _ in split(text)
    )
    vocabulary = _ranked(counts, size or LARGEST, least=1 if size else 2)
    return _words(models.WordLevel(vocab=vocabulary, unk_token=SPECIALS[UNKNOWN]))


def _char(texts: Iterable[str], size: int | None, say: Progress) -> tokenizers.Tokenizer:
    counts: Counter[str] = Counter()
    for chunk in _chunks(texts, say, "counting characters"):
        counts.update("".join(chunk))
    vocabulary = _ranked(counts, size or LARGEST, least=1)
    backend = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token=SPECIALS[UNKNOWN]))
    backend.decoder = decoders.Fuse()
    return backend


def _byte(texts: Iterable[str], size: int | None, say: Progress) -> tokenizers.Tokenizer:
    """Every byte is a token: its id is the byte and four. Nothing is learnt."""
    whole = len(SPECIALS) + len(_BYTES)
    if size not in (None, whole):
        raise Error(f"a byte tokenizer has {whole} tokens, not {size}; leave the size out")
    tokens = [*SPECIALS, *sorted(_BYTES, key=lambda letter: _BYTES[letter])]
    vocabulary = {token: i for i, token in enumerate(tokens)}
    return _byte_level(models.BPE(vocab=vocabulary, merges=[]), use_regex=False)


_TRAINERS: dict[Kind, Callable[[Iterable[str], int | None, Progress], tokenizers.Tokenizer]] = {
    "bpe": _bpe,
    "unigram": _unigram,
    "wordpiece": _wordpiece,
    "word": _word,
    "char": _char,
    "byte": _byte,
}
_KINDS: dict[str, Kind] = {"BPE": "bpe", "Unigram": "unigram", "WordPiece": "wordpiece", "WordLevel": "word"}
assert tuple(_TRAINERS) == get_args(Kind)


# --- what the kinds share ---------------------------------------------------------------------------------------------


def _byte_level(model: models.Model, use_regex: bool = True) -> tokenizers.Tokenizer:
    """Words with the space before them, as bytes: no space, mark or emoji is lost. The pattern parts letters from
    signs, so that no learnt piece can be spelt like a special token."""
    backend = tokenizers.Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=use_regex)
    backend.decoder = decoders.ByteLevel()
    return backend


def _words(model: models.Model) -> tokenizers.Tokenizer:
    """Words between white space, every punctuation mark a word of its own."""
    backend = tokenizers.Tokenizer(model)
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    return backend


def byte_letters() -> dict[str, int]:
    """The letter that stands for each byte in a byte-level vocabulary (GPT-2's table), as letter → byte."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    letters = {chr(byte): byte for byte in printable} | {chr(256 + n): byte for n, byte in enumerate(others)}
    return dict(sorted(letters.items()))


_BYTES = byte_letters()


def _ranked(counts: Counter[str], size: int, least: int) -> dict[str, int]:
    """Ids for the most frequent tokens after the specials; equally frequent ones in the order of the alphabet."""
    often = sorted((token for token, count in counts.items() if count >= least), key=lambda t: (-counts[t], t))
    return {token: i for i, token in enumerate(itertools.chain(SPECIALS, often[: size - len(SPECIALS)]))}


def _chosen(texts: Iterable[str], say: Progress) -> int:
    size = suited(sum(len(text.split()) for chunk in _chunks(texts, say, "counting words") for text in chunk))
    say(f"a vocabulary of about {size:,} tokens suits this corpus")
    return size


def _chunks(texts: Iterable[str], say: Progress, doing: str) -> Iterator[list[str]]:
    """Lists of texts, which the library takes faster than one at a time; says how far it is."""
    say(doing)
    seen = 0
    rest = iter(texts)
    while chunk := list(itertools.islice(rest, TEXTS_AT_ONCE)):
        yield chunk
        seen += len(chunk)
        if seen % TEXTS_BETWEEN_REPORTS == 0:
            say(f"{doing}: {seen:,} texts")


def _silent(message: str) -> None:
    """Shows no progress."""
