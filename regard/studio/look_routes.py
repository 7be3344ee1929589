"""Looking inside: maps and expectations, one token's way, position schemes."""

from __future__ import annotations

import base64
import fnmatch
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from regard.studio import playback
from regard.studio.answers import COMPUTED, either, form, problems
from regard.studio.errors import RefusalError
from regard.studio.runs_routes import saved_look
from regard.studio.schemas import Look, LookRequest, Picture, Schemes, Way, WayRequest
from regard.studio.shelf import layers_of
from regard.studio.stopping import Stopper
from regard.studio.studio import Studio

if TYPE_CHECKING:
    from regard.look import Subject

MAX_LENGTH, MAX_WIDTH, MAX_HEADS = 512, 512, 32  # of a picture of positions


def look_routes(studio: Studio) -> APIRouter:
    routes = APIRouter(tags=["look"])

    @routes.post("/look", response_model=None, responses=either(Look, 400, 404, *COMPUTED))
    async def look(request: Request, asked: LookRequest) -> Response:
        """What a model attends to and expects on one input."""
        if asked.playback is not None:
            folder = studio.runs.folder(asked.run)
            probe = await run_in_threadpool(playback.number_of, folder, asked.text, asked.target)
            return await saved_look(studio, request, asked.run, asked.playback, probe)
        write = form(request, studio.limits)

        def work(stopper: Stopper) -> Response:
            from regard.look import look
            from regard.look.importance import importance

            subject = studio.shelf.take(asked.run).subject
            given = given_to(subject, asked, studio.limits.pixels)
            check_size(subject, asked.text, asked.target, asked.layers, studio.limits.weights, asked.second)
            options: dict[str, Any] = {"without": asked.without, "best": asked.best, "layers": asked.layers}
            options |= {"second": asked.second, "mask": asked.mask}
            with stopper.on(subject.model):
                found = look(subject, given, asked.target, beam=asked.beam, **options)
                if asked.importance:
                    found.importance = importance(subject, found)
            return write(found)

        return await studio.bench.run(request, work)

    @routes.post("/way", response_model=None, responses=either(Way, 400, 404, *COMPUTED))
    async def way(request: Request, asked: WayRequest) -> Response:
        """One token's way through a model, stage by stage."""
        write = form(request, studio.limits)

        def work(stopper: Stopper) -> Response:
            from regard.look import way

            subject = studio.shelf.take(asked.run).subject
            check_size(subject, asked.text, asked.target, (), studio.limits.weights)
            with stopper.on(subject.model):
                found = way(subject, asked.text, asked.target, asked.place, asked.source_place)
            return write(found)

        return await studio.bench.run(request, work)

    @routes.get("/positions", name="positions", response_model=Schemes, responses=problems(*COMPUTED))
    async def schemes(request: Request) -> Any:
        """The schemes by which models tell positions apart."""
        return await studio.bench.run(request, lambda _: {"kinds": every_scheme()})

    @routes.get("/positions/{kind}", name="position", response_model=None, responses=either(Picture, 404, *COMPUTED))
    async def scheme(
        request: Request,
        kind: Annotated[str, Path(min_length=1, max_length=100)],
        length: Annotated[int, Query(ge=1, le=MAX_LENGTH)] = 64,
        width: Annotated[int, Query(ge=1, le=MAX_WIDTH)] = 64,
        heads: Annotated[int, Query(ge=1, le=MAX_HEADS)] = 4,
    ) -> Response:
        """One of them as an image, and as what it adds to the score of each pair of places."""
        write = form(request, studio.limits)

        def work(stopper: Stopper) -> Response:
            from regard.config import nearest
            from regard.look.positions import picture, schemes

            if kind not in schemes():
                raise RefusalError(404, f"there is no position scheme {kind!r}: {nearest(kind, schemes())}")
            return write(picture(kind, length, width, heads))

        return await studio.bench.run(request, work)

    return routes


def every_scheme() -> list[dict[str, Any]]:
    from regard.look.positions import about, picture, schemes

    return [
        {"kind": kind, "about": about(scheme), "learnt": picture(kind, 1, 16, 1).learnt}
        for kind, scheme in schemes().items()
    ]


def given_to(subject: Subject, asked: LookRequest, pixels: int) -> Any:
    """The text, or the picture where the run reads pictures; never anything that is a file of this machine."""
    from regard.data.pictures.reading import read_picture

    if subject.pictures is None:
        if asked.picture is not None:
            raise RefusalError(422, f"{asked.run} reads no pictures; send it a text")
        return asked.text
    if asked.picture is None or asked.text:
        raise RefusalError(422, f"{asked.run} reads pictures, not texts; send it a picture")
    try:
        data = base64.b64decode(asked.picture, validate=True)
    except ValueError:
        raise RefusalError(422, "picture: it is not base64") from None
    return read_picture(data, "the picture", most=pixels)


def check_size(
    subject: Subject, text: str, target: str | None, patterns: Sequence[str], most: int, second: str | None = None
) -> None:
    """Before anything is computed: whether there is not too much to look at.

    Maps grow with the square of the length.
    """
    from regard.data.sentences import sentence_spans
    from regard.look.subject import MAX_LOOKED_TOKENS
    from regard.models import picture_reader_in

    def length(text: str) -> int:
        return min(len(subject.tokenizer.encode([text])[0]) + 1, MAX_LOOKED_TOKENS)

    source = (
        0 if subject.pictures else min(length(text) + (0 if second is None else length(second) + 2), MAX_LOOKED_TOKENS)
    )
    sides = {"source": source, "text": source}
    longest = subject.most or MAX_LOOKED_TOKENS if subject.pictures else 2 * source + 20
    sides["target"] = min(longest, MAX_LOOKED_TOKENS) if target is None else length(target)
    sides |= {"label": 1, "sentences": min(len(sentence_spans(text)), source)}
    if (reader := picture_reader_in(subject.model)) is not None:
        sides["picture"] = reader.states
    layers = layers_of(subject)
    chosen = [
        layer for layer in layers if not patterns or any(fnmatch.fnmatchcase(layer.name, one) for one in patterns)
    ]
    weights = sum(layer.heads * sides[layer.rows] * sides[layer.columns] for layer in chosen)
    if weights > most:
        raise RefusalError(
            422, f"up to {weights:,} weights are more than the {most:,} of one look; take a shorter text or name layers"
        )
