"""Masked words, vectors of texts and the lines nearest to one: in Python and from the command line."""

from __future__ import annotations

import io
import json
import shutil
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

import regard as library
from regard.errors import DataError
from regard.runfolder import Run, RunError
from regard.tasks.vectors import index as similarity
from regard.tasks.vectors.embedding import Embedder, by_tokens, load_embedder
from regard.tasks.vectors.files import HEADER, npy_header
from regard.tasks.vectors.index import open_index
from tests.conftest import Say
from tests.documents import DOES, QUICK, TINY, write_texts
from tests.toy import perform

TEXTS = ["The cat purrs.", "The dog barks. The dog digs. The dog barks.", "The bird sings.", "The cat."]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two masked language models: word pieces, and bytes in pairs."""
    folder = tmp_path_factory.mktemp("vectors")
    write_texts(folder / "text.txt", 200, 0)
    start = ["pretrain", "mlm", "--train", str(folder / "text.txt"), *TINY, *QUICK]
    bert = ["--preset", "bert-mini"]
    steps = ["--max-steps", "60", "--validate-every", "60"]
    perform(*start, "--run", folder / "bert", *bert, *steps)
    roberta = ["--preset", "roberta-mini", "--tokenizer", "bpe", "--pieces", "320", "--lower", "false"]
    perform(*start, "--run", folder / "roberta", *roberta, *steps)
    return folder


@pytest.fixture(scope="module")
def embedder(folder: Path) -> Embedder:
    return load_embedder(folder / "bert")


def typed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))


# --- fill -------------------------------------------------------------------------------------------------------------


def test_masked_words_have_probabilities_that_are_the_models(folder: Path) -> None:
    filler = library.load(folder / "bert")
    filled = filler("The cat [MASK].", count=filler.tokenizer.vocabulary)
    ids = filler.tokenizer.encode(["The cat", "."])
    row = [filler.tokenizer.start, *ids[0], filler.tokenizer.mask, *ids[1], filler.tokenizer.end]
    with torch.no_grad():
        expected = filler.model(torch.tensor([row]))[0, 1 + len(ids[0])].softmax(-1)
    for choice in filled.masks[0][:5]:
        assert choice.probability == pytest.approx(float(expected[choice.id]), rel=1e-3)
    specials = sorted(filler.tokenizer.specials)
    assert {choice.id for choice in filled.masks[0]} == set(range(filler.tokenizer.vocabulary)) - set(specials)
    rest = 1 - float(expected[specials].sum())
    assert sum(choice.probability for choice in filled.masks[0]) == pytest.approx(rest, abs=1e-4)


@pytest.mark.parametrize("run", ["bert", "roberta"])
def test_what_is_filled_in_leaves_the_other_words_as_they_were_written(folder: Path, run: str) -> None:
    filler = library.load(folder / run)
    filled = filler("Ω is  the [MASK] letter 漢, of 😀 (Greek <mask>).")
    first, second = (choices[0].token for choices in filled.masks)
    pieces = [f"Ω is  the {first} letter 漢, of 😀 (Greek {second}).", filled.whole]
    if first.startswith("##"):
        pieces[0] = pieces[0].replace(f" {first}", first[2:])
    if second.startswith("##"):
        pieces[0] = pieces[0].replace(f" {second}", second[2:])
    assert pieces[0] == pieces[1]


def test_a_piece_from_inside_a_word_goes_on_with_the_word_before_it(folder: Path) -> None:
    filler = library.load(folder / "bert")
    inside = next(i for i in range(filler.tokenizer.vocabulary) if filler.tokenizer.token(i).startswith("##"))
    piece = filler.tokenizer.token(inside)[2:]
    assert filler.filled("A Cat [MASK] purrs.", [[inside]], [[1.0]]).whole == f"A Cat{piece} purrs."


@pytest.mark.parametrize("run", ["bert", "roberta"])
def test_several_masks_and_many_texts_keep_their_order(folder: Path, run: str) -> None:
    filler = library.load(folder / run)
    texts = ["The [MASK] [MASK].", "The cat purrs. The <mask> climbs. The cat purrs.", "The cat [MASK]."]
    together = filler.results(texts)
    assert [len(filled.masks) for filled in together] == [2, 1, 1]
    for text, filled in zip(texts, together, strict=True):
        alone = filler(text)
        assert [one[0].id for one in alone.masks] == [one[0].id for one in filled.masks]
        assert alone.masks[0][0].probability == pytest.approx(filled.masks[0][0].probability, abs=1e-4)


def test_a_space_before_a_mask_belongs_to_the_word_that_is_sought(folder: Path) -> None:
    filler = library.load(folder / "roberta")
    with_word = filler.tokenizer.encode(["The cat purrs."])[0]
    masked = filler.row("The cat [MASK].")
    assert masked[: masked.index(filler.tokenizer.mask)] == with_word[: masked.index(filler.tokenizer.mask)]


def test_fill_on_the_command_line(folder: Path, regard: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, _ = regard("fill", folder / "bert", "--count", "3", "The cat [MASK].")
    rows = [line.split("\t") for line in out.splitlines()]
    assert code == 0
    assert len(rows) == 3
    assert float(rows[0][0]) >= float(rows[1][0])
    typed(monkeypatch, "The cat [MASK].\n\nThe [MASK] [MASK].\n")
    code, out, _ = regard("fill", folder / "bert", "--json")
    assert [len(json.loads(line)["masks"]) for line in out.splitlines()] == [1, 0, 2]
    assert regard("fill", folder / "bert", "--text", "The Cat [MASK].")[1].startswith("The Cat")
    assert regard("fill", folder / "bert", "--text", "--", "--The Cat [MASK].")[1].startswith("--The Cat")


@pytest.mark.parametrize(
    ("text", "message"),
    [("The cat sleeps.", "has no mask: write [MASK]"), ("[MASK] cat" * 300, "tokens; the model reads at most")],
)
def test_a_text_that_cannot_be_filled_is_refused(folder: Path, regard: Say, text: str, message: str) -> None:
    code, out, err = regard("fill", folder / "bert", text)
    assert (code, out) == (2, "")
    assert message in err


def test_a_run_of_another_task_fills_nothing(regard: Say, toy) -> None:  # type: ignore[no-untyped-def]
    code, _, err = regard("fill", toy.good, "A [MASK].")
    assert (code, "not to find masked words" in err) == (2, True)
    code, _, err = regard("embed", toy.good, "A text.")
    assert (code, "is no encoder, so it makes no vectors of texts" in err) == (2, True)


# --- embed ------------------------------------------------------------------------------------------------------------


@torch.no_grad()
def test_a_vector_is_the_mean_of_the_states_or_the_first(embedder: Embedder) -> None:
    vectors = embedder(TEXTS, normalised=False)
    first = Embedder(embedder.model, embedder.tokenizer, "cls")(TEXTS, normalised=False)
    for text, mean, cls in zip(TEXTS, vectors, first, strict=True):
        ids = embedder.tokenizer.framed(embedder.tokenizer.encode([text])[0])
        states = embedder.model.encode(torch.from_numpy(ids)[None]).states[0].numpy()
        np.testing.assert_allclose(mean, states.mean(0), atol=1e-5)
        np.testing.assert_allclose(cls, states[0], atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(embedder(TEXTS), axis=1), 1, atol=1e-5)


def test_an_encoder_without_a_task_is_loaded_as_what_makes_vectors(
    folder: Path, embedder: Embedder, tmp_path: Path, regard: Say
) -> None:
    shutil.copytree(folder / "bert", tmp_path / "bare")
    bare = Run(tmp_path / "bare")
    bare.write_config({"model": bare.section("model")})
    text = "The cat purrs."
    assert np.allclose(library.load(bare.path)([text]), embedder([text]), atol=1e-6)
    code, out, _ = regard("embed", bare.path, "--int8", text)
    small = np.array(json.loads(out)["vector"])
    assert code == 0
    assert 0.98 < float(small @ embedder([text])[0]) < 1


def test_batches_change_nothing_and_the_order_is_kept(embedder: Embedder) -> None:
    together, alone = embedder(TEXTS * 5, batch=3), np.concatenate([embedder([text]) for text in TEXTS])
    np.testing.assert_allclose(together, np.tile(alone, (5, 1)), atol=1e-5)
    assert sorted(i for batch in by_tokens([[0] * n for n in (5, 1, 9, 2)], 3, 10) for i in batch) == [0, 1, 2, 3]
    assert list(by_tokens([[0] * 9, [0] * 9, [0]], 3, 10)) == [[2], [0], [1]]
    assert list(by_tokens([[0] * n for n in (3, 4, 3, 4)], 9, 16)) == [[0, 2], [1, 3]]  # no mask is needed


def test_a_text_that_is_too_long_is_cut_and_said(embedder: Embedder) -> None:
    said: list[str] = []
    long = Embedder(embedder.model, embedder.tokenizer, longest=6)
    vectors = long(["The cat purrs. The cat climbs."], say=said.append)
    ids = embedder.tokenizer.encode(["The cat purrs. The cat climbs."])[0][:4]
    np.testing.assert_allclose(vectors, long([embedder.tokenizer.decode(ids)]), atol=1e-5)
    assert said == ["1 of 1 texts have more than 6 tokens and were read up to there"]


def test_embed_on_the_command_line(folder: Path, tmp_path: Path, regard: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = load_embedder(folder / "bert")(TEXTS)
    code, out, _ = regard("embed", folder / "bert", *TEXTS)
    assert code == 0
    np.testing.assert_allclose([json.loads(line)["vector"] for line in out.splitlines()], expected, atol=1e-5)
    for name in ("vectors.npy", "vectors.jsonl"):
        typed(monkeypatch, "".join(f"{text}\n" for text in TEXTS))
        code, out, err = regard("embed", folder / "bert", "--out", tmp_path / name)
        assert (code, out) == (0, "")
        assert "4 vectors of width 32" in err
    np.testing.assert_allclose(np.load(tmp_path / "vectors.npy"), expected, atol=1e-5)
    lines = [json.loads(line) for line in (tmp_path / "vectors.jsonl").read_text().splitlines()]
    assert [line["text"] for line in lines] == TEXTS
    code, out, _ = regard("embed", folder / "bert", "--raw", "--pool", "cls", TEXTS[0])
    assert np.linalg.norm(json.loads(out)["vector"]) > 1.5


def test_json_is_printed_beside_a_file_where_it_is_asked_for(folder: Path, tmp_path: Path, regard: Say) -> None:
    path = tmp_path / "a.npy"
    words = ["embed", folder / "bert", "--out", path, "The cat purrs.", "The dog barks."]
    assert regard(*words)[:2] == (0, "")
    code, out, _ = regard(*words, "--json")
    printed = [json.loads(line)["vector"] for line in out.splitlines()]
    assert code == 0
    np.testing.assert_allclose(printed, np.load(path), rtol=1e-5)


def test_an_index_that_is_a_file_is_refused_and_left_alone(
    folder: Path, lines: Path, regard: Say, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text("mine")
    code, _, err = regard("similar", folder / "bert", "--lines", lines, "--index", other, "A cat.")
    assert (code, f"--index {other}: it is a file" in err) == (2, True)
    assert other.read_text() == "mine"


def test_the_header_of_an_array_is_of_one_length() -> None:
    assert len(npy_header((0, 384), "<f4")) == len(npy_header((10**12, 384), "<f4")) == HEADER


@pytest.mark.parametrize(
    ("words", "lines", "message"),
    [
        ([], "The cat.\n\nThe dog.\n", "text 2 is empty"),
        ([" "], "", "text 1 is empty"),
        (["--out", "vectors.txt", "A."], "", "it must end in .npy or .jsonl"),
        (["--shout", "A."], "", "unknown option --shout"),
    ],
)
def test_what_has_no_vector_is_refused_and_no_file_is_left(
    folder: Path,
    regard: Say,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    words: list[str],
    lines: str,
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    typed(monkeypatch, lines)
    code, _, err = regard("embed", folder / "bert", *words)
    assert code == 2
    assert message in err
    typed(monkeypatch, lines or "\n")
    regard("embed", folder / "bert", "--out", "a.npy")
    assert not list(tmp_path.iterdir())


# --- similar ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    path = tmp_path / "lines.txt"
    sentences = [f"The {who} {does}." for who, some in DOES.items() for does in some]
    path.write_text("\n\n".join(sentences) + "\n")
    return path


@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_lines_are_ranked_by_cosine_and_exactly(
    embedder: Embedder, lines: Path, precision: similarity.Precision, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similarity, "LINES_A_CHUNK", 3)
    monkeypatch.setattr(similarity, "VALUES_A_BLOCK", 100)  # three lines at a time
    index = open_index(lines.with_name("index"), lines, embedder, precision)
    filled = [line for line in lines.read_text().splitlines() if line]
    every, queries = embedder(filled), embedder(["The cat purrs.", "The dog digs. The fish dives."])
    for query, found in zip(queries, index.nearest(queries, 4), strict=True):
        cosines = every @ query
        assert [one.score for one in found] == pytest.approx(sorted(cosines, reverse=True)[:4], abs=2e-3)
        for one in found:
            assert one.text == lines.read_text().splitlines()[one.number - 1]
            assert one.score == pytest.approx(cosines[filled.index(one.text)], abs=2e-3)
    assert index.nearest(queries, 100)[0][0].text == "The cat purrs."
    assert len(index.nearest(queries, 100)[0]) == len(index) == len(filled)


def test_an_index_is_reused_until_file_or_model_change(
    folder: Path, embedder: Embedder, lines: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    where = lines.with_name("index")
    open_index(where, lines, embedder, say=said.append)
    made = (where / "vectors.bin").stat().st_mtime_ns
    with monkeypatch.context() as without:
        without.setattr(similarity, "write_index", None)  # nothing may be made
        open_index(where, lines, embedder, say=said.append)
    assert (where / "vectors.bin").stat().st_mtime_ns == made
    other = load_embedder(folder / "roberta")
    with pytest.raises(RunError, match="is the index of another model; make it anew without --reuse"):
        open_index(where, lines, other, make=False)
    open_index(where, lines, other, say=said.append)
    assert said[-2:] == [f"{where} is the index of another model: it is made anew", f"8 lines in the index {where}"]
    lines.write_text(lines.read_text() + "The cat sings.\n")
    assert len(open_index(where, lines, other, say=said.append)) == 9
    assert "another file" in said[-2]


def test_similar_on_the_command_line(folder: Path, lines: Path, regard: Say, monkeypatch: pytest.MonkeyPatch) -> None:
    code, out, err = regard("similar", folder / "bert", "--lines", lines, "--count", "2", "The cat purrs.")
    assert code == 0, err
    assert out.splitlines()[0].split("\t")[1:] == ["1", "The cat purrs."]
    assert len(out.splitlines()) == 2
    assert (lines.parent / "lines.txt.index" / "index.json").exists()
    typed(monkeypatch, "The bird sings.\n\nThe dog digs.\n")
    code, out, err = regard("similar", folder / "bert", "--lines", lines, "--json")
    answers = [json.loads(line) for line in out.splitlines()]
    assert [answer["query"] for answer in answers] == ["The bird sings.", "", "The dog digs."]
    assert [len(answer["lines"]) for answer in answers] == [8, 0, 8]
    assert answers[0]["lines"][0]["text"] == "The bird sings."
    assert err == ""  # nothing was made anew


def test_what_cannot_be_ranked_is_refused(folder: Path, lines: Path, regard: Say, tmp_path: Path) -> None:
    def refused(*words: object) -> str:
        code, out, err = regard("similar", folder / "bert", *words)
        assert (code, out) == (2, "")
        return err

    empty, other = tmp_path / "empty.txt", tmp_path / "full"
    empty.write_text("\n \n")
    other.mkdir()
    (other / "mine.txt").write_text("mine")
    assert "all lines are empty" in refused("--lines", empty, "A.")
    assert not (tmp_path / "empty.txt.index").exists()
    assert "does not exist" in refused("--lines", tmp_path / "none.txt", "A.")
    assert "not an index" in refused("--lines", lines, "--index", other, "A.")
    (other / "index.json").write_text('{"version": 1, "lines": 1, "width": 1, "precision": "float32"}')
    assert "not an index" in refused("--lines", lines, "--index", other, "A.")
    assert (other / "mine.txt").read_text() == "mine"
    assert "holds no index yet" in refused("--lines", lines, "--reuse", "A.")
    open_index(tmp_path / "cut", lines, load_embedder(folder / "bert"))
    (tmp_path / "cut" / "vectors.bin").write_bytes(b"half")
    assert "missing or cut off" in refused("--lines", lines, "--index", tmp_path / "cut", "A.")


def test_a_run_without_its_head_embeds_but_fills_nothing(folder: Path, tmp_path: Path) -> None:
    from regard.checkpoint import read_tensors, write_tensors

    run = Run(tmp_path / "bare")
    shutil.copytree(folder / "bert", run.path)
    sections = run.read_config()
    sections["model"]["head"] = None
    run.write_config({name: value for name, value in sections.items() if name != "format"})
    weights = read_tensors(run.weights_path)
    write_tensors(run.weights_path, {name: one for name, one in weights.items() if not name.startswith("head.")})
    np.testing.assert_allclose(load_embedder(run.path)(TEXTS), load_embedder(folder / "bert")(TEXTS), atol=1e-6)
    with pytest.raises(RunError, match="it can embed texts"):
        library.load(run.path)
    with pytest.raises(DataError, match="text 1 is empty, so it has no vector"):
        load_embedder(run.path)([""])
