"""Looking: what is shown is what was computed, for every family of models."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import regard
from regard.checkpoint import weights_of, write_tensors
from regard.config import change, to_dict
from regard.data.pairs import Pair
from regard.data.tokenizers import END, START, Tokenizer
from regard.decoding import Decoding
from regard.look import Look, Subject, look, open_run, way
from regard.look.importance import importance
from regard.look.records import merged
from regard.look.tree import beam_tree
from regard.look.views import views
from regard.models import Classifier, Encoder, EncoderDecoder, ModelConfig, Recurrent
from regard.models.recurrent import Luong
from regard.nn.attention import MultiHead
from regard.nn.attention.local import Monotonic, Predictive, WindowConfig
from regard.nn.call.watch import silenced
from regard.nn.heads import LinearHead
from regard.nn.pooling import AttentionPooling, Mean
from regard.nn.stacks import Stack
from regard.runfolder import Run
from regard.tasks.writing.alignment import cross_weights
from regard.tasks.writing.translation import load_translator
from tests.halving import SHORTER
from tests.helpers import SMALL, WIDTH, built, decoder, encoder, encoder_decoder, small_block, tokens
from tests.toy import Toy, meaning, sentences

TEXT = "un deux trois quatre"


@pytest.fixture(scope="module")
def subject(toy: Toy) -> Subject:
    return open_run(toy.good)


def lone(config: ModelConfig) -> Subject:
    """A model of one stack with fresh weights, and a tokenizer of characters that fits it."""
    tokenizer = Tokenizer.train(["abcdefghijklmnop qrstuvwxyz"] * 2, "char")
    return Subject(built(change(config, {"vocabulary": tokenizer.vocabulary})), tokenizer)


# --- what is seen -----------------------------------------------------------------------------------------------------


def test_maps_are_the_weights_that_watching_records(subject: Subject) -> None:
    seen = look(subject, TEXT)
    source, target = (torch.tensor([side.ids]) for side in seen.sides.values())
    with regard.watch(subject.model) as watched:
        subject.model.features(source, target)  # type: ignore[operator]
    assert {layer.name for layer in seen.layers} == set(watched)
    for name in watched:
        np.testing.assert_array_equal(seen.arrays[name], watched.last(name)[0].numpy())


def test_sides_carry_their_special_tokens_and_words(subject: Subject) -> None:
    seen = look(subject, TEXT)
    source, target = seen.sides["source"], seen.sides["target"]
    assert source.tokens == [*TEXT.split(), "</s>"]
    assert source.word_of == [0, 1, 2, 3, None]
    assert target.tokens == ["<s>", *meaning(TEXT).split()]
    assert target.text == meaning(TEXT)


def test_a_given_target_is_written_instead_of_the_models_own(subject: Subject) -> None:
    seen = look(subject, TEXT, "six six")
    assert seen.written.tokens == ["<s>", "six", "six"]
    assert [one.token for one in seen.predictions] == ["six", "six", "</s>"]


def test_predictions_multiply_to_the_probability_of_the_translation(toy: Toy, subject: Subject) -> None:
    rendering = load_translator(toy.good).translate([TEXT], Decoding(beam=4))[0][0]
    seen = look(subject, TEXT)
    total = sum(np.log(one.probability) for one in seen.predictions)
    assert total == pytest.approx(rendering.log_prob, abs=1e-4)
    for one in seen.predictions:
        assert one.best[one.rank - 1].token == one.token
        assert one.best == sorted(one.best, key=lambda choice: -choice.probability)


def test_the_lens_ends_at_what_is_predicted(subject: Subject) -> None:
    seen = look(subject, TEXT)
    assert seen.lens is not None
    assert seen.lens.layers == ["input", "decoder.0"]
    np.testing.assert_allclose(seen.lens.chosen[-1], [one.probability for one in seen.predictions], rtol=1e-5)
    assert seen.lens.tokens[-1] == [one.best[0].token for one in seen.predictions]


def test_the_lens_norms_the_stream_of_a_pre_norm_model() -> None:
    subject = lone(decoder())
    seen = look(subject, "a cab")
    assert seen.lens is not None
    last = [one.best[0].probability for one in seen.predictions]
    np.testing.assert_allclose(seen.lens.probabilities[-1], last, rtol=1e-5)


def test_rollout_of_one_layer_is_half_attention_and_half_the_token_itself(subject: Subject) -> None:
    seen = look(subject, TEXT)
    attention = seen.arrays["encoder.0.self"].mean(0)
    np.testing.assert_allclose(seen.arrays["encoder.rollout"][0], 0.5 * attention + 0.5 * np.eye(5), atol=1e-6)


def test_rollout_goes_from_the_last_layer_to_the_input() -> None:
    """As one product over the tokens of both sides, of which a layer changes those of its own side alone."""
    seen = look(lone(encoder_decoder()), "abc de", "fgh")
    mean = {name: seen.arrays[name].mean(0) for name in ("encoder.0.self", "encoder.1.self")}
    source = [0.5 * np.eye(len(one)) + 0.5 * one for one in mean.values()]
    np.testing.assert_allclose(seen.arrays["encoder.rollout"][0], source[1] @ source[0], atol=1e-6)
    here, there = len(seen.sides["target"].ids), len(seen.sides["source"].ids)
    total = np.eye(here + there)
    total[here:, here:] = source[1] @ source[0]
    for layer in range(2):
        own, cross = np.eye(here + there), np.eye(here + there)
        own[:here, :here] = 0.5 * np.eye(here) + 0.5 * seen.arrays[f"decoder.{layer}.self"].mean(0)
        cross[:here, :here] = 0.5 * np.eye(here)
        cross[:here, here:] = 0.5 * seen.arrays[f"decoder.{layer}.cross"].mean(0)
        total = cross @ own @ total
    np.testing.assert_allclose(seen.arrays["decoder.rollout"][0], total[:here, :here], atol=1e-6)
    np.testing.assert_allclose(seen.arrays["cross.rollout"][0], total[:here, here:], atol=1e-6)


def test_the_importance_of_a_head_is_measured_beside_the_heads_that_are_silent() -> None:
    subject, off = lone(decoder()), "decoder.0.self.1"
    less, both = (look(subject, "abc de", without=without) for without in ([off], [off, "decoder.1.self.2"]))
    logs = [sum(np.log(one.probability) for one in seen.predictions[:-1]) for seen in (less, both)]  # of what is given
    found = importance(subject, less)
    assert found["decoder.1.self"][2] == pytest.approx(logs[0] - logs[1], abs=1e-4)
    assert found["decoder.0.self"][1] == 0  # it is silent already


@pytest.mark.parametrize("config", [encoder_decoder(), decoder(), encoder()], ids=lambda config: config.kind)
def test_rollout_shares_out_each_token_whole(config: ModelConfig) -> None:
    subject = lone(config)
    seen = look(subject, "abc de", "fgh" if config.kind == "encoder-decoder" else None)
    total = {}
    for one in seen.rollout:
        total[one.rows] = total.get(one.rows, 0) + seen.arrays[one.name][0].sum(-1)
    for rows in total.values():
        np.testing.assert_allclose(rows, 1, atol=1e-5)


def test_the_alignment_is_that_of_evaluation(toy: Toy, subject: Subject) -> None:
    translator = load_translator(toy.good)
    reading = subject.reading
    assert reading is not None
    pair = Pair(TEXT, meaning(TEXT), alignment=tuple((i, i) for i in range(4)))
    expected = cross_weights(translator, [pair], reading)[0]
    seen = look(subject, TEXT, meaning(TEXT), gold=pair.alignment)
    assert seen.alignment is not None
    np.testing.assert_allclose(seen.arrays["alignment"][0], expected, atol=1e-6)
    assert seen.alignment.links == reading.links(expected)
    assert seen.alignment.error_rate == pytest.approx(1 - len(set(seen.alignment.links) & set(pair.alignment)) / 4)


def test_pieces_of_a_word_are_merged() -> None:
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]])
    rows, columns = np.array([[1, 1]]), np.array([[1, 1, 0], [0, 0, 1]])
    np.testing.assert_allclose(merged(weights, rows, columns), [[0.45, 0.55]])


def test_named_layers_alone_are_mapped(subject: Subject) -> None:
    seen = look(subject, TEXT, layers=["decoder.*.cross"])
    assert [layer.name for layer in seen.layers] == ["decoder.0.cross"]
    assert seen.rollout == []


@pytest.mark.parametrize("config", [decoder(), encoder()], ids=lambda config: config.kind)
def test_a_model_of_one_stack_has_one_side(config: ModelConfig) -> None:
    subject = lone(config)
    seen = look(subject, "a cab")
    assert list(seen.sides) == ["text"]
    assert (
        seen.map("decoder.1.self" if config.kind == "decoder" else "encoder.1.self", head=2).weights.shape
        == (len(seen.sides["text"].tokens),) * 2
    )
    assert (seen.predictions == []) == (config.kind == "encoder")  # this encoder has no head


def test_the_last_prediction_of_a_decoder_is_its_own() -> None:
    seen = look(lone(decoder()), "a cab")
    assert [one.token for one in seen.predictions[:-1]] == list("a cab")
    assert seen.predictions[-1].rank == 1


# --- silent heads -----------------------------------------------------------------------------------------------------


def test_a_silent_head_is_one_whose_output_columns_are_zero() -> None:
    model = built(decoder())
    sentence = tokens(2, 6)
    whole = model(sentence)
    with silenced(model, {"decoder.1.self": [2]}):
        without = model(sentence)
    assert torch.equal(model(sentence), whole)
    width = model.config.width // 4
    with torch.no_grad():
        model.decoder.blocks[1].attention.out.weight[:, 2 * width : 3 * width] = 0
    torch.testing.assert_close(model(sentence), without)
    assert not torch.allclose(whole, without)


def test_silence_holds_while_a_model_writes() -> None:
    model = built(encoder_decoder())
    source, target = tokens(2, 5), tokens(2, 4)
    with silenced(model, {"decoder.0.cross": [1], "encoder.1.self": [0]}):
        expected = model(source, target)[:, -1]
        state = model.begin(model.encode(source))
        for column in target.unbind(1):
            logits = model.step(column[:, None], state)
    torch.testing.assert_close(logits, expected)


def test_a_look_without_a_head_says_what_changes(subject: Subject) -> None:
    every = [f"decoder.0.cross.{head}" for head in range(2)]
    seen = look(subject, TEXT, without=every)
    assert seen.without == every
    assert seen.changes is not None
    assert seen.changes.before == meaning(TEXT)
    assert seen.changes.text != meaning(TEXT)  # nothing of the source reaches the decoder
    assert seen.changes.before_log_prob == pytest.approx(
        sum(np.log(p.probability) for p in look(subject, TEXT).predictions)
    )


def test_a_number_alone_names_the_heads_of_a_whole_block(subject: Subject) -> None:
    assert look(subject, TEXT, without=["0.1"]).without == ["encoder.0.self.1", "decoder.0.self.1", "decoder.0.cross.1"]


@pytest.mark.parametrize("wrong", ["7.0", "decoder.0.cros.1", "decoder.0.cross", "x", "decoder.0.cross.2"])
def test_a_head_that_is_not_there_is_named(subject: Subject, wrong: str) -> None:
    with pytest.raises(ValueError, match=r"names no head|has heads 0 to 1"):
        look(subject, TEXT, without=[wrong])


def test_importance_is_what_the_output_loses(subject: Subject) -> None:
    seen = look(subject, TEXT)
    found = importance(subject, seen)
    assert {name: len(values) for name, values in found.items()} == {layer.name: layer.heads for layer in seen.layers}
    again = look(subject, TEXT, seen.written.text, without=["decoder.0.cross.1"])
    whole, less = (sum(np.log(one.probability) for one in one_look.predictions) for one_look in (seen, again))
    assert found["decoder.0.cross"][1] == pytest.approx(whole - less, abs=1e-4)


# --- the tree of a beam -----------------------------------------------------------------------------------------------


def test_the_way_to_a_leaf_has_the_probability_of_its_hypothesis(toy: Toy) -> None:
    subject = open_run(toy.poor)
    found = beam_tree(subject, TEXT, Decoding(beam=5, nbest=5))
    nodes = found.nodes
    assert nodes[0].hypotheses == [0, 1, 2, 3, 4]
    texts = [one.text for one in load_translator(toy.poor).translate([TEXT], Decoding(beam=5, nbest=5))[0]]
    assert [one.text for one in found.hypotheses] == texts
    for number, one in enumerate(found.hypotheses):
        node, total = nodes[one.leaf], 0.0
        while node.parent is not None:
            assert number in node.hypotheses
            total, node = total + node.log_prob, nodes[node.parent]
        assert total == pytest.approx(one.log_prob, abs=1e-4)


# --- records ----------------------------------------------------------------------------------------------------------


def test_a_look_comes_back_from_its_bytes(subject: Subject) -> None:
    seen = look(subject, TEXT, meaning(TEXT), gold=[(0, 0)], without=["0.1"])
    back = Look.from_bytes(seen.to_bytes())
    assert back.plain() == seen.plain()
    assert back.alignment == seen.alignment
    for name, array in seen.arrays.items():
        np.testing.assert_allclose(back.arrays[name], array, atol=5e-4)  # half precision


@pytest.mark.parametrize("window", [Monotonic(reach=2), Predictive(reach=3)], ids=lambda window: window.kind)
def test_a_look_at_local_attention_keeps_where_its_window_stood(window: WindowConfig) -> None:
    subject = lone(Recurrent(vocabulary=9, width=16, hidden=12, reader=Luong(window=window)))
    seen = look(subject, "abc de", "fgh ijkl mnop")
    kept = seen.windows["decoder.0.cross"]
    source, target = (torch.tensor([side.ids]) for side in seen.sides.values())
    with regard.watch(subject.model, notes=["*.centres"]) as watched:
        subject.model.features(source, target)  # type: ignore[operator]
    assert kept.reach == window.reach
    assert kept.centres == watched.notes["decoder.0.cross.centres"][-1][0].tolist()
    away = np.arange(len(source[0])) - np.array(kept.centres)[:, None]
    np.testing.assert_array_equal(seen.arrays["decoder.0.cross"][0] > 0, np.abs(away) <= window.reach)
    assert Look.from_bytes(seen.to_bytes()).windows == seen.windows  # whole: which column is the last one depends on it
    told = json.loads(json.dumps(seen.to_dict()))["windows"]
    assert told == {"decoder.0.cross": {"reach": window.reach, "centres": kept.centres}}


@pytest.mark.parametrize(
    "config",
    [encoder_decoder(), decoder(), encoder(), Recurrent(vocabulary=9, width=16, hidden=12)],
    ids=lambda config: config.kind,
)
def test_other_layers_have_no_window(config: ModelConfig) -> None:
    subject = lone(config)
    seen = look(subject, "abc de", "fgh" if subject.family == "encoder-decoder" else None)
    assert seen.windows == {}
    assert Look.from_bytes(seen.to_bytes()).windows == {}


def test_a_look_from_before_there_were_windows_is_read(subject: Subject, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = look(subject, TEXT)
    plain = {key: value for key, value in seen.plain().items() if key != "windows"}
    monkeypatch.setattr(seen, "plain", lambda: plain)
    assert Look.from_bytes(seen.to_bytes()).windows == {}


def test_what_is_no_look_is_refused() -> None:
    with pytest.raises(ValueError, match="this is no look"):
        Look.from_bytes(b"12345678 not a look")


def test_a_look_draws_itself_in_a_notebook_without_a_network(subject: Subject) -> None:
    seen = look(subject, TEXT)
    html = seen._repr_html_()
    assert html.startswith("<iframe srcdoc=")
    assert "http://" not in html.replace("http://www.w3.org", "")
    assert "<svg" in seen.map("decoder.0.cross", words=True)._repr_html_()


@pytest.mark.parametrize("text", ["", "  "])
def test_an_empty_text_is_refused(subject: Subject, text: str) -> None:
    with pytest.raises(ValueError, match="the source is empty"):
        look(subject, text)


def test_a_text_longer_than_the_model_reads_is_refused() -> None:
    with pytest.raises(ValueError, match="at most 64 can be looked at"):
        look(lone(decoder()), "a" * 64)


def test_a_target_for_a_model_that_reads_one_text_is_refused() -> None:
    with pytest.raises(ValueError, match="leave the target out"):
        look(lone(decoder()), "a", "b")


def test_a_gold_link_outside_of_the_words_is_refused(subject: Subject) -> None:
    with pytest.raises(ValueError, match="gold link 9-0 is outside"):
        look(subject, TEXT, gold=[(9, 0)])


# --- runs -------------------------------------------------------------------------------------------------------------


def test_a_run_without_a_task_can_be_looked_at(tmp_path: Path) -> None:
    tokenizer = Tokenizer.train(sentences(50, 0), "word")
    model = regard.build("gpt2", **{**SMALL, "vocabulary": tokenizer.vocabulary})
    run = Run(tmp_path / "run")
    run.write_config({"model": to_dict(model.config)})
    tokenizer.save(run.tokenizer_path)
    write_tensors(run.weights_path, weights_of(model))
    seen = look(open_run(run.path), "un deux")
    assert seen.family == "decoder"
    assert seen.sides["text"].ids == [START, *tokenizer.encode(["un deux"])[0]]


def test_probes_are_kept_at_each_validation_with_their_gold_links(toy: Toy) -> None:
    run = Run(toy.good)
    assert run.probed() == [100, 200, 300]
    looks = [Look.from_bytes(path.read_bytes()) for path in run.probes(300)]
    assert len(looks) == 5
    best = [look(open_run(toy.good), one.sides["source"].text, one.written.text) for one in looks]
    for one, again in zip(looks, best, strict=True):
        assert one.alignment is not None
        assert again.alignment is not None
        assert one.alignment.gold == again.alignment.gold  # a pair that was probed is known
        assert one.alignment.gold == [(i, i) for i in range(len(one.sides["source"].words))]
        assert one.sides["source"].ids[-1] == END


# --- a model that makes its text shorter ------------------------------------------------------------------------------

SHORT = "abc defg"  # nine tokens with the end, of which halving leaves five


def shortening(name: str) -> Subject:
    crossing = Stack(layers=2, block=small_block(cross=MultiHead(heads=4)))
    read = Encoder(vocabulary=1, width=WIDTH, encoder=SHORTER, head=None)
    configs: dict[str, ModelConfig] = {
        "translator": EncoderDecoder(vocabulary=1, width=WIDTH, encoder=SHORTER, decoder=crossing),
        "encoder": read,
        "encoder with a head": replace(read, head=LinearHead()),
        "classifier": Classifier(reader=read, pool=Mean()),
        "attending classifier": Classifier(reader=read, pool=AttentionPooling()),
    }
    found = lone(configs[name])
    found.labels, found.whole = ("no", "yes"), True
    return found


@pytest.mark.parametrize("name", ["translator", "encoder", "encoder with a head", "classifier", "attending classifier"])
def test_a_model_that_makes_its_text_shorter_is_looked_at(name: str) -> None:
    subject = shortening(name)
    seen = look(subject, SHORT, "abc") if name == "translator" else look(subject, SHORT)
    assert {layer.name for layer in seen.layers} == set(subject.model.attention_names())
    text = len(seen.sides["source" if name == "translator" else "text"].tokens)
    half = -(-text // 2)
    for layer in seen.layers:
        shown = seen.map(layer.name)
        assert shown.weights.shape == (len(shown.rows), len(shown.columns)), layer.name
        assert seen.map(layer.name, words=True).weights.size > 0
    lengths = {layer.name: len(seen.sides[layer.columns].tokens) for layer in seen.layers}
    assert lengths["encoder.0.self"] == text
    assert lengths["encoder.2.self"] == half
    if name == "translator":
        assert lengths["decoder.1.cross"] == half
        assert len(seen.predictions) == 4
        assert importance(subject, seen).keys() == lengths.keys()
    assert seen.alignment is None
    assert seen.rollout == []
    assert Look.from_bytes(seen.to_bytes()).plain() == seen.plain()


def test_no_token_is_followed_through_blocks_that_make_a_text_shorter() -> None:
    subject = shortening("encoder")
    assert [view.title for view in views(subject, look(subject, SHORT).layers)] == ["Read", "Heads"]
    with pytest.raises(regard.Error, match="make a text shorter"):
        way(subject, SHORT)
