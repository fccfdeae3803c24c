"""What MQTT 3 says for version 5's reasons."""

import pytest

from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.reasons import CODES, Reason
from weft.mqtt.codec.returns import connack_code, suback_code


@pytest.mark.parametrize(("reason", "code"), [
    (Reason.SUCCESS, 0),
    (Reason.UNSUPPORTED_PROTOCOL_VERSION, 1),
    (Reason.CLIENT_IDENTIFIER_NOT_VALID, 2),
    (Reason.SERVER_BUSY, 3),
    (Reason.BAD_USER_NAME_OR_PASSWORD, 4),
    (Reason.NOT_AUTHORIZED, 5),
    (Reason.BANNED, 5),
])  # fmt: skip
def test_a_refusal_has_one_of_five_codes(reason, code):
    """[MQTT-3.1.2-2 (3.1.1)] [MQTT-3.1.3-9 (3.1.1)]"""
    assert connack_code(3, reason) == connack_code(4, reason) == code
    assert connack_code(5, reason) == reason


@pytest.mark.parametrize("reason", [Reason.MALFORMED_PACKET, Reason.PROTOCOL_ERROR, Reason.TOPIC_NAME_INVALID])
def test_what_has_no_code_is_not_answered(reason):
    """[MQTT-3.2.2-6 (3.1.1)]"""
    assert connack_code(4, reason) is None


def test_a_subscription_fails_in_one_way():
    """[MQTT-3.9.3-2 (3.1.1)]"""
    assert {suback_code(4, code) for code in CODES[Kind.SUBACK]} == {0, 1, 2, 0x80}
    assert {suback_code(5, code) for code in CODES[Kind.SUBACK]} == CODES[Kind.SUBACK]
