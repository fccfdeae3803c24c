"""A broker process with a password file, rules and the example plugin: what docs/SECURITY.md and docs/PLUGINS.md promise."""

import subprocess
from pathlib import Path

import pytest

from broker_process import WEFT, Client, broker

pytestmark = pytest.mark.live

CONFIG = """
[[listener]]
url = "mqtt://127.0.0.1:0"

[access]
password_file = "users.pw"
acl_file = "rules.acl"

[[access.plugins]]
use = "curfew:Curfew"
settings = { presence = "presence", curfew = { bob = [0, 0] } }
"""
RULES = """
authenticated
    allow read      presence/#
    allow readwrite home/%u/#
user bob
    allow write     shared
"""
NOT_AUTHORISED_V311, REFUSED_SUBACK_V311, REFUSED_V5 = 4, 0x80, 0x87


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With everything that the configuration names."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2] / "examples" / "plugins"))
    (tmp_path / "weft.toml").write_text(CONFIG)
    (tmp_path / "rules.acl").write_text(RULES)
    for user in ("alice", "bob"):
        command = [*WEFT, "passwd", "--password-stdin", str(tmp_path / "users.pw"), user]
        subprocess.run(command, input=f"{user}'s\n", text=True, check=True, capture_output=True, timeout=60)
    return tmp_path


def test_passwords_rules_and_a_plugin_in_one_process(folder: Path) -> None:
    with broker(folder, "--config", str(folder / "weft.toml")) as process:
        port = process.ports[0]
        with Client(port) as alice, Client(port, version=5) as bob, Client(port) as guesser:
            assert guesser.connect("x", "alice", "guess") == NOT_AUTHORISED_V311
            assert alice.connect("a1", "alice", "alice's") == 0
            assert alice.subscribe("presence/b1", qos=0) == 0
            assert alice.subscribe("#") == REFUSED_SUBACK_V311
            assert alice.subscribe("home/alice/#") == 0
            assert bob.connect("b1", "bob", "bob's") == 0
            assert alice.message() == ("presence/b1", b"online")
            alice.publish("home/alice/x", b"mine")
            assert alice.message() == ("home/alice/x", b"mine")
            bob.send(0x32, b"\x00\x06shared\x00\x07\x00past his curfew")
            first, answer = bob.hear()
            assert (first, answer[2]) == (0x40, REFUSED_V5)
            assert bob.subscribe("home/alice/#") == REFUSED_V5
        assert process.end() == 0
