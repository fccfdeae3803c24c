"""The admin interface's front door, on real sockets: what HTTP allows, what hostile clients send, and where it ends."""

import asyncio
import re
import socket
import struct
import time

import pytest
import uvloop

from live_admin import live, read_all
from weft.core.errors import Misuse
from weft.runtime.admin.wire import Bounds

pytestmark = pytest.mark.live

LOCAL = b"Host: localhost\r\n"
STATUS = b"GET /api/v1/status HTTP/1.1\r\n" + LOCAL + b"\r\n"
LAST = b"GET /healthz HTTP/1.1\r\nConnection: close\r\n" + LOCAL + b"\r\n"


def flood(sock, data):
    for _ in range(100_000):
        sock.sendall(data * 50)


def status_of(data):
    return int(data.split(b" ", 2)[1]) if data else 0


@pytest.fixture(scope="module", params=["asyncio", "uvloop"])
def door(request):
    loops = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    with live(new_loop=loops[request.param]) as running:
        yield running


@pytest.fixture(params=["asyncio", "uvloop"])
def hasty(request):
    """With bounds that a test can wait for."""
    loops = {"asyncio": asyncio.new_event_loop, "uvloop": uvloop.new_event_loop}
    bounds = Bounds(connections_max=4, request_s=0.3, idle_s=0.3, linger_s=0.3, write_s=0.3, body_bytes_max=100_000)
    with live(bounds, new_loop=loops[request.param]) as running:
        yield running


def test_a_connection_is_kept_for_several_requests(door):
    with door.raw() as sock:
        for _ in range(3):
            sock.sendall(STATUS)
            assert sock.recv(65_536).startswith(b"HTTP/1.1 200")


def test_pipelined_requests_are_answered_in_order(door):
    paths = [b"/healthz", b"/nothing", b"/readyz", b"/api/v1/status"] * 20
    data = b"".join(b"GET " + path + b" HTTP/1.1\r\n" + LOCAL + b"\r\n" for path in paths)
    answer = door.send(data + LAST)
    found = re.findall(rb"HTTP/1\.1 (\d+)", answer)
    assert found == [b"200", b"404", b"200", b"200"] * 20 + [b"200"]


def test_a_request_may_come_byte_by_byte(door):
    with door.raw() as sock:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for byte in LAST:
            sock.sendall(bytes((byte,)))
        assert status_of(read_all(sock)) == 200


def test_a_client_that_has_closed_its_half_is_answered(door):
    with door.raw() as sock:
        sock.sendall(STATUS)
        sock.shutdown(socket.SHUT_WR)
        assert status_of(read_all(sock)) == 200


def test_head_has_the_headers_of_get_and_no_body(door):
    status, headers, body = door.ask("HEAD", "/api/v1/openapi.json")
    assert (status, body) == (200, "")
    assert int(headers["Content-Length"]) > 1_000
    assert status_of(door.send(b"HEAD /nothing HTTP/1.1\r\nConnection: close\r\n" + LOCAL + b"\r\n")) == 404


def test_http_1_0_is_answered_and_closed(door):
    answer = door.send(b"GET /healthz HTTP/1.0\r\n" + LOCAL + b"\r\n")
    assert status_of(answer) == 200
    assert answer.endswith(b"ok\n")


def test_answers_are_not_stored_and_not_guessed(door):
    _, headers, _ = door.get("/api/v1/status")
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Date"].endswith("GMT")


def test_an_absolute_target_counts_as_its_host(door):
    """RFC 9112 §3.2.2."""
    assert status_of(door.send(b"GET http://localhost/healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")) == 200
    answer = door.send(
        b"GET http://evil.example/api/v1/status HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    assert status_of(answer) == 421


@pytest.mark.parametrize(
    ("request_line", "status"),
    [
        (b"GET /healthz HTTP/2.0", 505),
        (b"GET /healthz HTTP/0.9", 505),
        (b"GET healthz HTTP/1.1", 400),
        (b"OPTIONS * HTTP/1.1", 400),
        (b"CONNECT example.org:443 HTTP/1.1", 400),
        (b"GET /api/v1/status/ HTTP/1.1", 404),
        (b"GET //api/v1/status HTTP/1.1", 404),
        (b"GET /api/v1/../v1/status HTTP/1.1", 404),
        (b"GET /api/v1/clients/ HTTP/1.1", 404),
        (b"GET /api/v1/clients/%ff HTTP/1.1", 400),
        (b"GET /api/v1/clients?limit=0 HTTP/1.1", 400),
        (b"GET /api/v1/clients?limit=1001 HTTP/1.1", 400),
        (b"GET /api/v1/clients?limit=x HTTP/1.1", 400),
        (b"GET /api/v1/clients?nonsense=1 HTTP/1.1", 400),
        (b"GET /api/v1/clients?limit=1&limit=2 HTTP/1.1", 400),
        (b"GET /api/v1/clients?cursor=1.2.3 HTTP/1.1", 400),
        (b"GET /api/v1/clients?" + b"a&" * 100 + b" HTTP/1.1", 400),
        (b"GET /api/v1/routes HTTP/1.1", 400),
        (b"GET /api/v1/routes?topic=a/%23 HTTP/1.1", 400),
        (b"DELETE /api/v1/status HTTP/1.1", 405),
        (b"TRACE /healthz HTTP/1.1", 405),
        (b"BREW /healthz HTTP/1.1", 405),
    ],
)
def test_what_is_asked_wrongly_is_a_problem(door, request_line, status):
    answer = door.send(request_line + b"\r\nConnection: close\r\n" + LOCAL + b"\r\n")
    assert status_of(answer) == status
    assert b"application/problem+json" in answer


def test_a_wrong_method_is_told_the_right_ones(door):
    status, headers, body = door.ask("POST", "/api/v1/log-level", {})
    assert (status, headers["Allow"]) == (405, "GET, HEAD, PUT")
    assert body["status"] == 405


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\0" * 100,  # TLS to a plain port
        b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00",  # MQTT to the wrong port
        b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\n bad: folded\r\n:\r\n\r\n",
        b"POST /api/v1/publish HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /api/v1/publish HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /api/v1/publish HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"POST /api/v1/publish HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: local\0host\r\n\r\n",
        b"\0" * 1_000,
        b"\r\n" * 100 + b"x\r\n\r\n",
    ],
)
def test_what_is_not_http_is_refused_once_and_closed(door, data):
    answer = door.send(data)
    assert status_of(answer) in {400, 501}
    assert answer.count(b"HTTP/1.1 ") == 1
    assert b"Connection: close" in answer


def test_a_length_and_chunks_together_are_no_way_in(door):
    """RFC 9112 §6.1: a smuggled second request is not answered."""
    data = (
        b"POST /api/v1/publish HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        b"DELETE /api/v1/clients/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    )
    answer = door.send(data)
    assert status_of(answer) == 400


def test_headers_are_bounded(door):
    assert status_of(door.send(b"GET / HTTP/1.1\r\n" + LOCAL + b"X: " + b"x" * 20_000)) == 431
    assert status_of(door.send(b"GET /" + b"x" * 20_000)) == 431
    assert status_of(door.send(b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 5_000)) == 431


def test_bodies_are_bounded_by_what_they_say(hasty):
    head = b"POST /api/v1/publish HTTP/1.1\r\n" + LOCAL + b"Content-Type: application/json\r\n"
    assert status_of(hasty.send(head + b"Content-Length: 100001\r\n\r\n")) == 413
    assert status_of(hasty.send(head + b"Content-Length: 99999999999999999999\r\n\r\n")) == 413
    chunks = b"2000\r\n" + b"x" * 0x2000 + b"\r\n"
    assert status_of(hasty.send(head + b"Transfer-Encoding: chunked\r\n\r\n" + chunks * 20)) == 413


def test_a_client_that_waits_before_a_large_body_is_spared_it(hasty):
    head = b"POST /api/v1/publish HTTP/1.1\r\n" + LOCAL + b"Expect: 100-continue\r\nContent-Length: "
    answer = hasty.send(head + b"100001\r\n\r\n")
    assert status_of(answer) == 413
    with hasty.raw() as sock:
        body = b'{"topic": "a"}'
        sock.sendall(head + b"%d\r\nConnection: close\r\nContent-Type: application/json\r\n\r\n" % len(body))
        assert sock.recv(1_000).startswith(b"HTTP/1.1 100")
        sock.sendall(body)
        assert status_of(read_all(sock)) == 200


def test_a_dripping_request_has_so_much_time_and_no_more(hasty):
    """Slowloris."""
    with hasty.raw() as sock:
        begun = time.monotonic()
        sock.settimeout(0.05)
        answer = b""
        sock.sendall(b"GET / HTTP/1.1\r\n")
        while time.monotonic() - begun < 10 and not answer:
            try:
                sock.sendall(b"X: y\r\n")
                answer = sock.recv(10_000)
            except TimeoutError:
                continue
        assert status_of(answer) == 408


def test_a_body_that_does_not_come_has_the_same_time(hasty):
    head = b"POST /api/v1/publish HTTP/1.1\r\n" + LOCAL + b"Content-Length: 50\r\n\r\n{"
    assert status_of(hasty.send(head)) == 408


def test_a_client_that_says_nothing_is_closed(hasty):
    with hasty.raw() as sock:
        assert read_all(sock) == b""
    with hasty.raw() as sock:
        sock.sendall(STATUS)
        assert read_all(sock).count(b"HTTP/1.1 200") == 1


def test_a_client_that_does_not_read_is_cut_off(hasty):
    with hasty.raw() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
        data = b"GET /api/v1/openapi.json HTTP/1.1\r\n" + LOCAL + b"\r\n"
        sock.settimeout(10)
        with pytest.raises((ConnectionError, TimeoutError)):
            flood(sock, data)
    assert hasty.get("/healthz")[0] == 200


def test_strangers_make_room_for_others(hasty):
    """Connections that have asked nothing hold no place against one that does."""
    silent = [hasty.raw() for _ in range(10)]
    assert hasty.get("/api/v1/status")[0] == 200
    assert hasty.call(lambda: len(hasty.server._wires)) <= 4
    for sock in silent:
        sock.close()


def test_past_the_bound_even_friends_are_refused(hasty):
    friends = []
    for _ in range(4):
        sock = hasty.raw()
        sock.sendall(STATUS)
        assert sock.recv(65_536).startswith(b"HTTP/1.1 200")
        friends.append(sock)
    assert status_of(hasty.send(b"")) == 503
    for sock in friends:
        sock.close()


def test_connections_that_are_reset_leave_nothing_behind(door):
    for _ in range(20):
        sock = door.raw()
        sock.sendall(STATUS + b"GET /api")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
    assert door.get("/healthz")[0] == 200


def test_json_is_json(door):
    def post(body, kind="application/json"):
        return door.ask("POST", "/api/v1/publish", body, {"Content-Type": kind})

    assert post(b'{"topic": "a"}')[0] == 200
    assert post(b"{")[0] == 400
    assert post(b"\xff")[0] == 400
    assert post(b'"' + b"[" * 100_000)[0] == 400
    assert post(b"[" * 100_000)[0] in {400, 422}
    assert post(b'{"topic": 1}')[0] == 422
    assert post(b'{"topic": "a", "qos": 3}')[0] == 422
    assert post(b'{"topic": "a", "nonsense": 3}')[0] == 422
    assert post(b'{"topic": "a/#"}')[0] == 400
    assert post(b'{"topic": "\\ud800"}')[0] in {400, 422}
    assert post(b'{"topic": "a"}', "text/plain")[0] == 415
    assert post(b"topic=a", "application/x-www-form-urlencoded")[0] == 415


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:9883"},
        {"Host": "localhost@evil.example"},
        {"Host": "localhost/x"},
        {"Host": "[::1"},
        {"Host": "0.0.0.0"},
    ],
)
def test_without_a_token_a_foreign_host_is_not_served(door, headers):
    """A DNS name that was bound anew to 127.0.0.1 is still a foreign name."""
    assert door.ask("GET", "/api/v1/status", None, headers)[0] in {400, 421}


@pytest.mark.parametrize("host", ["localhost", "localhost:1", "LOCALHOST", "127.0.0.1", "127.1.2.3:80", "[::1]:80"])
def test_without_a_token_names_of_this_machine_are_served(door, host):
    assert door.ask("GET", "/api/v1/status", None, {"Host": host})[0] == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 200),
        ({"Sec-Fetch-Site": "none"}, 200),
        ({"Origin": "http://localhost", "Host": "localhost"}, 200),
    ],
)
def test_without_a_token_foreign_pages_are_refused(door, headers, status):
    assert door.ask("GET", "/api/v1/status", None, headers)[0] == status


def test_with_a_token_nobody_else_is_served():
    token = "a-token-of-sixteen"
    with live(token=token) as running:
        for given in (None, "Bearer", "Bearer wrong-token-of-sixteen", "Basic YTpi", f"Bearer {token}x", "Bearer ü"):
            headers = {} if given is None else {"Authorization": given}
            for path in ("/api/v1/status", "/metrics", "/api/v1/openapi.json", "/nothing"):
                status, answer, _ = running.ask("GET", path, None, headers)
                assert (status, answer["WWW-Authenticate"][:6]) == (401, "Bearer")
        for path in ("/healthz", "/readyz"):
            assert running.get(path)[0] == 200
        headers = {"Authorization": f"bearer {token}", "Host": "broker.example", "Origin": "https://console.example"}
        assert running.ask("GET", "/api/v1/status", None, headers)[0] == 200
        assert running.ask("GET", "/nothing", None, headers)[0] == 404
        running.call(running.server.set_token, "another-token-of-ours")
        assert running.ask("GET", "/api/v1/status", None, headers)[0] == 401


def test_a_body_is_not_read_from_whoever_may_not_ask():
    with live(token="a-token-of-sixteen") as running:
        head = b"POST /api/v1/publish HTTP/1.1\r\n" + LOCAL + b"Content-Length: 1000000\r\n\r\n"
        assert status_of(running.send(head)) == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_beyond_loopback_it_does_not_start_without_a_token(host):
    with pytest.raises(Misuse, match="token"), live(host=host):
        pass


def test_beyond_loopback_it_starts_with_a_token():
    with live(host="0.0.0.0", token="a-token-of-sixteen") as running:
        assert running.get("/healthz")[0] == 200
        with pytest.raises(Misuse):
            running.call(running.server.set_token, None)


def test_localhost_is_every_loopback_address():
    with live(host="localhost") as running:
        assert {port for _, port in running.server.addresses} == {running.port}
        assert running.server.url.startswith("http://")
        assert running.get("/healthz")[0] == 200


def test_a_taken_port_is_an_error_of_the_system(door):
    with pytest.raises(OSError, match="in use"), live(host=door.host, port=door.port):
        pass
