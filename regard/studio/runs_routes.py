"""Which runs there are, how each stands, how its training went."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.concurrency import run_in_threadpool

from regard.look.parts import View
from regard.look.records import MEDIA_TYPE
from regard.studio import playback
from regard.studio.answers import COMPUTED, either, form, problems, wants_binary
from regard.studio.metrics import Newest, newest, news
from regard.studio.records import RunDetail
from regard.studio.runs import section
from regard.studio.schemas import MAX_INTEGER, Look, Playback, Records, RunList
from regard.studio.schemas import RunDetail as RunDetailSchema
from regard.studio.shelf import Outline
from regard.studio.studio import Studio

Name = Annotated[str, Path(min_length=1, max_length=255, description="a folder inside the runs folder")]


def runs_routes(studio: Studio) -> APIRouter:
    routes, runs = APIRouter(prefix="/runs", tags=["runs"]), studio.runs

    @routes.get("", name="runs", response_model=RunList, responses=problems())
    def listing() -> Any:
        """All runs, the newest first. A broken one is told as broken."""
        return {"runs": [asdict(run) for run in runs.every()]}

    @routes.get("/{run}", name="run", response_model=RunDetailSchema, responses=problems(404, *COMPUTED))
    async def detail(request: Request, run: Name) -> Any:
        """One run, with its config, its model's layers and its newest samples."""
        config = await run_in_threadpool(studio.runs.config, run)
        shape = studio.shelf.known_outline(run) if config else Outline()
        if shape is None:
            shape = await studio.bench.run(request, lambda _: studio.shelf.outline(run, config))
        return asdict(await run_in_threadpool(detailed, studio, run, config, shape))

    @routes.get("/{run}/records", response_model=Records, responses=problems(404, 409, 422))
    def records(run: Name, after: Annotated[int, Query(ge=0, le=MAX_INTEGER)] = 0) -> Any:
        """What training recorded since the byte `after`: at most 1,000 records, thinned evenly.

        To follow a run, ask again with the `next` of the last answer.
        """
        return asdict(news(runs.folder(run) / "metrics.jsonl", after))

    @routes.get("/{run}/playback", name="playback", response_model=Playback, responses=problems(404, 409, 422))
    def played(run: Name) -> Any:
        """At which steps which sentences were looked at while the run trained."""
        folder = runs.folder(run)
        return {"steps": playback.steps(folder), "probes": playback.probes(folder)}

    @routes.get(
        "/{run}/playback/{step}", name="saved_look", response_model=None, responses=either(Look, 404, *COMPUTED)
    )
    async def look(
        request: Request,
        run: Name,
        step: Annotated[int, Path(ge=0, le=MAX_INTEGER)],
        probe: Annotated[int, Query(ge=0, le=MAX_INTEGER)] = 0,
    ) -> Response:
        """The look at one of these sentences after so many steps."""
        return await saved_look(studio, request, run, step, probe)

    return routes


def detailed(studio: Studio, run: str, config: dict[str, Any], shape: Outline) -> RunDetail:
    folder = studio.runs.folder(run)
    path, steps = folder / "metrics.jsonl", playback.steps(folder)
    end = newest(path) if path.is_file() else Newest()
    samples = [] if end.validation is None else end.validation.get("samples")
    usable = (folder / "model.safetensors").is_file()  # from the first validation on
    views = list(shape.views) if usable else []
    if steps:
        views.append(View("playback", "Playback", "playback"))
    views.append(View("training", "Training", "training"))
    return RunDetail(
        **vars(studio.runs.standing(run)),
        **{**vars(shape), "views": views},
        config=config,
        samples=[one for one in samples if isinstance(one, dict)] if isinstance(samples, list) else [],
        alignment=section(config, "alignment") or None,
        playback=steps,
    )


async def saved_look(studio: Studio, request: Request, run: str, step: int, probe: int) -> Response:
    """As it was saved; only its JSON form needs to be unpacked."""
    data = await run_in_threadpool(lambda: playback.saved(studio.runs.folder(run), step, probe))
    if wants_binary(request):
        return Response(data, media_type=MEDIA_TYPE)
    write = form(request, studio.limits)

    def unpacked(_: Any) -> Response:
        from regard.look import Look as Record

        return write(Record.from_bytes(data))

    return await studio.bench.run(request, unpacked)
