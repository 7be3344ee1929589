"""Torch is imported before it is needed, but after the page has loaded: importing it makes everything else wait."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from starlette.types import ASGIApp, Receive, Scope, Send

from regard.studio.bench import Bench, BusyError

QUIET_SECONDS = 0.7  # without a request: by then a page has loaded all of its files


class Quiet:
    """Tells for how long nobody has asked for anything."""

    def __init__(self) -> None:
        self.last = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.last

    def heard(self) -> None:
        self.last = time.monotonic()


class Hearing:
    """Lets `quiet` know of every request."""

    def __init__(self, app: ASGIApp, quiet: Quiet) -> None:
        self.app, self.quiet = app, quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.quiet.heard()
        await self.app(scope, receive, send)


@asynccontextmanager
async def warming(bench: Bench, quiet: Quiet) -> AsyncIterator[None]:
    """While the block runs, wait for a quiet moment and then let a worker get ready."""

    async def wait() -> None:
        while quiet.seconds < QUIET_SECONDS:
            await asyncio.sleep(QUIET_SECONDS - quiet.seconds)
        with suppress(BusyError):  # workers are ready or on their way
            bench.submit(lambda _: None)

    waiting = asyncio.ensure_future(wait())
    try:
        yield
    finally:
        waiting.cancel()
