"""What the handlers of the admin interface may use: the broker, and those parts of the process that its host lends them."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Literal

from weft.broker.admin import Admin
from weft.broker.broker import Broker
from weft.core.errors import Misuse
from weft.telemetry.gauges import Gauges
from weft.telemetry.histograms import Histograms

Level = Literal["debug", "info", "warning", "error"]


class LogLevel:
    """The log's level: ``get`` and ``set`` are the host's; without them it cannot be changed."""

    def __init__(self, get: Callable[[], Level] = lambda: "info", put: Callable[[Level], None] | None = None) -> None:
        self._get = get
        self._put = put

    def get(self) -> Level:
        return self._get()

    def set(self, level: Level) -> None:
        if self._put is None:
            raise Misuse("this process does not let its log level be changed")
        self._put(level)


class Desk:
    """All that is optional has a default with which the interface works; the host replaces what it has.

    ``clock``    driver time, as the broker knows it
    ``wake``     the broker has something to write: let the driver's tick run soon
    ``trouble``  why clients should not come (draining, the store is broken); None: ready
    ``gauges``   what only the host knows: store size, journal, file descriptors
    ``reload``   reads the configuration again; answers with what changed, or raises ``Misuse``
    """

    def __init__(
        self,
        broker: Broker,
        clock: Callable[[], float],
        wake: Callable[[], None] = lambda: None,
        *,
        trouble: Callable[[], str | None] = lambda: None,
        gauges: Callable[[], Mapping[str, float]] = dict,
        reload: Callable[[], Awaitable[list[str]]] | None = None,
        log_level: LogLevel | None = None,
        histograms: Histograms | None = None,
    ) -> None:
        self.broker = broker
        self.clock = clock
        self.wake = wake
        self.trouble = trouble
        self.host_gauges = gauges
        self.reload = reload
        self.log_level = log_level or LogLevel()
        self.histograms = histograms or Histograms()
        self.admin = Admin(broker, clock())

    def measure(self, gauges: Gauges) -> None:
        """What the host knows."""
        for name, value in self.host_gauges().items():
            gauges.say(name, value)
