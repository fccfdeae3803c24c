"""Loading plugins by name; the example that docs/PLUGINS.md shows does what it says."""

import sys
from pathlib import Path

import pytest

from weft.broker.access.api import Credentials, Denied, Granted, Origin, Subject
from weft.broker.access.settings import PluginSettings
from weft.core.errors import Misuse
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.publication import Publication
from weft.node.plugins import load

HOME = Origin("main", "tcp", "127.0.0.1", 1, is_local=True)
NOON, MIDNIGHT = 12 * 3_600.0, 86_400.0
SETTINGS = {"banned": ["192.0.2.7"], "curfew": {"alice": [8, 20]}, "presence": "presence", "stamp": ["sensors/"]}


@pytest.fixture
def example(monkeypatch):
    """The example, loaded as the broker would."""
    monkeypatch.syspath_prepend(str(Path(__file__).parents[3] / "examples" / "plugins"))
    yield load([PluginSettings("curfew:Curfew", SETTINGS)])
    sys.modules.pop("curfew", None)


def subject(user: str | None, client_id: str = "c1") -> Subject:
    return Subject(client_id, Granted(user), HOME)


def test_the_example_bans_addresses(example):
    far = Origin("main", "tcp", "192.0.2.7", 1, is_local=False)
    verdict = example.connect(NOON, Credentials("c", None, None, far, 5))
    assert isinstance(verdict, Denied)
    assert verdict.reason is Reason.BANNED
    assert example.connect(NOON, Credentials("c", None, None, HOME, 5)) is None


def test_the_example_has_a_curfew(example):
    message = Publication("a", b"x")
    assert example.publish(NOON, subject("alice"), message) is message
    assert example.publish(MIDNIGHT, subject("alice"), message) is Reason.NOT_AUTHORIZED
    assert example.publish(MIDNIGHT, subject("bob"), message) is message
    assert example.publish(MIDNIGHT, subject(None), message) is message


def test_the_example_tells_who_is_there(example):
    example.connected(NOON, subject("bob"))
    example.disconnected(NOON, subject("bob"))
    example.connected(NOON, subject("bob", "a/#"))
    said = example.take(NOON)
    assert [(each.topic, each.payload, each.retain) for each in said] == [
        ("presence/c1", b"online", True),
        ("presence/c1", b"offline", True),
    ]


def test_the_example_stamps_messages(example):
    changed = example.publish(NOON, subject("bob"), Publication("sensors/1", b"x", 1))
    assert changed.properties.user == (("received", "43200.000"),)
    assert (changed.topic, changed.payload, changed.qos) == ("sensors/1", b"x", 1)
    assert example.counters["weft_plugin_errors_total"] == 0


@pytest.mark.parametrize(
    ("use", "said"),
    [
        ("no_such_module:Plugin", "cannot be loaded: ModuleNotFoundError"),
        ("weft.broker.hooks:NoSuch", "cannot be loaded: AttributeError"),
        ("weft.broker.hooks:Plugins", "is no class that derives from"),
        ("weft.broker.hooks:OUTBOX_MAX", "is no class that derives from"),
    ],
)
def test_what_cannot_be_loaded_is_one_line(use, said):
    with pytest.raises(Misuse, match=said):
        load([PluginSettings(use)])


def test_settings_that_a_plugin_refuses_are_one_line(example):
    with pytest.raises(Misuse, match="'curfew:Curfew' refuses its settings: "):
        load([PluginSettings("curfew:Curfew", {"curfew": {"alice": [8]}})])
