"""The server: listens first, then imports what answers, and torch last of all."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import socket
import sys
import threading
import webbrowser
from pathlib import Path
from urllib.parse import quote

from regard.errors import Error
from regard.studio.address import address_of, is_loopback, listen

MIN_TOKEN_LETTERS = 16  # a shorter token could be guessed
KEEP_ALIVE_SECONDS = 75  # seconds


def serve(runs: Path, host: str, port: int, token: str | None = None, open_page: bool = False) -> None:
    """Until it is interrupted. Whoever asks from another machine needs the token."""
    check_folder(runs)
    token = chosen_token(host, token)
    with contextlib.closing(listen(host, port)) as listener:
        if not runs.exists():
            print(
                f"there is no folder {runs} yet; runs appear when it has some (regard demo trains one)", file=sys.stderr
            )
        address = address_of(listener, token and quote(token, safe=""))
        with contextlib.suppress(KeyboardInterrupt):
            run(runs, token, listener, address, open_page)


def run(runs: Path, token: str | None, listener: socket.socket, address: str, open_page: bool) -> None:
    try:
        import uvicorn

        from regard.studio.app import make_app
    except ImportError as error:
        raise Error(f"the studio needs more than is installed ({error}): pip install 'regard[studio]'") from error

    class Server(uvicorn.Server):
        """Says where it is when it is there."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            print(address, flush=True)
            if open_page:
                threading.Thread(target=webbrowser.open, args=[address], daemon=True).start()

    config = uvicorn.Config(
        make_app(runs, token),
        http="h11",
        ws="none",
        lifespan="on",
        log_level="warning",
        access_log=False,  # it would show tokens
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=1,
    )
    asyncio.run(Server(config).serve(sockets=[listener]))


def check_folder(runs: Path) -> None:
    if (runs / "config.json").exists():
        raise Error(f"{runs} is a run itself; name the folder that it lies in: --runs {runs.parent}")
    if runs.exists() and not runs.is_dir():
        raise Error(f"{runs} is no folder")


def chosen_token(host: str, token: str | None) -> str | None:
    """The token that is needed on this host: none on loopback, unless one is asked for."""
    if token is None:
        return None if is_loopback(host) else secrets.token_urlsafe(24)
    if len(token) < MIN_TOKEN_LETTERS:
        raise Error(f"a token of {len(token)} letters can be guessed; it takes at least {MIN_TOKEN_LETTERS}")
    return token
