"""The configuration: defaults, and what is wrong with its line."""

from pathlib import Path

import pytest

from weft.core.errors import Misuse
from weft.node.config import DEFAULT_LISTENER, Config, read, read_text

GOOD = """\
id = "kyoto-1"
cluster = "jp/kyoto/pop1"

[broker]
retain = true
[broker.limits]
packet_bytes_max = 1000

[[listener]]
url = "mqtt://127.0.0.1:1883"

[[listener]]
url = "mqtts://*"
mount = "tenant/"
tls = { cert = "a.pem", ca = "ca.pem", client_certificates = "required" }

[[listener]]
url = "unix:///run/weft/weft.sock"
mode = 0o600
proxy = {}

[admin]
listen = "127.0.0.1:9001"

[[rewrite]]
filter = "old/+"
to = "new/$1"
"""


def test_nothing_is_a_broker_on_loopback_that_keeps_nothing() -> None:
    config = read_text("")
    assert config == Config()
    assert config.listeners() == [DEFAULT_LISTENER]
    assert DEFAULT_LISTENER.endpoint.is_local
    assert DEFAULT_LISTENER.anonymous is None


def test_a_good_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "weft.toml"
    file.write_text(GOOD, encoding="utf-8")
    config = read(file)
    assert config.id == "kyoto-1"
    assert config.broker.limits.packet_bytes_max == 1000
    assert [listener.endpoint.transport for listener in config.listeners()] == ["tcp", "tls", "unix"]
    assert config.listener[2].mode == 0o600
    assert config.rewriter().published("old/x") == "new/x"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("retain", "retian", "w:5: unknown field 'retian' in [broker]; known: "),
        ("packet_bytes_max = 1000", "packet_bytes_max = 0", "w:7: "),
        ('"mqtt://127.0.0.1:1883"', '"http://x"', "w:10: 'http://x' is no listener; known: mqtt://"),
        (', ca = "ca.pem"', "", "w:15: client certificates need 'ca'"),
        ('client_certificates = "required"', 'client_certificates = "yes"', "w:15: 'yes' is no client_certificates"),
        ('"mqtts://*"', '"mqtt://*"', "w:15: mqtt://* is not encrypted; with tls it is mqtts://"),
        ("tls = {", "# tls = {", "w:13: mqtts://* needs a certificate"),
        ('"tenant/"', '"tenant/#"', "w:14: 'tenant/#': a mount point"),
        ('"unix:///run/weft/weft.sock"', '"mqtt://127.0.0.1:1883"', "w:20: proxy.trusted names nobody"),
        (
            '"unix:///run/weft/weft.sock"\nmode = 0o600\nproxy = {}',
            '"mqtt://127.0.0.1"',
            "w:18: mqtt://127.0.0.1:1883 is listed twice",
        ),
        ("proxy = {}", 'proxy = { trusted = ["x"] }', "w:20: proxy.trusted: 'x' does not appear to be"),
        ("proxy = {}", 'websocket = { paths = ["mqtt"] }', "w:20: the paths of a WebSocket start with a slash"),
        ('"127.0.0.1:9001"', '"127.0.0.1"', "w:23: '127.0.0.1': the port is missing"),
        ('"new/$1"', '"new/$2"', "w:26: '$2': the filter has 1 captures"),
        ('"kyoto-1"', '"' + "x" * 300 + '"', "w:1: 'id' is longer than 256 bytes"),
    ],
)
def test_what_is_wrong_is_refused_with_its_line(old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(Misuse) as raised:
        read_text(GOOD.replace(old, new, 1), "w")
    assert str(raised.value).startswith(said)
    assert "\n" not in str(raised.value)
