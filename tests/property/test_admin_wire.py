"""Hypothesis at the admin interface's front door: whatever comes, the answer is HTTP or nothing, and never a traceback.

The connection is real, the transport is a list: so each example is one run of the machine, without sockets or waiting.
"""

import asyncio
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from admin_bench import Bench
from weft.runtime.admin.desk import Desk
from weft.runtime.admin.server import AdminServer
from weft.runtime.admin.wire import Bounds, State, Wire


class Transport:
    """What asyncio gives a protocol, as far as ``Wire`` asks."""

    def __init__(self):
        self.written = b""
        self.is_closed = False

    def write(self, data):
        assert not self.is_closed
        self.written += data

    def close(self):
        self.is_closed = True

    abort = close

    def can_write_eof(self):
        return True

    def write_eof(self):
        pass

    def pause_reading(self):
        pass

    def resume_reading(self):
        pass


@pytest.fixture(scope="module")
def loop():
    made = asyncio.new_event_loop()
    yield made
    made.close()


def converse(loop, chunks, ends=False):
    """What is answered to ``chunks``, and the connection's last state."""
    failures = []
    loop.set_exception_handler(lambda _, context: failures.append(context))
    bench = Bench()
    server = AdminServer(
        Desk(bench.broker, lambda: bench.now), bounds=Bounds(header_bytes_max=2_000, body_bytes_max=2_000)
    )

    async def run():
        transport = Transport()
        wire = Wire(server)
        wire.connection_made(transport)
        for chunk in chunks:
            if not transport.is_closed:
                wire.data_received(chunk)
            while wire._yields:
                turn = asyncio.get_running_loop().create_future()
                asyncio.get_running_loop().call_soon(turn.set_result, None)
                await turn
        if ends and not transport.is_closed:
            wire.eof_received()
        state = wire._state
        wire.connection_lost(None)
        assert not server._wires
        return transport.written, state

    written, state = loop.run_until_complete(run())
    assert failures == []
    assert bench.broker.counters["weft_admin_errors_total"] == 0
    return written, state


def statuses(written):
    assert written == b"" or written.startswith(b"HTTP/1.1 ")
    return [int(found) for found in re.findall(rb"HTTP/1\.1 (\d{3}) ", written)]


HEAD = b"Host: localhost\r\n"
FRAGMENTS = st.sampled_from(
    [
        b"GET ", b"POST ", b"HEAD ", b"DELETE ", b"PUT ", b"/healthz", b"/api/v1/clients", b"/api/v1/publish",
        b"/api/v1/retained/",
        b"?limit=", b"?topic=%", b"%2F", b"%ff", b" HTTP/1.1\r\n", b" HTTP/1.0\r\n", HEAD, b"Content-Length: 5\r\n",
        b"Content-Type: application/json\r\n", b"Transfer-Encoding: chunked\r\n", b"Expect: 100-continue\r\n",
        b"Connection: close\r\n", b"Upgrade: websocket\r\nConnection: upgrade\r\n", b"\r\n", b"5\r\nhello\r\n0\r\n\r\n",
        b"hello",
        b'{"topic": "a"}', b"\n", b":", b"\0", b"\xff" * 3, b"A" * 500,
    ]
)  # fmt: skip


@given(st.lists(st.binary(max_size=300), max_size=5), st.booleans())
def test_garbage_is_refused_at_most_once(loop, chunks, ends):
    written, _ = converse(loop, chunks, ends)
    assert all(status in {400, 501, 505} for status in statuses(written))
    assert len(statuses(written)) <= 1


@given(st.lists(st.one_of(FRAGMENTS, st.binary(max_size=5)), max_size=25), st.booleans())
def test_pieces_of_requests_in_any_order_are_answered_or_refused(loop, pieces, ends):
    written, _ = converse(loop, [b"".join(pieces)], ends)
    assert all(status < 500 or status in {501, 505} for status in statuses(written))


@given(st.lists(FRAGMENTS, max_size=25), st.lists(st.integers(0, 2_000), max_size=6))
def test_where_the_bytes_are_cut_changes_nothing(loop, pieces, cuts):
    data = b"".join(pieces)
    places = sorted({cut for cut in cuts if 0 < cut < len(data)})
    chunks = [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
    whole, _ = converse(loop, [data])
    cut, _ = converse(loop, chunks)
    assert [status for status in statuses(cut) if status != 100] == [
        status for status in statuses(whole) if status != 100
    ]


@given(st.sampled_from(["GET", "POST", "PUT", "DELETE", "HEAD"]), st.text(max_size=40), st.binary(max_size=60))
def test_any_path_and_body_is_answered_and_the_connection_goes_on(loop, method, path, body):
    from urllib.parse import quote

    target = quote("/api/v1/" + path, safe="/?=&").encode()
    head = method.encode() + b" " + target + b" HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
    request = head + b"Content-Length: %d\r\n\r\n" % len(body) + body
    written, state = converse(loop, [request, b"GET /healthz HTTP/1.1\r\n" + HEAD + b"\r\n"])
    first, *others = statuses(written)
    assert 200 <= first < 500
    assert others == [200] if state is State.WAITING else state is State.REFUSED
