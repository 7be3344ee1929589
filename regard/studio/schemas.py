"""What requests and answers hold. `/openapi.json` is made of these, so they are the API's description.

An answer that is a record elsewhere is mirrored from it; a request has limits of its own, which stand here.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from regard import description
from regard.look import records as looks
from regard.look.parts import Tree
from regard.studio import records
from regard.studio.metrics import News
from regard.studio.mirror import mirrored

MAX_TEXT_LETTERS, MAX_TEXTS, MAX_TOKENS, MAX_BEAM, MAX_BEST, MAX_NAMES = 10_000, 64, 1024, 16, 50, 512
MAX_PICTURE_LETTERS = 6 << 20  # of base64
MAX_INTEGER = 2**53 - 1  # whole numbers that every reader of JSON keeps


class Strict(BaseModel):
    """A request: what it does not know and what would have to be converted is a mistake."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


RunName = Annotated[str, Field(min_length=1, max_length=255, description="a folder inside the runs folder")]
Text = Annotated[str, Field(max_length=MAX_TEXT_LETTERS)]
Name = Annotated[str, Field(min_length=1, max_length=100)]


class Problem(BaseModel):
    """Every error."""

    error: str = Field(description="one sentence")


# --- about ------------------------------------------------------------------------------------------------------------


class Health(BaseModel):
    """That the server answers."""

    status: Literal["ok"]


class Version(BaseModel):
    """What is installed."""

    regard: str
    torch: str
    python: str


Description = mirrored(description.Description)


# --- runs -------------------------------------------------------------------------------------------------------------

RunList = mirrored(records.RunList)
RunDetail = mirrored(records.RunDetail)
Records = mirrored(News)
Playback = mirrored(records.Playback)


# --- using a run ------------------------------------------------------------------------------------------------------


class TranslateRequest(Strict):
    """One `text`, or several `texts`. A `tree` shows how the beam of a single text branched, where it is
    translated in one part."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["texts"]}]})

    run: RunName
    text: Text = ""
    texts: list[Text] = Field(default=[], min_length=1, max_length=MAX_TEXTS)
    beam: int = Field(default=4, ge=1, le=MAX_BEAM)
    nbest: int = Field(default=1, ge=1, le=MAX_BEAM)
    length_penalty: float = Field(default=1.0, ge=-10, le=10)
    tree: bool = False

    @model_validator(mode="after")
    def one_of_both(self) -> TranslateRequest:
        if ("text" in self.model_fields_set) == ("texts" in self.model_fields_set):
            raise ValueError("give either text or texts")
        if self.nbest > self.beam:
            raise ValueError(f"nbest {self.nbest} is more than the beam of {self.beam} can give")
        if self.tree and "texts" in self.model_fields_set:
            raise ValueError("a tree shows one text; give text instead of texts")
        return self

    @property
    def every(self) -> list[str]:
        return self.texts if "texts" in self.model_fields_set else [self.text]


class Rendering(BaseModel):
    """One translation. `log_prob` is the model's own, of all tokens together; `score` is that divided by the length to
    the power of the length penalty, which translations are ranked by."""

    text: str
    score: float
    log_prob: float


class Translated(BaseModel):
    """The best translations of a text, which was translated in so many parts: none where there is nothing to read."""

    source: str
    best: list[Rendering]
    parts: int


class Translations(BaseModel):
    """In the order of the texts."""

    translations: list[Translated]
    tree: mirrored(Tree) | None  # type: ignore[valid-type]
    seconds: float


class GenerateRequest(Strict):
    """Go on from a prompt. A temperature of 0 takes the likeliest token each time; `top_k` of 0 keeps all tokens."""

    run: RunName
    prompt: Text = ""
    max_tokens: int = Field(default=100, ge=1, le=MAX_TOKENS)
    temperature: float = Field(default=1.0, ge=0, le=100)
    top_k: int = Field(default=0, ge=0, le=MAX_INTEGER)
    top_p: float = Field(default=1.0, gt=0, le=1)
    seed: int | None = Field(default=None, ge=0, le=MAX_INTEGER)


class Token(BaseModel):
    """A line of the stream: what was written, and how probable the model itself found it."""

    token: str
    id: int
    probability: float


class Done(BaseModel):
    """The last line of the stream: `reason` is "end", "max_tokens", or "full" where the model reads no more."""

    done: Literal[True]
    text: str
    reason: Literal["end", "max_tokens", "full"]


# --- looking ----------------------------------------------------------------------------------------------------------


class LookRequest(Strict):
    """Look at a text: a translation is written unless a `target` is given. `second` is the other text of a pair, `mask`
    are numbers of words that are masked, from 0 on over both texts. `without` silences heads, `layers` narrows
    the maps, `importance` asks what the output loses without each head, which takes a pass for each. With a step of the
    run's `playback`, the text is one of its probes as it was seen then. A run that reads pictures takes a `picture`, a
    file in base64, instead of the text; it is read in memory alone."""

    run: RunName
    text: Text = ""
    picture: Annotated[str, Field(min_length=1, max_length=MAX_PICTURE_LETTERS)] | None = None
    target: Text | None = None
    second: Text | None = None
    mask: list[Annotated[int, Field(ge=0, le=MAX_TEXT_LETTERS)]] = Field(default=[], max_length=MAX_NAMES)
    without: list[Name] = Field(default=[], max_length=MAX_NAMES)
    best: int = Field(default=5, ge=0, le=MAX_BEST)
    layers: list[Name] = Field(default=[], max_length=MAX_NAMES)
    beam: int = Field(default=4, ge=1, le=MAX_BEAM)
    importance: bool = False
    playback: int | None = Field(default=None, ge=0, le=MAX_INTEGER)


class WayRequest(Strict):
    """One place's way through the model; places count from 0, or from the end where they are negative."""

    run: RunName
    text: Text
    target: Text | None = None
    place: int = Field(default=-1, ge=-MAX_INTEGER, le=MAX_INTEGER)
    source_place: int = Field(default=-1, ge=-MAX_INTEGER, le=MAX_INTEGER)


Look = mirrored(looks.Look)
Way = mirrored(looks.Way)
Picture = mirrored(looks.PositionPicture)
Schemes = mirrored(records.Schemes)
