"""Named data sets: found by name, in the folder one names; what is missing is said."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from regard.data.catalogue import DATA_SETS, open_data, swapped
from regard.data.documents import Document
from regard.data.labelled import Labelled
from regard.data.pairs import Pair
from regard.data.pictures.examples import AskedPicture, BoxedPicture, CaptionedPicture, LabelledPicture
from regard.data.sources import cifar10
from regard.data.tagged import Tagged
from regard.errors import DataError


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
    write_labelled(tmp_path)
    write_pictures(tmp_path)
    for name, file in (("tinyshakespeare", "input.txt"), ("enwik8", "first-10MB.xml.gz")):
        (tmp_path / name).mkdir()
        text = "".join(f"Line {i} of thé text.\n" for i in range(200)).encode()
        (tmp_path / name / file).write_bytes(gzip.compress(text) if file.endswith(".gz") else text)
    (tmp_path / "wikitext-2").mkdir()
    for split in ("train", "valid", "test"):
        articles = "".join(f" = Title {i} = \n \n Text {i} . \n" for i in range(20))
        (tmp_path / "wikitext-2" / f"wiki.{split}.tokens").write_text(articles)
    (tmp_path / "aeslc").mkdir()
    for name, others in (("train", {}), ("dev", {"annotators": ["About it", " "]})):
        mails = [{"id": str(i), "body": f"Dear {i},\n come. ", "subject": f"Mail {i}", **others} for i in range(8)]
        (tmp_path / "aeslc" / f"{name}.jsonl").write_text("\n".join(json.dumps(mail) for mail in mails))
    return tmp_path


def write_pictures(home: Path) -> None:
    """Those of files need Pillow only where a picture is looked at."""
    for name in ("flickr8k", "bccd", "pennfudan", "iiit5k", "easy-vqa/train"):
        (home / name / "images").mkdir(parents=True)
        for number in range(20):
            for ending in ("jpg", "png"):
                (home / name / "images" / f"{number}.{ending}").touch()
    captions = [f"{number}.jpg\tA thing {number} of kind {kind} ." for number in range(20) for kind in "ab"]
    (home / "flickr8k" / "captions.tsv").write_text("\n".join(["image\tcaption", *captions]))
    boxes = [f"{number}.jpg\tcell\t{number}\t0\t30\t10" for number in range(20)]
    for name, lists in (("bccd", ("train", "val")), ("flickr8k", ("train", "dev")), ("pennfudan", ())):
        (home / name / "boxes.tsv").write_text("\n".join(["image\tclass\tx0\ty0\tx1\ty1", *boxes]))
        for split, numbers in zip(lists, (range(12), range(12, 20)), strict=False):
            (home / name / f"{split}.txt").write_text("".join(f"{number}.jpg\n" for number in numbers))
    words = [f"{number}.png\tWord{number}" for number in range(20)]
    (home / "iiit5k" / "labels.tsv").write_text("\n".join(["image\tword", *words]))
    asked = [["what is it?", "a circle", number] for number in range(20) for _ in range(6)]
    (home / "easy-vqa" / "train" / "questions.json").write_text(json.dumps(asked))
    (home / "cifar10").mkdir()
    (home / "cifar10" / "train_lables.json").write_text(json.dumps([number % 10 for number in range(50_000)]))
    (home / "mnist").mkdir()
    pictures, labels = np.zeros((6_000, 28, 28), np.uint8), (np.arange(6_000) % 10).astype(np.uint8)
    for name, kind, values in (("images-idx3", 3, pictures), ("labels-idx1", 1, labels)):
        head = np.array([0x800 | kind, *values.shape], ">u4")
        (home / "mnist" / f"train-{name}-ubyte").write_bytes(head.tobytes() + values.tobytes())
    (home / "omniglot").mkdir()
    names = np.array([f"Greek/{number}" for number in range(20)])
    ink = np.zeros((20, 1379), np.uint8)
    np.savez(home / "omniglot" / "small1.npz", ink=ink, character=names, drawer=np.arange(20))


def write_labelled(home: Path) -> None:
    for name in ("sst2", "trec", "imdb", "r8"):
        (home / name).mkdir()
    for name, count in (("train.tsv", 20), ("dev.tsv", 4)):
        text = "".join(f"a {name} phrase {i} \t{i % 2}\n" for i in range(count))
        (home / "sst2" / name).write_text("sentence\tlabel\n" + text, encoding="utf-8")
    questions = [f"{'NUM:date' if i % 3 else 'LOC:city'} Où is caf\xe9 {i // 2} ?\n" for i in range(1_200)]
    (home / "trec" / "train.txt").write_text("".join(questions), encoding="latin-1")
    reviews = [f"{int(i > 3_000)}\t{i}_7\tA film.<br /><br />Number {i}.\n" for i in range(6_000)]
    (home / "imdb" / "train.tsv.gz").write_bytes(gzip.compress("".join(reviews).encode()))
    for name in ("cola", "mrpc", "stsb", "sick", "squad2"):
        (home / name).mkdir()
    for name, count in (("train", 8), ("dev", 4)):
        words = [f"{name} sentence {i}" for i in range(count)]
        rows = {
            f"cola/in_domain_{name}.tsv": [f"x\t{i % 2}\t\t{text}" for i, text in enumerate(words)],
            f"mrpc/{'val' if name == 'dev' else name}.tsv": [
                "Quality\t#1 ID\t#2 ID\t#1 String\t#2 String",
                *(f"{i % 2}\t1\t2\t{text}\tother" for i, text in enumerate(words)),
            ],
            f"stsb/sts-{name}.csv": [f"a\tb\tc\t{i}\t{i % 5}.5\t{text}\tother" for i, text in enumerate(words)],
            f"sick/SICK_{'trial' if name == 'dev' else name}.txt": [
                "pair_ID\ta\tb\tscore\tjudgement",
                *(f"{i}\t{text}\tother\t{i % 5}.5\tNEUTRAL" for i, text in enumerate(words)),
            ],
        }
        for path, lines in rows.items():
            (home / path).write_text("\n".join(lines) + "\n", encoding="utf-8")
    asked = [{"id": str(i), "question": "who", "answers": [{"text": "Anna", "answer_start": 0}]} for i in range(3)]
    article = {"paragraphs": [{"context": "Anna came.", "qas": asked}]}
    (home / "squad2" / "dev-v2.0.json").write_text(json.dumps({"data": [article] * 4}))
    stories = [f"{('earn', 'acq', 'ship')[i % 3]}\tstory number {i}\n" for i in range(900)]
    (home / "r8" / "train.txt").write_text("".join(stories), encoding="utf-8")


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


EVERY = [(name, form) for name, data in DATA_SETS.items() for form in data.forms]
SPLITS = ("train", "valid")
KINDS = {"pairs": Pair, "summaries": Pair, "tagged": Tagged, "labelled": Labelled, "text": Document}
KINDS |= {"pictures": LabelledPicture, "captions": CaptionedPicture, "asked": AskedPicture, "boxes": BoxedPicture}
every_form = pytest.mark.parametrize(("name", "form"), EVERY)


@pytest.mark.parametrize(("name", "form"), [(name, form) for name, form in EVERY if form != "text"])
def test_every_set_can_be_read_twice_and_cut(home: Path, name: str, form: str) -> None:
    if name == "digits":
        pytest.importorskip("sklearn")
    for languages in DATA_SETS[name].languages or [None]:
        examples = open_data(name, languages, count=5, form=form)
        assert list(examples) == list(examples) == list(islice(open_data(name, languages, form=form), 5))
        assert len(list(examples)) == 5


@every_form
def test_every_split_of_every_set_has_examples(home: Path, name: str, form: str) -> None:
    if name == "digits":
        pytest.importorskip("sklearn")
    for split in DATA_SETS[name].splits:
        example = next(iter(open_data(name, split=split, form=form)))
        assert isinstance(example, KINDS.get(form, object))


@pytest.mark.parametrize("name", [name for name, form in EVERY if form == "labelled"])
def test_no_labelled_text_stands_in_both_splits(home: Path, name: str) -> None:
    train, valid = ({one.text for one in open_data(name, split=split, form="labelled")} for split in ("train", "valid"))
    assert train
    assert valid
    assert not train & valid


def test_aeslc_reads_mails_with_their_subjects_and_those_of_others(home: Path) -> None:
    assert next(iter(open_data("aeslc", form="summaries"))) == Pair("Dear 0,\n come.", "Mail 0")
    assert next(iter(open_data("aeslc", split="valid", form="summaries"))).others == ("About it",)


def test_sst2_names_its_labels_and_leaves_its_header_out(home: Path) -> None:
    assert list(open_data("sst2", split="valid", count=2, form="labelled")) == [
        Labelled("a dev.tsv phrase 0", "negative"),
        Labelled("a dev.tsv phrase 1", "positive"),
    ]


def test_trec_has_coarse_and_fine_labels_of_the_same_questions_in_latin_1(home: Path) -> None:
    coarse, fine = (list(open_data("trec", kind, "valid", form="labelled")) for kind in ("coarse", "fine"))
    assert [one.text for one in coarse] == [one.text for one in fine]
    assert {one.label for one in coarse} == {"NUM", "LOC"}
    assert [one.label for one in coarse] == [one.label.split(":")[0] for one in fine]
    assert all("café" in one.text for one in fine)
    assert len(coarse) == 500
    assert len(list(open_data("trec", form="labelled"))) == 100  # of 600 different questions


def test_imdb_is_shuffled_and_holds_the_last_5000_out(home: Path) -> None:
    train, valid = (list(open_data("imdb", split=split, form="labelled")) for split in ("train", "valid"))
    assert (len(train), len(valid)) == (1_000, 5_000)
    assert {one.label for one in train[:50]} == {"negative", "positive"}  # the file is sorted by label
    assert all("<br" not in one.text for one in train)


def test_a_set_that_is_too_small_or_not_as_promised_says_so(home: Path) -> None:
    (home / "r8" / "train.txt").write_text("earn\ta story\n", encoding="utf-8")
    with pytest.raises(DataError, match="1 texts are too few to hold 500 of them out"):
        list(open_data("r8", form="labelled"))
    for name, text, said in (
        ("r8/train.txt", "a story\n", "line 1: it is not a label, a tab and a text"),
        ("sst2/dev.tsv", "sentence\tlabel\nwell\t2\n", "line 2: it is not a text and a label, 0 or 1"),
        ("trec/train.txt", "NUM What ?\n", "line 1: it is not of the form COARSE:fine question"),
        ("imdb/train.tsv.gz", "1\tno id\n", "line 1: it is not a label, 0 or 1, an identity and a text"),
    ):
        path = home / name
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
        with pytest.raises(DataError, match=said):
            list(open_data(path.parent.name, split="valid", form="labelled"))


@pytest.mark.parametrize("name", [name for name, form in EVERY if form == "text"])
def test_every_text_can_be_read_twice_and_cut(home: Path, name: str) -> None:
    cut = open_data(name, count=30, form="text")
    once, again = ([line for document in cut for line in document] for _ in range(2))
    assert once == again
    assert once == list(islice((line for document in open_data(name, form="text") for line in document), 30))
    assert len(once) == 30


@pytest.mark.parametrize("name", ["tinyshakespeare", "enwik8"])
def test_the_splits_of_a_text_are_all_of_it_in_order(home: Path, name: str) -> None:
    texts = [open_data(name, split=split, form="text") for split in DATA_SETS[name].splits]
    whole = "".join(document.text() for documents in texts for document in documents)
    assert whole == "".join(f"Line {i} of thé text.\n" for i in range(200))
    first = next(iter(texts[0])).text()
    assert len(first.encode()) == pytest.approx(0.9 * len(whole.encode()), abs=2)


def test_the_standard_library_keeps_its_modules_apart() -> None:
    names = {
        split: [document.name for document in open_data("stdlib", split=split, form="text")]
        for split in DATA_SETS["stdlib"].splits
    }
    assert names["train"] == sorted(names["train"])
    every = [name for some in names.values() for name in some]
    assert len(every) == len(set(every)) > 200
    assert not any("/test/" in name for name in every)
    assert 0.02 < len(names["valid"]) / len(every) < 0.1


def test_the_phrasebook_is_a_text_in_either_language() -> None:
    pairs = list(open_data("phrasebook", "en-fr", "valid", count=5))
    for languages, side in (("en-fr", "source"), ("fr-en", "target")):
        (document,) = open_data("phrasebook", languages, "valid", count=5, form="text")
        assert list(document) == [getattr(pair, side) + "\n" for pair in pairs]


def test_a_set_without_a_form_names_those_that_have_it() -> None:
    with pytest.raises(DataError, match="enwik8 has no pairs examples; those that have: phrasebook, multi30k"):
        open_data("enwik8")


def test_an_unknown_set_language_or_split_names_the_nearest() -> None:
    with pytest.raises(DataError, match="unknown data set 'multi30': did you mean 'multi30k'"):
        open_data("multi30")
    with pytest.raises(DataError, match="multi30k has no languages 'en-dee': did you mean 'en-de'"):
        open_data("multi30k", "en-dee")
    with pytest.raises(DataError, match="tatoeba has no split 'val': did you mean 'valid'"):
        open_data("tatoeba", split="val")
    with pytest.raises(DataError, match="0 examples are not allowed"):
        open_data("phrasebook", count=0)
    with pytest.raises(DataError, match="imdb has no languages 'en': it comes in one form alone"):
        open_data("imdb", "en", form="labelled")
    with pytest.raises(DataError, match="imdb has no pairs examples; those that have: phrasebook, multi30k"):
        open_data("imdb")


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


def test_cifar10_is_cut_out_of_its_sheets(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = pytest.importorskip("PIL.Image")
    monkeypatch.setattr(cifar10, "PICTURES_A_SHEET", 10)
    monkeypatch.setattr(cifar10, "_HELD_OUT", 10)
    cifar10.sheet.cache_clear()
    (home / "cifar10" / "train_lables.json").write_text(json.dumps([number % 10 for number in range(50)]))
    for sheet in range(5):
        rows = np.random.default_rng(sheet).integers(0, 256, (10, 32 * 32, 3), dtype=np.uint8)
        images.fromarray(rows).save(home / "cifar10" / f"data_batch_{sheet + 1}.png")
    last = list(open_data("cifar10", split="valid", form="pictures"))
    assert [one.label for one in last] == list(cifar10.CLASSES)
    assert np.array_equal(last[3].picture.pixels(), rows[3].reshape(32, 32, 3))
    assert len(list(open_data("cifar10", form="pictures"))) == 40


def test_mnist_has_the_bytes_of_its_files(home: Path) -> None:
    values = np.random.default_rng(0).integers(0, 256, (6_000, 28, 28), dtype=np.uint8)
    path = home / "mnist" / "train-images-idx3-ubyte"
    path.write_bytes(path.read_bytes()[:16] + values.tobytes())
    first = next(iter(open_data("mnist", split="valid", form="pictures")))
    assert first.label == "0"
    assert np.array_equal(first.picture.pixels()[..., 1], values[1_000])
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.raises(DataError, match="has 4,703,995 values instead of 4,704,000"):
        open_data("mnist", form="pictures")


def test_no_word_of_iiit5k_stands_in_both_splits(home: Path) -> None:
    train, valid = ({one.label for one in open_data("iiit5k", split=split, form="pictures")} for split in SPLITS)
    assert train
    assert valid
    assert not train & valid
