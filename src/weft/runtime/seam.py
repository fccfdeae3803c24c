"""What the driver needs of a broker and of its connections; ``weft.broker.broker`` has the real ones.

In     ``accept``, ``receive``, ``lost``, ``trim``, ``verdict``, ``timeout``, ``committed``, ``press``,
       ``begin_drain``: all with the time.
Out    ``dirty`` and what each connection in it wants, ``works``, ``deadline``, the journal's batches, notices.
Never  a call back into the driver: it looks when a tick is over.
"""

from collections.abc import Callable, Sized
from typing import Any, Protocol

from weft.broker.access.api import Origin
from weft.broker.journal import Journal
from weft.broker.notices import Notices
from weft.broker.settings import BrokerSettings
from weft.telemetry.counters import Counters


class Connection(Protocol):
    """``out`` is written in order and emptied by the driver; each chunk is whole packets."""

    out: list[bytes]
    closing: bool
    reading: bool

    @property
    def replays(self) -> Sized | None: ...

    def refill(self, now: float) -> None: ...

    def receive(self, now: float, data: bytes) -> None: ...

    def lost(self, now: float, why: str) -> None: ...

    def verdict(self, now: float, result: Any) -> None: ...

    def trim(self, now: float, bytes_max: int) -> None: ...


class Broker(Protocol):
    """The lists belong to the broker; the driver empties them in place."""

    settings: BrokerSettings
    counters: Counters
    notices: Notices
    journal: Journal
    dirty: list[Any]
    works: list[tuple[Any, Callable[[], Any]]]

    @property
    def deadline(self) -> float | None: ...

    def accept(self, now: float, origin: Origin) -> Any: ...

    def timeout(self, now: float) -> None: ...

    def committed(self, now: float, batch: int) -> None: ...

    def begin_drain(self, now: float) -> None: ...

    def press(self, now: float, is_high: bool) -> None: ...


class Driver(Protocol):
    """What a link tells its host."""

    broker: Broker
    counters: Counters
    is_awake: bool

    def now(self) -> float: ...

    def opened(self, link: Any, origin: Origin) -> bool:
        """False: the broker wants no more connections."""

    def wake(self) -> None:
        """Something happened."""

    def behind(self, link: Any, buffered: int) -> None:
        """The socket takes no more; so much waits in its transport."""

    def relieved(self, link: Any) -> None:
        """It takes more again."""

    def ending(self, link: Any) -> None:
        """It is about to close."""

    def gone(self, link: Any, why: str) -> None:
        """It is closed."""


class Clocked(Protocol):
    """Something beside the broker that wants to be called when a time has come: ``$SYS``, a bridge."""

    @property
    def deadline(self) -> float | None: ...

    def timeout(self, now: float) -> None: ...
