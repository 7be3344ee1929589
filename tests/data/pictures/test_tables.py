"""Folders by class and tables of pictures; what does not belong together is named with its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.data.pictures.examples import PictureFile
from regard.data.pictures.tables import (
    AskedPictureTable,
    BoxTable,
    CaptionTable,
    LabelledPictureTable,
    PictureFolders,
    holds_picture_folders,
)
from regard.errors import DataError

Image = pytest.importorskip("PIL.Image")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two pictures in the folder `images`, and one beside it."""
    (tmp_path / "images").mkdir()
    for name in ("images/a.png", "images/b.png", "c.png"):
        Image.fromarray(np.full((4, 6, 3), ord(name[-5]), np.uint8)).save(tmp_path / name)
    return tmp_path


def table(home: Path, text: str, name: str = "table.tsv") -> Path:
    path = home / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_table_of_labels_finds_its_pictures_beside_it_and_in_its_folder(home: Path) -> None:
    path = table(home, "image\tlabel\na.png\tcat\nc.png\tdog\nimages/b.png\tcat\n")
    found = list(LabelledPictureTable(path))
    assert [one.label for one in found] == ["cat", "dog", "cat"]
    assert [one.picture for one in found] == [PictureFile(home / n) for n in ("images/a.png", "c.png", "images/b.png")]
    assert found[1].picture.pixels()[0, 0, 0] == ord("c")


def test_a_missing_picture_is_named_or_told_and_left_out(home: Path) -> None:
    path = table(home, "a.png\tcat\ngone.png\tdog\n")
    with pytest.raises(DataError, match=r"table\.tsv, line 2: the picture gone\.png is neither in"):
        list(LabelledPictureTable(path))
    missing: list[str] = []
    lenient = LabelledPictureTable(path)
    lenient.missing = missing.append
    assert len(list(lenient)) == 1
    assert missing == ["gone.png"]


def test_captions_of_one_picture_come_together_in_any_order(home: Path) -> None:
    path = table(home, "image\tcaption\na.png\tOne .\nb.png\tTwo\na.png\tThree\n")
    found = {Path(one.picture.name).name: one.captions for one in CaptionTable(path)}
    assert found == {"a.png": ("One .", "Three"), "b.png": ("Two",)}
    listed = table(home, '{"image": "a.png", "captions": ["One", "Two"]}\n', "captions.jsonl")
    assert [one.captions for one in CaptionTable(listed)] == [("One", "Two")]


def test_questions_need_an_answer(home: Path) -> None:
    path = table(home, "image\tquestion\tanswer\na.png\twhat?\tthis\n")
    assert next(iter(AskedPictureTable(path))).answer == "this"
    with pytest.raises(DataError, match="line 2: a question and its answer"):
        list(AskedPictureTable(table(home, "image\tquestion\tanswer\na.png\twhat?\t\n")))


def test_boxes_of_one_picture_come_together(home: Path) -> None:
    path = table(home, "image\tclass\tx0\ty0\tx1\ty1\na.png\tcat\t0\t0\t3\t4\na.png\tdog\t1.5\t0\t6\t2\n")
    (found,) = BoxTable(path)
    assert found.boxes == (("cat", (0.0, 0.0, 3.0, 4.0)), ("dog", (1.5, 0.0, 6.0, 2.0)))
    other = table(home, "filename,class,xmin,ymin,xmax,ymax\na.png,cat,0,0,3,4\n", "boxes.csv")
    assert next(iter(BoxTable(other))).boxes == (("cat", (0.0, 0.0, 3.0, 4.0)),)


@pytest.mark.parametrize("box", ["3\t0\t0\t4", "0\t0\t0\t4", "nan\t0\t3\t4", "0\t0\tinf\t4"])
def test_a_box_that_is_none_is_named(home: Path, box: str) -> None:
    with pytest.raises(DataError, match="line 2: the box from"):
        list(BoxTable(table(home, f"image\tclass\tx0\ty0\tx1\ty1\na.png\tcat\t{box}\n")))


def test_a_folder_with_a_folder_for_each_class(tmp_path: Path) -> None:
    for name in ("cat/1.png", "cat/inner/2.JPG", "dog/3.webp"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    (tmp_path / "dog" / "notes.txt").touch()
    (tmp_path / "dog" / ".hidden.png").touch()
    folders = PictureFolders(tmp_path)
    assert [(one.label, Path(one.picture.name).name) for one in folders] == [
        ("cat", "1.png"),
        ("cat", "2.JPG"),
        ("dog", "3.webp"),
    ]
    assert folders.skipped == 1
    assert holds_picture_folders(tmp_path)
    assert not holds_picture_folders(tmp_path / "dog")


def test_a_folder_without_pictures_is_named(tmp_path: Path) -> None:
    (tmp_path / "cat").mkdir()
    with pytest.raises(DataError, match="no picture in a folder of its class"):
        list(PictureFolders(tmp_path))
