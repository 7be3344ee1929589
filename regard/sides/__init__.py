"""Sides: the kinds of things that go into a model and come out of it. One file a kind."""

from regard.sides.answer import FixedAnswer
from regard.sides.base import InputSide, Judgement, OutputSide, TextSide
from regard.sides.label import Label
from regard.sides.labels import Labels
from regard.sides.picture import OnePicture
from regard.sides.picture_and_text import PictureAndText
from regard.sides.score import Score
from regard.sides.text import OneText
from regard.sides.two_texts import TwoTexts

__all__ = [
    "FixedAnswer",
    "InputSide",
    "Judgement",
    "Label",
    "Labels",
    "OnePicture",
    "OneText",
    "OutputSide",
    "PictureAndText",
    "Score",
    "TextSide",
    "TwoTexts",
]
