"""Every error is a status and one sentence: `{"error": "…"}`, or in the form that clients of OpenAI's API expect."""

from __future__ import annotations

import http
import json
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException
from starlette.types import Receive, Scope, Send

OPENAI = "/v1/"  # what is asked here is answered in the forms of OpenAI's API


class RefusalError(Exception):
    """An answer other than what was asked for: a status, a sentence and perhaps headers."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, dict(headers or {})

    def response(self, path: str = "") -> JSONResponse:
        """As those who ask at this path expect it."""
        if path.startswith(OPENAI):
            status = 400 if self.status == 422 else self.status
            return JSONResponse(self.as_openai(), status, self.headers)
        return JSONResponse({"error": self.told}, self.status, self.headers)

    @property
    def told(self) -> str:
        """A sentence may quote what was sent, which may not be valid UTF-8."""
        return self.sentence.encode("utf-8", "backslashreplace").decode()

    def as_openai(self) -> dict[str, Any]:
        """The form of an error in OpenAI's API."""
        kinds = {401: "authentication_error", 429: "rate_limit_error", 500: "server_error", 503: "server_error"}
        code = "model_not_found" if self.status == 404 else None
        kind = kinds.get(self.status, "invalid_request_error")
        return {"error": {"message": self.told, "type": kind, "param": None, "code": code}}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self.response(scope["path"])(scope, receive, send)


def handle_errors(app: FastAPI) -> None:
    @app.exception_handler(RefusalError)
    async def refused(request: Request, error: RefusalError) -> JSONResponse:
        return error.response(request.url.path)

    @app.exception_handler(HTTPException)
    async def http_error(request: Request, error: HTTPException) -> JSONResponse:
        sentences = {
            404: f"there is nothing at {request.url.path}",
            405: f"{request.url.path} cannot be asked with {request.method}",
        }
        usual = sentences.get(error.status_code, str(error.detail))
        sentence = usual if error.detail == http.HTTPStatus(error.status_code).phrase else str(error.detail)
        return RefusalError(error.status_code, sentence, error.headers).response(request.url.path)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> JSONResponse:
        return RefusalError(422, said(error.errors()[0])).response(request.url.path)

    @app.exception_handler(OSError)
    async def unreadable(request: Request, error: OSError) -> JSONResponse:
        return unreadable_file(error).response(request.url.path)

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> JSONResponse:
        """The server's log has the rest."""
        return bug(error).response(request.url.path)


def bug(error: Exception) -> RefusalError:
    """A bug: any exception that is not a `regard.Error`."""
    return RefusalError(500, f"the studio made a mistake ({type(error).__name__}); its log says where")


def unreadable_file(error: OSError) -> RefusalError:
    """A file of a run that is there and cannot be read, or has just gone; its path is nobody's business."""
    return RefusalError(409, f"a file of the run cannot be read ({error.strerror or type(error).__name__})")


def said(problem: Mapping[str, Any]) -> str:
    """A problem that pydantic found, as a sentence."""
    place = ".".join(str(step) for step in problem["loc"][1:]) or str(problem["loc"][0])
    message: str = problem["msg"].removeprefix("Value error, ")
    if problem["type"] == "json_invalid":
        return f"the body is not JSON: {problem['ctx']['error']}"
    given = problem.get("input")
    shown = "" if given is None or isinstance(given, dict | list) else f", not {_short(given)}"
    return f"{place}: {message[:1].lower()}{message[1:]}{shown}"


def _short(value: Any, most: int = 40) -> str:
    text = json.dumps(value, default=str)
    return text if len(text) <= most else f"{text[:most]}…"
