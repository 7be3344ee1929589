"""Whether the studio is there, what it is, and what models are made of."""

from __future__ import annotations

import importlib.metadata
import platform
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request

from regard import __version__
from regard.errors import Error
from regard.studio.answers import COMPUTED, problems
from regard.studio.errors import RefusalError
from regard.studio.runs import BrokenRunError, read_config
from regard.studio.schemas import Description, Health, Version
from regard.studio.stopping import Stopper
from regard.studio.studio import Studio


def about_routes(studio: Studio) -> APIRouter:
    routes = APIRouter(tags=["about"])

    @routes.get("/health", response_model=Health, responses=problems())
    async def health() -> Any:
        """Answers as soon as the server listens."""
        return {"status": "ok"}

    @routes.get("/version", response_model=Version, responses=problems())
    def version() -> Any:
        torch = importlib.metadata.version("torch")  # without importing it
        return {"regard": __version__, "torch": torch, "python": platform.python_version()}

    @routes.get("/describe", response_model=Description, responses=problems(404, *COMPUTED))
    async def describe(
        request: Request,
        run: Annotated[str | None, Query(max_length=255)] = None,
        preset: Annotated[str | None, Query(max_length=255)] = None,
    ) -> Any:
        """Parameters, operations and memory of the model of a run, or of a preset."""
        if (run is None) == (preset is None):
            raise RefusalError(422, "give either run or preset")
        return await studio.bench.run(request, lambda stopper: described(studio, stopper, run, preset))

    return routes


def described(studio: Studio, stopper: Stopper, run: str | None, preset: str | None) -> dict[str, Any]:
    from regard.anatomy import describe
    from regard.config import from_dict, nearest
    from regard.models import ModelConfig
    from regard.zoo import presets

    if preset is not None:
        if preset not in presets():
            raise RefusalError(404, f"there is no preset {preset!r}: {nearest(preset, presets())}")
        return describe(preset).to_dict()
    assert run is not None
    folder = studio.runs.folder(run)
    try:
        model = from_dict(ModelConfig, read_config(folder)["model"], "model")
    except (OSError, BrokenRunError) as error:
        raise RefusalError(409, f"{run}: {error}") from error
    except Error as error:
        raise RefusalError(409, f"{run}: its config.json cannot be read by this version: {error}") from error
    return describe(model).to_dict()
