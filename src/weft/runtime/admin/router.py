"""The table of endpoints, and from a request's path to its line of the table.

A template is a path whose ``{name}`` stands for one segment; a ``{name}`` at the end may also stand for several, so that a
topic may be written with its slashes, as it is or as %2F. Segments are split before they are decoded.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote

import msgspec

from weft.runtime.admin.desk import Desk
from weft.runtime.admin.exchange import JSON, Problem, Reply, Request

PARAMETERS_MAX = 32
"""In a query string."""

T = TypeVar("T", bound=msgspec.Struct)


class Asked(msgspec.Struct):
    """What a handler gets: decoded and checked against its line of the table."""

    path: dict[str, str]
    query: Any
    body: Any
    headers: dict[str, str]


Handler = Callable[[Desk, Asked], Reply | Awaitable[Reply]]


class Endpoint(msgspec.Struct, frozen=True):
    """A line of the table. ``answer`` is a struct, or None for text; ``problems`` are the statuses that it may refuse with.

    ``is_open``: answered to anybody who can reach the listener, so it says nothing but yes or no.
    """

    method: str
    path: str
    summary: str
    handler: Handler
    answer: Any = None
    query: type[msgspec.Struct] | None = None
    body: type[msgspec.Struct] | None = None
    problems: tuple[int, ...] = ()
    is_open: bool = False

    @property
    def parameters(self) -> list[str]:
        """Names of the path's parameters, in order."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


class Router:
    """In: a method and a path. Out: the endpoint and what its parameters stand for, or a ``Problem``."""

    def __init__(self, endpoints: Sequence[Endpoint]) -> None:
        self.endpoints = tuple(endpoints)
        self._exact: dict[str, dict[str, Endpoint]] = {}
        self._templates: dict[tuple[str, ...], dict[str, Endpoint]] = {}
        for endpoint in endpoints:
            if endpoint.parameters:
                methods = self._templates.setdefault(tuple(endpoint.path.split("/")), {})
            else:
                methods = self._exact.setdefault(endpoint.path, {})
            assert endpoint.method not in methods, f"{endpoint.method} {endpoint.path} stands twice"
            methods[endpoint.method] = endpoint

    def find(self, method: str, path: str) -> tuple[Endpoint, dict[str, str]]:
        methods = self._exact.get(path)
        given: dict[str, str] = {}
        if methods is None:
            parts = path.split("/")
            for template, candidates in self._templates.items():
                found = _fit(template, parts)
                if found is not None:
                    methods, given = candidates, found
                    break
        if methods is None:
            raise Problem(404, "there is nothing at this path; /api/v1/openapi.json lists what there is")
        endpoint = methods.get("GET" if method == "HEAD" else method)
        if endpoint is None:
            allowed = ", ".join(sorted({*methods, *(("HEAD",) if "GET" in methods else ())}))
            raise Problem(405, f"this path takes {allowed}", (("Allow", allowed),))
        return endpoint, {name: _decode(value) for name, value in given.items()}


def _fit(template: tuple[str, ...], parts: list[str]) -> dict[str, str] | None:
    """What the template's names stand for, still encoded; None if the path does not fit."""
    last = len(template) - 1
    if len(parts) < len(template) or (len(parts) > len(template) and not template[last].startswith("{")):
        return None
    given = {}
    for position, part in enumerate(template):
        value = parts[position] if position < last else "/".join(parts[last:])
        if not part.startswith("{"):
            if part != value:
                return None
        elif not value:
            return None
        else:
            given[part[1:-1]] = value
    return given


def _decode(value: str) -> str:
    try:
        return unquote(value, errors="strict")
    except UnicodeDecodeError:
        raise Problem(400, "the path is not UTF-8, percent-encoded") from None


def read_query(text: str, kind: type[T]) -> T:
    """A query string as a struct; an unknown or repeated parameter, or one that does not fit, is refused."""
    try:
        pairs = parse_qsl(text, keep_blank_values=True, errors="strict", max_num_fields=PARAMETERS_MAX)
    except ValueError:  # a UnicodeDecodeError is one
        raise Problem(400, f"the query is not UTF-8, or has more than {PARAMETERS_MAX} parameters") from None
    given = dict(pairs)
    if len(given) < len(pairs):
        raise Problem(400, "a query parameter stands twice")
    try:
        return msgspec.convert(given, kind, strict=False)
    except msgspec.ValidationError as error:
        raise Problem(400, f"query: {error}") from None


def read_body(request: Request, kind: type[T]) -> T:
    """A JSON body as a struct. Only JSON by name: what a foreign page's form can send without asking is not it."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if content_type != JSON:
        raise Problem(415, f"the body must be JSON, and its Content-Type {JSON}", (("Accept", JSON),))
    try:
        return msgspec.json.decode(request.body, type=kind)
    except msgspec.ValidationError as error:
        raise Problem(422, f"body: {error}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Problem(400, f"the body is not JSON: {error}") from None
    except RecursionError:
        raise Problem(400, "the body is nested too deeply") from None
