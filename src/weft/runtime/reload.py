"""SIGHUP: what a new configuration changes in a broker that runs, and what it cannot.

Everything that may be wrong is read and checked first; only then is anything changed, so a bad file leaves the old state whole.
Certificates and access files are read again even if the configuration says the same as before: that is what SIGHUP is for.
"""

import msgspec
import structlog

from weft.broker.hub import FIXED
from weft.broker.settings import BrokerSettings
from weft.node.config import Config
from weft.runtime import logs
from weft.runtime.adminport import AdminPort
from weft.runtime.parts import Parts

FOR_GOOD = ("id", "cluster", "data_dir", "listener", "store", "admin", "rewrite", "bridge")
"""Sections that are read at the start only; the files that they name are read again."""

log = structlog.get_logger("weft")


class Reloading:
    """``to`` brings a broker to a new configuration, as far as possible while it runs."""

    def __init__(self, parts: Parts, admin: AdminPort) -> None:
        self._parts = parts
        self._admin = admin

    def to(self, new: Config) -> list[str]:
        """What has changed, in words; ``Misuse`` and nothing has."""
        parts, old = self._parts, self._parts.config
        changed: list[str] = []
        if new.access.plugins != old.access.plugins:
            log.warning("needs a restart", section="access.plugins")
        self._certificates(changed)
        parts.access.reload(new.access, parts.read)
        parts.broker.reloaded(parts.host.now())
        changed.append("access")
        if self._admin.reload():
            changed.append("admin.token_file")
        if new.log != old.log:
            logs.configure(new.log, old.id)
            changed.append("log")
        broker = self._broker(new)
        if broker != old.broker:
            parts.broker.configure(broker)
            parts.host.pressure.limits = broker.limits
            changed.append("broker")
        for name in FOR_GOOD:
            if getattr(new, name) != getattr(old, name):
                log.warning("needs a restart", section=name)
        parts.config = msgspec.structs.replace(
            old, broker=broker, access=new.access, log=new.log, drain_timeout_s=new.drain_timeout_s
        )
        return changed

    def _certificates(self, changed: list[str]) -> None:
        """All contexts are made before the first is used."""
        listening = self._parts.listening
        made = [each.prepare() for each in listening]
        for each, context in zip(listening, made, strict=True):
            if context is not None:
                each.use(context)
                changed.append(f"certificates of {each.settings.url}")

    def _broker(self, new: Config) -> BrokerSettings:
        """The new broker settings, but for those that were chosen for good."""
        old = self._parts.config.broker
        for name in FIXED:
            if getattr(new.broker, name) != getattr(old, name):
                log.warning("needs a restart", section=f"broker.{name}")
        return msgspec.structs.replace(new.broker, **{name: getattr(old, name) for name in FIXED})
