"""A server on a free port of loopback, in a thread of this process, and connections that can be cut."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import uvicorn
from fastapi import FastAPI

from regard.studio.address import listen
from regard.studio.app import studio_of
from regard.studio.studio import Studio


@dataclass(frozen=True)
class Served:
    """Where an application is served, and what it works with."""

    port: int
    studio: Studio

    def post(self, path: str, body: Any) -> http.client.HTTPConnection:
        """A request that was sent; its answer is read from the connection, which may be closed instead."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        return connection


@contextmanager
def serving(app: FastAPI) -> Iterator[Served]:
    listener = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", http="h11", ws="none", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        eventually(lambda: server.started)
        yield Served(listener.getsockname()[1], studio_of(app))
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def eventually(holds: Callable[[], bool], seconds: float = 30.0) -> None:
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.01)
