"""Links between brokers over real sockets: who is let in, one connection per pair, hostile bytes, reconnecting, seeds."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from certificates import Authority
from driving import run
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.core.rand import Rng
from weft.node.wire import handshake
from weft.node.wire.frames import HEAD_BYTES, HELLO, MESSAGE, REFUSED, frame
from weft.node.wire.handshake import Identity, Trust
from weft.node.wire.settings import Settings
from weft.overlay.hops import HopAck
from weft.overlay.spread.messages import Gather
from weft.runtime.peers import links
from weft.runtime.peers.dialing import Dialing
from weft.runtime.peers.links import Links
from weft.runtime.peers.seeds import Seeds
from weft.runtime.peers.tls import PeerTls, TlsFiles
from weft.runtime.tasks import Tasks

pytestmark = pytest.mark.live
BOTH = pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
KEY = b"0123456789abcdef0123456789abcdef"
QUICK = Settings(retry_min_s=0.01, retry_max_s=0.05)


class Broker:
    """Links, dialling and what was heard; no overlay."""

    def __init__(
        self, node: int, *seeds: str, trust: Trust | None = None, tls: PeerTls | None = None, **more: Any
    ) -> None:
        self.heard: list[tuple[int, Message]] = []
        self.tasks = Tasks()
        self.node = NodeId(node)
        self.identity = Identity(
            more.get("cluster", "home"), self.node, more.get("incarnation", 1), more.get("addresses", ())
        )
        self.links = Links(
            self.identity, trust or Trust(KEY, plaintext=True), self._hear, self.tasks, tls, more.get("settings", QUICK)
        )
        self.mesh = self.links.mesh
        self.port = self.links.listen("127.0.0.1", more.get("port", 0))
        if "addresses" not in more:
            self.mesh.identity = Identity(self.identity.cluster, self.node, self.identity.incarnation, (self.address,))
        self.dialing = Dialing(self.links, Seeds(seeds, more.get("file")), Rng(1, node), 0.05)
        self.dialing.start()

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def _hear(self, now: float, source: NodeId, message: Message) -> None:
        self.heard.append((source, message))

    def send(self, to: int, *numbers: int) -> None:
        for number in numbers:
            self.links.send(NodeId(to), HopAck(number))

    def sockets(self) -> int:
        return len(self.links._links)

    async def close(self) -> None:
        self.dialing.close()
        await self.links.close()
        await self.tasks.close()


@contextlib.asynccontextmanager
async def brokers() -> AsyncIterator[Callable[..., Broker]]:
    """Makes brokers, and closes them at the end."""
    made: list[Broker] = []

    def make(*arguments: Any, **more: Any) -> Broker:
        made.append(Broker(*arguments, **more))
        return made[-1]

    try:
        yield make
    finally:
        for each in made:
            await each.close()


async def until(holds: Callable[[], Any]) -> None:
    """Let the loop turn until ``holds``; there is nothing else that says so."""
    while not holds():
        await turn(0.002)


async def turn(after_s: float) -> None:
    loop = asyncio.get_running_loop()
    turned: asyncio.Future[None] = loop.create_future()
    loop.call_later(after_s, turned.set_result, None)
    await turned


def linked(one: Broker, other: Broker) -> bool:
    return one.mesh.has_link(other.node) and other.mesh.has_link(one.node)


async def talk(one: Broker, other: Broker) -> None:
    """Both hear each other, over one socket."""
    await until(lambda: linked(one, other))
    one.send(other.node, 1, 2)
    other.send(one.node, 3)
    await until(lambda: other.heard and one.heard)
    assert other.heard == [(one.node, HopAck(1)), (one.node, HopAck(2))]
    assert one.heard == [(other.node, HopAck(3))]


@BOTH
def test_two_brokers_talk_with_a_key(loop: str) -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            await talk(one, make(2, one.address))

    run(scene(), loop)


@BOTH
def test_two_brokers_talk_over_tls_with_a_key(loop: str, tmp_path: Path) -> None:
    """Nobody looks at the certificates, which two different authorities have signed."""
    first, second = Authority(tmp_path, "first"), Authority(tmp_path, "second")
    tls = [
        PeerTls(TlsFiles(authority.sign("a broker", file=f"{n}.pem"))) for n, authority in enumerate((first, second))
    ]

    async def scene() -> None:
        async with brokers() as make:
            one = make(1, trust=Trust(KEY), tls=tls[0])
            await talk(one, make(2, one.address, trust=Trust(KEY), tls=tls[1]))

    run(scene(), loop)


@BOTH
def test_two_brokers_talk_over_tls_with_certificates(loop: str, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    files = TlsFiles(authority.sign("a broker"), ca=authority.ca)

    async def scene() -> None:
        async with brokers() as make:
            one = make(1, trust=Trust(), tls=PeerTls(files))
            await talk(one, make(2, one.address, trust=Trust(), tls=PeerTls(files)))
            # and somebody whom another authority has signed does not
            other = Authority(tmp_path, "another")
            stranger = TlsFiles(other.sign("a stranger", file="stranger.pem"), ca=authority.ca)
            third = make(3, one.address, trust=Trust(), tls=PeerTls(stranger))
            await until(lambda: one.mesh.counts["refused.connection"] >= 2)
            assert not third.mesh.has_link(NodeId(1))

    run(scene(), loop)


@BOTH
def test_who_stands_in_the_middle_of_tls_has_no_proof(loop: str, tmp_path: Path) -> None:
    """He ends one TLS connection, begins another, and hands on what is in them: the hellos agree, the channels do not."""
    authority = Authority(tmp_path)
    own = [authority.sign("a broker", file=f"{name}.pem") for name in ("one", "two", "middle")]
    tls = [PeerTls(TlsFiles(cert)) for cert in own]

    async def scene() -> None:
        async with brokers() as make:
            one = make(1, trust=Trust(KEY), tls=tls[0])

            async def relay(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                there, back = await asyncio.open_connection(
                    "127.0.0.1", one.port, ssl=tls[2].dialling, server_hostname=""
                )
                await asyncio.gather(pump(reader, back), pump(there, writer), return_exceptions=True)

            server = await asyncio.start_server(relay, "127.0.0.1", 0, ssl=tls[2].accepting)
            two = make(2, f"127.0.0.1:{server.sockets[0].getsockname()[1]}", trust=Trust(KEY), tls=tls[1])
            await until(lambda: one.mesh.counts["refused.proof"] and two.mesh.counts["refused.proof"])
            assert not linked(one, two)
            server.close()

    run(scene(), loop)


async def pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65_536):
        writer.write(data)
    writer.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"trust": Trust(b"another key of 16+ bytes", plaintext=True)}, "proof"),
        ({"trust": Trust(plaintext=True)}, "key"),
        ({"cluster": "away"}, "cluster"),
    ],
)
def test_who_is_not_one_of_us_is_refused_and_it_is_said_once(change: dict, reason: str) -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            two = make(2, one.address, **change)
            said: list[Any] = []
            one.mesh.notices.pending = said
            await until(lambda: one.mesh.counts[f"refused.{reason}"] >= 3)
            assert two.mesh.counts[f"refused.{reason}"] >= 2
            assert not one.mesh.pairs
            assert len([key for key in one.mesh.notices._said if key[0] == "peer refused"]) == 1

    run(scene())


def test_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
            hello = handshake.Hello("weft-peer", 7, 9, "home", NodeId(2), 1, b"n" * 32, True, ())
            writer.write(frame(HELLO, handshake._encode(hello)))
            assert await reader.read() == frame(REFUSED, b"version")
            writer.close()
            assert one.mesh.counts["refused.version"] == 1

    run(scene())


def test_plaintext_must_be_allowed() -> None:
    async def scene() -> None:
        with pytest.raises(Misuse, match="need TLS"):
            Links(Identity("home", NodeId(1), 1), Trust(KEY), lambda *_: None, Tasks())

    run(scene())


def test_tls_needs_a_key_or_an_authority(tmp_path: Path) -> None:
    tls = PeerTls(TlsFiles(Authority(tmp_path).sign("a broker")))

    async def scene() -> None:
        with pytest.raises(Misuse, match="need a cluster key"):
            Links(Identity("home", NodeId(1), 1), Trust(), lambda *_: None, Tasks(), tls)

    run(scene())


@pytest.mark.parametrize("name", ["cert", "ca"])
def test_a_file_that_cannot_be_used_is_named(name: str, tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    bad = tmp_path / "bad.pem"
    bad.write_text("nothing", encoding="utf-8")
    files = {"cert": authority.sign("a broker"), "ca": authority.ca, name: bad}
    with pytest.raises(Misuse, match="not usable"):
        PeerTls(TlsFiles(**files))


@BOTH
def test_two_that_dial_each_other_have_one_connection(loop: str) -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            two = make(2, one.address)
            one.dialing._seeds = Seeds((two.address,))
            await talk(one, two)
            await until(lambda: one.sockets() == two.sockets() == 1)

    run(scene(), loop)


@pytest.mark.parametrize(
    "bad", [b"GET / HTTP/1.1\r\n\r\n", b"\xff" * 100, frame(MESSAGE, b"x"), (4_097).to_bytes(4, "big"), frame(99)]
)
def test_hostile_bytes_end_their_own_connection_only(bad: bytes) -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            two = make(2, one.address)
            await until(lambda: linked(one, two))
            reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
            writer.write(bad)
            assert (await reader.read())[HEAD_BYTES - 1 :] == frame(REFUSED, b"malformed")[HEAD_BYTES - 1 :]
            writer.close()
            assert one.mesh.counts["refused.malformed"] == 1
            await talk(one, two)

    run(scene())


@pytest.mark.parametrize("bad", [frame(MESSAGE, b"\x05junk"), b"\xff" * 5, frame(99)])
def test_a_peer_that_talks_nonsense_loses_its_link_and_comes_again(bad: bytes) -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            two, three = make(2, one.address), make(3, one.address)
            await until(lambda: linked(one, two) and linked(one, three))
            old = one.mesh.pairs[two.node].link
            (link,) = [link for link in two.links._links.values() if link.conversation is two.mesh.pairs[one.node].link]
            link.transport.write(bad)
            await until(lambda: one.mesh.counts["refused.malformed"] == 1)
            await until(lambda: linked(one, two) and one.mesh.pairs[two.node].link is not old)
            await talk(one, three)

    run(scene())


@BOTH
def test_a_broker_that_comes_back_is_found_again(loop: str) -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            two = make(2, one.address)
            await until(lambda: linked(one, two))
            await one.close()
            await until(lambda: not two.mesh.has_link(one.node))
            again = make(1, port=one.port, incarnation=2)
            await talk(again, two)

    run(scene(), loop)


def test_a_broker_is_reached_by_what_others_know_of_it() -> None:
    """3 and 2 have met 1 alone; what 3 sends to 2 makes it dial."""

    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            two, three = make(2, one.address), make(3, one.address)
            await until(lambda: three.mesh.book.get(two.node))
            await talk_first(three, two)

    async def talk_first(one: Broker, other: Broker) -> None:
        one.send(other.node, 5)
        await until(lambda: other.heard)
        assert other.heard == [(one.node, HopAck(5))]
        assert linked(one, other)

    run(scene())


def test_what_waits_for_a_broker_that_is_gone_is_dropped() -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            two = make(2, one.address)
            await until(lambda: linked(one, two))
            await two.close()
            await until(lambda: not one.mesh.has_link(two.node))
            one.send(2, 5)
            await until(lambda: one.mesh.counts["dropped.unreachable"] == 1)
            assert one.mesh.queued == 0

    run(scene())


def test_a_seed_that_leads_to_ourselves_is_left_alone() -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            one.dialing._seeds = Seeds((one.address,))
            await until(lambda: one.dialing._ours == {("127.0.0.1", one.port)})
            assert not one.mesh.pairs

    run(scene())


def test_a_file_of_seeds_may_change(tmp_path: Path) -> None:
    async def scene() -> None:
        file = tmp_path / "seeds"
        async with brokers() as make:
            one, two = make(1), make(2)
            three = make(3, file=file)
            file.write_text(f"# who is there\n{one.address}\n", encoding="utf-8")
            await until(lambda: linked(one, three))
            file.write_text(f"{one.address}\nnonsense\n{two.address} # new\n", encoding="utf-8")
            await until(lambda: linked(two, three))
            assert any("seeds:2" in key[1] for key in three.mesh.notices._said)

    run(scene())


def test_a_bug_of_ours_costs_the_link_that_met_it() -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            two, three = make(2, one.address), make(3, one.address)
            await until(lambda: linked(one, two) and linked(one, three))
            old = one.mesh.pairs[two.node].link
            hear, one.mesh._heard = one.mesh._heard, lambda *_: {}["bug"]
            two.send(1, 5)
            await until(lambda: one.mesh.pairs[two.node].link is not old)
            one.mesh._heard = hear
            await talk(one, three)

    run(scene())


def test_strangers_are_bounded_in_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "OPENING_MAX", 2)

    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            held = [await asyncio.open_connection("127.0.0.1", one.port) for _ in range(2)]
            await until(lambda: one.sockets() == 2)
            reader, writer = await asyncio.open_connection("127.0.0.1", one.port)
            with contextlib.suppress(ConnectionError):
                assert await reader.read() == b""
            assert one.mesh.counts["refused.connection"] == 1
            for _, each in [*held, (reader, writer)]:
                each.close()
            two = make(2, one.address)
            await talk(one, two)

    run(scene())


def test_a_tick_writes_once_for_each_connection() -> None:
    async def scene() -> None:
        async with brokers() as make:
            one = make(1)
            two = make(2, one.address)
            await until(lambda: linked(one, two))
            (link,) = one.links._links.values()
            writes: list[int] = []
            link.transport = Counting(link.transport, writes)
            one.send(2, *range(1_000))
            await until(lambda: len(two.heard) == 1_000)
            assert [number.number for _, number in two.heard] == list(range(1_000))
            assert len(writes) == 1

    run(scene())


class Counting:
    """A transport that says how much is written at once."""

    def __init__(self, transport: Any, writes: list[int]) -> None:
        self._transport = transport
        self._writes = writes

    def write(self, data: bytes) -> None:
        self._writes.append(len(data))
        self._transport.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)


def test_a_peer_that_does_not_read_fills_its_queue_and_nothing_else() -> None:
    small = Settings(retry_min_s=0.01, retry_max_s=0.05, queue_bytes=100_000, queue_bytes_max=200_000)

    async def scene() -> None:
        async with brokers() as make:
            one = make(1, settings=small)
            two, three = make(2, one.address), make(3, one.address)
            await until(lambda: linked(one, two) and linked(one, three))
            (deaf,) = two.links._links.values()
            deaf.transport.pause_reading()
            while one.mesh.counts["dropped.full"] == 0:
                one.links.send(two.node, Gather(1, b"x" * 50_000, 0, ()))
                await turn(0.0)
            assert one.mesh.pairs[two.node].queued <= small.queue_bytes_max
            await talk(one, three)
            deaf.transport.resume_reading()
            await until(lambda: one.mesh.queued == 0)

    run(scene())
