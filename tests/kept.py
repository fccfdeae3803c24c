"""What the store must come to: records applied one by one to plain dictionaries, and random but possible histories of them.

``Model`` is the meaning of ``broker.records``; the store's tests hold the store to it.
"""

import random

from weft.broker import records as r
from weft.broker.records import Kept, KeptSession
from weft.core.machine import Record
from weft.mqtt.codec.packets import Request, Will
from weft.mqtt.codec.properties import Properties

CLIENTS = ("a", "b", "ç/\U0001f600", "")
FILTERS = ("#", "x/+", "$share/g/x")
TOPICS = ("x/1", "x/2", "ü")


class Model:
    """The tables as dictionaries."""

    def __init__(self) -> None:
        self.sessions: dict[str, r.SessionKept] = {}
        self.subscriptions: dict[tuple[str, str], r.SubscriptionKept] = {}
        self.messages: dict[int, r.MessageKept] = {}
        self.queue: dict[tuple[str, int], r.Queued] = {}
        self.incoming: set[tuple[str, int]] = set()
        self.retained: dict[str, int] = {}
        self.wills: dict[str, r.WillKept] = {}

    @classmethod
    def of(cls, kept: Kept) -> "Model":
        """What a store is after it has been loaded: nothing but what it gave back."""
        model = cls()
        for record in (*kept.messages, *kept.retained):
            model.apply(record)
        for session in kept.sessions:
            client_id = session.session.client_id
            taken = [r.Incoming(client_id, packet_id) for packet_id in session.incoming]
            will = [session.will] if session.will else []
            for record in (session.session, *session.subscriptions, *session.queue, *taken, *will):
                model.apply(record)
        return model

    def apply(self, record: Record) -> None:  # noqa: C901, PLR0912  the whole vocabulary, once
        match record:
            case r.SessionKept():
                self.sessions[record.client_id] = record
            case r.SessionGone(client_id):
                self.sessions.pop(client_id, None)
                self.wills.pop(client_id, None)
                for table in (self.subscriptions, self.queue):
                    for key in [key for key in table if key[0] == client_id]:
                        del table[key]
                self.incoming = {key for key in self.incoming if key[0] != client_id}
            case r.SubscriptionKept():
                self.subscriptions[record.client_id, record.request.filter] = record
            case r.SubscriptionGone(client_id, name):
                self.subscriptions.pop((client_id, name), None)
            case r.MessageKept():
                self.messages[record.number] = record
            case r.MessageGone(number):
                self.messages.pop(number, None)
            case r.Queued():
                self.queue[record.client_id, record.position] = record
            case r.Sent(client_id, position, packet_id):
                if (old := self.queue.get((client_id, position))) is not None:
                    self.queue[client_id, position] = changed(old, old.number, packet_id)
            case r.Released(client_id, position):
                if (old := self.queue.get((client_id, position))) is not None:
                    self.queue[client_id, position] = changed(old, 0, old.packet_id)
            case r.Done(client_id, position):
                self.queue.pop((client_id, position), None)
            case r.Incoming(client_id, packet_id):
                self.incoming.add((client_id, packet_id))
            case r.IncomingDone(client_id, packet_id):
                self.incoming.discard((client_id, packet_id))
            case r.RetainedKept(topic, number):
                self.retained[topic] = number
            case r.RetainedGone(topic):
                self.retained.pop(topic, None)
            case r.WillKept():
                self.wills[record.client_id] = record
            case r.WillGone(client_id):
                self.wills.pop(client_id, None)
            case _:
                raise AssertionError(record)

    def kept(self) -> Kept:
        """What a store that holds this gives back: without what nothing names."""
        sessions = {client_id: KeptSession(record) for client_id, record in sorted(self.sessions.items())}
        retained = [r.RetainedKept(t, n) for t, n in sorted(self.retained.items()) if n in self.messages]
        named = {record.number for record in retained}
        for (client_id, _), subscription in sorted(self.subscriptions.items()):
            if client_id in sessions:
                sessions[client_id].subscriptions.append(subscription)
        for (client_id, _), entry in sorted(self.queue.items()):
            if client_id in sessions and (not entry.number or entry.number in self.messages):
                sessions[client_id].queue.append(entry)
                named.add(entry.number)
        for client_id, packet_id in sorted(self.incoming):
            if client_id in sessions:
                sessions[client_id].incoming.append(packet_id)
        for client_id, will in self.wills.items():
            if client_id in sessions:
                sessions[client_id].will = will
        messages = [message for number, message in sorted(self.messages.items()) if number in named]
        return Kept(messages, retained, list(sessions.values()))


def changed(old: r.Queued, number: int, packet_id: int) -> r.Queued:
    return r.Queued(old.client_id, old.position, number, old.qos, old.retain, old.identifiers, packet_id)


class History:
    """Random records that a broker could say: numbers and positions are never used again; all else is free, orphans too."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.number = 0
        self.position = 0

    def record(self) -> Record:  # noqa: C901, PLR0911, PLR0912  the whole vocabulary, once
        rng = self.rng
        client_id = rng.choice(CLIENTS)
        position = rng.randint(max(1, self.position - 12), self.position + 1)
        number = rng.randint(max(1, self.number - 12), self.number + 1)
        packet_id = rng.randint(1, 4)
        when = rng.choice((None, 0.0, 1.5e9 + rng.random()))
        user = rng.choice((None, "u"))
        properties = rng.choice((Properties(), Properties(user=(("k", "v"), ("k", "w")), correlation_data=b"\0\xff")))
        match rng.randrange(20):
            case 0:
                return r.SessionKept(client_id, rng.choice((0.0, 60.0, float("inf"))), when, user)
            case 1 if rng.random() < 0.3:
                return r.SessionGone(client_id)
            case 2:
                request = Request(
                    rng.choice(FILTERS), packet_id % 3, rng.random() < 0.5, rng.random() < 0.5, packet_id % 3
                )
                return r.SubscriptionKept(client_id, request, rng.choice((0, 268_435_455)), "given")
            case 3:
                return r.SubscriptionGone(client_id, rng.choice(FILTERS))
            case 4 | 5 | 6:
                self.number += 1
                payload = rng.randbytes(rng.choice((0, 1, 64, 5_000)))
                topic, retain = rng.choice(TOPICS), rng.random() < 0.5
                return r.MessageKept(self.number, topic, payload, packet_id % 3, retain, b"\0", when, client_id, user)
            case 7:
                return r.MessageGone(number)
            case 9 | 10 | 11:
                self.position += 1
                ids = rng.choice(((), (1,), (7, 268_435_455)))
                return r.Queued(client_id, self.position, number, 1, rng.random() < 0.5, ids, rng.choice((0, 65_535)))
            case 12:
                return r.Sent(client_id, position, packet_id)
            case 13:
                return r.Released(client_id, position)
            case 14:
                return r.Incoming(client_id, packet_id)
            case 15:
                return r.IncomingDone(client_id, packet_id)
            case 8 | 16:
                return r.RetainedKept(rng.choice(TOPICS), number)
            case 17:
                return r.RetainedGone(rng.choice(TOPICS))
            case 18:
                will = Will(rng.choice(TOPICS), b"gone", 1, True, properties)
                return r.WillKept(client_id, will, 5.0, when, user)
            case 19 if rng.random() < 0.5:
                return r.WillGone(client_id)
            case _:
                return r.Done(client_id, position)

    def batch(self, size: int) -> list[Record]:
        return [self.record() for _ in range(size)]
