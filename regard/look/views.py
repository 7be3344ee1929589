"""Which ways there are to see a run, asked of its model: the page draws its links from these records."""

from __future__ import annotations

from collections.abc import Sequence

from regard.errors import Error
from regard.look.parts import Layer, Taken, View
from regard.look.subject import Subject
from regard.look.ways import has_way
from regard.models import PictureWriter, SourceWriter, TextLabeller, TextWriter

POOL = "pool"  # the stack whose maps are shown in the text itself


def views(subject: Subject, layers: Sequence[Layer]) -> list[View]:
    """The views of a model with these attention layers; none where it cannot be looked at."""
    try:
        subject.stacks  # noqa: B018
    except Error:
        if not isinstance(subject.model, TextLabeller):
            return []
    takes = taken(subject)
    found = [View("translate", *used(subject), takes)]
    if subject.reading_side == "picture":
        return found  # whose heads are shown on the picture itself
    if any(layer.stack != POOL for layer in layers):
        found.append(View("heads", "Heads", "heads", [one for one in takes if one.field != "target"]))
    if has_way(subject):
        found.append(View("way", "A prompt’s way", "way", [one for one in takes if one.field != "second"]))
    return found


def used(subject: Subject) -> tuple[str, str]:
    """The title of the view that uses the model, and what draws it."""
    if isinstance(subject.model, SourceWriter):
        return "Translate", "sentence"
    if isinstance(subject.model, TextWriter):
        return "Generate", "prompt"
    if subject.reading_side == "picture":
        return "Caption" if isinstance(subject.model, PictureWriter) else "Classify", "picture"
    if isinstance(subject.model, TextLabeller):
        return "Judge a pair" if subject.roles.least > 1 else "Classify", "texts"
    return "Read", "texts"


def taken(subject: Subject) -> list[Taken]:
    if isinstance(subject.model, SourceWriter):
        return [Taken("text", "sentence", True), Taken("target", "translation", False)]
    if isinstance(subject.model, TextWriter):
        return [Taken("text", "prompt", True)]
    if subject.reading_side == "picture":
        written = [Taken("target", "caption", False)] if isinstance(subject.model, PictureWriter) else []
        return [Taken("picture", "picture", True), *written]
    roles = subject.roles
    return [
        Taken(field, name, number < roles.least)
        for number, (field, name) in enumerate(zip(("text", "second"), roles.names, strict=False))
    ]
