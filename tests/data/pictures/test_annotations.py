"""COCO's JSON and Pascal VOC's XML, whole and broken."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import pytest

from regard.data.examples import BoxData
from regard.errors import DataError

COCO = {
    "images": [{"id": 7, "file_name": "a.png"}, {"id": 3, "file_name": "b.png"}],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 18, "bbox": [1, 2, 3, 4]},
        {"id": 2, "image_id": 7, "category_id": 1, "bbox": [0, 0, 5.5, 6]},
        {"id": 9, "image_id": 7, "category_id": 1, "bbox": [0, 0, 50, 60], "iscrowd": 1},
    ],
    "categories": [{"id": 1, "name": "person"}, {"id": 18, "name": "dog"}],
}
VOC = """<annotation>
  <filename>a.png</filename>
  <object>
    <name>dog</name>
    <bndbox><xmin>1</xmin><ymin>2</ymin><xmax>4</xmax><ymax>6</ymax></bndbox>
  </object>
</annotation>
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    for name in "ab":
        (tmp_path / "images" / f"{name}.png").touch()
    return tmp_path


def coco(home: Path, **changes: Any) -> list[Any]:
    path = home / "boxes.json"
    path.write_text(json.dumps({**copy.deepcopy(COCO), **changes}))
    return list(BoxData(file=str(path)).open())


def voc(home: Path, text: str) -> list[Any]:
    (home / "one.xml").write_text(text)
    return list(BoxData(file=str(home)).open())


def test_coco_gives_pictures_with_corners_of_boxes_and_those_without_boxes(home: Path) -> None:
    first, second = coco(home)
    assert Path(first.picture.name).name == "a.png"
    assert first.boxes == (("dog", (1, 2, 4, 6)), ("person", (0, 0, 5.5, 6)))
    assert first.place(1).endswith("boxes.json, annotation 2")
    assert second.boxes == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"annotations": [{"id": 5, "image_id": 8, "category_id": 1, "bbox": [0, 0, 1, 1]}]},
            "annotation 5: .*image 8",
        ),
        ({"annotations": [{"id": 5, "image_id": 7, "category_id": 2, "bbox": [0, 0, 1, 1]}]}, "no category 2"),
        ({"annotations": [{"id": 5, "image_id": 7, "category_id": 1, "bbox": [0, 0, 0, 1]}]}, "annotation 5: .*empty"),
        ({"annotations": [{"id": 5, "image_id": 7, "category_id": 1, "bbox": [0, 0, 1]}]}, "annotation 5: .*four"),
        ({"annotations": [{"id": 5, "image_id": 7, "category_id": 1}]}, 'has no "bbox"'),
        ({"annotations": [5]}, 'has no "image_id"'),
        ({"images": [{"id": 7, "file_name": "c.png"}]}, "image 7: the picture c.png is neither in"),
        ({"images": []}, "image 7|no picture"),
        ({"categories": {}}, 'no list of "categories"'),
    ],
)
def test_what_is_wrong_in_coco_is_named(home: Path, changes: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=f"boxes.json.*(?:{said})"):
        coco(home, **changes)


def test_what_is_no_json_is_named(home: Path) -> None:
    (home / "boxes.json").write_text('{"images": [')
    with pytest.raises(DataError, match=r"boxes.json: not JSON"):
        list(BoxData(file=str(home / "boxes.json")).open())


def test_voc_gives_a_picture_for_each_file(home: Path) -> None:
    (found,) = voc(home, VOC)
    assert found.boxes == (("dog", (1, 2, 4, 6)),)
    assert found.place(0).endswith("one.xml, line 3")
    folder = home / "Annotations"
    folder.mkdir()
    (home / "images").rename(home / "JPEGImages")
    (home / "one.xml").rename(folder / "one.xml")
    (found,) = BoxData(file=str(folder)).open()
    assert Path(found.picture.name).parent.name == "JPEGImages"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("<xmax>4", "<xmax>1"), "one.xml, line 3: the box .* is empty"),
        (("<xmax>4", "<xmax>wide"), "one.xml, line 3: a corner .* no number"),
        (("<xmax>4</xmax>", ""), "one.xml, line 5: the element bndbox has no xmax"),
        (("<name>dog</name>", "<name/>"), "one.xml, line 4: the element name is empty"),
        (("a.png", "c.png"), "one.xml: the picture c.png is neither in"),
        (("</object>", "</thing>"), "one.xml, line 6: not XML"),
        (
            ("<annotation>", '<!DOCTYPE a [<!ENTITY b "c">]><annotation>'),
            "one.xml, line 1: it declares a document type",
        ),
        (("<object>", "<object>" * 60), "one.xml, line 3: more than 50 elements"),
    ],
)
def test_what_is_wrong_in_voc_is_named_with_its_line(home: Path, change: tuple[str, str], said: str) -> None:
    with pytest.raises(DataError, match=said):
        voc(home, VOC.replace(*change))


def test_a_folder_without_xml_and_a_table_are_told_apart(home: Path) -> None:
    with pytest.raises(DataError, match=re.escape("no XML file with boxes")):
        list(BoxData(file=str(home)).open())
    (home / "boxes.tsv").write_text("image\tclass\tx0\ty0\tx1\ty1\na.png\tcat\t0\t0\t3\t4\na.png\tdog\t1\t0\t6\t2\n")
    (found,) = BoxData(file=str(home / "boxes.tsv")).open()
    assert found.place(1).endswith("boxes.tsv, line 3")
