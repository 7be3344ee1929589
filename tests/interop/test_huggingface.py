"""Folders of Hugging Face become run folders whose models give the same outputs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch

pytest.importorskip("transformers")

import transformers

import regard
from regard.checkpoint import load_both
from regard.decoding import Decoding, complete
from regard.interop import import_source
from regard.models import DecoderModel, EncoderModel
from regard.runfolder import Run
from regard.tasks.language.generator import Generator
from regard.tasks.vectors.embedding import load_embedder
from tests.interop import foreign


def imported(source: Path, run: Path) -> Any:
    """The model of the run folder that an import makes."""
    import_source(source, run)
    return load_both(Run(run))[0].eval()


def assert_equal(ours: torch.Tensor, theirs: torch.Tensor) -> None:
    torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


# --- decoders ---------------------------------------------------------------------------------------------------------

SIZES = {  # the four sizes of GPT-2, at a small depth: heads of the same width, 64
    "gpt2": {"n_embd": 768, "n_head": 12},
    "gpt2-medium": {"n_embd": 1024, "n_head": 16},
    "gpt2-large": {"n_embd": 1280, "n_head": 20},
    "gpt2-xl": {"n_embd": 1600, "n_head": 25},
}
DECODERS: dict[str, Callable[[Path], Any]] = {
    "gpt2": foreign.gpt2,
    "gpt2, all fields": lambda folder: foreign.gpt2(
        folder, n_inner=40, activation_function="relu", layer_norm_epsilon=1e-3, tie_word_embeddings=False
    ),
    "gpt2, unscaled": lambda folder: foreign.gpt2(folder, scale_attn_weights=False),
    "gpt": foreign.gpt,
    "gpt, all fields": lambda folder: foreign.gpt(
        folder, afn="relu", layer_norm_epsilon=1e-3, tie_word_embeddings=False
    ),
    "llama": foreign.llama,
    "llama, all fields": lambda folder: foreign.llama(
        folder,
        attention_bias=True,
        mlp_bias=True,
        head_dim=12,
        rms_norm_eps=1e-4,
        tie_word_embeddings=True,
        rope_parameters={"rope_type": "default", "rope_theta": 500.0},
    ),
    "llama, every head its own keys": lambda folder: foreign.llama(folder, num_key_value_heads=4),
}


@pytest.mark.parametrize("make", DECODERS.values(), ids=DECODERS.keys())
def test_a_decoder_gives_the_logits_of_transformers(make: Callable[[Path], Any], tmp_path: Path) -> None:
    theirs = make(tmp_path / "in")
    ours = imported(tmp_path / "in", tmp_path / "run")
    assert isinstance(ours, DecoderModel)
    tokens, keep = foreign.some_tokens(theirs.config.vocab_size)
    assert_equal(ours(tokens, keep)[keep], theirs(tokens, attention_mask=keep.long()).logits[keep])


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES.keys())
def test_gpt2_of_every_width_is_equal(sizes: dict[str, int], tmp_path: Path) -> None:
    theirs = foreign.gpt2(tmp_path / "in", n_layer=1, **sizes)
    tokens, _ = foreign.some_tokens(theirs.config.vocab_size)
    ours = imported(tmp_path / "in", tmp_path / "run")
    torch.testing.assert_close(ours(tokens), theirs(tokens).logits, rtol=1e-4, atol=1e-3)  # of logits up to a hundred


def test_the_cache_of_an_imported_model_is_right(tmp_path: Path) -> None:
    theirs = foreign.llama(tmp_path / "in")
    ours = imported(tmp_path / "in", tmp_path / "run")
    tokens, _ = foreign.some_tokens(theirs.config.vocab_size)
    state = ours.begin()
    for place in range(tokens.shape[1]):
        logits = ours.step(tokens[:, place : place + 1], state)
    assert_equal(logits, theirs(tokens).logits[:, -1])


def test_an_imported_decoder_is_a_language_model(tmp_path: Path) -> None:
    theirs = foreign.gpt2(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    writer = regard.load(tmp_path / "run")
    assert isinstance(writer, Generator)
    assert writer.context == 32
    read = torch.tensor(writer.tokenizer.encode(["The little girl"]))
    expected = theirs.generate(read, max_new_tokens=20, do_sample=False, pad_token_id=0)[0, read.shape[1] :]
    search = Decoding(beam=1, max_length=20)
    assert complete(writer.model, read, None, search, end=0)[0][0].tokens == expected.tolist()


# --- encoders ---------------------------------------------------------------------------------------------------------

ENCODERS: dict[str, Callable[[Path], Any]] = {
    "bert": foreign.bert,
    "bert, all fields": lambda folder: foreign.bert(folder, hidden_act="relu", type_vocab_size=3, layer_norm_eps=1e-3),
    "roberta": foreign.roberta,
    "roberta, another pad": lambda folder: foreign.roberta(folder, pad_token_id=5),
    "distilbert": foreign.distilbert,
    "xlnet": foreign.xlnet,
    "xlnet, all fields": lambda folder: foreign.xlnet(folder, ff_activation="relu", clamp_len=4, layer_norm_eps=1e-3),
}


@pytest.mark.parametrize("make", ENCODERS.values(), ids=ENCODERS.keys())
def test_an_encoder_gives_the_logits_of_transformers(make: Callable[[Path], Any], tmp_path: Path) -> None:
    theirs = make(tmp_path / "in")
    ours = imported(tmp_path / "in", tmp_path / "run")
    assert isinstance(ours, EncoderModel)
    tokens, keep = foreign.some_tokens(theirs.config.vocab_size)
    tokens[~keep] = theirs.config.pad_token_id  # RoBERTa counts its positions by this
    assert_equal(ours(tokens, keep)[keep], theirs(tokens, attention_mask=keep.long()).logits[keep])


def test_segments_are_read(tmp_path: Path) -> None:
    theirs = foreign.bert(tmp_path / "in")
    ours = imported(tmp_path / "in", tmp_path / "run")
    tokens, _ = foreign.some_tokens(theirs.config.vocab_size)
    segments = (torch.arange(11) > 5).long().expand(2, -1)
    assert_equal(ours(tokens, None, segments), theirs(tokens, token_type_ids=segments).logits)


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (foreign.bert, "BertModel"),
        (foreign.roberta, "RobertaModel"),
        (foreign.distilbert, "DistilBertModel"),
        (foreign.xlnet, "XLNetModel"),
    ],
)
def test_an_encoder_without_a_head_gives_states(make: Callable[..., Any], kind: str, tmp_path: Path) -> None:
    theirs = make(tmp_path / "in", kind)
    ours = imported(tmp_path / "in", tmp_path / "run")
    tokens, keep = foreign.some_tokens(theirs.config.vocab_size)
    tokens[~keep] = theirs.config.pad_token_id
    expected = theirs(tokens, attention_mask=keep.long())
    memory = ours.encode(tokens, keep)
    assert_equal(memory.states[keep], expected.last_hidden_state[keep])
    if ours.pool is not None:
        assert_equal(ours.pooled(memory), expected.pooler_output)


def test_what_predicts_the_next_sentence_is_read(tmp_path: Path) -> None:
    theirs = foreign.bert(tmp_path / "in", "BertForPreTraining")
    ours = imported(tmp_path / "in", tmp_path / "run")
    tokens, keep = foreign.some_tokens(theirs.config.vocab_size)
    expected, memory = theirs(tokens, attention_mask=keep.long()), ours.encode(tokens, keep)
    assert_equal(ours.head.logits(memory.states)[keep], expected.prediction_logits[keep])
    assert_equal(ours.follows(memory), expected.seq_relationship_logits)


def test_an_encoder_with_a_head_finds_masked_words(tmp_path: Path) -> None:
    theirs = foreign.bert(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    filler = regard.load(tmp_path / "run")
    ids = torch.from_numpy(filler.tokenizer.framed([5, filler.tokenizer.mask, 8])).unsqueeze(0)
    with torch.no_grad():
        expected = theirs(ids).logits[0, 2].argmax()
    found = filler(f"{foreign.PIECES[5]} [MASK] {foreign.PIECES[8]}")
    assert found.masks[0][0].id == expected


@torch.no_grad()
def test_xlnet_reads_texts_before_end_and_start_as_transformers_does(tmp_path: Path) -> None:
    theirs = foreign.xlnet(tmp_path / "in")
    own = transformers.AutoTokenizer.from_pretrained(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    embedder, texts = load_embedder(tmp_path / "run", "cls"), ["the little girl", "a red ball , a ball !"]
    assert (embedder.tokenizer.start, embedder.tokenizer.end, embedder.tokenizer.pad) == (3, 4, 5)
    batch = own(texts, padding=True, return_tensors="pt", return_token_type_ids=True)  # padded on the left
    expected = theirs.transformer(**batch).last_hidden_state[:, -1]
    assert_equal(torch.from_numpy(embedder(texts, normalised=False)), expected)
    pair = own(texts[0], texts[1], return_tensors="pt", return_token_type_ids=True)
    ids, segments = embedder.tokenizer.paired(*embedder.tokenizer.encode(texts), segmented=True)
    assert ids.tolist() == pair.input_ids[0].tolist()
    assert segments.tolist() == pair.token_type_ids[0].tolist()


def test_xlnet_finds_words_from_all_others(tmp_path: Path) -> None:
    theirs = foreign.xlnet(tmp_path / "in")
    import_source(tmp_path / "in", tmp_path / "run")
    filler = regard.load(tmp_path / "run")
    found = filler("the little [MASK] had a red ball").masks[0]
    ids = torch.from_numpy(filler.tokenizer.framed(filler.row("the little [MASK] had a red ball")))[None]
    place, size = int((ids == 6).nonzero()[0, 1]), ids.shape[1]
    hidden, mapping = torch.zeros(1, size, size), torch.zeros(1, 1, size)
    hidden[:, :, place] = mapping[:, :, place] = 1
    kinds = (ids == 3).long() * 2
    with torch.no_grad():
        logits = theirs(ids, perm_mask=hidden, target_mapping=mapping, token_type_ids=kinds).logits[0, 0]
    assert found[0].id == int(logits.argmax())
    assert found[0].probability == pytest.approx(float(logits.softmax(-1).max()), rel=1e-4)


# --- sentence-transformers --------------------------------------------------------------------------------------------


def sentence_folder(folder: Path, pooling: dict[str, Any], *more: str) -> Any:
    theirs = foreign.bert(folder, "BertModel")
    names = ("Transformer", "Pooling", *more)
    modules = [
        {"idx": i, "path": f"{i}_{name}" if i else "", "type": f"sentence_transformers.models.{name}"}
        for i, name in enumerate(names)
    ]
    (folder / "modules.json").write_text(json.dumps(modules))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 24, "do_lower_case": false}')
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    return theirs


OLD = {"word_embedding_dimension": 32, "pooling_mode_cls_token": False, "pooling_mode_max_tokens": False}


@pytest.mark.parametrize(
    ("pooling", "pool"),
    [
        ({**OLD, "pooling_mode_mean_tokens": True}, "mean"),
        ({**OLD, "pooling_mode_cls_token": True}, "cls"),
        ({"pooling_mode": "mean"}, "mean"),
    ],
)
def test_the_vectors_of_sentence_transformers_are_the_same(pooling: dict[str, Any], pool: str, tmp_path: Path) -> None:
    theirs = sentence_folder(tmp_path / "in", pooling, "Normalize")
    import_source(tmp_path / "in", tmp_path / "run")
    assert Run(tmp_path / "run").section("embedding") == {"normalised": True, "pool": pool, "longest": 24}
    embedder = load_embedder(tmp_path / "run")
    assert embedder.longest == 24
    text = "the little girl had a red ball"
    ids = torch.from_numpy(embedder.tokenizer.framed(embedder.tokenizer.encode([text])[0])).unsqueeze(0)
    with torch.no_grad():
        states = theirs(ids)[0]
    expected = torch.nn.functional.normalize(states.mean(1) if pool == "mean" else states[:, 0])
    assert_equal(torch.from_numpy(embedder([text])), expected)


@pytest.mark.parametrize(
    ("pooling", "more", "message"),
    [
        ({**OLD, "pooling_mode_mean_tokens": True}, ["Dense"], "the module Dense has no counterpart here"),
        ({**OLD, "pooling_mode_mean_tokens": True, "pooling_mode_cls_token": True}, [], "has no counterpart here"),
        ({"pooling_mode": "lasttoken"}, [], "pooling by lasttoken has no counterpart here"),
        ({**OLD, "pooling_mode_max_tokens": True}, [], "pooling by pooling_mode_max_tokens has no counterpart here"),
    ],
)
def test_other_ways_to_pool_are_refused(pooling: dict[str, Any], more: list[str], message: str, tmp_path: Path) -> None:
    sentence_folder(tmp_path / "in", pooling, *more)
    with pytest.raises(ValueError, match=message):
        import_source(tmp_path / "in", tmp_path / "run")


# --- files ------------------------------------------------------------------------------------------------------------


def test_weights_in_several_files_are_read(tmp_path: Path) -> None:
    theirs = foreign.gpt2(tmp_path / "in")
    whole = imported(tmp_path / "in", tmp_path / "whole")
    (tmp_path / "in" / "model.safetensors").unlink()
    theirs.save_pretrained(tmp_path / "in", max_shard_size="30KB")
    assert len(list((tmp_path / "in").glob("*.safetensors"))) > 2
    parts = imported(tmp_path / "in", tmp_path / "parts")
    for (name, one), (_, other) in zip(whole.named_parameters(), parts.named_parameters(), strict=True):
        assert torch.equal(one, other), name


def test_half_precision_is_widened(tmp_path: Path) -> None:
    theirs = foreign.gpt2(tmp_path / "in")
    theirs.half().save_pretrained(tmp_path / "in")
    ours = imported(tmp_path / "in", tmp_path / "run")
    tokens, _ = foreign.some_tokens(theirs.config.vocab_size)
    assert_equal(ours(tokens), theirs.float()(tokens).logits)


def test_names_without_the_prefix_and_old_buffers_are_understood(tmp_path: Path) -> None:
    """As the first released weights of GPT-2 are: of the body alone, with the causal masks."""
    theirs = foreign.gpt2(tmp_path / "in")
    change_weights(tmp_path / "in", bare_with_masks)
    ours = imported(tmp_path / "in", tmp_path / "run")
    tokens, _ = foreign.some_tokens(theirs.config.vocab_size)
    assert_equal(ours(tokens), theirs(tokens).logits)


def bare_with_masks(weights: dict[str, torch.Tensor]) -> None:
    for name in list(weights):
        weights[name.removeprefix("transformer.")] = weights.pop(name)
    weights["h.0.attn.bias"] = torch.ones(1, 1, 32, 32)


def change_weights(folder: Path, how: Callable[[dict[str, torch.Tensor]], None]) -> None:
    weights = safetensors.torch.load_file(folder / "model.safetensors")
    how(weights)
    safetensors.torch.save_file(weights, folder / "model.safetensors")


def test_a_model_with_more_rows_than_pieces_has_pieces_that_no_text_becomes(tmp_path: Path) -> None:
    theirs = foreign.gpt2(tmp_path / "in", vocab_size=320)
    import_source(tmp_path / "in", tmp_path / "run")
    model, tokenizer = load_both(Run(tmp_path / "run"))
    assert tokenizer.vocabulary == 320
    assert tokenizer.token(319) == "<unused319>"
    assert 319 not in tokenizer.encode(["a text with <unused319> in it"])[0]
    tokens, _ = foreign.some_tokens(320)
    assert_equal(model.eval()(tokens), theirs(tokens).logits)


@pytest.mark.parametrize(
    ("make", "kind", "head"),
    [
        (foreign.bert, "BertForMultipleChoice", "classifier.bias, classifier.weight"),
        (foreign.roberta, "RobertaForMultipleChoice", "classifier.bias, classifier.weight"),
        (foreign.distilbert, "DistilBertForMultipleChoice", "classifier.bias, classifier.weight, pre_cl"),
        (foreign.xlnet, "XLNetForMultipleChoice", "logits_proj.bias, logits_proj.weight, sequence_summary."),
    ],
)
def test_the_head_of_another_task_is_left_out_and_named(
    make: Callable[..., Any], kind: str, head: str, tmp_path: Path
) -> None:
    theirs, said = make(tmp_path / "in", kind), []
    import_source(tmp_path / "in", tmp_path / "run", said.append)
    assert len(said) == 1
    assert said[0].startswith(f"left out, for they are the head of another task, which is not read: {head}")
    ours = load_both(Run(tmp_path / "run"))[0].eval()
    tokens, keep = foreign.some_tokens(theirs.config.vocab_size)
    tokens[~keep] = theirs.config.pad_token_id
    expected = theirs.base_model(tokens, attention_mask=keep.long()).last_hidden_state
    assert_equal(ours(tokens, keep)[keep], expected[keep])


# --- what is refused --------------------------------------------------------------------------------------------------


def lost(weights: dict[str, torch.Tensor]) -> None:
    del weights["transformer.ln_f.bias"], weights["transformer.h.1.mlp.c_fc.weight"]
    weights["transformer.h.7.ln_1.bias"], weights["adapter.weight"] = torch.zeros(2), torch.zeros(1)


def misshapen(weights: dict[str, torch.Tensor]) -> None:
    weights["transformer.ln_f.bias"] = torch.zeros(31)
    weights["transformer.h.0.attn.c_attn.weight"] = torch.zeros(32, 95)


def broken(weights: dict[str, torch.Tensor]) -> None:
    weights["transformer.ln_f.bias"][3] = torch.nan
    weights["transformer.wpe.weight"][3] = torch.inf


def untied(weights: dict[str, torch.Tensor]) -> None:
    weights["lm_head.weight"] = weights["transformer.wte.weight"] + 1


@pytest.mark.parametrize(
    ("how", "said"),
    [
        (lost, ["lacks h.1.mlp.c_fc.weight, ln_f.bias and has extra adapter.weight, h.7.ln_1.bias"]),
        (
            misshapen,
            ["ln_f.bias has shape (31,) instead of (32,)", "c_attn.weight has shape (32, 95) instead of (32, 96)"],
        ),
        (broken, ["ln_f.bias", "wpe.weight", "no finite numbers (NaN or infinite)"]),
        (untied, ["lm_head.weight is to be the same as wte.weight, and is not"]),
    ],
)
def test_wrong_tensors_are_all_named(
    how: Callable[[dict[str, torch.Tensor]], None], said: list[str], tmp_path: Path
) -> None:
    foreign.gpt2(tmp_path / "in")
    change_weights(tmp_path / "in", how)
    with pytest.raises(ValueError) as error:
        import_source(tmp_path / "in", tmp_path / "run")
    assert all(one in str(error.value) for one in said), error.value
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"model_type": "gtp2"}, "a model of type 'gtp2' is not known here: did you mean 'gpt2'"),
        ({"n_embd": None}, "config.json has no 'n_embd'"),
        ({"n_embd": "wide"}, "n_embd is 'wide'; it takes a whole number"),
        ({"activation_function": "mish"}, "activation_function 'mish' has no counterpart"),
        ({"scale_attn_by_inverse_layer_idx": True}, "scale_attn_by_inverse_layer_idx True has no counterpart here"),
        ({"n_head": 5}, "width 32 is not divisible by 5 heads"),
        ({"vocab_size": 100}, "belong together"),
    ],
)
def test_a_config_that_says_something_else_is_refused(fields: dict[str, Any], message: str, tmp_path: Path) -> None:
    foreign.gpt2(tmp_path / "in")
    path = tmp_path / "in" / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))
    with pytest.raises(ValueError, match=message):
        import_source(tmp_path / "in", tmp_path / "run")


def test_other_rotary_positions_are_refused(tmp_path: Path) -> None:
    foreign.llama(tmp_path / "in")
    path = tmp_path / "in" / "config.json"
    scaled = {"rope_scaling": {"rope_type": "linear", "factor": 2.0}, "rope_parameters": None}
    path.write_text(json.dumps(json.loads(path.read_text()) | scaled))
    with pytest.raises(ValueError, match="rope_type 'linear' has no counterpart here"):
        import_source(tmp_path / "in", tmp_path / "run")


def test_a_tokenizer_with_far_fewer_pieces_than_rows_is_refused(tmp_path: Path) -> None:
    foreign.bert(tmp_path / "in")
    path = tmp_path / "in" / "vocab.txt"
    path.write_text("\n".join(foreign.PIECES[:40]) + "\n")
    message = f"in: its tokenizer has 40 pieces, its model a table of {len(foreign.PIECES)} rows: they do not belong"
    with pytest.raises(ValueError, match=message):
        import_source(tmp_path / "in", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_tokenizer_that_marks_more_segments_than_the_model_has_is_refused(tmp_path: Path) -> None:
    foreign.xlnet(tmp_path / "other")
    foreign.bert(tmp_path / "in", vocab_size=len(foreign.SCORED))
    (tmp_path / "other" / "tokenizer.json").rename(tmp_path / "in" / "tokenizer.json")
    with pytest.raises(ValueError, match="in: its tokenizer marks 3 segments where its model has 2"):
        import_source(tmp_path / "in", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_segment_that_the_model_does_not_have_is_named(tmp_path: Path) -> None:
    theirs = foreign.bert(tmp_path / "in")
    ours = imported(tmp_path / "in", tmp_path / "run")
    tokens, _ = foreign.some_tokens(theirs.config.vocab_size)
    with pytest.raises(ValueError, match="segment 2 was given, but this model's embedding has 2"):
        ours(tokens, None, torch.full_like(tokens, 2))


def test_no_pickle_is_opened(tmp_path: Path) -> None:
    foreign.gpt2(tmp_path / "in")
    (tmp_path / "in" / "model.safetensors").rename(tmp_path / "in" / "pytorch_model.bin")
    with pytest.raises(ValueError, match=r"pytorch_model.bin is a pickle, .* save it again"):
        import_source(tmp_path / "in", tmp_path / "run")


def test_half_a_file_and_a_missing_part_are_said(tmp_path: Path) -> None:
    theirs = foreign.gpt2(tmp_path / "in")
    path = tmp_path / "in" / "model.safetensors"
    path.write_bytes(path.read_bytes()[:1000])
    with pytest.raises(ValueError, match="no whole safetensors file"):
        import_source(tmp_path / "in", tmp_path / "run")
    path.unlink()
    with pytest.raises(ValueError, match=r"has no weights: model.safetensors is missing"):
        import_source(tmp_path / "in", tmp_path / "run")
    theirs.save_pretrained(tmp_path / "in", max_shard_size="30KB")
    next((tmp_path / "in").glob("model-*.safetensors")).unlink()
    with pytest.raises(ValueError, match="is missing: it is one of the parts"):
        import_source(tmp_path / "in", tmp_path / "run")


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    foreign.gpt2(tmp_path / "in")
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "mine").touch()
    with pytest.raises(ValueError, match="already holds something"):
        import_source(tmp_path / "in", tmp_path / "run")
