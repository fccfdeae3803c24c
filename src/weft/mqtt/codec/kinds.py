"""The packet types (§2.1.2), and who may send which."""

from enum import IntEnum


class Kind(IntEnum):
    """The packet type: the high half of a packet's first byte."""

    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    PUBREC = 5
    PUBREL = 6
    PUBCOMP = 7
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14
    AUTH = 15


# §2.1.2 table 2-1: the direction of flow. In MQTT 3.1.1 the server never sends DISCONNECT and nobody sends AUTH.
_CLIENT = frozenset({Kind.CONNECT, Kind.SUBSCRIBE, Kind.UNSUBSCRIBE, Kind.PINGREQ})
_SERVER = frozenset({Kind.CONNACK, Kind.SUBACK, Kind.UNSUBACK, Kind.PINGRESP})
_BOTH = frozenset({Kind.PUBLISH, Kind.PUBACK, Kind.PUBREC, Kind.PUBREL, Kind.PUBCOMP})
_LATER = frozenset({Kind.AUTH})

FROM_CLIENT: dict[int, frozenset[Kind]] = {
    3: _CLIENT | _BOTH | {Kind.DISCONNECT},
    4: _CLIENT | _BOTH | {Kind.DISCONNECT},
    5: _CLIENT | _BOTH | {Kind.DISCONNECT} | _LATER,
}
"""By version, what a client may send; all else ends its connection."""
FROM_SERVER: dict[int, frozenset[Kind]] = {
    3: _SERVER | _BOTH,
    4: _SERVER | _BOTH,
    5: _SERVER | _BOTH | {Kind.DISCONNECT} | _LATER,
}
"""By version, what a server may send."""
