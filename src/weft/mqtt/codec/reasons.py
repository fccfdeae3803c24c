"""MQTT 5's reason codes (§2.4), and what is raised when bytes break the standard."""

from enum import IntEnum

from weft.mqtt.codec.kinds import Kind


class Reason(IntEnum):
    """Reason codes by the standard's names; where one number has several names, the first is the member."""

    SUCCESS = 0x00  # also: normal disconnection, granted QoS 0
    GRANTED_QOS_1 = 0x01
    GRANTED_QOS_2 = 0x02
    DISCONNECT_WITH_WILL = 0x04
    NO_MATCHING_SUBSCRIBERS = 0x10
    NO_SUBSCRIPTION_EXISTED = 0x11
    CONTINUE_AUTHENTICATION = 0x18
    RE_AUTHENTICATE = 0x19
    UNSPECIFIED_ERROR = 0x80
    MALFORMED_PACKET = 0x81
    PROTOCOL_ERROR = 0x82
    IMPLEMENTATION_SPECIFIC_ERROR = 0x83
    UNSUPPORTED_PROTOCOL_VERSION = 0x84
    CLIENT_IDENTIFIER_NOT_VALID = 0x85
    BAD_USER_NAME_OR_PASSWORD = 0x86
    NOT_AUTHORIZED = 0x87
    SERVER_UNAVAILABLE = 0x88
    SERVER_BUSY = 0x89
    BANNED = 0x8A
    SERVER_SHUTTING_DOWN = 0x8B
    BAD_AUTHENTICATION_METHOD = 0x8C
    KEEP_ALIVE_TIMEOUT = 0x8D
    SESSION_TAKEN_OVER = 0x8E
    TOPIC_FILTER_INVALID = 0x8F
    TOPIC_NAME_INVALID = 0x90
    PACKET_IDENTIFIER_IN_USE = 0x91
    PACKET_IDENTIFIER_NOT_FOUND = 0x92
    RECEIVE_MAXIMUM_EXCEEDED = 0x93
    TOPIC_ALIAS_INVALID = 0x94
    PACKET_TOO_LARGE = 0x95
    MESSAGE_RATE_TOO_HIGH = 0x96
    QUOTA_EXCEEDED = 0x97
    ADMINISTRATIVE_ACTION = 0x98
    PAYLOAD_FORMAT_INVALID = 0x99
    RETAIN_NOT_SUPPORTED = 0x9A
    QOS_NOT_SUPPORTED = 0x9B
    USE_ANOTHER_SERVER = 0x9C
    SERVER_MOVED = 0x9D
    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED = 0x9E
    CONNECTION_RATE_EXCEEDED = 0x9F
    MAXIMUM_CONNECT_TIME = 0xA0
    SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED = 0xA1
    WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED = 0xA2


class Refused(Exception):
    """The other side broke the standard, or a limit: why, as a reason code and a line for the log.

    Raised by the codec and by the handlers of a connection, caught at the connection's front door, which answers as the
    version wants (v5: DISCONNECT or CONNACK with the code; before: close) and counts it. It never leaves ``receive``.
    """

    def __init__(self, reason: Reason, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Malformed(Refused):
    """Bytes that no packet of the standard has (§1.2: Malformed Packet)."""

    def __init__(self, text: str) -> None:
        super().__init__(Reason.MALFORMED_PACKET, text)


class ProtocolError(Refused):
    """A packet that is well formed and not allowed here (§1.2: Protocol Error)."""

    def __init__(self, text: str) -> None:
        super().__init__(Reason.PROTOCOL_ERROR, text)


def _codes(*names: str) -> frozenset[int]:
    return frozenset(Reason[name] for name in names)


_REFUSALS = ("UNSPECIFIED_ERROR", "IMPLEMENTATION_SPECIFIC_ERROR", "NOT_AUTHORIZED")
_PUBLISHED = _codes(
    "SUCCESS", "NO_MATCHING_SUBSCRIBERS", *_REFUSALS, "TOPIC_NAME_INVALID", "PACKET_IDENTIFIER_IN_USE",
    "QUOTA_EXCEEDED", "PAYLOAD_FORMAT_INVALID",
)  # fmt: skip
_RELEASED = _codes("SUCCESS", "PACKET_IDENTIFIER_NOT_FOUND")
DISCONNECT_FROM_CLIENT = _codes(
    "SUCCESS", "DISCONNECT_WITH_WILL", "UNSPECIFIED_ERROR", "MALFORMED_PACKET", "PROTOCOL_ERROR",
    "IMPLEMENTATION_SPECIFIC_ERROR", "BAD_AUTHENTICATION_METHOD", "TOPIC_NAME_INVALID", "RECEIVE_MAXIMUM_EXCEEDED",
    "TOPIC_ALIAS_INVALID", "PACKET_TOO_LARGE", "MESSAGE_RATE_TOO_HIGH", "QUOTA_EXCEEDED", "ADMINISTRATIVE_ACTION",
    "PAYLOAD_FORMAT_INVALID",
)  # fmt: skip
"""§3.14.2.1 lists them; 0x8C is in table 2-6 only, and so in both directions."""
DISCONNECT_FROM_SERVER = (DISCONNECT_FROM_CLIENT - {Reason.DISCONNECT_WITH_WILL}) | _codes(
    "NOT_AUTHORIZED", "SERVER_BUSY", "SERVER_SHUTTING_DOWN", "KEEP_ALIVE_TIMEOUT", "SESSION_TAKEN_OVER",
    "TOPIC_FILTER_INVALID", "RETAIN_NOT_SUPPORTED", "QOS_NOT_SUPPORTED", "USE_ANOTHER_SERVER", "SERVER_MOVED",
    "SHARED_SUBSCRIPTIONS_NOT_SUPPORTED", "CONNECTION_RATE_EXCEEDED", "MAXIMUM_CONNECT_TIME",
    "SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED", "WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED",
)  # fmt: skip

CODES: dict[int, frozenset[int]] = {
    Kind.CONNACK: _codes(
        "SUCCESS", "MALFORMED_PACKET", "PROTOCOL_ERROR", *_REFUSALS, "UNSUPPORTED_PROTOCOL_VERSION",
        "CLIENT_IDENTIFIER_NOT_VALID", "BAD_USER_NAME_OR_PASSWORD", "SERVER_UNAVAILABLE", "SERVER_BUSY", "BANNED",
        "BAD_AUTHENTICATION_METHOD", "TOPIC_NAME_INVALID", "PACKET_TOO_LARGE", "QUOTA_EXCEEDED",
        "PAYLOAD_FORMAT_INVALID", "RETAIN_NOT_SUPPORTED", "QOS_NOT_SUPPORTED", "USE_ANOTHER_SERVER", "SERVER_MOVED",
        "CONNECTION_RATE_EXCEEDED",
    ),
    Kind.PUBACK: _PUBLISHED,
    Kind.PUBREC: _PUBLISHED,
    Kind.PUBREL: _RELEASED,
    Kind.PUBCOMP: _RELEASED,
    Kind.SUBACK: _codes(
        "SUCCESS", "GRANTED_QOS_1", "GRANTED_QOS_2", *_REFUSALS, "TOPIC_FILTER_INVALID", "PACKET_IDENTIFIER_IN_USE",
        "QUOTA_EXCEEDED", "SHARED_SUBSCRIPTIONS_NOT_SUPPORTED", "SUBSCRIPTION_IDENTIFIERS_NOT_SUPPORTED",
        "WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED",
    ),
    Kind.UNSUBACK: _codes(
        "SUCCESS", "NO_SUBSCRIPTION_EXISTED", *_REFUSALS, "TOPIC_FILTER_INVALID", "PACKET_IDENTIFIER_IN_USE"
    ),
    Kind.DISCONNECT: DISCONNECT_FROM_CLIENT | DISCONNECT_FROM_SERVER,
    Kind.AUTH: _codes("SUCCESS", "CONTINUE_AUTHENTICATION", "RE_AUTHENTICATE"),
}  # fmt: skip
"""By packet, the reason codes it may carry in version 5 (table 2-6)."""
