"""Every kind of stack keeps the same promises, and so does a block that makes its sequence shorter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.flop_counter import FlopCounterMode

import regard
from regard.checkpoint import weights_of
from regard.config import change, from_dict, from_json, to_dict, to_json
from regard.decoding import Decoding, translate
from regard.models import Classifier, Decoder, Encoder, EncoderDecoder, Ensemble, Model, ModelConfig, Tagger, costs
from regard.nn.attention import Banded, MultiHead
from regard.nn.call.masks import real_tokens
from regard.nn.call.watch import silenced
from regard.nn.feedforward import Gated
from regard.nn.heads import LinearHead
from regard.nn.pooling import AttentionPooling, FirstToken, PoolConfig
from regard.nn.positions import Buckets, Sinusoidal, TransformerXL
from regard.nn.stacks import Block, Pattern, Shared, Stack, StackConfig, StackLayers
from tests.contracts.promises import close, future_cannot_leak, gradients_reach, rows_stand_alone, steps_equal_the_pass
from tests.halving import SHORTER
from tests.helpers import VOCABULARY, WIDTH, built, registered, small_block, tokens

PLAIN = small_block()
OTHER = replace(PLAIN, attention=Banded(heads=4, reach=2), feedforward=Gated(hidden=20, gate="geglu"))
STACKS: list[StackConfig] = registered(
    StackConfig,
    Shared(layers=4, groups=2, block=PLAIN, position=TransformerXL()),
    Pattern(layers=5, blocks=(PLAIN, OTHER), position=Buckets()),
    Pattern(layers=3, blocks=(OTHER, PLAIN), position=Sinusoidal()),
)
LENGTHS = torch.tensor([7, 2, 5])


def name_of(stack: StackConfig) -> str:
    return f"{stack.kind}-{getattr(getattr(stack, 'position', None), 'kind', '')}"


every_stack = pytest.mark.parametrize("stack", STACKS, ids=name_of)


def decoder(stack: StackConfig) -> Decoder:
    return Decoder(vocabulary=VOCABULARY, width=WIDTH, decoder=stack)


def encoder(stack: StackConfig) -> Encoder:
    return Encoder(vocabulary=VOCABULARY, width=WIDTH, encoder=stack, head=None)


def crossing(stack: StackConfig) -> StackConfig:
    """The same whose blocks attend to a memory."""
    if isinstance(stack, Pattern):
        crossed = [replace(one, cross=MultiHead(heads=4)) if isinstance(one, Block) else one for one in stack.blocks]
        return replace(stack, blocks=tuple(crossed))
    return change(stack, {"cross": MultiHead(heads=4)})


def translator(source: StackConfig, target: StackConfig) -> EncoderDecoder:
    return EncoderDecoder(vocabulary=VOCABULARY, width=WIDTH, encoder=source, decoder=crossing(target))


@every_stack
def test_the_future_cannot_leak(stack: StackConfig) -> None:
    future_cannot_leak(built(decoder(stack)), tokens(2, 6))


@every_stack
@pytest.mark.parametrize("side", ["left", "right"])
def test_a_padded_row_gives_what_the_row_alone_gives(stack: StackConfig, side: str) -> None:
    rows_stand_alone(built(encoder(stack)), tokens(3, 7), padding(side))


@every_stack
def test_cached_steps_equal_the_full_pass(stack: StackConfig) -> None:
    model, sentence = built(decoder(stack)), tokens(2, 8)
    steps_equal_the_pass(model, model.begin(), sentence, model(sentence))


@every_stack
def test_a_translator_steps_as_it_passes_and_as_each_row_would_alone(stack: StackConfig) -> None:
    model = built(translator(stack, stack))
    source, target, keep = tokens(3, 7), tokens(3, 6), real_tokens(LENGTHS, 7)
    expected = model(source, target, keep)
    steps_equal_the_pass(model, model.begin(model.encode(source, keep)), target, expected)
    for row in range(3):
        close(expected[row : row + 1], model(source[row : row + 1, keep[row]], target[row : row + 1]))


@every_stack
def test_gradients_reach_every_parameter(stack: StackConfig) -> None:
    model, sentence = built(decoder(stack)).train(), tokens(3, 24)
    model.head.loss(model.features(sentence), sentence).backward()
    gradients_reach(model)


@every_stack
def test_watching_shows_every_layer_and_changes_nothing(stack: StackConfig) -> None:
    model, sentence = built(decoder(stack)), tokens(2, 6)
    plain = model(sentence)
    layers = len(model.decoder.layers)
    streams = [f"decoder.{layer}.stream" for layer in range(layers)]
    with regard.watch(model, notes=streams) as seen:
        assert torch.equal(model(sentence), plain)
    assert list(seen) == model.attention_names() == [f"decoder.{layer}.self" for layer in range(layers)]
    assert list(seen.notes) == streams
    for name in seen:
        assert model.heads(name) == seen.last(name).shape[1] == 4


def counted(model: Model, run: Any) -> float:
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        run()
    return counter.get_total_flops() / 2


@every_stack
def test_its_cost_is_what_pytorch_counts(stack: StackConfig) -> None:
    for model in (built(decoder(stack)), built(translator(stack, stack))):
        inputs = [tokens(3, 10)] * (2 if isinstance(model.config, EncoderDecoder) else 1)
        described = regard.describe(model, batch=3, length=10)
        assert described.multiply_adds == counted(model, lambda: model(*inputs))  # noqa: B023


@every_stack
def test_every_tensor_is_named_and_saved_once_and_comes_back(stack: StackConfig) -> None:
    config = translator(stack, stack)
    model, other = built(config), built(config)
    saved = weights_of(model)
    assert saved.keys() == dict(model.named_parameters()).keys()
    other.load_state_dict(saved, strict=False)
    inputs = tokens(2, 5), tokens(2, 4)
    assert torch.equal(other(*inputs), model(*inputs))
    names = [name for name in model.state_dict() if ".blocks." in name]
    storages = {model.state_dict()[name].untyped_storage().data_ptr() for name in names}
    assert len(storages) == len(names)


@every_stack
def test_it_comes_back_from_json_and_builds_alike(stack: StackConfig) -> None:
    config = translator(stack, stack)
    assert from_json(ModelConfig, to_json(config)) == config


def test_a_stack_and_a_block_that_name_no_kind_are_the_plain_ones() -> None:
    config = translator(Stack(layers=2, block=PLAIN), Stack(layers=3, block=PLAIN))
    data = to_dict(config)
    for side in ("encoder", "decoder"):
        assert data[side].pop("kind") == data[side]["block"].pop("kind") == "plain"
    assert from_dict(ModelConfig, data) == config


# --- sharing and patterns ---------------------------------------------------------------------------------------------


def test_layers_that_share_a_block_have_caches_and_pictures_of_their_own() -> None:
    model = built(decoder(Shared(layers=3, block=PLAIN)))
    assert len(model.decoder.blocks) == 1
    with regard.watch(model) as seen:
        state = model.begin()
        model.step(tokens(1, 4), state)
    assert list(state.cache) == list(seen) == [f"decoder.{layer}.self" for layer in range(3)]
    assert not torch.equal(seen.last("decoder.0.self"), seen.last("decoder.2.self"))


def test_a_shared_block_computes_what_as_many_equal_blocks_do() -> None:
    shared, plain = built(decoder(Shared(layers=4, groups=2, block=PLAIN))), built(decoder(Stack(4, PLAIN)))
    weights = shared.state_dict()
    for layer, group in enumerate([0, 0, 1, 1]):
        mine = {
            name.replace(f"blocks.{group}.", f"blocks.{layer}."): tensor
            for name, tensor in shared.state_dict().items()
            if f"blocks.{group}." in name
        }
        weights.update(mine)
    plain.load_state_dict(weights)
    sentence = tokens(2, 6)
    assert torch.equal(plain(sentence), shared(sentence))


def test_sizes_of_block_sharing_are_those_of_the_decks() -> None:
    """Deck 004: 223M, 65M, 170M and 144M."""
    exact = {"": 222_951_168, "-shared": 65_875_200, "-shared-encoder": 169_734_912, "-shared-decoder": 143_765_760}
    for which, count in exact.items():
        description = regard.describe(f"narang-2021{which}")
        assert description.parameters == count
        assert description.difference is not None
        assert abs(description.difference) < 0.014


def test_one_side_alone_may_share_and_the_name_of_the_family_changes_both() -> None:
    for changes, expected in (
        ({"stack": "shared"}, ("shared", "shared")),
        ({"encoder": "shared"}, ("shared", "plain")),
        ({"decoder": "shared"}, ("plain", "shared")),
    ):
        config = change(regard.presets()["transformer-tiny"].config, changes)
        assert isinstance(config, EncoderDecoder)
        assert (config.encoder.kind, config.decoder.kind) == expected
        assert [stack.layers for stack in (config.encoder, config.decoder)] == [4, 4]  # type: ignore[attr-defined]
        assert config.decoder.attends


def test_a_pattern_keeps_the_block_before_it_and_each_of_its_blocks_can_be_changed() -> None:
    config = change(decoder(Stack(4, PLAIN)), {"stack": "pattern", "decoder.blocks.1.feedforward.hidden": 77})
    assert isinstance(config.decoder, Pattern)
    assert [block.feedforward.hidden for block in config.decoder.distinct()] == [24, 77, 24, 77]  # type: ignore[attr-defined]
    every = change(config, {"heads": 2})
    assert isinstance(every.decoder, Pattern)
    assert [block.attention.heads for block in every.decoder.blocks] == [2, 2]  # type: ignore[attr-defined]


def test_a_band_hides_what_is_far_away_and_nothing_else() -> None:
    model, sentence = built(decoder(Pattern(2, (OTHER, PLAIN)))), tokens(1, 6)
    with regard.watch(model) as seen:
        model(sentence)
    distance = torch.arange(6)[:, None] - torch.arange(6)
    near, past = (distance >= 0) & (distance <= 2), distance >= 0
    assert torch.equal(seen.last("decoder.0.self")[0] > 0, near.expand(4, -1, -1))
    assert torch.equal(seen.last("decoder.1.self")[0] > 0, past.expand(4, -1, -1))


def test_positions_of_all_layers_need_heads_alike() -> None:
    blocks = (PLAIN, replace(PLAIN, attention=MultiHead(heads=2)))
    with pytest.raises(regard.Error, match="positions of kind 't5' are one module for all blocks"):
        Pattern(2, blocks, Buckets()).build(WIDTH, causal=False)


# --- a block that makes the sequence shorter --------------------------------------------------------------------------


SIDES = pytest.mark.parametrize("side", ["left", "right"])


def padding(side: str) -> Tensor:
    return real_tokens(LENGTHS, 7) if side == "right" else real_tokens(LENGTHS, 7).flip(1)


@SIDES
def test_an_encoder_that_halves_its_length_gives_each_row_what_it_gives_the_row_alone(side: str) -> None:
    model, batch, keep = built(encoder(SHORTER)), tokens(3, 7), padding(side)
    memory = model.encode(batch, keep)
    assert memory.states.shape == (3, 4, WIDTH)
    assert memory.keep is not None
    assert memory.keep.sum(1).tolist() == [4, 1, 3]
    for row in range(3):
        alone = model.encode(batch[row : row + 1, keep[row]])
        assert alone.keep is None
        close(memory.states[row, memory.keep[row]], alone.states[0])
        assert memory.positions is not None
        assert torch.equal(memory.positions[row, memory.keep[row]], torch.arange(alone.states.shape[1]))


@SIDES
def test_a_decoder_attends_to_what_is_left_of_its_source(side: str) -> None:
    model = built(translator(SHORTER, Stack(2, PLAIN)))
    source, target, keep = tokens(3, 7), tokens(3, 5), padding(side)
    with regard.watch(model) as seen:
        expected = model(source, target, keep)
    shapes = {name: tuple(weights[0].shape[2:]) for name, weights in seen.items()}
    assert shapes["encoder.1.self"] == (7, 7)
    assert shapes["encoder.2.self"] == (4, 4)
    assert shapes["decoder.0.cross"] == (5, 4)
    steps_equal_the_pass(model, model.begin(model.encode(source, keep)), target, expected)
    for row in range(3):
        close(expected[row : row + 1], model(source[row : row + 1, keep[row]], target[row : row + 1]))
    options = Decoding(beam=3, max_length=6)
    together = translate(model, source, keep, options, start=1, end=2)
    for row, found in enumerate(together):
        alone = translate(model, source[row : row + 1, keep[row]], None, options, start=1, end=2)[0]
        assert [one.tokens for one in found] == [one.tokens for one in alone]


@SIDES
def test_a_classifier_pools_what_is_left(side: str) -> None:
    model, batch, keep = built(Classifier(reader=encoder(SHORTER))), tokens(3, 7), padding(side)
    found = model(batch, keep)
    for row in range(3):
        close(found[row : row + 1], model(batch[row : row + 1, keep[row]]))


@SIDES
@pytest.mark.parametrize("options", [Decoding(), Decoding(beam=3, nbest=3), Decoding(beam=9)], ids=["1", "3", "9"])
def test_every_search_reads_a_shorter_memory(side: str, options: Decoding) -> None:
    """Beams share a row of the cache, wide ones have rows of their own; finished sentences leave the batch."""
    model = built(translator(SHORTER, Stack(2, PLAIN)))
    source, keep = tokens(3, 7), padding(side)
    together = translate(model, source, keep, replace(options, max_length=6), start=1, end=2)
    for row, found in enumerate(together):
        alone = translate(model, source[row : row + 1, keep[row]], None, replace(options, max_length=6), 1, 2)[0]
        assert [one.tokens for one in found] == [one.tokens for one in alone]
        assert [one.score for one in found] == pytest.approx([one.score for one in alone], rel=1e-4)


def test_a_memory_of_its_own_length_is_watched_and_silenced() -> None:
    model = built(translator(SHORTER, Stack(2, PLAIN)))
    source, target = tokens(2, 7), tokens(2, 5)
    plain = model(source, target)
    with regard.watch(model) as seen:
        assert torch.equal(model(source, target), plain)
    assert list(seen) == model.attention_names()
    with silenced(model, {"decoder.0.cross": range(4), "decoder.1.cross": range(4)}):
        assert torch.equal(model(source, target), model(tokens(2, 7), target))


def test_gradients_reach_every_parameter_through_a_shorter_memory() -> None:
    model = built(translator(SHORTER, Stack(2, PLAIN))).train()
    source, target = tokens(3, 7), tokens(3, 24)
    model(source, target, labels=target).backward()
    assert [name for name, one in model.named_parameters() if one.grad is None or not one.grad.any()] == []


def test_members_of_an_ensemble_may_have_memories_of_other_lengths() -> None:
    members = [built(translator(stack, Stack(2, PLAIN))) for stack in (SHORTER, Stack(2, PLAIN))]
    model, source, keep = Ensemble(members).eval(), tokens(3, 7), padding("right")
    together = translate(model, source, keep, Decoding(beam=3, max_length=6), start=1, end=2)
    for row, found in enumerate(together):
        alone = translate(model, source[row : row + 1, keep[row]], None, Decoding(beam=3, max_length=6), 1, 2)[0]
        assert found[0].tokens == alone[0].tokens


@pytest.mark.parametrize("config", [decoder(SHORTER), translator(Stack(2, PLAIN), SHORTER)], ids=["alone", "behind"])
def test_a_decoder_refuses_blocks_that_leave_it_shorter(config: ModelConfig) -> None:
    with pytest.raises(regard.Error, match="a decoder gives a state for every token"):
        config.build()


def test_what_says_something_of_each_token_refuses_a_reader_that_shortens() -> None:
    with pytest.raises(regard.Error, match="no state for each token"):
        Tagger(reader=encoder(SHORTER)).build()


@pytest.mark.parametrize("pool", [AttentionPooling(), FirstToken()])
def test_the_cost_of_a_pool_is_that_of_what_is_left(pool: PoolConfig) -> None:
    model = built(Classifier(reader=encoder(SHORTER), pool=pool))
    described = regard.describe(model, batch=3, length=9)
    assert described.multiply_adds == counted(model, lambda: model(tokens(3, 9)))


def test_the_cost_of_later_layers_is_that_of_the_shorter_sequence() -> None:
    for config in (replace(encoder(SHORTER), head=LinearHead()), translator(SHORTER, Stack(2, PLAIN))):
        model = built(config)
        inputs = [tokens(3, 9)] * (2 if isinstance(config, EncoderDecoder) else 1)
        described = regard.describe(model, batch=3, length=9)
        assert described.multiply_adds == counted(model, lambda: model(*inputs))  # noqa: B023


def test_a_stack_without_a_formula_is_counted_by_running_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    model = built(translator(SHORTER, Shared(2, PLAIN)))
    by_formula = regard.describe(model, batch=3, length=9)
    monkeypatch.delitem(costs.FORMULAS, StackLayers)
    found = regard.describe(model, batch=3, length=9)
    assert found.multiply_adds == by_formula.multiply_adds
