"""Named data sets: found by name, in the folder one names; what is missing is said."""

from __future__ import annotations

import gzip
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from regard.data.catalogue import DATA_SETS, open_data, swapped
from regard.data.files import DataError
from regard.data.pairs import Pair


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of invented sentences, shaped like the real sets."""
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    multi30k = tmp_path / "multi30k"
    multi30k.mkdir()
    for stem, lines in (("train", 6), ("val", 2)):
        for language in ("en", "de", "fr"):
            text = "".join(f"{stem} sentence {i} in {language}\n" for i in range(lines))
            (multi30k / f"{stem}.{language}").write_text(text, encoding="utf-8")
    tatoeba = tmp_path / "tatoeba"
    tatoeba.mkdir()
    lines = [f"English {i // 2}.\tFrançais {i} !\tCC-BY 2.0 #{i}\n" for i in range(4_000)]
    (tatoeba / "eng-fra.tsv.gz").write_bytes(gzip.compress("".join(lines).encode()))
    return tmp_path


def test_multi30k_has_every_pair_of_its_languages(home: Path) -> None:
    assert set(DATA_SETS["multi30k"].languages) == {"en-de", "en-fr", "de-en", "de-fr", "fr-en", "fr-de"}
    train = list(open_data("multi30k", "de-fr"))
    assert len(train) == 6
    assert train[3] == Pair("train sentence 3 in de", "train sentence 3 in fr")
    assert list(open_data("multi30k", split="valid")) == [
        Pair(f"val sentence {i} in en", f"val sentence {i} in de") for i in range(2)
    ]


def test_tatoeba_never_has_the_same_english_in_both_splits(home: Path) -> None:
    train, valid = (list(open_data("tatoeba", "en-fr", split)) for split in ("train", "valid"))
    assert len(train) + len(valid) == 4_000
    assert 0.003 < len(valid) / 4_000 < 0.03
    assert not {pair.source for pair in train} & {pair.source for pair in valid}


def test_tatoeba_splits_alike_in_both_directions_and_at_all_times(home: Path) -> None:
    forth, back = (list(open_data("tatoeba", languages, "valid")) for languages in ("en-fr", "fr-en"))
    assert [swapped(pair) for pair in forth] == back
    held_out = sorted({int(pair.source.removeprefix("English ").rstrip(".")) for pair in forth})
    assert held_out[:5] == [7, 22, 128, 213, 362]


def test_the_phrasebook_needs_no_file_and_turns_round_with_its_annotation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REGARD_DATA", raising=False)
    forth, back = (list(open_data("phrasebook", languages, "test", count=20)) for languages in ("en-fr", "fr-en"))
    assert len(forth) == 20
    assert [swapped(pair) for pair in back] == forth
    for pair in back:
        assert pair.alignment == tuple(sorted(pair.alignment))
        assert max(source for source, _ in pair.alignment) < len(pair.source_words) == len(pair.source_tags)
        assert max(target for _, target in pair.alignment) < len(pair.target_words) == len(pair.target_tags)


def test_the_phrasebook_has_the_splits_that_the_table_says() -> None:
    from regard.data.sources.phrasebook import SPLITS

    assert DATA_SETS["phrasebook"].splits == SPLITS


@pytest.mark.parametrize("name", DATA_SETS)
def test_every_set_can_be_read_twice_and_cut(home: Path, name: str) -> None:
    for languages in DATA_SETS[name].languages:
        pairs = open_data(name, languages, count=5)
        assert list(pairs) == list(pairs) == list(islice(open_data(name, languages), 5))
        assert len(list(pairs)) == 5


@pytest.mark.parametrize("name", DATA_SETS)
def test_every_split_of_every_set_has_pairs(home: Path, name: str) -> None:
    for split in DATA_SETS[name].splits:
        assert isinstance(next(iter(open_data(name, split=split))), Pair)


def test_an_unknown_set_language_or_split_names_the_nearest() -> None:
    with pytest.raises(DataError, match="unknown data set 'multi30': did you mean 'multi30k'"):
        open_data("multi30")
    with pytest.raises(DataError, match="multi30k has no languages 'en-dee': did you mean 'en-de'"):
        open_data("multi30k", "en-dee")
    with pytest.raises(DataError, match="tatoeba has no split 'val': did you mean 'valid'"):
        open_data("tatoeba", split="val")
    with pytest.raises(DataError, match="0 examples are not allowed"):
        open_data("phrasebook", count=0)


def test_a_missing_file_says_what_where_and_how(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REGARD_DATA", str(tmp_path))
    with pytest.raises(DataError) as error:
        open_data("multi30k", "en-fr", "valid")
    said = str(error.value)
    assert "val.en" in said
    assert str(tmp_path / "multi30k") in said
    assert "set REGARD_DATA" in said
    monkeypatch.delenv("REGARD_DATA")
    with pytest.raises(DataError, match=r"eng-fra\.tsv\.gz .* set the environment variable REGARD_DATA"):
        open_data("tatoeba")


def test_asking_what_there_is_loads_neither_torch_nor_a_lexicon() -> None:
    script = "import sys; import regard.data.catalogue, regard.data.files; print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert not loaded & {"torch", "numpy", "tokenizers", "regard.data.sources.phrasebook.lexicon"}
