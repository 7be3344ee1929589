"""Using a run: translating, and writing on from a prompt."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse

from regard.studio.answers import COMPUTED, problems
from regard.studio.bench import Emit
from regard.studio.errors import RefusalError, bug
from regard.studio.generation import generate
from regard.studio.schemas import Done, GenerateRequest, Problem, Token, TranslateRequest, Translations
from regard.studio.stopping import Stopper
from regard.studio.studio import Studio

if TYPE_CHECKING:
    from regard.tasks.writing.translator import Rendering

BATCH_TEXTS = 16  # translated together
STREAM = "application/x-ndjson"


def use_routes(studio: Studio) -> APIRouter:
    routes = APIRouter(tags=["use"])

    @routes.post("/translate", name="translate", response_model=Translations, responses=problems(400, 404, *COMPUTED))
    async def translation(request: Request, asked: TranslateRequest) -> Any:
        """The best translations of a text, or of each of several. Blank texts stay blank, line breaks come back."""
        return await studio.bench.run(request, lambda stopper: translate(studio, stopper, asked))

    @routes.post(
        "/generate",
        name="generate",
        response_model=None,
        responses={
            200: {
                "description": "a line of JSON for each token as it is written, and a last one",
                "content": {STREAM: {"schema": line_schema()}},
            },
            **problems(400, 404, *COMPUTED),
        },
    )
    async def generation(request: Request, asked: GenerateRequest) -> StreamingResponse:
        """Write on from a prompt, by a run whose model is a decoder. A stream that cannot go on ends with an error."""

        def work(stopper: Stopper, emit: Emit) -> None:
            loaded = studio.shelf.take(asked.run)
            with stopper.on(loaded.subject.model):
                for line in generate(loaded, asked):
                    emit(line)
                    stopper.check()

        return StreamingResponse(lines(await studio.bench.stream(request, work)), media_type=STREAM)

    return routes


def line_schema() -> dict[str, Any]:
    return {"type": "string", "description": f"lines of {Token.__name__}, then one of {Done.__name__} or an error"}


async def lines(items: AsyncIterator[Any]) -> AsyncIterator[bytes]:
    try:
        async for item in items:
            yield json.dumps(item, ensure_ascii=False).encode() + b"\n"
    except RefusalError as refusal:  # too late for a status
        yield Problem(error=refusal.sentence).model_dump_json().encode() + b"\n"
    except Exception as error:
        yield Problem(error=bug(error).sentence).model_dump_json().encode() + b"\n"
        raise


def translate(studio: Studio, stopper: Stopper, asked: TranslateRequest) -> dict[str, Any]:
    from regard.decoding import Decoding
    from regard.look.tree import beam_tree

    start = time.perf_counter()
    loaded = studio.shelf.take(asked.run)
    translator = loaded.translator
    if translator is None:
        raise RefusalError(409, f"{asked.run} was not trained to translate")
    search = Decoding(beam=asked.beam, nbest=asked.nbest, length_penalty=asked.length_penalty)
    with stopper.on(translator.model):
        found = translator.translate(asked.every, search, BATCH_TEXTS, done=stopper.check)
        translations = [translated(text, best) for text, best in zip(asked.every, found, strict=True)]
        tree = None
        if asked.tree and len(parts := found[0][0].parts) == 1:  # parts are searched one by one
            wide = Decoding(beam=asked.beam, nbest=asked.beam, length_penalty=asked.length_penalty)
            tree = beam_tree(loaded.subject, parts[0][0], wide)
    return {
        "translations": translations,
        "tree": None if tree is None else asdict(tree),
        "seconds": time.perf_counter() - start,
    }


def translated(text: str, best: list[Rendering]) -> dict[str, Any]:
    shown = [{"text": one.text, "score": one.score, "log_prob": one.log_prob} for one in best]
    return {"source": text, "best": shown, "parts": len(best[0].parts)}
