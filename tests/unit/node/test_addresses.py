"""Listeners as URLs."""

import pytest

from weft.core.errors import Misuse
from weft.node.addresses import Endpoint, endpoint, host_and_port, is_loopback


@pytest.mark.parametrize(
    ("url", "found", "said"),
    [
        ("mqtt://127.0.0.1:1883", Endpoint("mqtt", "127.0.0.1", 1883), "mqtt://127.0.0.1:1883"),
        ("mqtt://localhost", Endpoint("mqtt", "localhost", 1883), "mqtt://localhost:1883"),
        ("mqtts://[::1]", Endpoint("mqtts", "::1", 8883), "mqtts://[::1]:8883"),
        ("ws://*:0/", Endpoint("ws", "", 0), "ws://*:0"),
        ("wss://0.0.0.0", Endpoint("wss", "0.0.0.0", 8084), "wss://0.0.0.0:8084"),
        ("unix:///run/weft/weft.sock", Endpoint("unix", path="/run/weft/weft.sock"), "unix:///run/weft/weft.sock"),
    ],
)
def test_a_url_is_taken_apart_and_put_together(url: str, found: Endpoint, said: str) -> None:
    assert endpoint(url) == found
    assert found.url() == said


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:1883",
        "http://127.0.0.1",
        "mqtt://",
        "mqtt://:x",
        "mqtt://a:99999",
        "mqtt://a:1883/path",
        "mqtt://a?b",
        "mqtt://user@a",
        "mqtt://::1:1883x",
        "mqtt://[::1",
        "unix://relative",
        "unix:///" + "x" * 120,
        "unix:///a\0b",
    ],
)
def test_a_url_that_is_no_listener_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(Misuse) as raised:
        endpoint(url)
    assert "\n" not in str(raised.value)


def test_a_port_may_be_required() -> None:
    assert host_and_port("[::1]:9001", "x") == ("::1", 9001)
    with pytest.raises(Misuse, match="the port is missing"):
        host_and_port("127.0.0.1", "127.0.0.1")


@pytest.mark.parametrize(
    ("host", "loopback"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("0.0.0.0", False), ("", False), ("example.org", False)],
)
def test_which_hosts_only_this_machine_reaches(host: str, loopback: bool) -> None:
    assert is_loopback(host) is loopback
    assert Endpoint("mqtt", host, 1).is_local is loopback
