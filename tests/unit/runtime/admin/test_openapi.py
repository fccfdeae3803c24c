"""The document, made of any table."""

from typing import Annotated

import msgspec

from weft.runtime.admin.exchange import Reply
from weft.runtime.admin.openapi import document
from weft.runtime.admin.router import Endpoint


class Query(msgspec.Struct):
    needed: str
    limit: Annotated[int, msgspec.Meta(ge=1, description="How many")] = 3


class Inner(msgspec.Struct):
    value: int


class Answer(msgspec.Struct):
    inner: list[Inner]


def ask(desk, asked):
    return Reply(200)


def test_parameters_answers_and_bodies():
    made = document([Endpoint("POST", "/x/{id}", "Ask", ask, Answer, Query, Inner, (404,))])
    operation = made["paths"]["/x/{id}"]["post"]
    assert [(one["name"], one["in"], one["required"]) for one in operation["parameters"]] == [
        ("id", "path", True),
        ("needed", "query", True),
        ("limit", "query", False),
    ]
    assert operation["parameters"][2]["description"] == "How many"
    assert operation["parameters"][2]["schema"] == {"type": "integer", "minimum": 1, "default": 3}
    assert set(made["components"]["schemas"]) == {"Answer", "Inner", "ProblemDetails"}
    assert operation["requestBody"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Inner"}
    assert {"404", "413", "415", "422", "401"} < set(operation["responses"])


def test_what_is_open_says_so():
    made = document([Endpoint("GET", "/x", "Ask", ask, is_open=True)])
    assert made["paths"]["/x"]["get"]["security"] == []
    assert list(made["paths"]["/x"]["get"]["responses"]["200"]["content"]) == ["text/plain; charset=utf-8"]
