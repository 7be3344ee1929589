"""Routes for clients of OpenAI's API: completions and models. That API describes them, not ours."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response, StreamingResponse

from regard.studio.bench import Emit
from regard.studio.completions import Completion, CompletionRequest, joined
from regard.studio.errors import RefusalError, bug
from regard.studio.runs import Standing
from regard.studio.shelf import writes_on
from regard.studio.stopping import Stopper
from regard.studio.studio import Studio

STREAM = "text/event-stream"


def openai_routes(studio: Studio) -> APIRouter:
    routes = APIRouter(prefix="/v1", include_in_schema=False)

    @routes.get("/models")
    async def models(request: Request) -> dict[str, Any]:
        """The runs that write on from a prompt."""

        def writing(_: Stopper) -> list[Standing]:
            return [run for run in studio.runs.every() if writes(studio, run)]

        return {"object": "list", "data": [described(run) for run in await studio.bench.run(request, writing)]}

    @routes.get("/models/{name}")
    async def model(request: Request, name: str) -> dict[str, Any]:
        def found(_: Stopper) -> Standing:
            studio.runs.folder(name)  # or there is none
            run = studio.runs.standing(name)
            if not writes(studio, run):
                raise RefusalError(409, f"{name} does not write on from a prompt; take a language model")
            return run

        return described(await studio.bench.run(request, found))

    @routes.post("/completions")
    async def completions(request: Request, asked: CompletionRequest) -> Response:
        if not asked.stream:
            return JSONResponse(await studio.bench.run(request, lambda stopper: complete(studio, stopper, asked)))

        def work(stopper: Stopper, emit: Emit) -> None:
            completion = Completion(studio.shelf.take(asked.model), asked)
            with stopper.on(completion.writer.model):
                for part in completion.parts():
                    emit(completion.answer([part], usage=False))
                    stopper.check()
            if asked.stream_options is not None and asked.stream_options.include_usage:
                emit(completion.answer([], usage=True))

        return StreamingResponse(events(await studio.bench.stream(request, work)), media_type=STREAM)

    return routes


def complete(studio: Studio, stopper: Stopper, asked: CompletionRequest) -> dict[str, Any]:
    completion = Completion(studio.shelf.take(asked.model), asked)
    parts = []
    with stopper.on(completion.writer.model):
        for part in completion.parts():
            parts.append(part)
            stopper.check()
    return completion.answer(joined(parts), usage=True)


async def events(items: AsyncIterator[Any]) -> AsyncIterator[bytes]:
    """Server-sent events, the last of which says that it is done."""
    try:
        async for item in items:
            yield event(json.dumps(item, ensure_ascii=False))
    except RefusalError as refusal:  # too late for a status
        yield event(json.dumps(refusal.as_openai(), ensure_ascii=False))
    except Exception as error:
        yield event(json.dumps(bug(error).as_openai(), ensure_ascii=False))
        raise
    yield event("[DONE]")


def event(text: str) -> bytes:
    return f"data: {text}\n\n".encode()


def writes(studio: Studio, run: Standing) -> bool:
    return run.status != "broken" and writes_on(studio.runs.config(run.name))


def described(run: Standing) -> dict[str, Any]:
    return {"id": run.name, "object": "model", "created": int(run.updated), "owned_by": "regard"}
