"""An application message inside weft, and its encodings.

One publication may go to a thousand sessions: what they share is encoded once per (version 5 or not, flags, subscription
identifiers) and kept as two halves, because a packet identifier stands between them at QoS 1 and 2 (§3.3.2).
"""

from weft.mqtt.codec.primitives import varint
from weft.mqtt.codec.properties import NONE, Properties, pack

DUP = 0x08
"""The DUP flag of a PUBLISH's first byte."""


class Publication:
    """Immutable but for its bookkeeping: ``number`` (its name in the store, 0 until it has one) and ``refs``.

    ``properties`` holds only what a server forwards (§3.3.2.3): payload format, content type, response topic, correlation
    data, user properties; the expiry is ``expires_at``, and alias and subscription identifiers belong to one hop.
    """

    __slots__ = (
        "_halves", "expires_at", "number", "payload", "properties", "publisher", "qos", "refs", "retain", "topic", "user",
    )  # fmt: skip

    def __init__(
        self,
        topic: str,
        payload: bytes,
        qos: int = 0,
        retain: bool = False,
        properties: Properties = NONE,
        expires_at: float | None = None,
        publisher: str = "",
        user: str | None = None,
    ) -> None:
        self.topic = topic
        self.payload = payload
        self.qos = qos
        self.retain = retain
        self.properties = properties
        self.expires_at = expires_at
        self.publisher = publisher
        """Client id of whoever sent it ("" for the broker itself): No Local looks at it (§3.8.3.1)."""
        self.user = user
        self.number = 0
        self.refs = 0
        self._halves: dict[tuple[bool, int, tuple[int, ...]], tuple[bytes, bytes]] = {}

    def halves(self, version: int, qos: int, retain: bool, ids: tuple[int, ...], now: float) -> tuple[bytes, bytes]:
        """What stands before and after the packet identifier; at QoS 0 simply join them."""
        five = version >= 5
        key = (five, qos, ids) if not retain else (five, qos | 4, ids)
        found = self._halves.get(key)
        if found is None:
            found = self._encode(five, qos, retain, ids, now)
            if self.expires_at is None or not five:
                self._halves[key] = found
        return found

    def frame(
        self, version: int, qos: int, retain: bool, ids: tuple[int, ...], packet_id: int, now: float, dup: bool = False
    ) -> bytes:
        """One PUBLISH packet."""
        before, after = self.halves(version, qos, retain, ids, now)
        if dup:
            before = bytes((before[0] | DUP,)) + before[1:]
        return before + packet_id.to_bytes(2, "big") + after if qos else before + after

    def is_expired(self, now: float) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def _encode(self, five: bool, qos: int, retain: bool, ids: tuple[int, ...], now: float) -> tuple[bytes, bytes]:
        topic = self.topic.encode()
        after = self.payload
        if five:
            left = None if self.expires_at is None else max(1, round(self.expires_at - now))  # [MQTT-3.3.2-6]
            after = pack(self._properties(left, ids)) + after
        rest = 2 + len(topic) + (2 if qos else 0) + len(after)
        first = 0x30 | qos << 1 | retain
        return b"%c%b%b%b" % (first, varint(rest), len(topic).to_bytes(2, "big"), topic), after

    def _properties(self, left: int | None, ids: tuple[int, ...]) -> Properties:
        if left is None and not ids:
            return self.properties
        sent = self.properties
        return Properties(
            payload_format=sent.payload_format,
            message_expiry_s=left,
            content_type=sent.content_type,
            response_topic=sent.response_topic,
            correlation_data=sent.correlation_data,
            subscription_ids=ids,
            user=sent.user,
        )


def forwardable(properties: Properties) -> Properties:
    """What of a PUBLISH's properties travels on with the message."""
    if properties is NONE:
        return NONE
    return Properties(
        payload_format=properties.payload_format,
        content_type=properties.content_type,
        response_topic=properties.response_topic,
        correlation_data=properties.correlation_data,
        user=properties.user,
    )
