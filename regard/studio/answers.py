"""Records as answers: in their binary form where that is asked for, else as JSON; and what the description says."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response
from pydantic import BaseModel

from regard.look.records import MEDIA_TYPE
from regard.studio.errors import RefusalError
from regard.studio.limits import Limits
from regard.studio.metrics import tidy
from regard.studio.schemas import Problem

if TYPE_CHECKING:
    from regard.look.records import Record

WHY = {
    400: "The body cannot be read.",
    401: "The token is missing or wrong.",
    403: "Asked by another web page, or under another machine's name.",
    404: "There is no such run, step, probe, preset or scheme.",
    408: "The body did not arrive in time.",
    409: "The run cannot be used for this.",
    413: "The body is too large.",
    422: "A value is not allowed.",
    429: "The studio is busy; Retry-After says for how many seconds.",
    503: "It took too long, and was stopped.",
}
ALWAYS = (401, 403, 408, 413)
RETRY = {"Retry-After": {"description": "seconds", "required": True, "schema": {"type": "integer", "minimum": 1}}}
COMPUTED = (409, 422, 429, 503)  # statuses of routes on which torch computes
Responses = dict[int | str, dict[str, Any]]


def problems(*statuses: int) -> Responses:
    """How an operation may fail, for its description."""
    found: Responses = {status: {"model": Problem, "description": WHY[status]} for status in (*ALWAYS, *statuses)}
    if 429 in found:
        found[429]["headers"] = RETRY
    return found


def either(model: type[BaseModel], *statuses: int) -> Responses:
    """The responses of a route that answers with a record, as JSON or in binary form."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    return {
        200: {
            "model": model,
            "description": f"JSON, or where `Accept` names {MEDIA_TYPE} a safetensors file: its metadata holds the "
            "record as JSON under `look`, its tensors are the arrays",
            "content": {MEDIA_TYPE: binary},
        },
        **problems(*statuses),
    }


def wants_binary(request: Request) -> bool:
    return any(MEDIA_TYPE in value for value in request.headers.getlist("accept"))


Form = Callable[["Record"], Response]


def form(request: Request, limits: Limits) -> Form:
    """How the record is written; called by a worker, since it takes its time."""
    binary = wants_binary(request)

    def write(record: Record) -> Response:
        if binary:
            return Response(record.to_bytes(), media_type=MEDIA_TYPE)
        numbers = sum(array.size for array in record.arrays.values())
        if numbers > limits.numbers:
            raise RefusalError(
                422, f"{numbers:,} numbers are more than the {limits.numbers:,} sent as JSON; accept {MEDIA_TYPE}"
            )
        return Response(written(record.to_dict()), media_type="application/json")

    return write


def written(value: Any) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    except ValueError:  # NaN or infinity
        return json.dumps(tidy(value), ensure_ascii=False)
