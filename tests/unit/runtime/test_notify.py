"""What systemd is told, and that its absence does not matter."""

import os
import socket
from pathlib import Path

import pytest

from weft.runtime.notify import MESSAGE_BYTES_MAX, Notifier


def test_each_message_is_one_datagram(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as supervisor:
        supervisor.bind(str(tmp_path / "s"))
        notifier = Notifier({"NOTIFY_SOCKET": str(tmp_path / "s")})
        notifier.ready("x" * 5000)
        notifier.reloading()
        notifier.status("busy")
        notifier.stopping()
        notifier.beat()
        said = [supervisor.recv(10_000).decode() for _ in range(5)]
    assert said[0].startswith("READY=1\nSTATUS=x")
    assert len(said[0]) == MESSAGE_BYTES_MAX
    assert said[1].startswith("RELOADING=1\nMONOTONIC_USEC=")
    assert said[2:] == ["STATUS=busy", "STOPPING=1\nSTATUS=draining", "WATCHDOG=1"]


@pytest.mark.parametrize("address", ["", "nonsense", "/none/such", "@weft-no-such-socket"])
def test_without_a_supervisor_nothing_happens(address: str) -> None:
    Notifier({"NOTIFY_SOCKET": address}).ready("x")


@pytest.mark.parametrize(
    ("environment", "seconds"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "3000000"}, 1.5),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": str(os.getpid())}, 1.5),
        ({"WATCHDOG_USEC": "3000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_watchdog_wants_a_beat_in_half_its_time(environment: dict[str, str], seconds: float | None) -> None:
    assert Notifier(environment).watchdog_s == seconds
