"""Where torch computes: a few workers, a short queue, and nobody works for someone who has left."""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import math
import pkgutil
import threading
import time
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from fastapi import Request

from regard.errors import Error
from regard.runfolder import RunError
from regard.studio.errors import RefusalError, unreadable_file
from regard.studio.limits import Limits
from regard.studio.stopping import StoppedError, Stopper

T = TypeVar("T")
Work = Callable[[Stopper], T]
Emit = Callable[[Any], None]
IMPORTING = threading.Lock()
MAX_RETRY_AFTER_SECONDS = 60  # at most
CLIENT_CLOSED_REQUEST = 499  # nginx's status where the client has disconnected


class BusyError(RefusalError):
    """All workers are busy and the queue is full."""

    def __init__(self, seconds: int) -> None:
        super().__init__(429, f"the studio is busy; ask again in {seconds} s", {"Retry-After": str(seconds)})


class Job:
    """Work that waits or runs."""

    def __init__(self, stopper: Stopper, future: Future[Any]) -> None:
        self.stopper, self.future = stopper, future
        self.leaving: asyncio.Future[None] | None = None

    def stop_after(self, leaving: asyncio.Future[None]) -> None:
        """Stop once this future is done. It is stored here because asyncio holds no reference to it."""
        self.leaving = leaving
        leaving.add_done_callback(lambda _: self.stop())

    def stop(self) -> bool:
        """Take it out of the queue, or end it at its next chance; returns whether it never began."""
        self.stopper.stop()
        return self.future.cancel()


class Bench:
    """Runs work in threads of one torch thread each.

    A place is free again when the work in it has really ended, not when whoever asked for it was answered or left.
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pool = ThreadPoolExecutor(limits.workers, "studio", initializer=ready)
        self.lock = threading.Lock()
        self.jobs: set[Job] = set()
        self.typical = 1.0  # seconds of a job, from which Retry-After is estimated

    async def run(self, request: Request, work: Work[T]) -> T:
        """What `work` gives."""
        job = self.submit(work)
        result: asyncio.Future[T] = asyncio.wrap_future(job.future)
        await self.watch(request, job, result)
        return result.result()

    async def watch(self, request: Request, job: Job, *awaited: asyncio.Future[Any]) -> None:
        """Wait for one of these as long as the client does, and no longer than a request may take."""
        leaving = asyncio.ensure_future(gone(request))
        try:
            done, _ = await asyncio.wait(
                {*awaited, leaving}, timeout=job.stopper.left + 0.1, return_when=asyncio.FIRST_COMPLETED
            )
        except asyncio.CancelledError:
            job.stop()
            raise
        finally:
            leaving.cancel()
        if done & set(awaited):
            return
        waited = job.stop()
        for future in awaited:
            future.cancel()
        if leaving in done:
            raise RefusalError(CLIENT_CLOSED_REQUEST, "the client has left")
        raise self.busy() if waited else self.too_long()

    async def stream(self, request: Request, work: Callable[[Stopper, Emit], None]) -> AsyncIterator[Any]:
        """What `work` emits, as it comes. A refusal or an error before the first item is raised, not streamed."""
        loop, items = asyncio.get_running_loop(), asyncio.Queue[Any]()
        over = object()

        def put(item: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop is closed: the server has ended
                loop.call_soon_threadsafe(items.put_nowait, item)

        def emitting(stopper: Stopper) -> None:
            try:
                work(stopper, put)
            finally:
                put(over)

        job = self.submit(emitting)
        first, ended = asyncio.ensure_future(items.get()), asyncio.wrap_future(job.future)
        ended.add_done_callback(
            lambda future: future.cancelled() or future.exception()
        )  # so that asyncio does not warn of an exception that nobody fetched
        await self.watch(request, job, first, ended)
        if ended.done() or first.result() is over:
            try:
                await ended
            except Exception:
                first.cancel()
                raise
        job.stop_after(asyncio.ensure_future(gone(request)))  # even if the client never begins to read

        async def rest() -> AsyncIterator[Any]:
            item = await first
            while item is not over:
                yield item
                item = await items.get()
            await ended

        return rest()

    def submit(self, work: Work[Any]) -> Job:
        """Into the queue, if there is room."""
        stopper = Stopper(self.limits.seconds)

        def guarded() -> Any:
            if not stopper.left:  # its time went by in the queue
                raise self.busy()
            start = time.monotonic()
            try:
                return translated(lambda: work(stopper), self.too_long)
            finally:
                self.typical += 0.2 * (time.monotonic() - start - self.typical)

        with self.lock:
            if len(self.jobs) >= self.limits.workers + self.limits.queue:
                raise self.busy()
            job = Job(stopper, self.pool.submit(guarded))
            self.jobs.add(job)
        job.future.add_done_callback(lambda _: self.forget(job))
        return job

    def forget(self, job: Job) -> None:
        with self.lock:
            self.jobs.discard(job)

    def busy(self) -> BusyError:
        """With the time in which half of the queue should be done."""
        wait = self.typical * self.limits.queue / self.limits.workers / 2
        return BusyError(min(max(math.ceil(wait), 1), MAX_RETRY_AFTER_SECONDS))

    def too_long(self) -> RefusalError:
        return RefusalError(503, f"stopped after the {self.limits.seconds:g} seconds that a request may take")

    def close(self) -> None:
        """End everything at its next chance."""
        with self.lock:
            jobs = list(self.jobs)
        for job in jobs:
            job.stop()
        self.pool.shutdown(wait=False, cancel_futures=True)


def translated(work: Callable[[], T], too_long: Callable[[], RefusalError]) -> T:
    """What the library refuses is the client's mistake: a run that cannot be used, or a value that is not allowed."""
    try:
        return work()
    except StoppedError:
        raise too_long() from None
    except RunError as error:
        raise RefusalError(409, str(error)) from error
    except Error as error:
        raise RefusalError(422, str(error)) from error
    except OSError as error:
        raise unreadable_file(error) from error


async def gone(request: Request) -> None:
    """Returns when the client has left."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def ready() -> None:
    """Before a worker's first work. Requests share the cores out among themselves: one torch thread each.

    All that work may import is imported here, while other workers wait: when two threads import modules that import
    each other, Python lets one of them see a module half made.
    """
    with IMPORTING:
        for room in ("anatomy", "decoding", "look", "tasks", "zoo"):
            package = importlib.import_module(f"regard.{room}")
            for module in pkgutil.walk_packages(getattr(package, "__path__", ()), f"{package.__name__}."):
                importlib.import_module(module.name)
    import torch

    torch.set_num_threads(1)
