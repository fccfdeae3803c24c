"""The OpenAPI 3.1 document, made of the table of endpoints and the structs that it names; nothing is written twice."""

from collections.abc import Sequence
from typing import Any

import msgspec

from weft import __version__
from weft.runtime.admin.exchange import JSON, PROBLEM, TEXT, ProblemDetails
from weft.runtime.admin.router import Endpoint

Document = dict[str, Any]

ALWAYS = (400, 401, 403, 405, 408, 421, 431, 500, 503)
"""What any request may be refused with: its form, its sender, its pace, our state."""


def document(endpoints: Sequence[Endpoint]) -> Document:
    """For all ``endpoints``."""
    kinds = [kind for endpoint in endpoints for kind in (endpoint.answer, endpoint.body) if kind is not None]
    unique = list(dict.fromkeys([*kinds, ProblemDetails]))
    schemas, components = msgspec.json.schema_components(unique, ref_template="#/components/schemas/{name}")
    by_kind = dict(zip(unique, schemas, strict=True))
    paths: Document = {}
    for endpoint in endpoints:
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = _operation(endpoint, by_kind)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "weft",
            "version": __version__,
            "description": "The admin interface of a weft broker. Lists come in pages: ask again with the answer's cursor.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {
                "Problem": {
                    "description": "Refused; detail says why",
                    "content": {PROBLEM: {"schema": by_kind[ProblemDetails]}},
                }
            },
        },
        "security": [{"token": []}, {}],  # {}: on loopback, if there is no token
    }


def _operation(endpoint: Endpoint, by_kind: dict[Any, Document]) -> Document:
    if endpoint.answer is None:
        content: Document = {TEXT: {"schema": {"type": "string"}}}
    else:
        content = {JSON: {"schema": by_kind[endpoint.answer]}}
    operation: Document = {
        "operationId": endpoint.handler.__name__,
        "summary": endpoint.summary,
        "responses": {
            "200": {"description": endpoint.summary, "content": content},
            **{
                str(status): {"$ref": "#/components/responses/Problem"}
                for status in sorted({*ALWAYS, *endpoint.problems, *((413, 415, 422) if endpoint.body else ())})
            },
        },
    }
    parameters = [_parameter(name, "path", {"type": "string"}, True) for name in endpoint.parameters]
    if endpoint.query is not None:
        parameters += _query(endpoint.query)
    if parameters:
        operation["parameters"] = parameters
    if endpoint.body is not None:
        operation["requestBody"] = {"required": True, "content": {JSON: {"schema": by_kind[endpoint.body]}}}
    if endpoint.is_open:
        operation["security"] = []
    return operation


def _query(kind: type[msgspec.Struct]) -> list[Document]:
    """A struct's fields as parameters of the query string."""
    (_,), components = msgspec.json.schema_components([kind])
    schema = components[kind.__name__]
    required = schema.get("required", [])
    return [
        _parameter(name, "query", dict(field), name in required) for name, field in schema.get("properties", {}).items()
    ]


def _parameter(name: str, where: str, schema: Document, required: bool) -> Document:
    described = {"description": schema.pop("description")} if "description" in schema else {}
    return {"name": name, "in": where, "required": required, **described, "schema": schema}
