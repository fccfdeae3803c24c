"""The driver over real sockets, with a broker that echoes: ticks, back-pressure, limits, checks, the end."""

import asyncio
import contextlib
import os
import socket
import struct
from pathlib import Path

import pytest

from driving import driving, run
from echo_broker import EchoBroker
from weft.broker.access.api import Denied
from weft.core.errors import Misuse
from weft.node.config import Listener, Proxy
from weft.runtime import host as hosts
from weft.runtime.errors import PortTaken
from weft.runtime.listeners import Listening
from weft.runtime.tasks import Tasks

pytestmark = pytest.mark.live
LOOPBACK = Listener("mqtt://127.0.0.1:0")
BOTH = pytest.mark.parametrize("loop", ["asyncio", "uvloop"])


@BOTH
def test_bytes_go_in_and_come_out_and_the_origin_is_told(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, Listener("mqtt://127.0.0.1:0", mount="a/", anonymous=False)) as driven:
            reader, writer = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            writer.write(b"hello")
            assert await reader.readexactly(5) == b"hello"
            origin = broker.connections[0].origin
            assert (origin.transport, origin.address, origin.is_local) == ("tcp", "127.0.0.1", True)
            assert (origin.mount, origin.anonymous, origin.certificate) == ("a/", False, None)
            assert origin.port == writer.get_extra_info("sockname")[1]
            writer.close()
            await driven.until(lambda: broker.lost)
            assert broker.lost[0].why == "closed by the peer"
            assert broker.counters["weft_bytes_sent_total"] == 5

    run(scene(), loop)


@BOTH
def test_what_one_tick_says_is_one_write(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            reader, writer = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            await driven.until(lambda: broker.connections)
            link = driven.host.links[broker.connections[0]]
            writes: list[bytes] = []
            original, link.__class__.write = link.__class__.write, lambda self, data: (  # type: ignore[method-assign]
                writes.append(data), original(self, data))[1]  # fmt: skip
            try:
                for each in (b"a", b"b", b"c"):
                    broker.connections[0].say(each)
                driven.host.wake()
                assert await reader.readexactly(3) == b"abc"
            finally:
                link.__class__.write = original  # type: ignore[method-assign]
            assert writes == [b"abc"]
            writer.close()

    run(scene(), loop)


@BOTH
def test_a_connection_closes_after_its_last_words(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            reader, writer = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            writer.write(b"close")
            assert await reader.read() == b"bye"
            await driven.until(lambda: broker.lost)
            assert not driven.host.links
            writer.close()

    run(scene(), loop)


@BOTH
def test_a_reader_that_does_not_read_is_trimmed_and_gets_the_rest_later(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker(out_buffer_bytes_max=100_000)
        async with driving(broker, LOOPBACK) as driven:
            plain = socket.create_connection(("127.0.0.1", driven.ports[0]))
            await driven.until(lambda: broker.connections)
            connection = broker.connections[0]
            link = driven.host.links[connection]
            while not link.is_behind:
                connection.say(b"x" * 65_536)
                driven.host.wake()
                await driven.until(lambda: not driven.host.is_awake)
            for number in range(10):
                connection.say(bytes((number,)) * 50_000)
            driven.host.wake()
            await driven.until(lambda: connection.trims)
            assert connection.trims[0] >= 500_000
            assert sum(map(len, connection.out)) <= 100_000
            assert driven.host.pressure.total == 100_000 + link.transport.get_write_buffer_size()
            connection.say(b"last")
            connection.close()
            driven.host.wake()
            data = await asyncio.to_thread(lambda: b"".join(iter(lambda: plain.recv(1 << 20), b"")))
            assert data.endswith(b"\x09" * 50_000 + b"last")
            assert b"\x07" not in data
            await driven.until(lambda: broker.lost)
            assert driven.host.pressure.total == 0
            assert not driven.host.pressure.behind
            plain.close()

    run(scene(), loop)


@BOTH
def test_the_sum_of_what_waits_presses_the_publishers_and_lets_go_again(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker(out_buffer_total_bytes_max=50_000)
        async with driving(broker, LOOPBACK) as driven:
            plain = socket.create_connection(("127.0.0.1", driven.ports[0]))
            await driven.until(lambda: broker.connections)
            while not broker.pressed:
                broker.connections[0].say(b"x" * 65_536)
                driven.host.wake()
                await driven.until(lambda: not driven.host.is_awake)
            assert driven.host.pressure.is_high
            plain.setblocking(False)

            def eased() -> bool:
                try:
                    while plain.recv(1 << 20):
                        pass
                except BlockingIOError:
                    pass
                return broker.pressed[-1] is False

            await driven.until(eased)
            assert broker.pressed == [True, False]
            plain.close()

    run(scene(), loop)


@BOTH
def test_a_large_output_is_cut_where_the_socket_is_full(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker(out_buffer_bytes_max=1 << 30)
        async with driving(broker, LOOPBACK) as driven:
            plain = socket.create_connection(("127.0.0.1", driven.ports[0]))
            await driven.until(lambda: broker.connections)
            connection = broker.connections[0]
            for _ in range(400):
                connection.say(b"x" * 65_536)
            driven.host.wake()
            await driven.until(lambda: driven.host.links[connection].is_behind)
            assert driven.host.links[connection].transport.get_write_buffer_size() <= hosts.PIECE_BYTES
            assert len(connection.out) > 100
            received = 0
            while received < 400 * 65_536:
                received += len(await asyncio.to_thread(plain.recv, 1 << 20))
            assert not connection.out
            plain.close()

    run(scene(), loop)


@BOTH
def test_reading_stops_and_goes_on_as_the_connection_wants(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            reader, writer = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            await driven.until(lambda: broker.connections)
            connection = broker.connections[0]
            connection.read(False)
            driven.host.wake()
            await driven.until(lambda: not driven.host.links[connection].is_reading)
            writer.write(b"hello")
            connection.say(b"still writing")
            driven.host.wake()
            assert await reader.readexactly(13) == b"still writing"
            assert connection.received == b""
            connection.read(True)
            driven.host.wake()
            assert await reader.readexactly(5) == b"hello"
            writer.close()

    run(scene(), loop)


@BOTH
def test_a_socket_that_never_takes_its_last_words_is_cut_off(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hosts, "CLOSE_GRACE_S", 0.05)

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            plain = socket.create_connection(("127.0.0.1", driven.ports[0]))
            await driven.until(lambda: broker.connections)
            broker.connections[0].say(b"x" * 30_000_000)
            broker.connections[0].close()
            driven.host.wake()
            await driven.until(lambda: broker.lost)
            assert not driven.host.links
            plain.close()

    run(scene(), loop)


@BOTH
def test_who_is_refused_is_closed_at_once(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        broker.refuse = True
        async with driving(broker, LOOPBACK) as driven:
            plain = socket.create_connection(("127.0.0.1", driven.ports[0]))
            with contextlib.suppress(ConnectionResetError):
                assert await asyncio.to_thread(plain.recv, 1) == b""
            assert not driven.host.links
            plain.close()

    run(scene(), loop)


@BOTH
def test_a_bug_met_by_one_connection_is_its_end_alone(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            reader, writer = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            other_reader, other = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            other.write(b"bug")
            assert await other_reader.read() == b""
            writer.write(b"fine")
            assert await reader.readexactly(4) == b"fine"
            writer.close()
            other.close()

    run(scene(), loop)


@BOTH
def test_the_timer_fires_once_its_time_has_come(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            due = driven.host.now() + 0.05
            broker.deadline = due + 100
            driven.host.wake()
            await driven.until(lambda: not driven.host.is_awake)
            broker.deadline = due  # earlier than what the timer was set to
            driven.host.wake()
            await driven.until(lambda: broker.timeouts)
            assert broker.timeouts[0] >= due

    run(scene(), loop)


@BOTH
def test_checks_run_elsewhere_and_past_the_bound_are_denied(loop: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            reader, writer = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            writer.write(b"check")
            assert await reader.readexactly(7) == b"verdict"
            assert broker.connections[0].verdicts == ["granted"]
            monkeypatch.setattr("weft.runtime.works.WAITING_MAX", 0)
            writer.write(b"check")
            assert await reader.readexactly(7) == b"verdict"
            assert isinstance(broker.connections[0].verdicts[1], Denied)
            assert broker.counters["weft_checks_refused_total"] == 1
            monkeypatch.undo()
            broker.work = lambda: 1 // 0
            writer.write(b"check")
            assert await reader.readexactly(7) == b"verdict"
            assert isinstance(broker.connections[0].verdicts[2], Denied)
            writer.close()

    run(scene(), loop)


@BOTH
def test_a_drain_tells_everybody_and_ends(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            reader, writer = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            writer.write(b"hi")
            assert await reader.readexactly(2) == b"hi"
            driven.listening[0].close()
            driven.host.begin_drain()
            assert await driven.host.drained(5.0) == 0
            assert await reader.read() == b"drained"
            with pytest.raises(OSError, match=r"refused|Connect call failed"):
                await asyncio.open_connection("127.0.0.1", driven.ports[0])
            writer.close()

    run(scene(), loop)


@BOTH
def test_a_drain_cuts_off_who_does_not_read(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            plain = socket.create_connection(("127.0.0.1", driven.ports[0]))
            await driven.until(lambda: broker.connections)
            broker.connections[0].say(b"x" * 30_000_000)
            driven.host.begin_drain()
            assert await driven.host.drained(0.05) == 1
            await driven.until(lambda: broker.lost)
            plain.close()

    run(scene(), loop)


def test_a_taken_port_and_an_address_of_others_are_one_line_each() -> None:
    async def scene() -> None:
        async with driving(EchoBroker(), LOOPBACK) as driven:
            taken = Listener(f"mqtt://127.0.0.1:{driven.ports[0]}")
            with pytest.raises(PortTaken, match=r"127\.0\.0\.1 port \d+ is taken"):
                Listening(taken, driven.host, Tasks())
            with pytest.raises(Misuse, match="no such address"):
                Listening(Listener("mqtt://192.0.2.1:0"), driven.host, Tasks())
            with pytest.raises(Misuse, match="no address for"):
                Listening(Listener("mqtt://no.such.host.invalid:0"), driven.host, Tasks())

    run(scene())


@BOTH
def test_localhost_has_one_port_for_both_families(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, Listener("mqtt://localhost:0"), Listener("mqtt://*:0")) as driven:
            for port, listening in zip(driven.ports, driven.listening, strict=True):
                for url in listening.urls:
                    host = "::1" if "[" in url else "127.0.0.1"
                    _, writer = await asyncio.open_connection(host, port)
                    await driven.until(lambda: broker.connections)
                    assert broker.connections.pop().origin.address == host
                    writer.close()

    run(scene(), loop)


@BOTH
def test_a_unix_socket_is_local_has_its_mode_and_goes_with_the_listener(loop: str, tmp_path: Path) -> None:
    path = tmp_path / "weft.sock"
    listener = Listener(f"unix://{path}", mode=0o600)

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, listener) as driven:
            assert path.stat().st_mode & 0o777 == 0o600
            reader, writer = await asyncio.open_unix_connection(str(path))
            writer.write(b"hi")
            assert await reader.readexactly(2) == b"hi"
            origin = broker.connections[0].origin
            assert (origin.transport, origin.address, origin.is_local) == ("unix", "", True)
            with pytest.raises(PortTaken):
                Listening(listener, driven.host, Tasks())
            writer.close()
        assert not path.exists()

    run(scene(), loop)


def test_a_stale_unix_socket_is_replaced_and_anything_else_is_left_alone(tmp_path: Path) -> None:
    stale, other = tmp_path / "stale.sock", tmp_path / "file"
    with socket.socket(socket.AF_UNIX) as gone:
        gone.bind(str(stale))
    other.write_text("mine")

    async def scene() -> None:
        async with driving(EchoBroker(), Listener(f"unix://{stale}")) as driven:
            _, writer = await asyncio.open_unix_connection(str(stale))
            writer.close()
            with pytest.raises(Misuse, match="it is no socket"):
                Listening(Listener(f"unix://{other}"), driven.host, Tasks())
            with pytest.raises(Misuse, match="directory"):
                Listening(Listener(f"unix://{tmp_path}/none/x"), driven.host, Tasks())
        assert other.read_text() == "mine"

    run(scene())


@BOTH
def test_a_trusted_proxy_says_whose_connection_it_is(loop: str) -> None:
    async def scene() -> None:
        broker = EchoBroker()
        trusting = Listener("mqtt://127.0.0.1:0", proxy=Proxy(trusted=["127.0.0.0/8"], timeout_s=0.2))
        doubting = Listener("mqtt://127.0.0.1:0", proxy=Proxy(trusted=["192.0.2.1"]))
        async with driving(broker, trusting, doubting) as driven:
            reader, writer = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            writer.write(b"PROXY TCP4 198.51.100.9 192.0.2.1 4711 1883\r\nhello")
            assert await reader.readexactly(5) == b"hello"
            origin = broker.connections[0].origin
            assert (origin.address, origin.port, origin.is_local) == ("198.51.100.9", 4711, False)
            writer.close()

            reader, writer = await asyncio.open_connection("127.0.0.1", driven.ports[0])
            header = b"\r\n\r\n\x00\r\nQUIT\n\x21\x11\x00\x0c" + socket.inet_aton("127.0.0.1") * 2
            writer.write(header + struct.pack("!HH", 5, 6) + b"hello")
            assert await reader.readexactly(5) == b"hello"
            assert not broker.connections[1].origin.is_local, "what a proxy says is loopback is not ours"
            writer.close()

            for port, said in (
                (driven.ports[0], b"\x10\x0cMQTT rubbish"),
                (driven.ports[0], b"PROXY"),
                (driven.ports[1], b""),
            ):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(said)
                with contextlib.suppress(ConnectionResetError):
                    assert await reader.read() == b""
                writer.close()
            assert broker.counters["weft_proxies_refused_total"] == 3
            assert len(broker.connections) == 2

    run(scene(), loop)


def test_descriptors_that_run_out_do_not_stop_the_listener() -> None:
    import resource

    async def scene() -> None:
        broker = EchoBroker()
        async with driving(broker, LOOPBACK) as driven:
            soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
            used = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
            clients = [socket.socket() for _ in range(8)]
            resource.setrlimit(resource.RLIMIT_NOFILE, (used + 9, hard))
            try:
                for client in clients:
                    client.setblocking(False)
                    client.connect_ex(("127.0.0.1", driven.ports[0]))
                turn = asyncio.get_running_loop().create_future()
                asyncio.get_running_loop().call_later(0.1, turn.set_result, None)
                await turn
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            await driven.until(lambda: len(broker.connections) >= len(clients))
            for client in clients:
                client.close()

    run(scene(), "asyncio")
