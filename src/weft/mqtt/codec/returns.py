"""A reason in the words that a packet has: CONNACK's return codes and SUBACK's one failure in MQTT 3, and what version 5 lets a
server say in CONNACK and DISCONNECT.
"""

from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.reasons import CODES, DISCONNECT_FROM_SERVER, Reason

ACCEPTED, BAD_VERSION, BAD_CLIENT_ID, UNAVAILABLE, BAD_USER, NOT_AUTHORIZED = range(6)

_CONNACK = {
    Reason.SUCCESS: ACCEPTED,
    Reason.UNSUPPORTED_PROTOCOL_VERSION: BAD_VERSION,  # [MQTT-3.1.2-2 (3.1.1)]
    Reason.CLIENT_IDENTIFIER_NOT_VALID: BAD_CLIENT_ID,  # [MQTT-3.1.3-8 (3.1.1)], [MQTT-3.1.3-9 (3.1.1)]
    Reason.SERVER_UNAVAILABLE: UNAVAILABLE,
    Reason.SERVER_BUSY: UNAVAILABLE,
    Reason.SERVER_SHUTTING_DOWN: UNAVAILABLE,
    Reason.QUOTA_EXCEEDED: UNAVAILABLE,
    Reason.CONNECTION_RATE_EXCEEDED: UNAVAILABLE,
    Reason.USE_ANOTHER_SERVER: UNAVAILABLE,
    Reason.SERVER_MOVED: UNAVAILABLE,
    Reason.BAD_USER_NAME_OR_PASSWORD: BAD_USER,
    Reason.NOT_AUTHORIZED: NOT_AUTHORIZED,
    Reason.BANNED: NOT_AUTHORIZED,
    Reason.BAD_AUTHENTICATION_METHOD: NOT_AUTHORIZED,
}


def connack_code(version: int, reason: int) -> int | None:
    """What CONNACK says for ``reason``; None: no code of table 3.1 fits, close without a word [MQTT-3.2.2-6 (3.1.1)].

    In version 5 some reasons are for DISCONNECT only [MQTT-3.2.2-8].
    """
    if version < 5:
        return _CONNACK.get(Reason(reason))
    return reason if reason in CODES[Kind.CONNACK] else Reason.UNSPECIFIED_ERROR


def disconnect_code(reason: int) -> int:
    """What a server's DISCONNECT says; some reasons are for CONNACK only [MQTT-3.14.2-1]."""
    if reason in DISCONNECT_FROM_SERVER:
        return reason
    return (
        Reason.NOT_AUTHORIZED
        if _CONNACK.get(Reason(reason)) in (BAD_USER, NOT_AUTHORIZED)
        else Reason.UNSPECIFIED_ERROR
    )


def suback_code(version: int, reason: int) -> int:
    """MQTT 3 knows one failure, 0x80 [MQTT-3.9.3-2 (3.1.1)]."""
    return 0x80 if version < 5 and reason > 2 else reason
