"""How a message is printed; the comparison with mosquitto_sub itself is in tests/live/test_pub_sub.py."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.cli.formats import FIELDS, Format, Heard
from weft.core.errors import Misuse
from weft.mqtt.client.events import Message
from weft.mqtt.codec.properties import Properties

PROPERTIES = Properties(
    payload_format=1,
    message_expiry_s=60,
    content_type="text/plain",
    response_topic="r/t",
    correlation_data=b"cd",
    subscription_ids=(3, 4),
    user=(("k", "v"), ("k", "w")),
)
HEARD = Heard(Message("a/b", b"Hi\xff", 1, True, packet_id=7, properties=PROPERTIES), 1_700_000_000_123_456_789)


@pytest.mark.parametrize(
    ("pattern", "printed"),
    [
        ("%t %p", b"a/b Hi\xff"),
        ("%x %X %l", b"4869ff 4869FF 3"),
        ("%q%r%m", b"117"),
        ("%U", b"1700000000.123456789"),
        ("%C|%D|%E|%F|%P|%R|%S|%A", b"text/plain|cd|60|1|k:v k:w|r/t|3 4|"),
        ("[%10t][%-10t][%05l][%.2p][%5.1t]", b"[       a/b][a/b       ][00003][Hi][    a]"),
        (r"a\tb\n\\\0\e", b"a\tb\n\\\0\x1b"),
        ("%%@@@N", b"%@123456789"),
        ("ä%t", "äa/b".encode()),
        ("", b""),
    ],
)
def test_escapes_are_mosquittos(pattern, printed):
    assert Format(pattern).render(HEARD) == printed


def test_times_are_local(monkeypatch):
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert Format("%I @H:@M").render(HEARD) == b"2023-11-15T07:13:20+0900 07:13"
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize("pattern", ["%z", "%", "100%", r"\q", "@", "@1", "%99999p", "%.99999p", "%é"])
def test_what_means_nothing_is_refused(pattern):
    with pytest.raises(Misuse, match="format:"):
        Format(pattern)


def document(payload: bytes, pattern: str = "%j") -> dict[str, object]:
    line = Format(pattern).render(Heard(Message("t", payload, 0, False), HEARD.at_ns))
    assert b"\n" not in line
    return json.loads(line)


def test_json_has_mosquittos_names():
    found = json.loads(Format("%j").render(Heard(HEARD.message, HEARD.at_ns)))
    assert found.pop("tst").startswith("20")
    assert found == {
        "topic": "a/b",
        "qos": 1,
        "retain": 1,
        "payloadlen": 3,
        "mid": 7,
        "properties": {
            "content-type": "text/plain",
            "user-properties": {"k": ["v", "w"]},
            "response-topic": "r/t",
            "correlation-data": "cd",
            "payload-format-indicator": 1,
            "message-expiry-interval": 60,
            "subscription-identifiers": [3, 4],
        },
        "payload_base64": "SGn/",
    }


@pytest.mark.parametrize(
    ("payload", "value"),
    [
        (b'{"a": [1]}', {"a": [1]}),
        (b"17", 17),
        (b"nan", "nan"),
        (b"", ""),
        (b'{\n"a": 1}', '{\n"a": 1}'),
        (b"null", None),
    ],
)
def test_a_payload_that_is_json_can_be_printed_as_such(payload, value):
    assert document(payload, "%J")["payload"] == value


@given(st.binary(max_size=60))
def test_every_payload_gives_one_line_of_json(payload):
    for pattern in ("%j", "%J"):
        assert document(payload, pattern)["payloadlen"] == len(payload)


@given(st.text(max_size=30))
def test_a_pattern_is_refused_or_prints(pattern):
    try:
        Format(pattern).render(HEARD)
    except Misuse:
        return


def test_every_field_is_explained():
    from weft.cli import formats

    assert all(f"%{letter}" in (formats.__doc__ or "") for letter in FIELDS)
