"""What requests and answers hold. `/openapi.json` is made of these, so they are the API's description."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

TEXT, TEXTS, TOKENS, BEAM, BEST, NAMES = 10_000, 64, 1024, 16, 50, 512
LARGEST = 2**53 - 1  # whole numbers that every reader of JSON keeps
MEDIA_TYPE = "application/vnd.regard.look"  # as in `regard.look.records`, which imports more than a list of runs needs


class Strict(BaseModel):
    """A request: what it does not know and what would have to be converted is a mistake."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


RunName = Annotated[str, Field(min_length=1, max_length=255, description="a folder inside the runs folder")]
Text = Annotated[str, Field(max_length=TEXT)]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Numbers = list[Any]  # lists of lists of numbers; spelt out, their depth would be lost


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


class Description(BaseModel):
    """What a model is made of and costs, as `regard describe --json` says it."""

    name: str
    kind: str
    paper: str
    note: str
    published: int | None
    parameters: int
    parts: dict[str, int]
    batch: int
    length: int
    multiply_adds: int
    training_multiply_adds: int
    weight_bytes: dict[str, int]
    activation_bytes: int
    cache_bytes_per_token: int
    memory_bytes_per_source_token: int
    config: dict[str, Any]


# --- runs -------------------------------------------------------------------------------------------------------------


class RunSummary(BaseModel):
    """How a run stands; `updated` are seconds since 1970, `error` says why it is broken. It reads one of `texts` or two
    at once, `least` of them; `heads` says whether it has some to show."""

    name: str
    status: Literal["training", "finished", "stopped", "broken"]
    task: str | None
    family: str | None
    texts: list[str]
    least: int
    heads: bool
    step: int
    max_steps: int | None
    metrics: dict[str, float]
    updated: float
    error: str | None


class RunList(BaseModel):
    """All runs, the newest first."""

    runs: list[RunSummary]


class Layer(BaseModel):
    """An attention layer: from the tokens of the side `rows` to those of `columns`."""

    name: str
    stack: str
    index: int
    role: str
    rows: str
    columns: str
    heads: int


class RunDetail(RunSummary):
    """A run, its config and its model's layers; `playback` are the steps at which its probes were looked at."""

    config: dict[str, Any]
    parameters: int | None
    layers: list[Layer]
    samples: list[dict[str, Any]]
    alignment: dict[str, Any] | None
    playback: list[int]


class Records(BaseModel):
    """Of `metrics.jsonl`; `next` goes into the next request's `after`. `restarted`: forget what came before."""

    records: list[dict[str, Any]]
    next: int
    restarted: bool


class Probe(BaseModel):
    """A sentence that was looked at during training."""

    source: str
    target: str | None


class Playback(BaseModel):
    """When which sentences were looked at."""

    steps: list[int]
    probes: list[Probe]


# --- using a run ------------------------------------------------------------------------------------------------------


class TranslateRequest(Strict):
    """One `text`, or several `texts`. A `tree` shows how the beam of a single text branched, where it is
    translated in one part."""

    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["text"]}, {"required": ["texts"]}]})

    run: RunName
    text: Text = ""
    texts: list[Text] = Field(default=[], min_length=1, max_length=TEXTS)
    beam: int = Field(default=4, ge=1, le=BEAM)
    nbest: int = Field(default=1, ge=1, le=BEAM)
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
    """One translation; `log_prob` is the model's own, `score` what translations are ranked by."""

    text: str
    score: float
    log_prob: float


class Translated(BaseModel):
    """The best translations of a text, which was translated in so many parts: none where there is nothing to read."""

    source: str
    best: list[Rendering]
    parts: int


class Node(BaseModel):
    """A token of some hypotheses, after those on the way from the root."""

    id: int
    parent: int | None
    token: str
    log_prob: float
    probability: float
    hypotheses: list[int]


class Leaf(Rendering):
    """A hypothesis and the node at which it ends."""

    leaf: int


class Tree(BaseModel):
    """How a beam branched."""

    nodes: list[Node]
    hypotheses: list[Leaf]


class Translations(BaseModel):
    """In the order of the texts."""

    translations: list[Translated]
    tree: Tree | None
    seconds: float


class GenerateRequest(Strict):
    """Go on from a prompt. A temperature of 0 takes the likeliest token each time; `top_k` of 0 keeps all tokens."""

    run: RunName
    prompt: Text = ""
    max_tokens: int = Field(default=100, ge=1, le=TOKENS)
    temperature: float = Field(default=1.0, ge=0, le=100)
    top_k: int = Field(default=0, ge=0, le=LARGEST)
    top_p: float = Field(default=1.0, gt=0, le=1)
    seed: int | None = Field(default=None, ge=0, le=LARGEST)


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
    run's `playback`, the text is one of its probes as it was seen then."""

    run: RunName
    text: Text
    target: Text | None = None
    second: Text | None = None
    mask: list[Annotated[int, Field(ge=0, le=TEXT)]] = Field(default=[], max_length=NAMES)
    without: list[Name] = Field(default=[], max_length=NAMES)
    best: int = Field(default=5, ge=0, le=BEST)
    layers: list[Name] = Field(default=[], max_length=NAMES)
    beam: int = Field(default=4, ge=1, le=BEAM)
    importance: bool = False
    playback: int | None = Field(default=None, ge=0, le=LARGEST)


class WayRequest(Strict):
    """One place's way through the model; places count from 0, or from the end where they are negative."""

    run: RunName
    text: Text
    target: Text | None = None
    place: int = Field(default=-1, ge=-LARGEST, le=LARGEST)
    source_place: int = Field(default=-1, ge=-LARGEST, le=LARGEST)


class Side(BaseModel):
    """A sequence as the model reads it; `word_of` tells each token's word, `text_of` its text, where there are two."""

    text: str
    tokens: list[str]
    ids: list[int]
    words: list[str]
    word_of: list[int | None]
    texts: list[str]
    text_of: list[int | None]


class Choice(BaseModel):
    """A token that may stand at a place."""

    token: str
    id: int
    probability: float


class Prediction(Choice):
    """What follows a place (stands in it, where a text is read whole), and what else might have."""

    place: int
    rank: int
    best: list[Choice]


class Lens(BaseModel):
    """The stream at each depth, read through the output layer."""

    layers: list[str]
    tokens: list[list[str]]
    probabilities: list[list[float]]
    chosen: list[list[float]]


class Rollout(BaseModel):
    """Attention followed through all layers."""

    name: str
    rows: str
    columns: str


class Alignment(BaseModel):
    """Links (source word, target word), as one layer reads them."""

    layer: str
    shift: int
    links: list[tuple[int, int]]
    gold: list[tuple[int, int]] | None
    error_rate: float | None


class Changes(BaseModel):
    """What silent heads change; a score has no probability."""

    text: str
    before: str
    log_prob: float | None
    before_log_prob: float | None


class Verdict(BaseModel):
    """A label that a text may have."""

    label: str
    probability: float


class Score(BaseModel):
    """What a judge of pairs gives instead of a label, and the scale that it learnt."""

    value: float
    low: float
    high: float


class Masked(BaseModel):
    """A place at which a mask stands; `was` is the token behind it, where that is known."""

    place: int
    was: str | None
    id: int | None


class Mark(BaseModel):
    """What is said of the tokens from `first` to `last`: their tag, or that they are the answer."""

    first: int
    last: int
    label: str
    probability: float
    text: str


class Window(BaseModel):
    """Where local attention may look: at most `reach` tokens from the centre of each row."""

    reach: int
    centres: list[float]


class Look(BaseModel):
    """All that was seen of one input; each array is nested lists (heads, rows, columns)."""

    version: int
    family: str
    sides: dict[str, Side]
    layers: list[Layer]
    predictions: list[Prediction]
    lens: Lens | None
    rollout: list[Rollout]
    alignment: Alignment | None
    without: list[str]
    changes: Changes | None
    importance: dict[str, list[float]] | None
    verdicts: list[Verdict]
    score: Score | None
    unread: str
    shares: str
    masks: list[Masked] | None
    start: int | None
    marks: list[Mark] | None
    backward: list[Prediction]
    windows: dict[str, Window]
    arrays: dict[str, Numbers]


class Logits(BaseModel):
    """The highest logits, and the log of the sum of the exponentials of all."""

    tokens: list[str]
    logits: list[float]
    total: float


class Way(BaseModel):
    """Stages in order; what they name as an array stands under `arrays`."""

    version: int
    family: str
    sides: dict[str, Side]
    place: int
    source_place: int | None
    stages: list[dict[str, Any]]
    predictions: Logits | None
    arrays: dict[str, Numbers]


class Scheme(BaseModel):
    """A way to tell positions apart."""

    kind: str
    about: str
    learnt: bool


class Schemes(BaseModel):
    """All there are."""

    kinds: list[Scheme]


class Picture(Scheme):
    """A scheme as an image and as what it adds to scores."""

    version: int
    length: int
    width: int
    heads: int
    image: str | None
    products: str
    arrays: dict[str, Numbers]
