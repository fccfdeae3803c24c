"""systemd's notification protocol (sd_notify): ready, status, watchdog. Without systemd nothing happens."""

import os
import socket
import time

MESSAGE_BYTES_MAX = 1_024


class Notifier:
    """Talks to the socket that ``NOTIFY_SOCKET`` names; ``watchdog_s`` is how often ``beat`` is wanted, None: never."""

    def __init__(self, environment: "os._Environ[str] | dict[str, str] | None" = None) -> None:
        environment = os.environ if environment is None else environment
        address = environment.get("NOTIFY_SOCKET", "")
        self._address = "\0" + address[1:] if address.startswith("@") else address
        self.watchdog_s = self._watchdog(environment)

    def ready(self, status: str) -> None:
        self._send(f"READY=1\nSTATUS={status}")

    def reloading(self) -> None:
        self._send(f"RELOADING=1\nMONOTONIC_USEC={time.monotonic_ns() // 1000}")

    def status(self, text: str) -> None:
        self._send(f"STATUS={text}")

    def stopping(self) -> None:
        self._send("STOPPING=1\nSTATUS=draining")

    def beat(self) -> None:
        self._send("WATCHDOG=1")

    @staticmethod
    def _watchdog(environment: "os._Environ[str] | dict[str, str]") -> float | None:
        """Half of what systemd allows, if it means this process."""
        microseconds = environment.get("WATCHDOG_USEC", "")
        meant = environment.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
        return int(microseconds) / 2e6 if microseconds.isdigit() and int(microseconds) > 0 and meant else None

    def _send(self, message: str) -> None:
        if not self._address.startswith(("/", "\0")):
            return
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as out:
                out.setblocking(False)
                out.sendto(message.encode()[:MESSAGE_BYTES_MAX], self._address)
        except OSError:
            return  # a supervisor that does not listen is not a reason to stop serving
