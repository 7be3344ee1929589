"""Tagged sentences: read strictly, each mistake named by file and line; texts come apart into the words of the gold."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from regard.data.catalogue import open_data
from regard.data.tagged import Tagged, open_tagged, words_in
from regard.errors import DataError
from tests.data.written import complaint

SENTENCES = [
    Tagged(("The", "cat", "sleeps", "."), ("DET", "NOUN", "VERB", "PUNCT")),
    Tagged(("L'", "été", "!"), ("DET", "NOUN", "PUNCT")),
]
LINES = "The\tDET\ncat\tNOUN\nsleeps\tVERB\n.\tPUNCT\n\n\nL'\tDET\nété\tNOUN\n!\tPUNCT\n"
RECORDS = "".join(json.dumps({"words": one.words, "tags": one.tags}) + "\n" for one in SENTENCES)


@pytest.mark.parametrize(("name", "text"), [("a.tsv", LINES), ("a.conll", LINES.rstrip()), ("a.jsonl", RECORDS)])
@pytest.mark.parametrize("zipped", [False, True])
def test_every_form_gives_the_same_sentences_as_often_as_one_asks(
    tmp_path: Path, name: str, text: str, zipped: bool
) -> None:
    path = tmp_path / (f"{name}.gz" if zipped else name)
    path.write_bytes(gzip.compress(text.encode()) if zipped else text.encode())
    sentences = open_tagged(path)
    assert list(sentences) == list(sentences) == SENTENCES


def test_the_lists_of_jsonl_may_have_other_names(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"tokens": ["a"], "pos": ["X"], "more": 1}\n')
    assert list(open_tagged(path, ("tokens", "pos"))) == [Tagged(("a",), ("X",))]
    with pytest.raises(DataError, match=r"a\.jsonl, line 1: no column 'words'"):
        list(open_tagged(path))


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.tsv", "The\tDET\ncat NOUN\n", "a.tsv, line 2: 1 cells between tabs; the first line has 2"),
        ("a.tsv", "The\n", "a.tsv, line 1: 1 cells between spaces; it takes a word and its tag"),
        ("a.conll", "EU NNP B-ORG\nrejects VBZ\n", "a.conll, line 2: 2 cells between spaces; the first line has 3"),
        ("a.tsv", "The\tDET\n\ncat\t\n", "a.tsv, line 3: the tag is empty"),
        ("a.tsv", "\tDET\n", "a.tsv, line 1: the word is empty"),
        ("a.tsv", "\n\n", "a.tsv: no tagged sentence"),
        ("a.jsonl", "\n[1]\n", "a.jsonl, line 2: not a JSON object"),
        ("a.jsonl", '{"words": ["a", "b"], "tags": ["X"]}', "line 1: 2 words and 1 tags; every word takes one tag"),
        ("a.jsonl", '{"words": "a b", "tags": ["X"]}', "line 1: column 'words' is no list of texts"),
        ("a.jsonl", '{"words": ["a", 2], "tags": ["X", "Y"]}', "line 1: column 'words' is no list of texts"),
        ("a.jsonl", '{"words": ["a", " "], "tags": ["X", "Y"]}', "line 1: entry 2 of 'words' is empty"),
        ("a.jsonl", '{"words": [], "tags": []}', "line 1: a sentence without words"),
        ("a.jsonl", '{"words": ["\\ud800"], "tags": ["X"]}', "line 1: entry 1 of 'words' holds half of a surrogate"),
    ],
)
def test_a_mistake_is_named_by_file_and_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    (tmp_path / name).write_text(text)
    assert message in complaint(open_tagged, tmp_path / name)


def test_a_missing_file_and_columns_of_lines_are_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"none\.tsv does not exist"):
        open_tagged(tmp_path / "none.tsv")
    (tmp_path / "a.tsv").write_text(LINES)
    with pytest.raises(DataError, match="have no names; give two numbers"):
        open_tagged(tmp_path / "a.tsv", ("words", "tags"))
    with pytest.raises(DataError, match=r"a\.tsv, line 1: 2 cells; there is no column 4"):
        list(open_tagged(tmp_path / "a.tsv", ("1", "4")))


CONLL = """-DOCSTART- -X- -X- O

EU NNP B-NP B-ORG
rejects VBZ B-VP O
# # B-NP O

-DOCSTART- -X- -X- O

Peter NNP B-NP B-PER
"""
UNIVERSAL = """# sent_id = 1
1\tThey\tthey\tPRON\tPRP\t_\t2\tnsubj\t_\t_
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\tdo\tAUX\tVBP\t_\t0\troot\t_\t_
3\tn't\tnot\tPART\tRB\t_\t2\tadvmod\t_\t_
3.1\tgo\tgo\tVERB\tVB\t_\t_\t_\t_\t_
"""


def test_conlls_columns_and_documents_are_read(tmp_path: Path) -> None:
    (tmp_path / "eng.train").write_text(CONLL)
    first, second = open_tagged(tmp_path / "eng.train")
    assert first == Tagged(("EU", "rejects", "#"), ("B-ORG", "O", "O"))
    assert second == Tagged(("Peter",), ("B-PER",))
    assert next(iter(open_tagged(tmp_path / "eng.train", ("1", "2")))).tags == ("NNP", "VBZ", "#")
    (tmp_path / "en.conllu").write_text(UNIVERSAL)
    (sentence,) = open_tagged(tmp_path / "en.conllu")
    assert sentence == Tagged(("They", "do", "n't"), ("PRON", "AUX", "PART"))
    assert next(iter(open_tagged(tmp_path / "en.conllu", ("3", "5")))).words == ("they", "do", "not")


# --- words of a text --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("languages", ["en-fr", "fr-en"])
@pytest.mark.parametrize("split", ["test", "long"])
def test_sentences_of_the_phrasebook_come_apart_into_its_gold_words(languages: str, split: str) -> None:
    for pair in open_data("phrasebook", languages, split, 1000):
        assert tuple(words_in(pair.source)) == pair.source_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \t\n", []),
        ("Wait... what?! No -- really.", ["Wait", "...", "what", "?", "!", "No", "--", "really", "."]),
        ("It costs 1,234.50, or 3.5%.", ["It", "costs", "1,234.50", ",", "or", "3.5", "%", "."]),
        ("I'll see O'Brien's cat.", ["I", "'ll", "see", "O'Brien", "'s", "cat", "."]),
        ("the dogs' bones", ["the", "dogs", "'", "bones"]),
        ("Aujourd’hui, l’été d'aujourd'hui", ["Aujourd’hui", ",", "l’", "été", "d'", "aujourd'hui"]),
        ("jusqu'à ce qu'il l'ait", ["jusqu'", "à", "ce", "qu'", "il", "l'", "ait"]),
        ("a well-known e-mail", ["a", "well-known", "e-mail"]),
        ("नमस्ते दुनिया।", ["नमस्ते", "दुनिया", "।"]),  # vowel signs are marks, not letters
        ("cafe\u0301 nai\u0308f", ["cafe\u0301", "nai\u0308f"]),
        ("我爱你。", ["我", "爱", "你", "。"]),
        ("“Да”, сказал он", ["“", "Да", "”", ",", "сказал", "он"]),
        ("⚠️ 👍👍", ["⚠️", "👍👍"]),
    ],
)
def test_words_in_many_scripts(text: str, words: list[str]) -> None:
    assert words_in(text) == words


def test_words_are_all_of_a_text_but_white_space() -> None:
    text = "".join(chr(code) + (" " if code % 7 == 0 else "") for code in range(32, 0x3000) if chr(code).isprintable())
    assert "".join(words_in(text)) == "".join(text.split())
    assert all(word == word.strip() != "" for word in words_in(text))
