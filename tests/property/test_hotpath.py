"""The quick way and the slow way are the same: whatever clients send, however it is cut, everybody gets the same packets.

Each run is played on two brokers that differ in nothing but ``hotpath``; then what every client received, the counters and the
records for the store are compared.
"""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from broker_bench import Bench, Client
from weft.broker.access.api import PUBLISH
from weft.broker.settings import BrokerSettings, Limits
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.packets import Pingreq, Puback, Pubcomp, Publish, Pubrec, Pubrel, Subscribe, Unsubscribe
from weft.mqtt.codec.packets import Request as Line
from weft.mqtt.codec.properties import NONE, Properties

TOPICS = ["a", "a/b", "a/b/c", "$x", "é/ü", "t" * 120, "no/entry", "a/"]
FILTERS = ["a", "a/b", "a/+", "#", "+", "a/#", "é/ü", "t" * 120, "$share/g/a/b", "$share/h/a/#", "no/entry"]
CLIENTS = 4

payloads = st.one_of(
    st.binary(max_size=12), st.integers(100, 140).map(lambda size: b"p" * size), st.just(b"q" * 17_000)
)
properties = st.sampled_from([NONE, NONE, NONE, Properties(user=(("k", "v"),)), Properties(message_expiry_s=5)])
publishes = st.builds(
    Publish,
    topic=st.sampled_from(TOPICS),
    payload=payloads,
    qos=st.sampled_from([0, 0, 1, 1, 2]),
    retain=st.sampled_from([False, False, False, True]),
    dup=st.just(False),
    packet_id=st.integers(1, 5),
    properties=properties,
)
runs = st.tuples(publishes, st.integers(1, 5)).map(lambda pair: [pair[0]] * pair[1])


def row(first: Publish, numbers: list[int], ends: list[bytes]) -> list:
    """QoS 1, of one length but with different identifiers and payloads; 0 is an identifier that ends the connection."""
    return [
        msgspec.structs.replace(first, qos=1, retain=False, packet_id=number, payload=first.payload + end)
        for number, end in zip(numbers, ends, strict=True)
    ]


rows = st.integers(1, 6).flatmap(
    lambda count: st.builds(
        row,
        publishes,
        st.lists(st.sampled_from([*range(1, 300), 0]), min_size=count, max_size=count),
        st.lists(st.binary(min_size=2, max_size=2), min_size=count, max_size=count),
    )
)
lines = st.builds(
    Line,
    filter=st.sampled_from(FILTERS),
    qos=st.integers(0, 2),
    no_local=st.just(False),
    retain_as_published=st.booleans(),
)
answers = st.builds(
    lambda kind, number: kind(number), st.sampled_from([Puback, Pubrec, Pubrel, Pubcomp]), st.integers(1, 6)
)
subscribes = st.builds(
    lambda line, identifier: Subscribe(9, (line,), Properties(subscription_ids=(identifier,)) if identifier else NONE),
    lines,
    st.sampled_from([0, 0, 7]),
)
unsubscribes = st.builds(lambda given: Unsubscribe(9, (given,)), st.sampled_from(FILTERS))
packets = st.one_of(
    runs,
    runs,
    rows,
    rows,
    answers.map(lambda packet: [packet]),
    st.tuples(st.integers(1, 6), st.integers(1, 6)).map(
        lambda row: [Puback(n) for n in range(row[0], row[0] + row[1])]
    ),
    st.integers(65_533, 65_535).map(lambda first: [Puback(n % 65_536 or 1) for n in range(first, first + 4)]),
    subscribes.map(lambda packet: [packet]),
    unsubscribes.map(lambda packet: [packet]),
    st.just([Pingreq()]),
)
speeches = st.lists(
    st.tuples(
        st.integers(0, CLIENTS - 1), st.lists(packets, min_size=1, max_size=4), st.lists(st.integers(1, 60), max_size=3)
    ),
    min_size=1,
    max_size=12,
)


def bytes_of(client: Client, said: list) -> bytes:
    """What a client of this version would send; ids only where QoS has one."""
    return b"".join(written(client.version, spoken(client.version, packet)) for packet in said)


def written(version: int, packet: Any) -> bytes:
    """Also what our own encoder refuses to write: a QoS 1 message without an identifier."""
    if isinstance(packet, Publish) and packet.qos and not packet.packet_id:
        data = encode(version, msgspec.structs.replace(packet, packet_id=0x4E4F))
        return data.replace(b"NO", b"\0\0", 1)
    return encode(version, packet)


def spoken(version: int, packet: Any) -> Any:
    if isinstance(packet, Publish):
        return msgspec.structs.replace(
            packet,
            packet_id=packet.packet_id if packet.qos else 0,
            properties=packet.properties if version == 5 else NONE,
        )
    if isinstance(packet, Subscribe) and version != 5:
        return Subscribe(packet.packet_id, tuple(Line(line.filter, line.qos) for line in packet.requests))
    return packet


def play(
    speech: list, fast: bool, share: str, survives: list[bool], commits: bool, kinds: tuple[int, int, int]
) -> tuple:
    limits = Limits(inflight_max=3, queue_messages_max=5, packet_bytes_max=20_000)
    bench = Bench(BrokerSettings(limits, share_strategy=share), keeps=True, holds=True, fast=fast, commits=commits)
    bench.authority.forbidden = {(PUBLISH, "no/entry")}
    clients = []
    for number in range(CLIENTS):
        expiry = {"session_expiry_s": 60} if survives[number] else {}
        clients.append(bench.client(f"c{number}", version=kinds[number % 2], **(expiry if number % 2 else {})))
    for number, client in enumerate(clients):
        client.subscribe(FILTERS[number], "a/b", qos=max(kinds[2], number % 3))
        session = client.connection.session
        assert session is not None
        session.outgoing.last_id = 65_533  # identifiers wrap around soon
    for number, said, cuts in speech:
        client = clients[number]
        data = bytes_of(client, [packet for group in said for packet in group])
        at = 0
        for cut in cuts:
            client.speak(data[at : at + cut])
            at += cut
        if data[at:]:
            client.speak(data[at:])
    if not commits:  # what waited for the store comes now
        bench.commit()
    received = [(client.take(), client.raw, client.closed) for client in clients]
    return received, dict(bench.broker.counters), bench.records


@pytest.mark.parametrize("share", ["round-robin", "least-loaded"])
@settings(max_examples=300)
@given(
    speech=speeches,
    survives=st.one_of(st.just([False] * CLIENTS), st.lists(st.booleans(), min_size=CLIENTS, max_size=CLIENTS)),
    commits=st.booleans(),
    kinds=st.sampled_from(
        [(4, 5, 0), (4, 5, 1), (4, 4, 1), (5, 5, 1)]
    ),  # versions, least QoS of the first subscriptions
)
def test_the_quick_way_and_the_slow_way_are_the_same(share, speech, survives, commits, kinds):
    quick, slow = (play(speech, fast, share, survives, commits, kinds) for fast in (True, False))
    for number, (one, other) in enumerate(zip(quick[0], slow[0], strict=True)):
        assert one == other, f"client {number}"
    assert quick[1] == slow[1]
    assert quick[2] == slow[2]
