"""The page and its files, from the installed package, with headers that let it load nothing from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import mimetypes
import re
from pathlib import Path

from fastapi import FastAPI
from fastapi.responses import HTMLResponse
from fastapi.staticfiles import StaticFiles
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import regard.page
from regard.studio.errors import RefusalError

STATIC = Path(regard.page.__file__).parent / "static"
INLINE = re.compile(r"<script\b(?![^>]*\bsrc=)[^>]*>(.*?)</script>", re.DOTALL)
NOTHING = "default-src 'none'; frame-ancestors 'none'"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": NOTHING,
    "Cache-Control": "no-store",
}

mimetypes.add_type("text/javascript", ".js")  # browsers run modules of no other type, and a system may say otherwise


def add_page(app: FastAPI) -> None:
    @app.api_route("/", methods=["GET", "HEAD"], include_in_schema=False)
    def studio() -> HTMLResponse:
        try:
            text = (STATIC / "studio.html").read_text(encoding="utf-8")
        except FileNotFoundError:
            raise RefusalError(404, "the page of the studio is not part of this installation") from None
        return HTMLResponse(text, headers={"Content-Security-Policy": policy(text)})

    @app.api_route("/favicon.ico", methods=["GET", "HEAD"], include_in_schema=False)
    def favicon() -> HTMLResponse:
        """Browsers ask for it by themselves."""
        return HTMLResponse(status_code=204)

    app.mount("/static", StaticFiles(directory=STATIC, check_dir=False))


def policy(page: str) -> str:
    """What the page may load: its own files; its inline scripts, such as the import map, are known by their hash."""
    hashes = " ".join(f"'sha256-{_hash(script)}'" for script in INLINE.findall(page))
    return (
        f"default-src 'none'; script-src 'self' {hashes}; style-src 'self'; img-src 'self' data: blob:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _hash(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


class SafeHeaders:
    """Adds to every answer the headers that it has not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def safe(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                if scope["path"].startswith("/static/"):  # kept, but asked for again: a newer version is seen at once
                    headers["Cache-Control"] = "no-cache"
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, safe)
