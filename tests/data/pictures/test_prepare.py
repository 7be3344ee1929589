"""Pictures are read once into a store, whatever interrupts it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.data.pictures import prepare
from regard.data.pictures.examples import LabelledPicture, MadePicture, Picture
from regard.data.pictures.reading import Pixels
from regard.data.pictures.sizing import sized
from regard.data.sources.scenes.draw import scene
from regard.data.store import Store

pytest.importorskip("PIL")
SIDE = 16


def examples(count: int = 20) -> list[LabelledPicture]:
    def picture(number: int) -> MadePicture:
        return MadePicture(f"scene {number}", lambda: scene("train", number).pixels(32))

    return [LabelledPicture(picture(number), str(number)) for number in range(count)]


def read(picture: Picture) -> Pixels:
    return sized(picture.pixels(SIDE), SIDE, SIDE)


def made(folder: Path, given: list[LabelledPicture], **others: Any) -> Store:
    options = {"read": read, "marks": lambda part: [((int(one.label),),) for one in part], **others}
    return prepare.pictured(folder, given, limit=500, made=f"{SIDE} pixels", say=lambda text: None, **options)


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "PICTURES_A_PART", 6)


def test_every_picture_comes_back_with_what_belongs_to_it(tmp_path: Path) -> None:
    given = examples()
    store = made(tmp_path / "store", given)
    assert len(store) == len(given)
    for number in (0, 7, 19):
        (row,), (mark,) = store.rows(0, [number]), store.rows(1, [number])
        assert np.array_equal(prepare.as_batch([row], SIDE)[0], read(given[number].picture))
        assert mark.tolist() == [number]


def test_reading_goes_on_where_it_was_stopped(tmp_path: Path) -> None:
    seen: list[str] = []

    def stopping(picture: Picture) -> Pixels:
        seen.append(picture.name)
        if picture.name == "scene 15":
            raise KeyboardInterrupt
        return read(picture)

    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "store", examples(), read=stopping)

    def counted(picture: Picture) -> Pixels:
        again.append(picture.name)
        return read(picture)

    again: list[str] = []
    store = made(tmp_path / "store", examples(), read=counted)
    assert sorted(again) == sorted(f"scene {number}" for number in range(12, 20))
    whole = made(tmp_path / "whole", examples())
    every = list(range(20))
    assert all(np.array_equal(*pair) for pair in zip(store.rows(0, every), whole.rows(0, every), strict=True))


def test_other_pictures_are_read_anew(tmp_path: Path) -> None:
    def stopping(picture: Picture) -> Pixels:
        if picture.name == "scene 15":
            raise KeyboardInterrupt
        return read(picture)

    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "store", examples(), read=stopping)
    others = examples()
    others[8] = LabelledPicture(MadePicture("another", lambda: np.full((32, 32, 3), 7, np.uint8)), "8")
    store = made(tmp_path / "store", others)
    assert (store.rows(0, [8])[0] == 7).all()
    assert np.array_equal(prepare.as_batch(store.rows(0, [3]), SIDE)[0], read(others[3].picture))
