"""Tokenizers from elsewhere give the ids that they give at home."""

from __future__ import annotations

import base64
import json
import os
from pathlib import Path

import pytest

from regard.data.tokenizers import Tokenizer
from regard.interop import import_source
from regard.interop.vocabularies import read_tokenizer

transformers = pytest.importorskip("transformers")

from tests.interop import foreign  # noqa: E402

TEXTS = [
    "Once upon a time there was a little girl.",
    "  two  spaces, a tab\tand\n\nlines  ",
    "She'll DON'T we're 12345 3.14",
    "naïve café 日本 🙂",
    "",
    "<s> </s> <|endoftext|> [SEP]",
]
VOCABULARIES = Path(os.environ.get("REGARD_DATA", "")) / "vocab"
real = pytest.mark.skipif(
    "REGARD_DATA" not in os.environ or not VOCABULARIES.exists(), reason="REGARD_DATA has no folder vocab"
)


def plain(theirs: object, text: str) -> list[int]:
    ids: list[int] = theirs(text, add_special_tokens=False).input_ids  # type: ignore[operator]
    return ids


# --- byte-level BPE ---------------------------------------------------------------------------------------------------


def test_vocab_json_and_merges_txt_give_the_ids_of_gpt2(tmp_path: Path) -> None:
    foreign.byte_level_files(tmp_path, "<|endoftext|>")
    ours, theirs = read_tokenizer(tmp_path), transformers.GPT2Tokenizer.from_pretrained(tmp_path)
    for text in TEXTS[:-1]:  # in the last, theirs takes the special token for one
        assert ours.encode([text])[0] == plain(theirs, text)
        assert ours.decode(ours.encode([text])[0]) == text
    assert (ours.end, ours.opens) == (0, False)


def test_encoder_json_and_vocab_bpe_are_the_same_files(tmp_path: Path) -> None:
    foreign.byte_level_files(tmp_path / "one", "<|endoftext|>")
    (tmp_path / "other").mkdir()
    for old, new in (("vocab.json", "encoder.json"), ("merges.txt", "vocab.bpe")):
        (tmp_path / "other" / new).write_bytes((tmp_path / "one" / old).read_bytes())
    assert read_tokenizer(tmp_path / "one") == read_tokenizer(tmp_path / "other")


def test_roberta_frames_and_masks_as_transformers_does(tmp_path: Path) -> None:
    foreign.byte_level_files(tmp_path, "<s>", "<pad>", "</s>", "<unk>", "<mask>")
    ours, theirs = read_tokenizer(tmp_path), transformers.RobertaTokenizer.from_pretrained(tmp_path)
    for text in TEXTS[:-1]:
        assert ours.framed(ours.encode([text])[0]).tolist() == theirs(text).input_ids
        assert ours.backend.encode(text).ids == theirs(text).input_ids
    pair = ours.backend.encode("A girl", "a ball").ids
    assert pair == theirs("A girl", "a ball").input_ids
    assert (ours.start, ours.pad, ours.end, ours.unknown, ours.mask) == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("line", "message"),
    [("Ġ nothing-here", "merges.txt, line 9: 'Ġ nothing-here' merges pieces that are not in the vocabulary")],
)
def test_a_merge_of_unknown_pieces_is_named_with_its_line(line: str, message: str, tmp_path: Path) -> None:
    foreign.byte_level_files(tmp_path, "<|endoftext|>")
    lines = (tmp_path / "merges.txt").read_text(encoding="utf-8").split("\n")
    lines[8] = line
    (tmp_path / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_tokenizer(tmp_path)


@real
def test_gpt2s_own_files_give_its_known_ids() -> None:
    ours = read_tokenizer(VOCABULARIES)
    assert ours.vocabulary == 50_257
    assert ours.encode(["Once upon a time", "Hello world!"]) == [[7454, 2402, 257, 640], [15496, 995, 0]]
    assert (ours.end, ours.token(50_256)) == (50_256, "<|endoftext|>")


# --- WordPiece --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lower", [True, False])
def test_vocab_txt_gives_the_ids_of_bert(lower: bool, tmp_path: Path) -> None:
    foreign.wordpiece_file(tmp_path, do_lower_case=lower)
    ours, theirs = read_tokenizer(tmp_path), transformers.BertTokenizer.from_pretrained(tmp_path)
    for text in ["The little girls had a red ball!", "Playing, plays", "日 é The", ""]:
        assert ours.framed(ours.encode([text])[0]).tolist() == theirs(text).input_ids
        assert ours.backend.encode(text).ids == theirs(text).input_ids
    pair = ours.backend.encode("the girl", "a ball")
    assert pair.ids == theirs("the girl", "a ball").input_ids
    assert pair.type_ids == theirs("the girl", "a ball").token_type_ids
    assert (ours.pad, ours.unknown, ours.start, ours.end, ours.mask) == (0, 1, 2, 3, 4)


def test_a_list_without_capitals_is_read_in_lower_case_unless_told(tmp_path: Path) -> None:
    foreign.wordpiece_file(tmp_path)
    ours = read_tokenizer(tmp_path)
    assert ours.encode(["THE Girl"]) == ours.encode(["the girl"])
    (tmp_path / "vocab.txt").write_text("\n".join([*foreign.PIECES, "The"]) + "\n")
    assert read_tokenizer(tmp_path).encode(["The the"]) == [[len(foreign.PIECES), foreign.PIECES.index("the")]]


@real
def test_berts_own_list_gives_its_known_ids(tmp_path: Path) -> None:
    import_source(VOCABULARIES / "bert-base-uncased-vocab.txt", tmp_path / "run")
    ours = Tokenizer.load(tmp_path / "run" / "tokenizer.json")
    assert ours.vocabulary == 30_522
    assert ours.encode(["Hello World, unaffable"]) == [[7592, 2088, 1010, 14477, 20961, 3468]]
    assert (ours.start, ours.end) == (101, 102)


# --- tiktoken ---------------------------------------------------------------------------------------------------------

EXAMPLES = {  # as its makers publish them
    "Once upon a time": [12805, 5304, 264, 892],
    "hello world": [15339, 1917],
    "tiktoken is great!": [83, 1609, 5963, 374, 2294, 0],
}


@pytest.fixture(scope="module")
def cl100k(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    run = tmp_path_factory.mktemp("cl100k") / "run"
    import_source(VOCABULARIES / "cl100k_base.tiktoken", run)
    return Tokenizer.load(run / "tokenizer.json")


@real
def test_cl100k_gives_its_known_ids(cl100k: Tokenizer) -> None:
    assert cl100k.encode(list(EXAMPLES)) == list(EXAMPLES.values())
    assert (cl100k.vocabulary, cl100k.end, cl100k.opens) == (100_277, 100_257, False)
    assert [cl100k.decode(ids) for ids in cl100k.encode(TEXTS)] == TEXTS
    assert cl100k.token(100_256) == "<unused100256>"


@real
def test_cl100k_equals_tiktoken(cl100k: Tokenizer) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    from regard.interop.vocabularies import CL100K_WORDS, read_ranks

    ranks = dict(read_ranks(VOCABULARIES / "cl100k_base.tiktoken"))
    theirs = tiktoken.Encoding("cl100k", pat_str=CL100K_WORDS, mergeable_ranks=ranks, special_tokens={})
    for text in [*TEXTS, *(letter * count for letter in "a \n-" for count in range(40))]:
        assert cl100k.encode([text])[0] == theirs.encode_ordinary(text)


def small_ranks(folder: Path, name: str = "r50k_base") -> Path:
    """Single bytes, and a few pieces of them: "ab" comes before "bc", and "abc" can be made in two ways."""
    pieces = [bytes([byte]) for byte in range(256)] + [b"ab", b"bc", b"abc", b" a", b"aa", b"aaa"]
    lines = [f"{base64.b64encode(piece).decode()} {rank}" for rank, piece in enumerate(pieces)]
    path = folder / f"{name}.tiktoken"
    path.write_text("\n".join(lines) + "\n")
    return path


def test_the_lowest_rank_merges_first_wherever_it_stands(tmp_path: Path) -> None:
    import_source(small_ranks(tmp_path), tmp_path / "run")
    ours = Tokenizer.load(tmp_path / "run" / "tokenizer.json")
    rows = ours.encode(["abc", "bc", "abbc", "aaaa", " abc", "xbca"])
    assert rows == [[258], [257], [256, 257], [260, 260], [32, 258], [120, 257, 97]]
    assert ours.vocabulary == 50_257
    assert ours.end == 50_256


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("r51k_base", "", "how r51k_base cuts words is not in the file, and not known: did you mean 'r50k_base'"),
        ("r50k_base", "no base64 at all", "line 263: 'no base64 at all' is no piece in base64 with its rank"),
        ("r50k_base", "YWFi", "line 263: 'YWFi' is no piece"),
    ],
)
def test_a_bad_file_of_ranks_is_named(name: str, line: str, message: str, tmp_path: Path) -> None:
    path = small_ranks(tmp_path, name)
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(ValueError, match=message):
        import_source(path, tmp_path / "run")


# --- files of the library ---------------------------------------------------------------------------------------------


def test_what_a_tokenizer_json_pads_and_cuts_is_not_done_here(tmp_path: Path) -> None:
    foreign.wordpiece_file(tmp_path / "in", do_lower_case=True)
    backend = read_tokenizer(tmp_path / "in").backend
    expected = backend.encode("the little girl had a red ball", add_special_tokens=False).ids
    backend.enable_padding(length=20)
    backend.enable_truncation(4)
    backend.save(str(tmp_path / "in" / "tokenizer.json"))
    assert read_tokenizer(tmp_path / "in").encode(["the little girl had a red ball"])[0] == expected


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "has no tokenizer: it takes tokenizer.json, vocab.json with merges.txt"),
        ({"tokenizer.model": "x"}, "SentencePiece's binary form, .*: that writes a tokenizer.json"),
        ({"tokenizer.json": "{"}, "tokenizer.json: not a tokenizer"),
        ({"vocab.json": "[]", "merges.txt": ""}, r"vocab.json holds list instead of dict"),
        ({"vocab.json": "{", "merges.txt": ""}, r"vocab.json, line 1: this is not JSON"),
        ({"vocab.json": json.dumps({"a": 0}), "merges.txt": ""}, "no token ends a text: one of </s>"),
        ({"vocab.txt": "the\nball\n"}, r"has no piece \[UNK\]"),
        ({"notes.md": "x"}, "has no tokenizer"),
    ],
)
def test_a_folder_without_a_tokenizer_says_what_it_takes(files: dict[str, str], message: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name, text in files.items():
        (tmp_path / "in" / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        import_source(tmp_path / "in", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_file_of_another_kind_says_what_is_read(tmp_path: Path) -> None:
    (tmp_path / "model.onnx").touch()
    with pytest.raises(ValueError, match=r"model.onnx is none of the files that are read here"):
        import_source(tmp_path / "model.onnx", tmp_path / "run")
    with pytest.raises(ValueError, match="there is no file or folder"):
        import_source(tmp_path / "nowhere", tmp_path / "run")


def test_pieces_of_gpt_are_not_taken_for_bytes(tmp_path: Path) -> None:
    (tmp_path / "vocab.json").write_text(json.dumps({"<unk>": 0, "a": 1, "a</w>": 2}))
    (tmp_path / "merges.txt").write_text("#version: 0.2\n")
    with pytest.raises(
        ValueError, match=r"vocab\.json has pieces of GPT, which are no bytes: save its tokenizer\.json"
    ):
        read_tokenizer(tmp_path)
