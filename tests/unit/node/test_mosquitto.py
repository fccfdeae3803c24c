"""mosquitto.conf as weft.toml: what is translated reads as a configuration, what is not is a comment."""

import pytest

from weft.core.errors import Misuse
from weft.node.config import Config, Listener, TlsSettings, WebSocket, read_text
from weft.node.mosquitto import LINES_MAX, translate

CONF = """\
# a comment
persistence true
persistence_location /var/lib/mosquitto/
allow_anonymous false
password_file /etc/mosquitto/passwd
acl_file /etc/mosquitto/acl
max_packet_size 2000
max_inflight_messages 0
max_qos 1
message_size_limit 0
persistent_client_expiration 14d
queue_qos0_messages true
log_type warning
log_type all

listener 1883

listener 8883 ::1
cafile /ca.pem
certfile /cert.pem
keyfile /key.pem
require_certificate true
use_identity_as_username true
tls_version tlsv1.3
mount_point tenant/

listener 8080 127.0.0.1
protocol websockets

listener 0 /run/mosquitto.sock

connection elsewhere
address example.org
"""


def test_what_has_a_counterpart_is_translated() -> None:
    config = read_text(translate(CONF, "x.conf"))
    assert config.data_dir == "/var/lib/mosquitto/"
    assert config.access.anonymous is False
    assert config.access.password_file == "/etc/mosquitto/passwd"
    assert config.access.certificate_user == "common-name"
    assert config.broker.queue_qos0 is True
    assert config.broker.limits.packet_bytes_max == 2000
    assert config.broker.limits.inflight_max == Config().broker.limits.inflight_max
    assert config.broker.limits.qos_max == 1
    assert config.broker.limits.session_expiry_max_s == 14 * 86_400
    assert config.log.level == "debug"
    tls = TlsSettings(cert="/cert.pem", key="/key.pem", ca="/ca.pem", client_certificates="required", version_min="1.3")
    assert config.listener == [
        Listener("mqtt://*:1883"),
        Listener("mqtts://[::1]:8883", mount="tenant/", tls=tls),
        Listener("ws://127.0.0.1:8080", websocket=WebSocket()),
        Listener("unix:///run/mosquitto.sock"),
    ]


def test_what_has_none_is_a_comment_with_its_line() -> None:
    text = translate(CONF, "x.conf")
    assert "# line 6: acl_file /etc/mosquitto/acl  ('weft config import --acl FILE" in text
    assert "# line 10: message_size_limit 0  (no counterpart)" in text
    assert "# line 32: connection elsewhere  (bridges: see [[bridge]])" in text
    assert "# line 33: address example.org" in text


@pytest.mark.parametrize(
    "line",
    [
        "listener",
        "listener x",
        "port many",
        "protocol smtp",
        "allow_anonymous maybe",
        "persistence perhaps",
        "tls_version tlsv1",
        "persistent_client_expiration soon",
        "max_qos low",
        "require_certificate maybe",
        "log_type loud",
        "text",
        "take 5",
        "_listener x",
    ],
)
def test_what_is_not_understood_is_a_comment_and_the_rest_is_good(line: str) -> None:
    text = translate(line, "x.conf")
    assert f"# line 1: {line}" in text
    assert read_text(text).listeners() == [Listener("mqtt://127.0.0.1:1883")]


def test_the_old_way_to_say_where_to_listen() -> None:
    assert read_text(translate("port 1884\nbind_address 10.0.0.1", "x")).listener == [Listener("mqtt://10.0.0.1:1884")]


def test_a_file_without_end_is_refused() -> None:
    with pytest.raises(Misuse):
        translate("\n" * (LINES_MAX + 2), "x")
