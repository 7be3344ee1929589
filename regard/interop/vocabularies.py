"""Foreign tokenizers as our `tokenizer.json`: theirs, byte-level BPE, WordPiece, SentencePiece, tiktoken's ranks.

What a special token is for is known by the name it bears (`regard.data.tokenizers.NAMES`).
"""

from __future__ import annotations

import base64
import binascii
import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tokenizers
from tokenizers import AddedToken, Regex, decoders, models, normalizers, pre_tokenizers, processors

from regard.config import nearest
from regard.data.tokenizers import NAMES, Tokenizer, byte_letters
from regard.errors import DataError
from regard.interop.sentencepiece import MODEL, sentencepiece

PAIRS = (("vocab.json", "merges.txt"), ("encoder.json", "vocab.bpe"))  # the names of byte-level BPE's two files
WORDS = "vocab.txt"
UNUSED = "<unused{}>"
EMPTY = 0.1  # the share of a table's rows that may have no piece: tables are padded to round numbers
LETTERS = {byte: letter for letter, byte in byte_letters().items()}


def read_tokenizer(folder: Path, size: int | None = None) -> Tokenizer:
    """The tokenizer of a folder, whatever its files; `size` is the vocabulary of the model that it belongs to."""
    about = read_about(folder)
    pair = next((pair for pair in PAIRS if all((folder / name).exists() for name in pair)), None)
    words = next((path for path in (folder / WORDS, *sorted(folder.glob(f"*-{WORDS}"))) if path.exists()), None)
    ranks = sorted(folder.glob("*.tiktoken"))
    if (folder / "tokenizer.json").exists():
        backend = read_backend(folder / "tokenizer.json")
    elif pair is not None:
        backend = byte_level(folder / pair[0], folder / pair[1], about)
    elif words is not None:
        backend = wordpiece(words, about)
    elif ranks:
        backend = tiktoken(ranks[0])
    elif (folder / MODEL).exists():
        backend, specials = sentencepiece(folder / MODEL, about)
        mark_special(backend, [*specials, *special_names(about)])
    elif (folder / "tokenizer.model").exists():
        raise DataError(
            f"{folder / 'tokenizer.model'} is SentencePiece's binary form, which is not read here; open the folder "
            "with transformers once and save its fast tokenizer: that writes a tokenizer.json"
        )
    else:
        raise DataError(
            f"{folder} has no tokenizer: it takes tokenizer.json, vocab.json with merges.txt, vocab.txt, "
            f"{MODEL} or a .tiktoken file"
        )
    return made(backend, str(folder), size)


def read_file(path: Path) -> tokenizers.Tokenizer:
    """A tokenizer that is one file, known by how it ends."""
    if path.suffix == ".tiktoken":
        return tiktoken(path)
    if path.suffix == ".json":
        return read_backend(path)
    if path.suffix == ".txt":
        return wordpiece(path, read_about(path.parent))
    raise DataError(
        f"{path} is none of the files that are read here: a folder of Hugging Face with config.json, "
        "safetensors of a reader of pictures, a checkpoint of llama2.c beside its tok*.bin, or a tokenizer (.tiktoken, "
        "tokenizer.json, vocab.txt)"
    )


def made(backend: tokenizers.Tokenizer, where: str, size: int | None = None) -> Tokenizer:
    """Ours, with a piece for every row of a model's table, for some have more rows than pieces."""
    backend.no_padding()
    backend.no_truncation()
    there = set(backend.get_vocab().values())
    rows = max(size or 0, max(there, default=-1) + 1)
    if size is not None and rows > size:
        raise DataError(f"{where}: its tokenizer has pieces up to id {rows - 1}, its model a table of {size}")
    empty = [i for i in range(rows) if i not in there]
    if size is not None and len(empty) > EMPTY * size:
        raise DataError(
            f"{where}: its tokenizer has {len(there):,} pieces, its model a table of {size:,} rows: they do not belong "
            "together; copy the tokenizer that the model was trained with"
        )
    if empty:
        backend = filled(backend, empty)
    try:
        return Tokenizer(backend)
    except DataError as error:
        raise DataError(f"{where}: {error}") from None


def filled(backend: tokenizers.Tokenizer, empty: Iterable[int]) -> tokenizers.Tokenizer:
    """With special tokens, which no text becomes, for ids that stand for nothing."""
    data = json.loads(backend.to_str())
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
    data["added_tokens"] += [{"id": i, "content": UNUSED.format(i), **plain} for i in empty]
    data["added_tokens"].sort(key=lambda token: token["id"])
    data["model"]["vocab"] = with_unused(data["model"]["vocab"], empty)
    return tokenizers.Tokenizer.from_str(json.dumps(data))


def with_unused(vocabulary: Any, empty: Iterable[int]) -> Any:
    """In the model's own list too, where it has one by id: the library numbers tokens that are not there anew."""
    if isinstance(vocabulary, dict):
        return vocabulary | {UNUSED.format(i): i for i in empty}
    return vocabulary


# --- what is said about a tokenizer beside it -------------------------------------------------------------------------


def read_about(folder: Path) -> dict[str, Any]:
    """`tokenizer_config.json` and `special_tokens_map.json` together, where they are there."""
    about: dict[str, Any] = {}
    for name in ("special_tokens_map.json", "tokenizer_config.json"):
        if (folder / name).exists():
            about |= read_object(folder / name)
    return about


def read_object(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = read_json(path, dict)
    return found


def read_json(path: Path, kind: type) -> Any:
    """What is there must be of this kind, a list or an object."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error})") from None
    except json.JSONDecodeError as error:
        raise DataError(f"{path}, line {error.lineno}: this is not JSON ({error.msg})") from None
    if not isinstance(data, kind):
        raise DataError(f"{path} holds {type(data).__name__} instead of {kind.__name__}")
    return data


def special_names(about: Mapping[str, Any]) -> list[str]:
    """The special tokens that a tokenizer's files name, and those that are called so everywhere."""
    given = [value for key, value in about.items() if key.endswith("_token") and value]
    named = [value["content"] if isinstance(value, dict) else value for value in given]
    return [name for name in dict.fromkeys([*named, *itertools.chain(*NAMES.values())]) if isinstance(name, str)]


def mark_special(backend: tokenizers.Tokenizer, names: Iterable[str]) -> None:
    """As special, those that are there; a mask takes the space before it along, as RoBERTa's does."""
    there = {name: i for name in names if (i := backend.token_to_id(name)) is not None}
    order = sorted(there, key=lambda name: there[name])
    backend.add_special_tokens(
        [AddedToken(name, lstrip=name == "<mask>", normalized=False, special=True) for name in order]
    )


def frame(backend: tokenizers.Tokenizer, start: str, end: str, between: str) -> None:
    """Texts are read between a start and an end by those who ask the library for it."""
    ids = {name: backend.token_to_id(name) for name in (start, end)}
    if None in ids.values():
        return
    pair = f"{start} $A {between} $B {end}" if start != "[CLS]" else f"{start} $A {between} $B:1 {end}:1"
    backend.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}", pair=pair, special_tokens=list(ids.items())
    )


# --- files of each kind -----------------------------------------------------------------------------------------------


def read_backend(path: Path) -> tokenizers.Tokenizer:
    try:
        return tokenizers.Tokenizer.from_str(path.read_text(encoding="utf-8"))
    except Exception as error:  # the library raises bare exceptions
        raise DataError(f"{path}: not a tokenizer ({error}); copy it again") from None


def byte_level(vocabulary: Path, merges: Path, about: Mapping[str, Any]) -> tokenizers.Tokenizer:
    """GPT-2's and RoBERTa's two files: pieces with their ids, and which two are merged, the first first."""
    ids = read_object(vocabulary)
    if any(piece.endswith("</w>") for piece in ids):
        raise DataError(f"{vocabulary} has pieces of GPT, which are no bytes: save its tokenizer.json beside it")
    pairs = list(read_merges(merges, ids))
    try:
        backend = tokenizers.Tokenizer(models.BPE(vocab=ids, merges=pairs))
    except Exception as error:  # the library raises bare exceptions
        raise DataError(f"{vocabulary} and {merges.name} do not belong together ({error})") from None
    spaced = bool(about.get("add_prefix_space", False))
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=spaced, use_regex=True)
    backend.decoder = decoders.ByteLevel()
    mark_special(backend, special_names(about))
    frame(backend, "<s>", "</s>", "</s> </s>")
    return backend


def read_merges(path: Path, ids: Mapping[str, int]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(read_lines(path), 1):
        if not line or (number == 1 and line.startswith("#version")):
            continue
        left, _, right = line.partition(" ")
        if left not in ids or right not in ids or left + right not in ids:
            raise DataError(f"{path}, line {number}: {line!r} merges pieces that are not in the vocabulary beside it")
        yield left, right


def read_lines(path: Path) -> list[str]:
    try:
        return path.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path} cannot be read ({error})") from None


def wordpiece(path: Path, about: Mapping[str, Any]) -> tokenizers.Tokenizer:
    """BERT's list of pieces, one a line; its place is its id. Where nothing says whether texts are read in lower case,
    they are if no piece has a capital letter."""
    lines = read_lines(path)
    pieces = [line.rstrip("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
    ids = {piece: i for i, piece in enumerate(pieces)}
    if "[UNK]" not in ids:
        raise DataError(f"{path} has no piece [UNK]: it is no list of WordPieces")
    backend = tokenizers.Tokenizer(models.WordPiece(vocab=ids, unk_token="[UNK]"))
    capitals = any(piece != piece.lower() for piece in pieces if not piece.startswith("["))
    backend.normalizer = normalizers.BertNormalizer(lowercase=bool(about.get("do_lower_case", not capitals)))
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.decoder = decoders.WordPiece(prefix="##", cleanup=True)
    mark_special(backend, special_names(about))
    frame(backend, "[CLS]", "[SEP]", "[SEP]")
    return backend


# --- tiktoken ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Encoding:
    """What tiktoken keeps beside a file of ranks: how words are cut, and the special tokens."""

    pattern: str
    specials: Mapping[str, int]


END = "<|endoftext|>"
ENDINGS = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"
CAPITALS, SMALLS = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
GPT2_WORDS = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
CL100K_WORDS = ENDINGS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
O200K_WORDS = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{CAPITALS}*{SMALLS}+{ENDINGS}?|[^\r\n\p{{L}}\p{{N}}]?{CAPITALS}+{SMALLS}*{ENDINGS}?"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
FIM = {"<|fim_prefix|>": 100258, "<|fim_middle|>": 100259, "<|fim_suffix|>": 100260}
ENCODINGS = {
    "r50k_base": Encoding(GPT2_WORDS, {END: 50256}),
    "p50k_base": Encoding(GPT2_WORDS, {END: 50256}),
    "cl100k_base": Encoding(CL100K_WORDS, {END: 100257, **FIM, "<|endofprompt|>": 100276}),
    "o200k_base": Encoding(O200K_WORDS, {END: 199999, "<|endofprompt|>": 200018}),
}


def tiktoken(path: Path) -> tokenizers.Tokenizer:
    """A file of ranks: each line a piece in base64 and its rank, which is its id and says how early it is merged."""
    if path.stem not in ENCODINGS:
        raise DataError(
            f"{path}: how {path.stem} cuts words is not in the file, and not known: {nearest(path.stem, ENCODINGS)}"
        )
    encoding = ENCODINGS[path.stem]
    ranks = dict(read_ranks(path))
    backend = by_ranks({"".join(LETTERS[byte] for byte in piece): rank for piece, rank in ranks.items()}, encoding)
    backend.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(encoding.pattern), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    backend.decoder = decoders.ByteLevel()
    return backend


def by_ranks(ranks: Mapping[str, int], encoding: Encoding) -> tokenizers.Tokenizer:
    """BPE where any two neighbours merge that make a piece, the piece of the lowest rank first."""
    merges = [pair for piece in sorted(ranks, key=lambda piece: ranks[piece]) for pair in splits(piece, ranks)]
    taken = set(ranks.values()) | set(encoding.specials.values())
    unused = {UNUSED.format(i): i for i in range(max(taken)) if i not in taken}
    vocabulary = {**ranks, **encoding.specials, **unused}
    backend = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=merges, ignore_merges=True))
    mark_special(backend, [*encoding.specials, *unused])
    return backend


def splits(piece: str, known: Mapping[str, int]) -> list[tuple[str, str]]:
    """All ways to make a piece of two."""
    ways = ((piece[:i], piece[i:]) for i in range(1, len(piece)))
    return [(left, right) for left, right in ways if left in known and right in known]


def read_ranks(path: Path) -> Iterator[tuple[bytes, int]]:
    for number, line in enumerate(read_lines(path), 1):
        if not line:
            continue
        piece, _, rank = line.partition(" ")
        try:
            yield base64.b64decode(piece, validate=True), int(rank)
        except (binascii.Error, ValueError):
            raise DataError(f"{path}, line {number}: {line[:60]!r} is no piece in base64 with its rank") from None
