"""Boxes as data sets of pictures come with them: COCO's JSON, and Pascal VOC's XML files, one for each picture."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.parsers import expat

from regard.config import nearest
from regard.data.files import check_found
from regard.data.pictures.examples import Box, BoxedPicture, PictureFile
from regard.data.pictures.tables import checked, place_of
from regard.errors import DataError, reading

PICTURES_OF_VOC = "JPEGImages"  # the folder beside that of the annotations
CORNERS = ("xmin", "ymin", "xmax", "ymax")
DEEPEST = 50  # elements within each other


# --- COCO -------------------------------------------------------------------------------------------------------------


@dataclass
class CocoFile:
    """One JSON file with "images", "annotations" and "categories"; boxes are left, top, width and height. Crowds, whose
    boxes hold many things, are left out and counted. A picture without annotations has no boxes."""

    path: Path
    skipped: int = 0

    def __iter__(self) -> Iterator[BoxedPicture]:
        every, self.skipped = self.contents(), 0
        classes = {
            self.of(one, "categories", "id"): str(self.of(one, "categories", "name")) for one in every["categories"]
        }
        pictures = {self.of(one, "images", "id"): str(self.of(one, "images", "file_name")) for one in every["images"]}
        boxes: dict[Any, list[tuple[str, tuple[str, Box]]]] = {number: [] for number in pictures}
        for place, one in enumerate(every["annotations"], 1):
            if isinstance(one, dict) and one.get("iscrowd"):
                self.skipped += 1
                continue
            where = f"{self.path}, annotation {one.get('id', place) if isinstance(one, dict) else place}"
            number, category = self.of(one, "annotations", "image_id"), self.of(one, "annotations", "category_id")
            if number not in pictures:
                raise DataError(f"{where}: there is no image {number!r}")
            if category not in classes:
                raise DataError(
                    f"{where}: there is no category {category!r}: {nearest(str(category), map(str, classes))}"
                )
            box = corners_of(self.of(one, "annotations", "bbox"), where)
            boxes[number].append((where, (classes[category], checked(box, where))))
        check_found(len(pictures), 0, str(self.path), "picture")
        for number, name in pictures.items():
            lines = tuple(where for where, _ in boxes[number])
            yield BoxedPicture(
                self.picture(name, number), tuple(box for _, box in boxes[number]), str(self.path), lines
            )

    def contents(self) -> Mapping[str, list[Any]]:
        with reading(self.path):
            text = self.path.read_bytes()
        try:
            every = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{self.path}: not JSON ({error})") from None
        for name in ("images", "annotations", "categories"):
            if not isinstance(every, dict) or not isinstance(every.get(name), list):
                raise DataError(f'{self.path}: it has no list of "{name}", as COCO\'s annotations have')
        return every  # type: ignore[no-any-return]

    def of(self, one: Any, part: str, name: str) -> Any:
        """A field of something in one of the lists; what cannot be a key is none."""
        value = one.get(name) if isinstance(one, dict) else None
        if value is None or (isinstance(value, list | dict) and name != "bbox"):
            raise DataError(f'{self.path}: one of the "{part}" has no "{name}": {str(one)[:80]}')
        return value

    def picture(self, name: str, number: Any) -> PictureFile:
        path = place_of(name, self.path.parent)
        if path is None:
            where = f"neither in {self.path.parent} nor in its folder images"
            raise DataError(f"{self.path}, image {number}: the picture {name} is {where}")
        return PictureFile(path)


def corners_of(sides: Any, where: str) -> Box:
    if not isinstance(sides, list) or len(sides) != 4 or not all(isinstance(one, int | float) for one in sides):
        raise DataError(f"{where}: the box is {sides!r}; it takes four numbers, left, top, width and height")
    left, top, width, height = map(float, sides)
    return left, top, left + width, top + height


# --- Pascal VOC -------------------------------------------------------------------------------------------------------


@dataclass
class VocFolder:
    """A folder of XML files, one for each picture, which stands beside them, in their folder `images`, or, as in VOC
    itself, in `JPEGImages` beside the folder. Corners are taken as they are written."""

    path: Path
    skipped: int = 0

    def __iter__(self) -> Iterator[BoxedPicture]:
        with reading(self.path):
            files = sorted(one for one in self.path.iterdir() if one.suffix.lower() == ".xml")
        check_found(len(files), 0, str(self.path), "XML file with boxes")
        for file in files:
            yield self.boxed(file)

    def boxed(self, file: Path) -> BoxedPicture:
        tree = read_xml(file)
        name = tree.text("filename", file)
        things = [one for one in tree.children if one.name == "object"]
        boxes = tuple((one.text("name", file), box_of(one, file)) for one in things)
        return BoxedPicture(self.picture(name, file), boxes, str(file), tuple(one.where(file) for one in things))

    def picture(self, name: str, file: Path) -> PictureFile:
        beside = self.path.parent / PICTURES_OF_VOC / Path(name).name
        path = place_of(name, self.path) or (beside if beside.is_file() else None)
        if path is None:
            raise DataError(f"{file}: the picture {name} is neither in {self.path} nor in its folder images")
        return PictureFile(path)


@dataclass
class XmlElement:
    """An element of an XML file, and the line on which it begins."""

    name: str
    line: int
    children: list[XmlElement] = field(default_factory=list)
    content: str = ""

    def where(self, file: Path) -> str:
        return f"{file}, line {self.line}"

    def child(self, name: str, file: Path) -> XmlElement:
        for one in self.children:
            if one.name == name:
                return one
        raise DataError(f"{self.where(file)}: the element {self.name} has no {name}")

    def text(self, name: str, file: Path) -> str:
        one = self.child(name, file)
        if not (text := " ".join(one.content.split())):
            raise DataError(f"{one.where(file)}: the element {name} is empty")
        return text


def box_of(thing: XmlElement, file: Path) -> Box:
    place, where = thing.child("bndbox", file), thing.where(file)
    try:
        left, top, right, bottom = (float(place.text(name, file)) for name in CORNERS)
    except DataError:
        raise
    except ValueError:
        raise DataError(f"{where}: a corner of its box is no number of pixels") from None
    return checked((left, top, right, bottom), where)


def read_xml(file: Path) -> XmlElement:
    """The whole of an XML file, which may not define entities: some lines of them can stand for gigabytes, or name
    other files."""
    parser, inside = expat.ParserCreate(), [XmlElement("", 0)]

    def begin(name: str, attributes: Mapping[str, str]) -> None:
        if len(inside) > DEEPEST:
            raise DataError(f"{file}, line {parser.CurrentLineNumber}: more than {DEEPEST} elements within each other")
        part = XmlElement(name, parser.CurrentLineNumber)
        inside[-1].children.append(part)
        inside.append(part)

    def text(data: str) -> None:
        inside[-1].content += data

    def refuse(*declared: Any) -> None:
        raise DataError(f"{file}, line {parser.CurrentLineNumber}: it declares a document type; leave that out")

    def end(name: str) -> None:
        inside.pop()

    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begin, end, text
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    with reading(file):
        data = file.read_bytes()
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        raise DataError(f"{file}, line {error.lineno}: not XML ({expat.errors.messages[error.code]})") from None
    return inside[0].children[0]
