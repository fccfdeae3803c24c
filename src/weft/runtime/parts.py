"""What a running broker is made of, for those who watch it and change it: the admin interface, a reload."""

from pathlib import Path

from weft.broker.access.authority import Access
from weft.broker.broker import Broker
from weft.core.errors import Misuse
from weft.node.config import Config
from weft.runtime.durable import Durable
from weft.runtime.host import Host
from weft.runtime.listeners import Listening


class Parts:
    """``config`` is what is in force. ``folder``: what file names in the configuration are relative to."""

    def __init__(
        self, config: Config, folder: Path, access: Access, durable: Durable | None, broker: Broker, host: Host
    ) -> None:
        self.config = config
        self.folder = folder
        self.access = access
        self.durable = durable
        self.broker = broker
        self.host = host
        self.listening: list[Listening] = []
        self.is_draining = False

    @property
    def trouble(self) -> str | None:
        """Why clients should not come; None: ready."""
        if self.is_draining:
            return "draining"
        return self.durable.trouble if self.durable is not None else None

    def gauges(self) -> dict[str, float]:
        """What only the host knows."""
        found = {"weft_out_buffer_bytes": float(self.host.pressure.total)}
        return found | self.durable.gauges() if self.durable is not None else found

    def read(self, path: Path) -> bytes:
        """A file that the configuration names."""
        return read(self.folder, path)


def read(folder: Path, path: Path) -> bytes:
    """The same before there are any parts."""
    try:
        return (folder / path).read_bytes()
    except OSError as error:
        raise Misuse(f"{folder / path}: cannot be read: {error.strerror}") from error
