"""A token's way: each stage follows from the one before."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.look import Subject, look, open_run, way
from regard.look.records import Way
from tests.helpers import decoder
from tests.look.test_look import TEXT, lone
from tests.toy import Toy


@pytest.fixture(scope="module")
def subject(toy: Toy) -> Subject:
    return open_run(toy.good)


def test_scores_are_queries_times_keys_and_weights_their_softmax(subject: Subject) -> None:
    found = way(subject, TEXT, place=2)
    for stage in (stage for stage in found.stages if stage["stage"] == "attention"):
        queries, keys = found.arrays[stage["queries"]], found.arrays[stage["keys"]]
        scores = found.arrays[stage["scores"]]
        np.testing.assert_allclose(np.einsum("hk,hsk->hs", queries, keys) / queries.shape[1] ** 0.5, scores, atol=1e-5)
        shown = scores.copy()
        shown[:, stage["hidden"]] = -np.inf
        weights = np.exp(shown) / np.exp(shown).sum(-1, keepdims=True)
        np.testing.assert_allclose(found.arrays[stage["weights"]], weights, atol=1e-5)


def test_the_future_is_hidden(subject: Subject) -> None:
    found = way(subject, TEXT, place=2)
    own = next(stage for stage in found.stages if stage.get("name") == "decoder.0.self")
    assert own["hidden"] == list(range(3, len(found.sides["target"].tokens)))
    assert next(stage for stage in found.stages if stage.get("name") == "decoder.0.cross")["hidden"] == []


def test_the_way_ends_at_what_is_predicted(subject: Subject) -> None:
    found = way(subject, TEXT, place=1)
    assert found.predictions is not None
    probabilities = np.exp(np.array(found.predictions.logits) - found.predictions.total)
    best = look(subject, TEXT).predictions[1].best
    assert found.predictions.tokens[: len(best)] == [choice.token for choice in best]
    np.testing.assert_allclose(probabilities[: len(best)], [choice.probability for choice in best], rtol=1e-4)


def test_both_sides_of_an_encoder_decoder_are_passed_source_first(subject: Subject) -> None:
    found = way(subject, TEXT, place=1, source_place=0)
    names = [stage.get("name", stage["stage"]) for stage in found.stages]
    assert names == [
        *("tokens", "embedding", "position", "encoder.0.self", "encoder.0"),
        *("tokens", "embedding", "position", "decoder.0.self", "decoder.0.cross", "decoder.0", "logits"),
    ]
    assert (found.source_place, found.place) == (0, 1)


def test_position_is_what_is_added_to_the_embedding() -> None:
    subject = lone(decoder())
    found = way(subject, "a cab", place=3)
    added = found.arrays["decoder.input"] - found.arrays["decoder.embedding"]
    table = subject.model.decoder.position.table.weight  # type: ignore[union-attr]
    np.testing.assert_allclose(added, table[3].detach().numpy(), atol=1e-6)


def test_each_block_of_a_pre_norm_model_adds_to_the_stream() -> None:
    found = way(lone(decoder()), "a cab", place=-1)
    stream = found.arrays["decoder.input"]
    for index in range(2):
        stream = stream + found.arrays[f"decoder.{index}.self.output"] + found.arrays[f"decoder.{index}.feedforward"]
        np.testing.assert_allclose(stream, found.arrays[f"decoder.{index}"], atol=1e-5)


def test_a_way_comes_back_from_its_bytes(subject: Subject) -> None:
    found = way(subject, TEXT)
    back = Way.from_bytes(found.to_bytes())
    assert back.plain() == found.plain()
    assert all(
        torch.equal(torch.tensor(array), torch.tensor(back.arrays[name])) for name, array in found.arrays.items()
    )


@pytest.mark.parametrize("place", [5, -6, 99])
def test_a_place_that_is_not_there_is_refused(subject: Subject, place: int) -> None:
    with pytest.raises(ValueError, match=f"place {place} is not one of the 5 tokens of the target"):
        way(subject, TEXT, place=place)
