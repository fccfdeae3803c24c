"""kill -9 of a broker right after it has acknowledged something: nothing acknowledged is lost, QoS 2 stays exactly once.

One publisher and one subscriber keep their sessions through many deaths of the broker, each at a seeded moment: the moment
at which the publisher has read so many acknowledgements. Both follow the standard across connections as a careful client
does: what is unacknowledged is sent again under its identifier with DUP, a PUBREL is sent again after a PUBREC [MQTT-4.4.0-1],
and an identifier that is not released yet does not bring a second message [MQTT-4.3.3-10].
"""

import contextlib
import os
import random
import select
import signal
from collections import Counter
from pathlib import Path

import pytest

from broker_process import PATIENCE_S, Client, broker, text

pytestmark = pytest.mark.live

ROUNDS = int(os.environ.get("WEFT_KILLS", "14"))
SEED = int(os.environ.get("WEFT_SEED", "20261119"))
WINDOW = 16
PUBACK, PUBREC, PUBREL, PUBCOMP, PUBLISH = 0x40, 0x50, 0x62, 0x70, 0x30
DUP = 0x08
TOPIC_BYTES = 2 + len("x/t")


class Gone(Exception):
    """The broker is not there any more."""


class Party:
    """A client whose session outlives its connections."""

    def __init__(self, client_id: str) -> None:
        self.client_id = client_id
        self.client: Client | None = None

    def connect(self, port: int) -> bool:
        """Whether the broker still knew the session."""
        self.client = Client(port)
        self.client.send(0x10, text("MQTT") + b"\x04\x00\x00\x00" + text(self.client_id))
        first, answer = self.client.hear()
        assert (first, answer[1]) == (0x20, 0)
        return bool(answer[0])

    def leave(self) -> None:
        if self.client is not None:
            self.client.sock.close()
            self.client = None

    def send(self, first: int, body: bytes) -> None:
        assert self.client is not None
        try:
            self.client.send(first, body)
        except OSError as error:
            raise Gone from error

    def hear(self) -> tuple[int, int, bytes]:
        """First byte, identifier and what follows; the topics have one length."""
        assert self.client is not None
        try:
            first, body = self.client.hear()
        except (OSError, IndexError) as error:  # it may die within a packet
            raise Gone from error
        if not first:
            raise Gone
        at = TOPIC_BYTES if first & 0xF0 == PUBLISH else 0
        return first, int.from_bytes(body[at : at + 2], "big"), body[at + 2 :]


class Publisher(Party):
    """`under_way` is what it has to finish; `acknowledged` what the broker has answered for."""

    def __init__(self, rng: random.Random) -> None:
        super().__init__("publisher")
        self._rng = rng
        self._number = 0
        self.under_way: dict[int, tuple[int, bytes, bool]] = {}  # identifier: first byte, topic and payload, released
        self.sent: dict[int, int] = {}  # number: qos
        self.acknowledged: set[int] = set()
        self.retained: dict[
            str, tuple[int, set[int]]
        ] = {}  # topic: acknowledged, and those that may have come after it

    def publish(self) -> None:
        self._number += 1
        number = self._number
        packet = next(
            free for free in range(1, WINDOW + 1) if free not in self.under_way
        )  # the next one as soon as can be
        qos, topic, retain = self._rng.choice((1, 2)), "x/t", False
        if self._rng.random() < 0.2:
            # One QoS for each: a QoS 1 message that is sent again would replace a QoS 2 one after it, which is taken once.
            topic, retain = f"r/{qos + 2 * self._rng.randrange(3)}", True
            held, later = self.retained.get(topic, (0, set()))
            self.retained[topic] = (held, later | {number})
        self.sent[number] = qos
        first = PUBLISH | qos << 1 | retain
        self.under_way[packet] = (first, text(topic) + _packet(packet) + _payload(number, self._rng), False)
        self.send(first, self.under_way[packet][1])

    def resume(self) -> None:
        """After a new connection: everything that is not over, in its order."""
        for packet, (first, body, released) in list(self.under_way.items()):
            self.send(PUBREL if released else first | DUP, _packet(packet) if released else body)

    def acknowledgement(self) -> bool:
        """The broker's next packet: does it promise something that it had not promised?"""
        kind, packet, _ = self.hear()
        first, body, released = self.under_way[packet]
        number = int(body[TOPIC_BYTES + 2 :][:8])
        if kind == PUBREC:
            self.under_way[packet] = (first, body, True)
            new = not released
            self._done(number, first, body)
            self.send(PUBREL, _packet(packet))
            return new
        assert kind == (PUBCOMP if released else PUBACK)
        del self.under_way[packet]
        if not released:
            self._done(number, first, body)
        return not released

    def _done(self, number: int, first: int, body: bytes) -> None:
        self.acknowledged.add(number)
        if first & 1:
            topic = body[2:TOPIC_BYTES].decode()
            held, later = self.retained[topic]
            if number > held:
                self.retained[topic] = (number, {each for each in later if each > number})


class Subscriber(Party):
    def __init__(self) -> None:
        super().__init__("subscriber")
        self.got: Counter[int] = Counter()
        self._pending: set[int] = set()

    def take(self) -> None:
        """One packet, answered."""
        kind, packet, rest = self.hear()
        if kind & 0xF0 == PUBLISH:
            qos = kind >> 1 & 3
            assert qos, "nothing was published at QoS 0"
            if qos == 1 or packet not in self._pending:
                self.got[int(rest[:8])] += 1
            if qos == 2:
                self._pending.add(packet)
            self.send(PUBACK if qos == 1 else PUBREC, _packet(packet))
        elif kind == PUBREL:
            self._pending.discard(packet)
            self.send(PUBCOMP, _packet(packet))


def _packet(number: int) -> bytes:
    return number.to_bytes(2, "big")


def _payload(number: int, rng: random.Random) -> bytes:
    return b"%08d" % number + bytes(rng.randrange(2000))


def readable(*parties: Party) -> list[Party]:
    """Those for whom something has come."""
    there = {party.client.sock: party for party in parties if party.client is not None}
    ready, _, _ = select.select(list(there), [], [], PATIENCE_S)
    assert ready, "nothing came in time"
    return [there[sock] for sock in ready]


def until_killed(publisher: Publisher, subscriber: Subscriber, kill_after: int, away_after: int) -> None:
    """Publish until the broker has acknowledged `kill_after` messages; the subscriber leaves in between."""
    promised = 0
    while promised < kill_after:
        while len(publisher.under_way) < WINDOW:
            publisher.publish()
        for party in readable(publisher, subscriber):
            if party is subscriber:
                if subscriber.client is not None:  # it left a moment ago
                    subscriber.take()
            elif publisher.acknowledgement():
                promised += 1
                if promised == away_after:
                    subscriber.leave()
                if promised >= kill_after:
                    return


def retained_now(port: int) -> dict[str, int]:
    """What a newcomer is given: topic → number. An answer to a ping comes after it [MQTT-3.8.4-4]."""
    found = {}
    with Client(port) as newcomer:
        assert newcomer.connect("newcomer") == 0
        newcomer.send(0x82, b"\x00\x01" + text("r/#") + b"\x00")
        newcomer.send(0xC0, b"")
        while (packet := newcomer.hear())[0] != 0xD0:
            first, body = packet
            if first == PUBLISH | 1:  # those without the flag are published now
                found[body[2:TOPIC_BYTES].decode()] = int(body[TOPIC_BYTES:][:8])
    return found


def test_what_was_acknowledged_survives_every_kill(tmp_path: Path) -> None:
    """[MQTT-4.4.0-1], [MQTT-4.3.3-10], [MQTT-4.3.3-12]; an acknowledgement leaves only when what it promises is durable."""
    rng = random.Random(SEED)
    publisher, subscriber = Publisher(rng), Subscriber()
    options = ("--listen", "mqtt://127.0.0.1:0", "--data-dir", str(tmp_path / "data"))
    for round_ in range(ROUNDS + 1):
        with broker(tmp_path, *options) as process:
            port = process.ports[0]
            assert publisher.connect(port) == (round_ > 0)
            publisher.resume()
            if round_ == 0:
                assert not subscriber.connect(port)
                for filter_, qos in (("x/#", 2), ("r/#", 2)):
                    assert subscriber.client is not None
                    assert subscriber.client.subscribe(filter_, qos) == qos
            else:
                found = retained_now(port)
                for topic, (held, later) in publisher.retained.items():
                    assert found.get(topic, 0) in {held} | later, topic
                if round_ == ROUNDS or rng.random() < 0.7:
                    assert subscriber.connect(port)  # and its subscriptions: it does not subscribe again
            if round_ == ROUNDS:
                break_off(publisher, subscriber)
                assert process.end() == 0
                break
            kill_after = rng.choice((1, rng.randint(2, 20), rng.randint(20, 150)))
            with contextlib.suppress(Gone):
                until_killed(publisher, subscriber, kill_after, away_after=rng.randint(1, 120))
            assert process.process.poll() is None, process.log()
            process.end(signal.SIGKILL)
            assert "Traceback" not in process.log()
        publisher.leave()
        subscriber.leave()
    qos2 = {number for number, qos in publisher.sent.items() if qos == 2}
    assert set(publisher.sent) == publisher.acknowledged == set(subscriber.got)
    assert {number: times for number, times in subscriber.got.items() if number in qos2 and times != 1} == {}
    assert len(publisher.sent) > ROUNDS * 5


def break_off(publisher: Publisher, subscriber: Subscriber) -> None:
    """The last time: everything is finished, and all that was ever sent has arrived."""
    while publisher.under_way or set(subscriber.got) != set(publisher.sent):
        for party in readable(publisher, subscriber):
            if party is subscriber:
                subscriber.take()
            else:
                publisher.acknowledgement()
    # What would come twice would come before the answer to this.
    subscriber.send(0xC0, b"")
    while True:
        kind, packet, _ = subscriber.hear()
        if kind == 0xD0:
            break
        assert kind == PUBREL, "a message came after all had come"
        subscriber.send(PUBCOMP, _packet(packet))
    publisher.leave()
    subscriber.leave()
