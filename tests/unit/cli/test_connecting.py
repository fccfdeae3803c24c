"""From options to a plan: which broker, as whom, with what."""

import pytest

from weft.cli.connecting import FOREVER, Options, older, plan, refusal
from weft.core.errors import Misuse
from weft.mqtt.client.events import Refused
from weft.mqtt.codec.packets import Will
from weft.mqtt.codec.properties import Properties


@pytest.mark.parametrize(
    ("options", "where"),
    [
        ({}, "mqtt://localhost:1883"),
        ({"tls": True}, "mqtts://localhost:8883"),
        ({"port": 8883}, "mqtts://localhost:8883"),
        ({"host": "::1", "port": 1}, "mqtt://[::1]:1"),
        ({"ws": True}, "ws://localhost:8083/mqtt"),
        ({"ws": True, "tls": True, "ws_path": "/x"}, "wss://localhost:8084/x"),
        ({"url": "mqtts://h"}, "mqtts://h:8883"),
        ({"url": "wss://h/p?q=1"}, "wss://h:8084/p?q=1"),
        ({"url": "unix:///run/x.sock"}, "unix:///run/x.sock"),
    ],
)
def test_options_say_where(options, where):
    assert str(plan(Options(**options)).endpoint) == where


def test_a_url_has_user_password_and_topic():
    planned = plan(Options(url="mqtt://me:p%40ss@h:99/a/%23", user="other"))
    assert (planned.connect.username, planned.connect.password, planned.topic) == ("me", b"p@ss", "a/#")


def test_the_password_may_lie_in_a_file(tmp_path):
    file = tmp_path / "secret"
    file.write_bytes(b"p\xffss \r\nsecond line\n")
    assert plan(Options(user="me", password_file=file)).connect.password == b"p\xffss "
    with pytest.raises(Misuse, match="either a password or"):
        plan(Options(user="me", password="x", password_file=file))


@pytest.mark.parametrize(
    ("options", "version", "clean", "expiry"),
    [
        ({}, 5, True, None),
        ({"version": "mqttv311"}, 4, True, None),
        ({"version": "3.1"}, 3, True, None),
        ({"keep": True, "client_id": "c"}, 5, False, FOREVER),
        ({"keep": True, "client_id": "c", "expiry": "60"}, 5, False, 60),
        ({"keep": True, "client_id": "c", "version": "3.1.1"}, 4, False, None),
        ({"expiry": "-1"}, 5, True, FOREVER),
        ({"expiry": "∞"}, 5, True, FOREVER),
    ],
)
def test_sessions_are_kept_by_mosquittos_rules(options, version, clean, expiry):
    connect = plan(Options(**options)).connect
    assert (connect.version, connect.clean_start, connect.properties.session_expiry_s) == (version, clean, expiry)


def test_a_will_has_its_properties():
    options = Options(
        will_topic="w", will_payload="gone", will_qos=1, will_retain=True,
        properties=['["will", "will-delay-interval", "5"]'],
    )  # fmt: skip
    assert plan(options).connect.will == Will("w", b"gone", 1, True, Properties(will_delay_s=5))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"version": "4"}, "unknown version; known: 3.1, 3.1.1, 5"),
        ({"keep": True}, "give one with -i"),
        ({"expiry": "x"}, "give seconds"),
        ({"expiry": "1", "version": "3.1.1"}, "-x needs MQTT 5"),
        ({"password": "x", "version": "3.1.1"}, "needs a user name"),
        ({"will_payload": "x"}, "needs --will-topic"),
        ({"client_id": "a", "id_prefix": "b"}, "either -i or -I"),
        ({"url": "h:1883"}, "no URL of a broker"),
        ({"url": "mqtt:///t"}, "the host is missing"),
        ({"url": "unix://x"}, "unix:///path/of/socket"),
        ({"url": "mqtt://h:99999"}, "no URL"),
    ],
)
def test_what_does_not_fit_together_is_said(options, said):
    with pytest.raises(Misuse, match=said):
        plan(Options(**options))


def test_version_3_1_1_is_tried_only_if_nobody_asked_for_5():
    refused = Refused(0x84, "", False)
    fallback = older(plan(Options()), refused)
    assert fallback is not None
    assert fallback.connect.version == 4
    assert older(fallback, refused) is None
    assert older(plan(Options(version="5")), refused) is None
    assert older(plan(Options()), Refused(0x86, "", False)) is None


def test_a_refusal_says_what_to_do():
    text = str(refusal(plan(Options()), Refused(0x86, "bad user name or password", False)))
    assert text == "mqtt://localhost:1883 refused the connection: bad user name or password: check -u and -P"
