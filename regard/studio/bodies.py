"""The body of a request is read whole, if it is not too large, before anything else happens."""

from __future__ import annotations

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from regard.studio.errors import RefusalError


class Bodies:
    """Turns away bodies of more than `most` bytes, and those that do not arrive within `seconds`."""

    def __init__(self, app: ASGIApp, most: int, seconds: float) -> None:
        self.app, self.most, self.seconds = app, most, seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        try:
            if told(Headers(scope=scope)) > self.most:
                raise self.too_large()
            with anyio.fail_after(self.seconds):
                body = await self.read(receive)
        except TimeoutError:
            late = RefusalError(408, f"the body did not arrive within {self.seconds:g} seconds")
            return await late(scope, receive, send)
        except RefusalError as refusal:
            return await refusal(scope, receive, send)
        if body is None:  # the client has disconnected
            return
        given = False

        async def replay() -> Message:
            nonlocal given
            if given:
                return await receive()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self.app(scope, replay, send)

    async def read(self, receive: Receive) -> bytes | None:
        """All of it; None where the client left before the end."""
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.most:
                raise self.too_large()
            if not message.get("more_body", False):
                return b"".join(parts)

    def too_large(self) -> RefusalError:
        return RefusalError(413, f"the body has more than {self.most:,} bytes", {"Connection": "close"})


def told(headers: Headers) -> int:
    """The length that the header tells."""
    length = headers.get("content-length", "")
    return int(length[:20]) if length.isascii() and length.isdecimal() else 0
