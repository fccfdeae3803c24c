"""Plugins: what a class of somebody else may watch, change and decide in a broker, and the fence around it.

A plugin derives from ``Plugin`` and overrides what it wants; what it leaves alone costs nothing, because ``Plugins``
asks only those that override a method. All methods run in the broker's only thread and must be quick; what takes long,
``on_connect`` hands over as ``Work``. A plugin that raises, or answers what it may not, is counted, logged once per
minute and fenced in: what decides fails closed, what only watches is passed over. docs/PLUGINS.md is the author's page.
"""

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal, TypeVar

import msgspec

from weft.broker.access.api import Credentials, Denied, Granted, Subject, Work
from weft.broker.notices import Notices
from weft.mqtt.codec.kinds import Kind
from weft.mqtt.codec.packets import Request
from weft.mqtt.codec.reasons import CODES, Reason
from weft.mqtt.publication import Publication
from weft.telemetry.counters import Counters

T = TypeVar("T")

OUTBOX_MAX = 10_000
"""Messages that one plugin may have waiting for the broker."""
TOPIC_BYTES_MAX = 65_535
QOS = (0, 1, 2)

REFUSED = Denied(Reason.IMPLEMENTATION_SPECIFIC_ERROR, "a plugin failed")
WORK_FAILED = Denied(Reason.IMPLEMENTATION_SPECIFIC_ERROR, "a plugin's work failed")


class Plugin:
    """Override what you need. ``settings`` is the table ``settings`` of the plugin's entry in the configuration.

    ``self.outbox`` takes publications of the plugin's own; the broker publishes them, on behalf of nobody, when the
    method is over. ``self.changed()`` makes the broker forget what it has cached of ``may``.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings = settings
        self.outbox: list[Publication] = []
        self.changed: Callable[[], None] = _nothing

    def on_connect(self, now: float, credentials: Credentials) -> Granted | Denied | Work | None:
        """Before anything else is asked. None: no opinion, go on to certificate, token, password."""
        return None

    def on_connected(self, now: float, subject: Subject) -> None:
        """A client is in."""

    def on_disconnected(self, now: float, subject: Subject) -> None:
        """A client that was in is gone."""

    def on_publish(self, now: float, subject: Subject, publication: Publication) -> Publication | Reason | None:
        """After the access rules. The same or another publication goes on; a ``Reason`` that PUBACK may have refuses it; None
        drops it silently.
        """
        return publication

    def on_subscribe(self, now: float, subject: Subject, request: Request) -> Request | Reason:
        """After the access rules, per filter. The same filter goes on; a ``Reason`` that SUBACK may have refuses it."""
        return request

    def on_unsubscribe(self, now: float, subject: Subject, filter_: str) -> None:
        """A client has unsubscribed."""

    def may(self, subject: Subject, action: str, topic: str, qos: int) -> bool | None:
        """Beside the access rules: False refuses, True allows although no rule does, None leaves it to the rules.

        A deny rule of the file goes before True. The answer is cached per connection until ``changed()`` or a reload.
        """
        return None


class Plugins:
    """All plugins of one broker, in the order of the configuration, as the broker asks them.

    ``sees_publish`` and the others say whether anybody overrides a method: the hot path looks before it calls.
    """

    NONE: ClassVar["Plugins"]

    def __init__(self, plugins: Sequence[tuple[Plugin, Literal["refuse", "pass"]]] = ()) -> None:
        self._plugins = tuple(plugin for plugin, _ in plugins)
        self._passes = {id(plugin) for plugin, on_error in plugins if on_error == "pass"}
        self.counters = Counters()
        self.notices = Notices()
        self._connect = self._those("on_connect")
        self._connected = self._those("on_connected")
        self._disconnected = self._those("on_disconnected")
        self._publish = self._those("on_publish")
        self._subscribe = self._those("on_subscribe")
        self._unsubscribe = self._those("on_unsubscribe")
        self._may = self._those("may")
        self.sees_publish = bool(self._publish)
        self.sees_subscribe = bool(self._subscribe)
        self.decides = bool(self._may)

    def __len__(self) -> int:
        return len(self._plugins)

    def bind(self, counters: Counters, notices: Notices, changed: Callable[[], None]) -> None:
        """Where errors are counted and told, and what ``Plugin.changed`` does."""
        self.counters, self.notices = counters, notices
        for plugin in self._plugins:
            plugin.changed = changed

    def connect(self, now: float, credentials: Credentials) -> Granted | Denied | Work | None:
        """The first opinion. Work is fenced in too: it runs elsewhere, so its error is only an answer."""
        for plugin in self._connect:
            try:
                verdict = plugin.on_connect(now, credentials)
                if isinstance(verdict, Work):
                    return Work(_fenced(verdict.run))
                if isinstance(verdict, Granted | Denied):
                    return _signed(verdict)
                _expect(verdict is None)
            except Exception as error:  # noqa: BLE001 - whatever a plugin raises stays here
                self._failed(now, plugin, "on_connect", error)
                return REFUSED
        return None

    def decided(self, now: float, verdict: Granted | Denied) -> None:
        """The verdict of a ``connect`` or of its ``Work`` is in: an error in another thread is counted here."""
        if verdict is WORK_FAILED:
            self._count(now, "a plugin", "on_connect", "its work raised")

    def connected(self, now: float, subject: Subject) -> None:
        self._tell(now, self._connected, "on_connected", lambda plugin: plugin.on_connected(now, subject))

    def disconnected(self, now: float, subject: Subject) -> None:
        self._tell(now, self._disconnected, "on_disconnected", lambda plugin: plugin.on_disconnected(now, subject))

    def unsubscribed(self, now: float, subject: Subject, filter_: str) -> None:
        self._tell(
            now, self._unsubscribe, "on_unsubscribe", lambda plugin: plugin.on_unsubscribe(now, subject, filter_)
        )

    def publish(self, now: float, subject: Subject, publication: Publication) -> Publication | Reason | None:
        for plugin in self._publish:
            try:
                answer = plugin.on_publish(now, subject, publication)
                if answer is None or isinstance(answer, Reason):
                    _expect(answer is None or _says(answer, Kind.PUBACK))
                    return answer
                publication = _checked(answer)
            except Exception as error:  # noqa: BLE001 - as above
                self._failed(now, plugin, "on_publish", error)
                if id(plugin) not in self._passes:
                    return Reason.IMPLEMENTATION_SPECIFIC_ERROR
        return publication

    def subscribe(self, now: float, subject: Subject, request: Request) -> Request | Reason:
        for plugin in self._subscribe:
            try:
                answer = plugin.on_subscribe(now, subject, request)
                if isinstance(answer, Reason):
                    _expect(_says(answer, Kind.SUBACK))
                    return answer
                request = _like(request, answer)
            except Exception as error:  # noqa: BLE001 - as above
                self._failed(now, plugin, "on_subscribe", error)
                if id(plugin) not in self._passes:
                    return Reason.IMPLEMENTATION_SPECIFIC_ERROR
        return request

    def may(self, now: float, subject: Subject, action: str, topic: str, qos: int) -> bool | None:
        """False if anybody says so; otherwise True if anybody does."""
        allowed: bool | None = None
        for plugin in self._may:
            try:
                answer = plugin.may(subject, action, topic, qos)
                _expect(answer is None or isinstance(answer, bool))
            except Exception as error:  # noqa: BLE001 - as above
                self._failed(now, plugin, "may", error)
                return False
            if answer is False:
                return False
            allowed = answer if allowed is None else allowed
        return allowed

    def take(self, now: float) -> list[Publication]:
        """What plugins want published. Past a bound the newest are dropped, and counted as an error of the plugin."""
        taken: list[Publication] = []
        for plugin in self._plugins:
            if not plugin.outbox:
                continue
            waiting, plugin.outbox = plugin.outbox, []
            try:
                taken += [_checked(publication) for publication in waiting[:OUTBOX_MAX]]
                _expect(len(waiting) <= OUTBOX_MAX)
            except Exception as error:  # noqa: BLE001 - as above
                self._failed(now, plugin, "outbox", error)
        return taken

    def _those(self, method: str) -> tuple[Plugin, ...]:
        own = getattr(Plugin, method)
        return tuple(plugin for plugin in self._plugins if getattr(type(plugin), method) is not own)

    def _tell(self, now: float, plugins: Sequence[Plugin], method: str, call: Callable[[Plugin], None]) -> None:
        for plugin in plugins:
            try:
                call(plugin)
            except Exception as error:  # noqa: BLE001 - as above
                self._failed(now, plugin, method, error)

    def _failed(self, now: float, plugin: Plugin, method: str, error: Exception) -> None:
        self._count(now, type(plugin).__qualname__, method, type(error).__name__)

    def _count(self, now: float, name: str, method: str, error: str) -> None:
        self.counters["weft_plugin_errors_total"] += 1
        self.notices.say_seldom(
            now, "error", "plugin failed", f"{name}.{method}", plugin=name, method=method, error=error
        )


Plugins.NONE = Plugins()


def _nothing() -> None:
    """A plugin that no broker has yet."""


def _expect(holds: bool) -> None:
    if not holds:
        raise TypeError("an answer that this method may not give")


def _says(reason: Reason, kind: Kind) -> bool:
    """A refusal that the client can be told in a packet of that kind [MQTT-3.4.2-1], [MQTT-3.5.2-1], [MQTT-3.9.3-2]."""
    return reason >= Reason.UNSPECIFIED_ERROR and reason in CODES[kind]


def _like(request: Request, answer: object) -> Request:
    """What a plugin makes of a request has the same filter: the client could not unsubscribe from another."""
    if not isinstance(answer, Request) or answer.filter != request.filter or answer.qos not in QOS:
        raise TypeError("an answer that this method may not give")
    return answer


def _checked(publication: object) -> Publication:
    """What a plugin made up must be a publication, with a topic that may be published to."""
    if not isinstance(publication, Publication):
        raise TypeError("an answer that this method may not give")
    topic = publication.topic
    if not topic or any(letter in topic for letter in "+#\0") or len(topic.encode()) > TOPIC_BYTES_MAX:
        raise ValueError("a topic that nobody may publish to")
    return publication


def _fenced(run: Callable[[], Granted | Denied]) -> Callable[[], Granted | Denied]:
    def fenced() -> Granted | Denied:
        try:
            verdict = run()
            _expect(isinstance(verdict, Granted | Denied))
        except Exception:  # noqa: BLE001 - whatever a plugin raises stays here, in whichever thread
            return WORK_FAILED
        return _signed(verdict)

    return fenced


def _signed(verdict: Granted | Denied) -> Granted | Denied:
    return msgspec.structs.replace(verdict, by="plugin") if isinstance(verdict, Granted) and not verdict.by else verdict
