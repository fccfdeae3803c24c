"""What a code means for the person who reads it, and what to do."""

from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason

RETURN_CODES = {
    1: "the server does not speak this version of MQTT",
    2: "the server does not accept this client id",
    3: "the server is unavailable",
    4: "bad user name or password",
    5: "not authorised",
}
"""CONNACK's return codes before version 5 (3.1.1 §3.2.2.3)."""

AGAIN_V3 = frozenset({3})
AGAIN_V5 = frozenset({
    Reason.UNSPECIFIED_ERROR, Reason.IMPLEMENTATION_SPECIFIC_ERROR, Reason.SERVER_UNAVAILABLE, Reason.SERVER_BUSY,
    Reason.QUOTA_EXCEEDED, Reason.CONNECTION_RATE_EXCEEDED, Reason.SERVER_SHUTTING_DOWN,
})  # fmt: skip
"""Refusals that may be over soon."""


def words(code: int) -> str:
    """A reason code in words."""
    try:
        return Reason(code).name.lower().replace("_", " ")
    except ValueError:
        return f"reason code {code:#04x}"


def connack_words(code: int, five: bool, properties: Properties) -> str:
    """Why a CONNACK said no."""
    if not five:
        return RETURN_CODES.get(code, f"return code {code}")
    # A version 5 client may be answered by a server that knows no version 5: with its own code, 1.
    text = RETURN_CODES[1] if code == 1 else words(code)
    if properties.reason_string:
        text += f" ({properties.reason_string})"
    if properties.server_reference:
        text += f"; it names another server: {properties.server_reference}"
    return text
