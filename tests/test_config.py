"""Configs are strict, say what is wrong in one sentence, and come back from JSON equal."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import FrozenInstanceError

import pytest

from regard.config import FAMILIES, ConfigError, change, every_field, from_dict, from_json, kinds, to_dict, to_json
from regard.models import ModelConfig
from regard.nn.attention import MultiHead
from regard.nn.attention.local import Predictive
from regard.nn.embeddings import TokenEmbedding
from regard.nn.feedforward import MLP
from regard.nn.norms import LayerNorm, NormConfig, RMSNorm
from regard.nn.positions import Buckets, PositionConfig, Relative, Sinusoidal
from regard.zoo import get, presets


@pytest.mark.parametrize("name", presets())
def test_every_preset_comes_back_from_json_equal(name: str) -> None:
    config = presets()[name].config
    assert from_json(ModelConfig, to_json(config)) == config


@pytest.mark.parametrize("family", [name for name in FAMILIES if name != "model"])
def test_every_part_comes_back_from_json_equal(family: str) -> None:
    for kind, cls in kinds(FAMILIES[family]).items():
        part = cls()
        assert part.kind == kind
        assert from_dict(FAMILIES[family], json.loads(json.dumps(to_dict(part)))) == part


def test_a_config_cannot_be_changed_in_place() -> None:
    with pytest.raises(FrozenInstanceError):
        MLP().hidden = 3  # type: ignore[misc]


def test_an_unknown_key_names_the_nearest_one_and_where_it_stands() -> None:
    data = to_dict(get("gpt2"))
    data["decoder"]["block"]["feedforward"]["hiden"] = 3
    with pytest.raises(ConfigError, match=r"'decoder\.block\.feedforward\.hiden'.*did you mean 'hidden'"):
        from_dict(ModelConfig, data)


def test_an_unknown_kind_names_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match=r"unknown position kind 'rotery'.*did you mean 'rotary'"):
        from_dict(PositionConfig, {"kind": "rotery"})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MultiHead(heads=0), r"MultiHead\.heads: 0 is not allowed; it takes a whole number of at least 1"),
        (lambda: MultiHead(heads=2.5), r"MultiHead\.heads: 2\.5 is not allowed"),
        (lambda: MultiHead(heads=True), r"MultiHead\.heads: True is not allowed"),
        (lambda: MLP(activation="rellu"), r"MLP\.activation: 'rellu' is not allowed; it takes 'relu' or 'gelu'"),
        (lambda: MLP(hidden_dropout=1.0), r"MLP\.hidden_dropout: 1\.0 is not allowed; it takes a number of at least 0"),
        (lambda: MLP(hidden_dropout=float("nan")), r"MLP\.hidden_dropout: nan is not allowed"),
        (lambda: TokenEmbedding(norm="layer"), r"TokenEmbedding\.norm: 'layer' is not allowed; it takes a norm"),
        (lambda: MultiHead(heads=8, kv_heads=3), r"8 heads cannot be shared out among 3 key-value heads"),
        (lambda: Sinusoidal(join="concat"), r"a width goes with 'concat'"),
        (lambda: Buckets(buckets=7), r"7 buckets"),
        (lambda: Relative(keys=False, values=False), r"relative positions need one of them"),
    ],
)
def test_a_wrong_value_names_the_field_the_value_and_what_is_allowed(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ConfigError, match=message):
        make()


def test_an_error_from_json_names_the_path() -> None:
    data = to_dict(get("bert-base"))
    data["encoder"]["block"]["attention"]["heads"] = "twelve"
    with pytest.raises(ConfigError, match=r"encoder\.block\.attention\.heads: 'twelve' is not allowed"):
        from_dict(ModelConfig, data)
    data["encoder"]["block"]["attention"] = {"kind": "multi-head", "heads": 8, "kv_heads": 3}
    with pytest.raises(ConfigError, match=r"encoder\.block\.attention: 8 heads cannot be shared out"):
        from_dict(ModelConfig, data)


def test_what_has_no_default_must_be_given() -> None:
    with pytest.raises(ConfigError, match="vocabulary must be given"):
        from_dict(ModelConfig, {"kind": "decoder"})


def test_a_slot_can_be_filled_by_the_name_of_a_kind() -> None:
    assert from_dict(TokenEmbedding, {"norm": "rms"}).norm == RMSNorm()


def test_a_bare_name_changes_every_field_of_that_name() -> None:
    config = change(get("transformer-tiny"), {"heads": 2, "norm": "rms", "layers": 3})
    assert config.encoder.block.attention.heads == config.decoder.block.cross.heads == 2
    assert config.encoder.block.norm == config.decoder.block.norm == RMSNorm()
    assert config.encoder.layers == config.decoder.layers == 3


def test_a_bare_name_fills_empty_slots_where_there_are_no_others() -> None:
    config = get("luong-2015")
    assert to_dict(config)["reader"]["window"] is None
    changed = change(config, {"window": "local-p", "reach": 3})
    assert to_dict(changed)["reader"]["window"] == to_dict(Predictive(reach=3))
    assert change(config, {"reach": 3, "window": "local-p"}) == changed
    with pytest.raises(ConfigError, match="unknown option 'reach'"):
        change(config, {"reach": 3, "feeding": False})


@pytest.mark.parametrize("preset", ["luong-2015", "translator", "gpt-tiny"])
def test_a_field_that_has_its_name_alone_needs_no_more(preset: str) -> None:
    config = get(preset)
    every = list(every_field(config))
    bare = Counter(field.name.rpartition(".")[2] for field in every)
    for field in every:
        change(config, {field.name: field.value})
        if bare[name := field.name.rpartition(".")[2]] == 1:
            change(config, {name: field.value})


def test_a_bare_name_leaves_empty_slots_empty() -> None:
    config = change(get("transformer-tiny"), {"norm": "rms", "cross": {"kind": "multi-head", "heads": 1}})
    assert config.embedding.norm is None
    assert config.encoder.block.cross is None
    assert config.decoder.block.cross.heads == 1


def test_a_dotted_name_changes_one_field() -> None:
    config = change(get("transformer-tiny"), {"decoder.layers": 1, "encoder.block.feedforward.hidden": 7})
    assert (config.encoder.layers, config.decoder.layers) == (4, 1)
    assert (config.encoder.block.feedforward.hidden, config.decoder.block.feedforward.hidden) == (7, 256)


def test_changing_a_kind_keeps_what_both_kinds_have() -> None:
    config = change(get("transformer-tiny"), {"encoder.block.feedforward.kind": "gated"})
    assert config.encoder.block.feedforward.kind == "gated"
    assert config.encoder.block.feedforward.hidden == 256


def test_a_part_that_takes_anothers_place_is_given_what_it_must_know() -> None:
    changed = to_dict(change(get("classifier", vocabulary=77), {"reader": "lstmn-encoder"}))
    assert (changed["reader"]["kind"], changed["reader"]["vocabulary"]) == ("lstmn-encoder", 77)


def test_a_branch_of_a_family_takes_its_own_kinds_alone() -> None:
    with pytest.raises(ConfigError, match=r"unknown model kind 'turing' at 'reader'.*recurrent-encoder"):
        change(get("classifier"), {"reader": "turing"})
    assert next(field for field in every_field(get("classifier")) if field.name == "reader").takes.count("turing") == 0


def test_none_empties_a_slot_unless_it_is_a_kind_itself() -> None:
    local = get("luong-2015-local-p")
    assert change(change(local, {"window": "none"}), {"window": "local-p"}) == change(local, {"window": "local-p"})
    assert to_dict(change(local, {"window": "none"})) == to_dict(change(local, {"window": None}))
    assert "none" in kinds(PositionConfig)
    assert to_dict(change(get("transformer-tiny"), {"position": "none"})) != to_dict(get("transformer-tiny"))


def test_an_unknown_option_names_the_nearest_one() -> None:
    with pytest.raises(ConfigError, match=r"unknown option 'dropuot': did you mean 'dropout'"):
        change(get("gpt2"), {"dropuot": 0.1})
    with pytest.raises(ConfigError, match=r"unknown key 'decoder\.layrs': did you mean 'layers'"):
        change(get("gpt2"), {"decoder.layrs": 2})


def test_a_family_lists_its_kinds() -> None:
    assert kinds(NormConfig) == {"layer": LayerNorm, "rms": RMSNorm}
