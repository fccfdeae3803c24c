"""A broker with clients that are bytes, for the tests of whoever looks at a broker or commands it."""

from weft.broker.access.api import Granted, Origin
from weft.broker.admin import Admin
from weft.broker.broker import Broker
from weft.broker.settings import BrokerSettings
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.frames import split
from weft.mqtt.codec.packets import Connect, Publish, Request, Subscribe
from weft.mqtt.codec.properties import NONE, Properties


class Everybody:
    """An authority that lets anybody do anything; users are who they say they are."""

    version = 1

    def admit(self, now, credentials):
        return Granted(credentials.username)

    def admitted(self, now, credentials, verdict):
        pass

    def converse(self, now, method, credentials):
        return None

    def methods(self):
        return []

    def may(self, subject, action, topic, qos):
        return True


class Bench:
    """``now`` starts at 1000 and goes on when a test says so."""

    def __init__(self, settings=None, journal=None):
        self.now = 1000.0
        self.broker = Broker(settings or BrokerSettings(), Everybody(), 1, journal)
        self.admin = Admin(self.broker, self.now)

    def connect(self, client_id, version=5, user=None, expiry_s=None, keep_alive_s=60):
        """A connection that has had its CONNACK."""
        connection = self.broker.accept(self.now, Origin("default", "tcp", "127.0.0.1", 40_000, True))
        properties = Properties(session_expiry_s=expiry_s) if expiry_s is not None else NONE
        packet = Connect(version, client_id, True, keep_alive_s, user, None, None, properties)
        connection.receive(self.now, encode(version, packet))
        assert connection.session is not None
        connection.out.clear()
        return connection

    def subscribe(self, connection, *filters, qos=0):
        """What the answer and the retained messages are stays in ``out``."""
        requests = tuple(Request(filter_, qos) for filter_ in filters)
        connection.receive(self.now, encode(connection.version, Subscribe(1, requests)))

    def publish(self, connection, topic, payload=b"x", qos=0, retain=False):
        packet = Publish(topic, payload, qos, retain, packet_id=7 if qos else 0)
        connection.receive(self.now, encode(connection.version, packet))

    def leave(self, connection):
        """Without a word."""
        connection.lost(self.now, "reset")

    def pass_time(self, seconds):
        """Everything that is due until then happens when it is due."""
        end = self.now + seconds
        while self.broker.deadline is not None and self.broker.deadline <= end:
            self.now = max(self.now, self.broker.deadline)
            self.broker.timeout(self.now)
        self.now = end


def publications(connection):
    """(topic, payload, retain flag) of each PUBLISH to a client of version 3.1.1 at QoS 0; ``out`` is emptied."""
    data, at, found = b"".join(connection.out), 0, []
    connection.out.clear()
    while (frame := split(data, at)) is not None:
        first, start, at = frame
        if first >> 4 == 3:
            length = int.from_bytes(data[start : start + 2], "big")
            topic = data[start + 2 : start + 2 + length].decode()
            found.append((topic, bytes(data[start + 2 + length : at]), bool(first & 1)))
    return found
