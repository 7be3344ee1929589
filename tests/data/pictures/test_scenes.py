"""Scenes are the same everywhere, and what is said of them is true."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest

from regard.data.sources.scenes import SPLITS
from regard.data.sources.scenes.draw import COLOURS, MOST_THINGS, RECOMBINED, SHAPES, scene
from regard.data.sources.scenes.words import ANSWERS, NUMBERS, captions, questions


def test_a_scene_is_the_same_on_every_machine() -> None:
    pictures = b"".join(scene("train", number).pixels(48).tobytes() for number in range(8))
    assert hashlib.sha256(pictures).hexdigest()[:16] == "58d517d7908acc91"
    assert captions(scene("train", 0), 0)[0] == "a large purple circle above a small orange star"


@pytest.mark.parametrize("side", [32, 64, 96, 128])
def test_a_scene_has_any_size(side: int) -> None:
    assert scene("valid", 3).pixels(side).shape == (side, side, 3)


def test_splits_have_no_scene_in_common() -> None:
    seen = [scene(split, number).things for split in SPLITS for number in range(200)]
    assert len(set(seen)) == len(seen)


def test_combinations_that_are_left_out_occur_in_one_split_alone() -> None:
    assert {colour for colour, _ in RECOMBINED} == set(COLOURS)
    assert {shape for _, shape in RECOMBINED} == set(SHAPES)
    for split in SPLITS:
        held_out = [any((t.colour, t.shape) in RECOMBINED for t in scene(split, n).things) for n in range(300)]
        assert all(held_out) if split == "recombined" else not any(held_out)


def test_things_lie_inside_and_apart_and_fill_their_boxes() -> None:
    for number in range(100):
        found = scene("train", number)
        assert 1 <= len(found.things) <= MOST_THINGS
        plain = found.__class__((), found.light, found.slope, found.grain).pixels(128).astype(int)
        changed = np.abs(found.pixels(128).astype(int) - plain).max(-1) > 8
        inside = np.zeros_like(changed)
        for _, (left, top, right, bottom) in found.boxes(128):
            assert 0 <= left < right <= 128
            assert 0 <= top < bottom <= 128
            part = changed[int(top) : int(bottom) + 1, int(left) : int(right) + 1]
            assert part.any(0)[1:-1].all()  # no column or row of the box is empty
            assert part.any(1)[1:-1].all()
            assert not inside[int(top) : int(bottom) + 1, int(left) : int(right) + 1].all()
            inside[int(top) : int(bottom) + 1, int(left) : int(right) + 1] = True
        assert not (changed & ~inside).any()


def test_captions_name_what_is_there_and_nothing_else() -> None:
    for number in range(200):
        found = scene("train", number)
        for caption in captions(found, number):
            for shape in SHAPES:
                named = shape in caption or f"{shape}es" in caption
                assert named == any(thing.shape == shape for thing in found.things), caption
            if len(found.things) == 1:
                assert found.things[0].colour in caption


def test_answers_are_right_and_of_every_kind() -> None:
    told: dict[str, int] = {}
    for number in range(400):
        found = scene("train", number)
        asked = questions(found, number, 4)
        assert len({question for question, _ in asked}) == len(asked)
        for question, answer in asked:
            told[answer] = told.get(answer, 0) + 1
            words = question.rstrip("?").split()
            if question.startswith("what colour"):
                (thing,) = [one for one in found.things if one.shape == words[-1]]
                assert answer == thing.colour
            elif question.startswith("how many things"):
                assert answer == NUMBERS[len(found.things)]
            elif question.startswith("is there"):
                there = any((one.colour, one.shape) == tuple(words[-2:]) for one in found.things)
                assert answer == ("yes" if there else "no")
    assert set(told) == set(ANSWERS)
    assert abs(told["yes"] - told["no"]) < 0.2 * told["yes"]
