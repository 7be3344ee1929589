"""What is exported is opened by `transformers` without a word, gives the same outputs, and comes back the same."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

transformers = pytest.importorskip("transformers")

from regard.checkpoint import load_both, load_whole, weights_of, write_tensors  # noqa: E402
from regard.config import change, to_dict  # noqa: E402
from regard.data.tokenizers import Tokenizer  # noqa: E402
from regard.interop import export_huggingface, import_source  # noqa: E402
from regard.interop.vocabularies import read_tokenizer  # noqa: E402
from regard.models import ModelConfig  # noqa: E402
from regard.models.encoder import own_segments  # noqa: E402
from regard.runfolder import Run  # noqa: E402
from regard.zoo import get  # noqa: E402
from tests.helpers import SMALL, built  # noqa: E402
from tests.interop import foreign  # noqa: E402

TEXT = "The little girl had a red ball."


def write_run(folder: Path, config: ModelConfig, kind: Any = "bpe", mask: bool = False, **sections: Any) -> Path:
    """A run folder of a model with random weights, and a tokenizer of ours."""
    tokenizer = Tokenizer.train(foreign.TEXTS, kind, 300 if kind == "bpe" else None, mask=mask)
    return write_both(folder, config, tokenizer, **sections)


def write_both(folder: Path, config: ModelConfig, tokenizer: Tokenizer, **sections: Any) -> Path:
    assert config.text() is not None
    model = built(change(config, {"vocabulary": tokenizer.vocabulary}))
    run = Run(folder)
    run.write_config({"model": to_dict(model.config), **sections})
    write_tensors(run.weights_path, weights_of(model))
    tokenizer.save(run.tokenizer_path)
    return folder


def opened(folder: Path, caplog: pytest.LogCaptureFixture) -> Any:
    """By the class that the folder names; it must have nothing to say, and every tensor must be used."""
    name = json.loads((folder / "config.json").read_text())["architectures"][0]
    transformers.logging.set_verbosity_warning()
    transformers.logging.enable_propagation()
    try:
        with caplog.at_level(logging.WARNING):
            model, found = getattr(transformers, name).from_pretrained(folder, output_loading_info=True)
    finally:
        transformers.logging.set_verbosity_error()
        transformers.logging.disable_propagation()
    assert [record.message for record in caplog.records] == []
    assert not any(found.values()), found
    return model.eval()


def assert_equal(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


def assert_same_model(one: Path, other: Path) -> None:
    first, second = load_whole(Run(one)), load_whole(Run(other))
    assert first[0].config == second[0].config
    models = [tokenizer and json.loads(tokenizer.to_json())["model"] for _, tokenizer in (first, second)]
    assert models[0] == models[1]
    for (name, a), (_, b) in zip(first[0].named_parameters(), second[0].named_parameters(), strict=True):
        assert torch.equal(a, b), name


FOREIGN: dict[str, Callable[[Path], Any]] = {
    "gpt2": foreign.gpt2,
    "gpt2, untied": lambda folder: foreign.gpt2(folder, tie_word_embeddings=False, n_inner=40),
    "gpt": foreign.gpt,
    "llama": foreign.llama,
    "llama, with biases": lambda folder: foreign.llama(folder, attention_bias=True, mlp_bias=True, head_dim=12),
    "bert": foreign.bert,
    "bert without a head": lambda folder: foreign.bert(folder, "BertModel"),
    "bert with both heads": lambda folder: foreign.bert(folder, "BertForPreTraining"),
    "bert of pairs": lambda folder: foreign.bert(folder, "BertForNextSentencePrediction"),
    "roberta": foreign.roberta,
    "roberta with segments": lambda folder: foreign.roberta(folder, type_vocab_size=2),
    "roberta without a head": lambda folder: foreign.roberta(folder, "RobertaModel"),
    "distilbert": foreign.distilbert,
    "distilbert without a head": lambda folder: foreign.distilbert(folder, "DistilBertModel"),
    "xlnet": foreign.xlnet,
    "xlnet without a head": lambda folder: foreign.xlnet(folder, "XLNetModel", clamp_len=5),
}


@pytest.mark.parametrize("make", FOREIGN.values(), ids=FOREIGN.keys())
def test_there_and_back_is_the_same(
    make: Callable[[Path], Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    theirs = make(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    export_huggingface(tmp_path / "run", tmp_path / "out")
    again = opened(tmp_path / "out", caplog)
    assert type(again) is type(theirs)
    tokens, keep = foreign.some_tokens(theirs.config.vocab_size)
    tokens[~keep] = again.config.pad_token_id
    expected = theirs(tokens, attention_mask=keep.long())[0]
    if expected.dim() == 3:  # else of whole texts
        assert_equal(again(tokens, attention_mask=keep.long())[0][keep], expected[keep])
    import_source(tmp_path / "out", tmp_path / "again")
    assert_same_model(tmp_path / "run", tmp_path / "again")


@pytest.mark.parametrize(
    "make", [foreign.gpt2, foreign.gpt, foreign.bert, foreign.roberta, foreign.llama, foreign.xlnet]
)
def test_the_exported_tokenizer_gives_the_ids_that_the_model_reads(make: Callable[[Path], Any], tmp_path: Path) -> None:
    make(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    export_huggingface(tmp_path / "run", tmp_path / "out")
    own = load_both(Run(tmp_path / "run"))[1]
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    plain = own.encode([TEXT])[0]
    assert theirs(TEXT, add_special_tokens=False).input_ids == plain
    assert theirs.eos_token_id == (None if make is foreign.gpt else own.end)  # which came with none
    if make in (foreign.bert, foreign.roberta, foreign.xlnet):
        assert theirs(TEXT).input_ids == own.framed(plain).tolist()
        assert (theirs.cls_token_id, theirs.sep_token_id, theirs.mask_token_id) == (own.start, own.end, own.mask)
        assert theirs.pad_token_id == own.pad


@torch.no_grad()
@pytest.mark.parametrize("make", [foreign.bert, foreign.xlnet])
def test_the_exported_tokenizer_marks_the_segments_that_the_model_reads(
    make: Callable[[Path], Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    make(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    export_huggingface(tmp_path / "run", tmp_path / "out")
    ours, own = load_both(Run(tmp_path / "run"))
    theirs, reads = opened(tmp_path / "out", caplog), transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    texts = ["the little girl", "a red ball"]
    ids, segments = (torch.from_numpy(row)[None] for row in own.paired(*own.encode(texts), segmented=True))
    pair = reads(*texts, return_tensors="pt")
    assert torch.equal(pair.token_type_ids, segments)
    assert_equal(theirs(**pair).logits, ours.eval()(ids, None, segments))
    alone = torch.from_numpy(own.framed(own.encode(texts)[0]))[None]
    assert_equal(
        theirs(**reads(texts[0], return_tensors="pt")).logits, ours(alone, None, own_segments(ours, own, alone))
    )


@pytest.mark.parametrize("make", [foreign.roberta, foreign.distilbert, foreign.gpt2])
def test_a_model_without_segments_is_given_none(make: Callable[[Path], Any], tmp_path: Path) -> None:
    make(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    export_huggingface(tmp_path / "run", tmp_path / "out")
    reads = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    assert set(reads("the little girl", "a red ball")) == {"input_ids", "attention_mask"}
    about = json.loads((tmp_path / "out" / "tokenizer_config.json").read_text())
    assert about["model_input_names"] == ["input_ids", "attention_mask"]


def small(preset: str, **changes: Any) -> ModelConfig:
    return change(get(preset), {**SMALL, **changes})


GATED = {"kind": "gated", "hidden": 40}
LLAMA = {"norm": "rms", "position": "rotary", "kv_heads": 2, "feedforward": GATED, "bias": False}
OURS = {
    "gpt2": small("gpt2"),
    "gpt": small("gpt", hidden=128),
    "writer": small("writer"),
    "rotary, rms, gated": small("gpt2", **LLAMA),
    "rotary in pairs": small("gpt2", **LLAMA | {"position": {"kind": "rotary", "layout": "interleaved"}}),
    "bert-base": small("bert-base"),
    "roberta-large": small("roberta-large"),
    "xlnet-base": small("xlnet-base"),
    "the reader of an xlnet": small("xlnet-base").inside(),  # type: ignore[attr-defined]
    "an encoder without head and pool": small("bert-base", head=None, pool=None),
}


@pytest.mark.parametrize("config", OURS.values(), ids=OURS.keys())
def test_models_of_ours_are_opened_and_give_the_same(
    config: ModelConfig, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    write_run(tmp_path / "run", config, task={"kind": "lm", "context": 48})
    export_huggingface(tmp_path / "run", tmp_path / "out")
    ours, tokenizer = load_both(Run(tmp_path / "run"))
    theirs = opened(tmp_path / "out", caplog)
    tokens, keep = foreign.some_tokens(tokenizer.vocabulary)
    tokens[~keep] = tokenizer.pad
    assert_equal(theirs(tokens, attention_mask=keep.long())[0][keep], ours.eval()(tokens, keep)[keep])
    assert theirs.config.pad_token_id == tokenizer.pad


def test_a_tokenizer_of_ours_frames_texts_for_an_encoder_and_opens_them_for_a_writer(tmp_path: Path) -> None:
    for name, config in (("reads", OURS["bert-base"]), ("writes", OURS["gpt2"])):
        export_huggingface(write_run(tmp_path / name, config), tmp_path / f"{name}-out")
    own = load_both(Run(tmp_path / "reads"))[1]
    framed = own.framed(own.encode([TEXT])[0]).tolist()
    reads = transformers.AutoTokenizer.from_pretrained(tmp_path / "reads-out")
    assert reads(TEXT).input_ids == framed
    assert reads.decode(framed, skip_special_tokens=True) == TEXT
    assert transformers.AutoTokenizer.from_pretrained(tmp_path / "writes-out")(TEXT).input_ids == framed[:-1]


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece", "char"])
@pytest.mark.parametrize(
    ("config", "segmented"), [(small("bert-mini", relation=True), True), (small("roberta-mini"), False)]
)
def test_a_tokenizer_of_ours_frames_pairs_as_its_model_reads_them(
    config: ModelConfig, segmented: bool, kind: str, tmp_path: Path
) -> None:
    export_huggingface(write_run(tmp_path / "run", config, kind), tmp_path / "out")
    own = load_both(Run(tmp_path / "run"))[1]
    reads = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    first, second = own.encode([TEXT, "The end!"])
    ids, segments = own.paired(first, second, segmented)
    pair = reads(TEXT, "The end!")
    assert pair.input_ids == ids.tolist()
    assert pair.get("token_type_ids") == (segments.tolist() if segmented else None)
    assert reads(TEXT).input_ids == own.framed(first).tolist()


def test_a_model_of_ours_with_pieces_from_elsewhere_has_its_own_frame(tmp_path: Path) -> None:
    foreign.wordpiece_file(tmp_path / "in")
    own = read_tokenizer(tmp_path / "in")
    export_huggingface(write_both(tmp_path / "run", small("roberta-mini"), own), tmp_path / "out")
    reads = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    first, second = own.encode(["the girl", "a ball"])
    assert reads("the girl", "a ball").input_ids == own.paired(first, second, segmented=False)[0].tolist()


@pytest.mark.parametrize("kind", ["bpe", "unigram", "wordpiece", "word", "char"])
def test_a_mask_takes_the_space_before_it_along_where_it_does_so_here(kind: str, tmp_path: Path) -> None:
    export_huggingface(write_run(tmp_path / "run", small("roberta-mini"), kind, mask=True), tmp_path / "out")
    own = load_both(Run(tmp_path / "run"))[1]
    reads = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    for text in ("The little <mask> had a red ball.", "<mask> had  <mask>, a<mask>", "The end <mask>"):
        assert reads(text, add_special_tokens=False).input_ids == [i for i, _, _ in own.masked(text)]


def test_weights_that_do_not_matter_are_said(tmp_path: Path) -> None:
    said: list[str] = []
    export_huggingface(write_run(tmp_path / "run", OURS["bert-base"]), tmp_path / "out", said.append)
    assert said == ["left out, for the class that opens the folder has none: pool.dense.weight, pool.dense.bias"]
    bare = write_run(tmp_path / "bare", OURS["an encoder without head and pool"])
    export_huggingface(bare, tmp_path / "zeros", said.append)
    assert said[1:] == [
        "written as zeros, for the class that opens the folder has them: pool.dense.weight, pool.dense.bias"
    ]


def test_the_pooling_of_sentences_is_written_and_read_again(tmp_path: Path) -> None:
    config = small("bert-base", head=None)
    about = {"normalised": True, "pool": "cls", "longest": 24}
    write_run(tmp_path / "run", config, embedding=about)
    export_huggingface(tmp_path / "run", tmp_path / "out")
    import_source(tmp_path / "out", tmp_path / "again")
    assert_same_model(tmp_path / "run", tmp_path / "again")
    assert Run(tmp_path / "again").section("embedding") == about
    kinds = [entry["type"].rpartition(".")[2] for entry in json.loads((tmp_path / "out" / "modules.json").read_text())]
    assert kinds == ["Transformer", "Pooling", "Normalize"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (small("gpt2", position="alibi"), "the model's decoder.position alibi has no counterpart in gpt2"),
        (small("gpt2", residual="post-norm"), "decoder.block.feedforward.hidden 48 has no counterpart in openai-gpt"),
        (small("gpt2", kv_heads=2), "the model's decoder.block.attention.kv_heads 2 has no counterpart"),
        (small("gpt2", activation="elu"), "activation elu"),
        (small("gpt2", **LLAMA | {"kernel": "additive"}), "kernel additive has no counterpart in llama"),
        (small("bert-base", position="rotary"), "the model's encoder.position rotary has no counterpart in bert"),
        (small("xlnet-base", position="rotary"), "the model's encoder.position rotary has no counterpart in xlnet"),
        (small("transformer-tiny"), "a model of kind 'encoder-decoder' has no counterpart among gpt2, "),
    ],
)
def test_what_has_no_counterpart_is_refused_with_its_field(config: ModelConfig, message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError) as error:
        export_huggingface(write_run(tmp_path / "run", config), tmp_path / "out")
    assert message in str(error.value)
    assert not (tmp_path / "out").exists()


def test_a_folder_that_holds_something_is_left_alone(tmp_path: Path) -> None:
    write_run(tmp_path / "run", OURS["gpt2"])
    with pytest.raises(ValueError, match="already holds something"):
        export_huggingface(tmp_path / "run", tmp_path / "run")
