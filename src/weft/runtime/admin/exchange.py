"""One request and its answer, as values; and every way to say no, as ``application/problem+json`` (RFC 9457)."""

from http import HTTPStatus
from typing import Any

import msgspec

JSON = "application/json"
PROBLEM = "application/problem+json"
TEXT = "text/plain; charset=utf-8"

Headers = tuple[tuple[str, str], ...]


class Request(msgspec.Struct):
    """``path`` and ``query`` are still percent-encoded; header names are lower case, repeated ones joined with a comma."""

    method: str
    path: str
    query: str
    headers: dict[str, str]
    body: bytes = b""


class Reply(msgspec.Struct, frozen=True):
    """``headers`` beside those that every answer has."""

    status: int
    body: bytes = b""
    content_type: str = JSON
    headers: Headers = ()


class ProblemDetails(msgspec.Struct, frozen=True):
    """What went wrong: ``title`` is the status in words, ``detail`` says what, where and what to do."""

    title: str
    status: int
    detail: str


class Problem(Exception):
    """The request is answered with this; raised anywhere below the front door."""

    def __init__(self, status: int, detail: str, headers: Headers = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.headers = headers

    def reply(self) -> Reply:
        details = ProblemDetails(HTTPStatus(self.status).phrase, self.status, self.detail)
        return Reply(self.status, msgspec.json.encode(details), PROBLEM, self.headers)


def json_reply(value: Any, status: int = 200, headers: Headers = ()) -> Reply:
    return Reply(status, msgspec.json.encode(value), JSON, headers)
