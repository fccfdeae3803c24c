"""From a path to an endpoint, and from a query string or a body to what a handler takes."""

import msgspec
import pytest

from weft.runtime.admin.endpoints import TABLE
from weft.runtime.admin.exchange import Problem, Reply, Request
from weft.runtime.admin.router import Endpoint, Router, read_body, read_query


def handler(desk, asked):
    return Reply(200)


ROUTER = Router(
    [
        Endpoint("GET", "/a", "", handler),
        Endpoint("POST", "/a", "", handler),
        Endpoint("GET", "/a/{id}", "", handler),
        Endpoint("GET", "/b/{id}/c", "", handler),
    ]
)


class Query(msgspec.Struct, forbid_unknown_fields=True):
    number: int = 3
    flag: bool | None = None


def status(call, *args):
    with pytest.raises(Problem) as found:
        call(*args)
    return found.value.status


@pytest.mark.parametrize(
    ("path", "template", "given"),
    [
        ("/a", "/a", {}),
        ("/a/x", "/a/{id}", {"id": "x"}),
        ("/a/x/y", "/a/{id}", {"id": "x/y"}),
        ("/a//", "/a/{id}", {"id": "/"}),
        ("/a/x%2Fy", "/a/{id}", {"id": "x/y"}),
        ("/a/%252F", "/a/{id}", {"id": "%2F"}),
        ("/a/%C3%BC+", "/a/{id}", {"id": "ü+"}),
        ("/b/x%2F/c", "/b/{id}/c", {"id": "x/"}),
    ],
)
def test_a_path_finds_its_line(path, template, given):
    endpoint, found = ROUTER.find("GET", path)
    assert (endpoint.path, found) == (template, given)


@pytest.mark.parametrize("path", ["", "/", "/A", "/a/", "a", "/b/x", "/b/x/d", "/b/x/y/c", "/b//c", "/a%2Fx"])
def test_a_path_that_is_not_there(path):
    assert status(ROUTER.find, "GET", path) == 404


def test_a_wrong_method_is_told_the_right_ones():
    with pytest.raises(Problem) as found:
        ROUTER.find("PUT", "/a")
    assert (found.value.status, found.value.headers) == (405, (("Allow", "GET, HEAD, POST"),))


def test_head_is_get():
    assert ROUTER.find("HEAD", "/a")[0].method == "GET"


def test_bytes_that_are_no_text_are_refused():
    assert status(ROUTER.find, "GET", "/a/%ff") == 400


def test_an_endpoint_stands_once():
    with pytest.raises(AssertionError):
        Router([*ROUTER.endpoints, ROUTER.endpoints[0]])
    Router(TABLE)


def test_a_query_becomes_a_struct():
    assert read_query("", Query) == Query()
    assert read_query("number=7&flag=true", Query) == Query(7, True)
    for bad in (
        "number=x",
        "other=1",
        "number=1&number=2",
        "flag=perhaps",
        "number=%ff",
        "&".join("a=1" for _ in range(99)),
    ):
        assert status(read_query, bad, Query) == 400


def test_a_body_becomes_a_struct():
    def request(body, kind="application/json; charset=utf-8"):
        return Request("POST", "/a", "", {"content-type": kind}, body)

    assert read_body(request(b'{"number": 7}'), Query) == Query(7)
    assert status(read_body, request(b'{"number": 7}', ""), Query) == 415
    assert status(read_body, request(b'{"number": "7"}'), Query) == 422
    assert status(read_body, request(b"{"), Query) == 400
