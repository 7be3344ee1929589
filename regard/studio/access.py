"""Who may ask. On loopback only this machine's own names are answered to; elsewhere a token is needed."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from urllib.parse import urlsplit

from starlette.datastructures import Headers, QueryParams
from starlette.requests import cookie_parser
from starlette.responses import HTMLResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from regard.studio.address import is_loopback
from regard.studio.errors import RefusalError


class Access:
    """Lets in who may ask, and answers everyone else.

    Without a token the studio listens on loopback, where every web page that a browser has open can reach it too. A
    page's own name gives it away: in `Host` if it made its name point here (DNS rebinding), else in `Origin`.
    """

    def __init__(self, app: ASGIApp, token: str | None) -> None:
        self.app, self.token = app, token
        # Cookies do not tell ports apart: the name keeps two studios of one machine from overwriting each other's.
        self.cookie = "" if token is None else f"regard-{digest(token, 'name')[:12]}"

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await self.app(scope, receive, send)
        headers = Headers(scope=scope)
        refusal = foreign(headers, scope["path"]) or (self.named(headers) if self.token is None else None)
        if refusal is None and self.token is not None and not self.known(headers):
            if scope["path"] == "/" and self.matches(QueryParams(scope["query_string"]).get("token", "")):
                return await self.welcome()(scope, receive, send)
            refusal = RefusalError(
                401,
                "this studio needs its token: open the address that `regard studio` printed",
                {"WWW-Authenticate": "Bearer"},
            )
        await (refusal or self.app)(scope, receive, send)

    def named(self, headers: Mapping[str, str]) -> RefusalError | None:
        """Whether the request names this machine as its host."""
        host = host_of(f"//{headers.get('host', '')}")
        if host is not None and is_loopback(host):
            return None
        return RefusalError(403, f"this studio answers to localhost alone, not to {headers.get('host', '')!r}")

    def known(self, headers: Headers) -> bool:
        kind, _, given = headers.get("authorization", "").partition(" ")
        if kind.lower() == "bearer" and self.matches(given.strip()):
            return True
        found = cookie_parser(headers.get("cookie", "")).get(self.cookie, "")
        return hmac.compare_digest(found.encode("utf-8", "replace"), self.proof().encode())

    def matches(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), (self.token or "").encode())

    def proof(self) -> str:
        """What the cookie holds: it proves the token, and has no letters that a cookie cannot have."""
        return digest(self.token or "", "proof")

    def welcome(self) -> HTMLResponse:
        """To the page, with a cookie instead of the token in the address, which would stay in the history.

        Not by a redirect: a browser that came by a link from elsewhere would not send a strict cookie along.
        """
        response = HTMLResponse(
            '<!doctype html><title>regard studio</title><meta http-equiv="refresh" content="0; url=/">'
        )
        response.set_cookie(self.cookie, self.proof(), httponly=True, samesite="strict", path="/")
        return response


def foreign(headers: Mapping[str, str], path: str) -> RefusalError | None:
    """Another web page may link to the studio, but not use its API."""
    origin = headers.get("origin")
    elsewhere = origin is not None and place_of(origin) != headers.get("host")
    if not elsewhere and headers.get("sec-fetch-site") not in ("cross-site", "same-site"):
        return None
    return RefusalError(403, "another web page may not use this studio") if path.startswith(("/api", "/v1")) else None


def place_of(address: str) -> str | None:
    """Host and port; None where the address is none."""
    try:
        return urlsplit(address).netloc
    except ValueError:
        return None


def host_of(address: str) -> str | None:
    """The host name without its port; None where there is none."""
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def digest(token: str, purpose: str) -> str:
    return hmac.new(token.encode(), purpose.encode(), hashlib.sha256).hexdigest()
