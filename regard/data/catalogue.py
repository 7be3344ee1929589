"""Named data sets. A set is one file in `sources/` and one line in the table below.

Built-in sets are made on the spot; the others are read from the folder that the environment variable REGARD_DATA names.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from regard import extensions
from regard.config import nearest
from regard.data.documents import Document
from regard.data.pairs import Again, First, Pair
from regard.data.sources import (
    aeslc,
    bccd,
    cifar10,
    cola,
    digits,
    easy_vqa,
    enwik8,
    flickr8k,
    iiit5k,
    imdb,
    mnist,
    mrpc,
    multi30k,
    omniglot,
    pennfudan,
    r8,
    scenes,
    sick,
    squad2,
    sst2,
    stdlib,
    stsb,
    tatoeba,
    tinyshakespeare,
    trec,
    wikitext2,
)
from regard.data.tagged import Tagged
from regard.data.text import FirstLines
from regard.errors import DataError

MADE_FOR_TRAINING, MADE_OTHERWISE = 20_000, 1_000  # examples of what is built in, unless told


Opener = Callable[[str, str, int | None], Iterable[Any]]  # languages, split, how many at most


@dataclass(frozen=True)
class DataSet:
    """A named set: what it is, its variants (of pairs the languages; the first is the default), its splits, and how it
    is opened as each form of examples that it has: "pairs", "labelled", "judged" (pairs), "tagged", "questions",
    "summaries", "text"; "pictures" (labelled), "captions", "asked" (questions about pictures), "boxes".

    An opener takes languages, split and how many examples (of text: lines) at most; what it gives can be iterated
    again and again.
    """

    name: str
    about: str
    languages: tuple[str, ...]
    splits: tuple[str, ...]
    forms: Mapping[str, Opener]


def open_data(
    name: str, languages: str | None = None, split: str = "train", count: int | None = None, form: str = "pairs"
) -> Iterable[Any]:
    """The examples of a named set, at most `count` of them: `open_data("multi30k", "en-de", "valid")`."""
    data = data_set(name)
    if form not in data.forms:
        raise DataError(f"{name} has no {form} examples; those that have: {', '.join(having(form))}")
    if languages is None:
        languages = data.languages[0] if data.languages else ""
    elif languages not in data.languages:
        known = nearest(languages, data.languages) if data.languages else "it comes in one form alone"
        raise DataError(f"{name} has no languages {languages!r}: {known}")
    if split not in data.splits:
        raise DataError(f"{name} has no split {split!r}: {nearest(split, data.splits)}")
    if count is not None and count < 1:
        raise DataError(f"{name}: {count} examples are not allowed; it takes at least one")
    return data.forms[form](languages, split, count)


def having(form: str) -> list[str]:
    """The names of the sets with examples of this form."""
    return [name for name, data in data_sets().items() if form in data.forms]


def data_set(name: str) -> DataSet:
    known = data_sets()
    if name not in known:
        raise DataError(f"unknown data set {name!r}: {nearest(name, known)}")
    return known[name]


def data_sets() -> Mapping[str, DataSet]:
    """All by name, those of modules from outside included, which list them in `DATA_SETS`."""
    return DATA_SETS | {data.name: data for data in extensions.offered("DATA_SETS")}


def swapped(pair: Pair) -> Pair:
    """The same pair in the other direction, gold annotation included."""
    return Pair(
        pair.target,
        pair.source,
        pair.target_words,
        pair.source_words,
        tuple(sorted((target, source) for source, target in pair.alignment)),
        pair.target_tags,
        pair.source_tags,
    )


def _first(read: Callable[[str, str], Iterable[Any]]) -> Opener:
    """Lets a set that is read from files be cut after so many examples."""

    def opened(languages: str, split: str, count: int | None) -> Iterable[Any]:
        examples = read(languages, split)
        return examples if count is None else First(examples, count)

    return opened


def made(split: str) -> int:
    return MADE_FOR_TRAINING if split == "train" else MADE_OTHERWISE


def _drawn(form: str) -> Opener:
    """Of scenes, whose variants are sizes."""

    def opened(size: str, split: str, count: int | None) -> Iterable[Any]:
        from regard.data.sources.scenes import examples  # with numpy, which asking what there is does not need

        found: Iterable[Any] = getattr(examples, form)(size, split, count or made(split))
        return found

    return opened


def _phrasebook(languages: str, split: str, count: int | None) -> Iterable[Pair]:
    from regard.data.sources.phrasebook import phrasebook  # its lexicon takes a moment to load

    many = count or made(split)
    if languages == "fr-en":
        return Again(lambda: map(swapped, phrasebook(split, many)))
    return Again(lambda: phrasebook(split, many))


def _phrases(languages: str, split: str, count: int | None) -> Iterable[Document]:
    """One text, a sentence a line, in the language that the pairs begin with."""
    pairs = _phrasebook(languages, split, count)
    return [Document("phrasebook", lambda: (f"{pair.source}\n" for pair in pairs))]


def _tagged_phrases(languages: str, split: str, count: int | None) -> Iterable[Tagged]:
    """Its sentences in the language that the pairs begin with, with the gold parts of speech."""
    pairs = _phrasebook(languages, split, count)
    return Again(lambda: (Tagged(pair.source_words, pair.source_tags) for pair in pairs))


def _texts(read: Callable[[str, str], Iterable[Document]]) -> Opener:
    """Lets texts be cut after so many lines."""

    def opened(languages: str, split: str, count: int | None) -> Iterable[Document]:
        documents = read(languages, split)
        return documents if count is None else FirstLines(documents, count)

    return opened


_TABLE = (
    DataSet(
        "phrasebook",
        "built in: a bilingual grammar with gold alignments and tags, any number of pairs",
        ("en-fr", "fr-en"),
        ("train", "valid", "test", "long", "recombined"),
        {"pairs": _phrasebook, "tagged": _tagged_phrases, "text": _phrases},
    ),
    DataSet("multi30k", multi30k.ABOUT, multi30k.LANGUAGES, multi30k.SPLITS, {"pairs": _first(multi30k.pairs)}),
    DataSet("tatoeba", tatoeba.ABOUT, tatoeba.LANGUAGES, tatoeba.SPLITS, {"pairs": _first(tatoeba.pairs)}),
    DataSet("sst2", sst2.ABOUT, (), sst2.SPLITS, {"labelled": _first(sst2.labelled)}),
    DataSet("trec", trec.ABOUT, trec.VARIANTS, trec.SPLITS, {"labelled": _first(trec.labelled)}),
    DataSet("imdb", imdb.ABOUT, (), imdb.SPLITS, {"labelled": _first(imdb.labelled), "text": _texts(imdb.texts)}),
    DataSet("r8", r8.ABOUT, (), r8.SPLITS, {"labelled": _first(r8.labelled)}),
    DataSet("cola", cola.ABOUT, (), cola.SPLITS, {"labelled": _first(cola.labelled)}),
    DataSet("mrpc", mrpc.ABOUT, (), mrpc.SPLITS, {"judged": _first(mrpc.judged)}),
    DataSet("stsb", stsb.ABOUT, (), stsb.SPLITS, {"judged": _first(stsb.judged)}),
    DataSet("sick", sick.ABOUT, sick.VARIANTS, sick.SPLITS, {"judged": _first(sick.judged)}),
    DataSet("aeslc", aeslc.ABOUT, (), aeslc.SPLITS, {"summaries": _first(aeslc.summaries)}),
    DataSet("squad2", squad2.ABOUT, (), squad2.SPLITS, {"questions": _first(squad2.questions)}),
    DataSet("stdlib", stdlib.ABOUT, (), stdlib.SPLITS, {"text": _texts(stdlib.texts)}),
    DataSet(
        "tinyshakespeare", tinyshakespeare.ABOUT, (), tinyshakespeare.SPLITS, {"text": _texts(tinyshakespeare.texts)}
    ),
    DataSet("wikitext-2", wikitext2.ABOUT, (), wikitext2.SPLITS, {"text": _texts(wikitext2.texts)}),
    DataSet("enwik8", enwik8.ABOUT, (), enwik8.SPLITS, {"text": _texts(enwik8.texts)}),
    DataSet(
        "scenes",
        scenes.ABOUT,
        scenes.SIZES,
        scenes.SPLITS,
        {
            "pictures": _drawn("labelled"),
            "captions": _drawn("captioned"),
            "asked": _drawn("asked"),
            "boxes": _drawn("boxed"),
        },
    ),
    DataSet("digits", digits.ABOUT, (), digits.SPLITS, {"pictures": _first(digits.labelled)}),
    DataSet("mnist", mnist.ABOUT, (), mnist.SPLITS, {"pictures": _first(mnist.labelled)}),
    DataSet("cifar10", cifar10.ABOUT, (), cifar10.SPLITS, {"pictures": _first(cifar10.labelled)}),
    DataSet("omniglot", omniglot.ABOUT, omniglot.VARIANTS, omniglot.SPLITS, {"pictures": _first(omniglot.labelled)}),
    DataSet("iiit5k", iiit5k.ABOUT, (), iiit5k.SPLITS, {"pictures": _first(iiit5k.labelled)}),
    DataSet("flickr8k", flickr8k.ABOUT, (), flickr8k.SPLITS, {"captions": _first(flickr8k.captioned)}),
    DataSet("easy-vqa", easy_vqa.ABOUT, (), easy_vqa.SPLITS, {"asked": _first(easy_vqa.asked)}),
    DataSet("bccd", bccd.ABOUT, (), bccd.SPLITS, {"boxes": _first(bccd.boxed)}),
    DataSet("pennfudan", pennfudan.ABOUT, (), pennfudan.SPLITS, {"boxes": _first(pennfudan.boxed)}),
)
DATA_SETS = {data.name: data for data in _TABLE}
