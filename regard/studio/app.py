"""The studio put together."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI
from starlette.middleware import Middleware

from regard import __version__
from regard.studio.about_routes import about_routes
from regard.studio.access import Access
from regard.studio.bench import Bench
from regard.studio.bodies import Bodies
from regard.studio.errors import handle_errors
from regard.studio.limits import Limits
from regard.studio.look_routes import look_routes
from regard.studio.openai_routes import openai_routes
from regard.studio.page import SafeHeaders, add_page
from regard.studio.runs import Runs
from regard.studio.runs_routes import runs_routes
from regard.studio.shelf import Shelf
from regard.studio.studio import Studio
from regard.studio.use_routes import use_routes
from regard.studio.warming import Hearing, Quiet, warming


def make_app(runs: Path, token: str | None = None, limits: Limits | None = None) -> FastAPI:
    """An application that shows the run folders in `runs`.

    Without a `token` it answers only to names of the machine that it runs on, so it should listen on loopback alone.
    """
    limits = limits or Limits()
    folders = Runs(runs)
    studio = Studio(folders, Shelf(folders, limits.models), Bench(limits), limits)

    quiet = Quiet()

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with warming(studio.bench, quiet):
            yield
        studio.bench.close()

    app = FastAPI(
        title="regard studio",
        version=__version__,
        summary="Runs of attention models: how they stand, what they say, what they look at",
        docs_url=None,  # both would load their scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        middleware=[
            Middleware(Hearing, quiet=quiet),
            Middleware(SafeHeaders),
            Middleware(Access, token=token),
            Middleware(Bodies, most=limits.body, seconds=limits.seconds),
        ],
        generate_unique_id_function=lambda route: route.name,
    )
    app.state.studio = studio
    api = APIRouter(prefix="/api")
    for routes in (about_routes, runs_routes, use_routes, look_routes):
        api.include_router(routes(studio))
    app.include_router(api)
    app.include_router(openai_routes(studio))
    handle_errors(app)
    add_page(app)
    return app


def studio_of(app: Any) -> Studio:
    """What an application works with: for its server, and for tests."""
    found: Studio = app.state.studio
    return found
