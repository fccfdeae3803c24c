"""The PROXY protocol: vectors of both versions, nothing read past the header, nonsense refused."""

import ipaddress

import pytest

from weft.broker.access.api import Certificate
from weft.core.errors import Violation
from weft.runtime.proxy import HEADER_BYTES_MAX, SIGNATURE, Proxied, missing, parse


def binary(family: int, body: bytes, version_and_command: int = 0x21) -> bytes:
    return SIGNATURE + bytes((version_and_command, family)) + len(body).to_bytes(2, "big") + body


def tlv(kind: int, value: bytes) -> bytes:
    return bytes((kind,)) + len(value).to_bytes(2, "big") + value


def addresses(source: str, target: str, port: int) -> bytes:
    packed = [ipaddress.ip_address(each).packed for each in (source, target)]
    return b"".join(packed) + port.to_bytes(2, "big") + (1883).to_bytes(2, "big")


FOUR = addresses("192.0.2.7", "198.51.100.1", 56324)
SIX = addresses("2001:db8::7", "2001:db8::1", 443)
TLS = tlv(0x20, b"\x07" + bytes(4) + tlv(0x21, b"TLSv1.3") + tlv(0x22, "gerät-7".encode()))

VECTORS = [
    (b"PROXY TCP4 192.0.2.7 198.51.100.1 56324 1883\r\n", Proxied("192.0.2.7", 56324)),
    (b"PROXY TCP6 2001:DB8::7 2001:db8::1 443 1883\r\n", Proxied("2001:db8::7", 443)),
    (b"PROXY UNKNOWN\r\n", Proxied()),
    (b"PROXY UNKNOWN ffff:f...f:ffff 65535 65535\r\n", Proxied()),
    (binary(0x11, FOUR), Proxied("192.0.2.7", 56324)),
    (binary(0x21, SIX), Proxied("2001:db8::7", 443)),
    (binary(0x11, FOUR, 0x20), Proxied()),
    (binary(0x00, b"", 0x20), Proxied()),
    (binary(0x00, b"whatever"), Proxied()),
    (binary(0x31, bytes(216)), Proxied()),
    (
        binary(0x11, FOUR + tlv(0x02, b"mqtt.example") + TLS + tlv(0x04, bytes(9))),
        Proxied("192.0.2.7", 56324, "mqtt.example", Certificate(common_name="gerät-7")),
    ),
    (binary(0x11, FOUR + tlv(0x20, b"\x01" + bytes(4) + tlv(0x22, b"x"))), Proxied("192.0.2.7", 56324)),
    (binary(0x11, FOUR + tlv(0x20, b"\x07\0\0\0\1" + tlv(0x22, b"x"))), Proxied("192.0.2.7", 56324)),
]


def read(data: bytes) -> tuple[Proxied, bytes]:
    """As a driver reads: what ``missing`` allows, until it is complete."""
    header = b""
    while (size := missing(header)) > 0:
        assert len(data) >= size, "asked for more than there is"
        header, data = header + data[:size], data[size:]
    return parse(header), data


@pytest.mark.parametrize(("header", "proxied"), VECTORS)
def test_each_vector_is_read_to_its_end_and_not_a_byte_further(header: bytes, proxied: Proxied) -> None:
    assert read(header + b"\x10\x0c") == (proxied, b"\x10\x0c")


@pytest.mark.parametrize(
    "header",
    [
        b"\x10\x0c\x00\x04MQTT\x04\x02\x00\x3c\x00\x00",
        b"GET / HTTP/1.1\r\n\r\n",
        b"PROXY " + b"x" * 200,
        b"PROXY TCP4 192.0.2.7 198.51.100.1 56324\r\n",
        b"PROXY TCP4 2001:db8::7 2001:db8::1 1 1883\r\n",
        b"PROXY TCP4 192.0.2.300 198.51.100.1 56324 1883\r\n",
        b"PROXY TCP4 192.0.2.7 198.51.100.1 99999 1883\r\n",
        b"PROXY TCP4 192.0.2.7 198.51.100.1 -5 1883\r\n",
        b"PROXY UDP4 192.0.2.7 198.51.100.1 5 1883\r\n",
        b"PROXY \xb2TCP4 \xff \xfe \xb2 1883\r\n",
        binary(0x11, FOUR, 0x11),
        binary(0x11, FOUR, 0x22),
        binary(0x11, FOUR[:-1]),
        binary(0x12, FOUR),
        binary(0x31, bytes(215)),
        binary(0x11, FOUR + b"\x02\x00\x05abc"),
        binary(0x11, FOUR + b"\x02\x00"),
        binary(0x11, FOUR + tlv(0x02, b"\xff")),
        binary(0x11, FOUR + tlv(0x20, b"\x07" + bytes(4) + b"\x22\x00\x09")),
        binary(0x11, bytes(HEADER_BYTES_MAX)),
    ],
)
def test_what_is_no_header_is_a_violation(header: bytes) -> None:
    with pytest.raises(Violation):
        read(header + bytes(20))
