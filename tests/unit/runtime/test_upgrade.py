"""The HTTP request that opens a WebSocket: the RFC's example, and who is turned away."""

import pytest

from weft.runtime.upgrade import REQUEST_BYTES_MAX, Refusal, Upgrade, Upgraded, accept_key

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
GOOD = {
    "Host": "broker.example",
    "Upgrade": "websocket",
    "Connection": "keep-alive, Upgrade",
    "Sec-WebSocket-Key": KEY,
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Protocol": "chat, mqtt",
}


def request(path: str = "/mqtt", method: str = "GET", **changes: str | None) -> bytes:
    """An upgrade, with headers changed or, where None, left out; underscores stand for dashes."""
    headers = {**GOOD, **{name.replace("_", "-"): value for name, value in changes.items()}}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items() if value is not None)]
    return "\r\n".join([*lines, "", ""]).encode()


def test_the_examples_key() -> None:
    """RFC 6455 §1.3."""
    assert accept_key(KEY.encode()) == b"s3pPLMBiTxaQ9kYGzzhZRbK+xOo="


def test_a_good_request_is_answered_and_what_follows_it_is_kept() -> None:
    """[MQTT-6.0.0-3], [MQTT-6.0.0-3 (3.1.1)]: it offers mqtt; [MQTT-6.0.0-4], [MQTT-6.0.0-4 (3.1.1)]: we answer."""
    answer = Upgrade(["/mqtt"]).receive(request("/mqtt?x=1") + b"\x82\x80")
    assert isinstance(answer, Upgraded)
    assert answer.rest == b"\x82\x80"
    assert answer.response.startswith(b"HTTP/1.1 101 ")
    lines = answer.response.lower().split(b"\r\n")
    assert b"sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo=" in lines
    assert b"sec-websocket-protocol: mqtt" in lines
    assert b"upgrade: websocket" in lines


def test_a_request_may_come_in_pieces_and_from_an_old_client() -> None:
    upgrade = Upgrade(["/mqtt"])
    data = request(Sec_WebSocket_Protocol="mqttv3.1")
    assert [upgrade.receive(data[at : at + 1]) for at in range(len(data) - 1)] == [None] * (len(data) - 1)
    answer = upgrade.receive(data[-1:])
    assert isinstance(answer, Upgraded)
    assert answer.subprotocol == "mqttv3.1"


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (request(method="POST"), 405),
        (request("/other"), 404),
        (request(Upgrade=None), 426),
        (request(Connection="close"), 426),
        (request(Sec_WebSocket_Version="8"), 426),
        (request(Sec_WebSocket_Key=None), 400),
        (request(Sec_WebSocket_Key="c2hvcnQ="), 400),
        (request(Sec_WebSocket_Key="no base64!"), 400),
        (request(Sec_WebSocket_Protocol=None), 400),
        (request(Sec_WebSocket_Protocol="chat, mqtt2"), 400),
        (request(Host=None), 400),
        (request(**{f"X-{number}": "x" for number in range(80)}), 431),
        (request(X="x" * REQUEST_BYTES_MAX)[:-2], 431),
        (b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00\r\n\r\n", 400),
        (b"GET / HTTP/1.1\nHost: a b\x00\r\n\r\n", 400),
    ],
)
def test_what_is_no_upgrade_is_refused_with_its_status(data: bytes, status: int) -> None:
    answer = Upgrade(["/mqtt"]).receive(data)
    assert isinstance(answer, Refusal)
    assert answer.response.startswith(f"HTTP/1.1 {status} ".encode())
    assert answer.text
    assert b"\r\n" not in answer.text.encode()


@pytest.mark.parametrize(
    ("origin", "allowed"),
    [("https://app.example", True), ("HTTPS://APP.example", True), ("https://evil.example", False), (None, True)],
)
def test_browsers_may_be_limited_to_origins(origin: str | None, allowed: bool) -> None:
    """RFC 6455 §4.2.2: only browsers send Origin."""
    answer = Upgrade(["/mqtt"], ["https://app.example"]).receive(request(Origin=origin))
    assert isinstance(answer, Upgraded) is allowed
    assert allowed or answer.response.startswith(b"HTTP/1.1 403 ")


def test_the_end_of_the_connection_is_not_an_error() -> None:
    assert isinstance(Upgrade(["/"]).receive(b""), Refusal)
