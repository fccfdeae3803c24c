"""The client of the admin interface, as far as it goes without one."""

import socket
import threading

import pytest

from weft.cli.admin_client import AdminClient, part
from weft.cli.exits import Failed
from weft.core.errors import Misuse


def answering(data):
    """The URL of something that takes one connection and says ``data``."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve():
        connection, _ = server.accept()
        with connection, server:
            connection.recv(65_536)
            connection.sendall(data)

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.mark.parametrize("url", ["ftp://x", "http://", "http://x/path", "http://x:port", "http://[::1", "://"])
def test_what_is_no_address_is_wrong_usage(url):
    with pytest.raises(Misuse):
        AdminClient(url)


@pytest.mark.parametrize(
    ("url", "expected"),
    [("127.0.0.1:1", "http://127.0.0.1:1"), ("http://[::1]:2/", "http://[::1]:2"), ("https://x", "https://x")],
)
def test_what_is_an_address(url, expected):
    assert AdminClient(url).url == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi",
        b"HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\n[]",
    ],
)
def test_whoever_else_answers_there_is_named(data):
    url = answering(data)
    with pytest.raises(Failed, match=url.replace(".", r"\.")):
        AdminClient(url).get("status")


def test_names_are_quoted_whole():
    assert part("a/b c?ü") == "a%2Fb%20c%3F%C3%BC"
