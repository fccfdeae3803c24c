"""An example of a plugin: banned addresses, a curfew for some users, presence messages, and time stamps on messages.

    [[access.plugins]]
    use = "curfew:Curfew"            # the folder of this file is on PYTHONPATH
    settings.banned = ["192.0.2.7"]
    settings.curfew = { alice = [8, 20] }      # alice may publish from 8:00 to 20:00 UTC only
    settings.presence = "presence"             # presence/<client id>: online or offline, retained
    settings.stamp = ["sensors/"]              # topics that get the user property "received"

docs/PLUGINS.md explains each method.
"""

from typing import Any

from weft.broker.access.api import Credentials, Denied, Granted, Subject, Work
from weft.broker.hooks import Plugin
from weft.mqtt.codec.properties import Properties
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.publication import Publication

DAY_S, HOUR_S = 86_400, 3_600


class Curfew(Plugin):
    """Bad settings raise here: the broker then refuses to start, with one line that names this plugin."""

    def __init__(self, settings: dict[str, Any]) -> None:
        super().__init__(settings)
        self.banned = frozenset(settings.get("banned", []))
        self.curfew = {user: (int(first), int(last)) for user, (first, last) in settings.get("curfew", {}).items()}
        self.presence = str(settings.get("presence", ""))
        self.stamp = tuple(settings.get("stamp", []))

    def on_connect(self, now: float, credentials: Credentials) -> Granted | Denied | Work | None:
        """Only an objection: who may come in, the rest of the configuration says."""
        if credentials.origin.address in self.banned:
            return Denied(Reason.BANNED, f"{credentials.origin.address} is banned")
        return None

    def on_connected(self, now: float, subject: Subject) -> None:
        self._say(subject, b"online")

    def on_disconnected(self, now: float, subject: Subject) -> None:
        self._say(subject, b"offline")

    def on_publish(self, now: float, subject: Subject, publication: Publication) -> Publication | Reason | None:
        """Time is ``now``, seconds since 1970: a plugin that asks a clock of its own cannot be tested."""
        first, last = self.curfew.get(subject.granted.user or "", (0, 24))
        if not first <= now % DAY_S // HOUR_S < last:
            return Reason.NOT_AUTHORIZED
        if self.stamp and publication.topic.startswith(self.stamp):
            return stamped(publication, now)
        return publication

    def _say(self, subject: Subject, payload: bytes) -> None:
        name = subject.client_id
        if self.presence and not any(letter in name for letter in "+#/\0"):
            self.outbox.append(Publication(f"{self.presence}/{name}", payload, qos=1, retain=True))


def stamped(publication: Publication, now: float) -> Publication:
    """A publication is shared and never changed: this is another one."""
    sent = publication.properties
    properties = Properties(
        payload_format=sent.payload_format,
        content_type=sent.content_type,
        response_topic=sent.response_topic,
        correlation_data=sent.correlation_data,
        user=(*sent.user, ("received", f"{now:.3f}")),
    )
    return Publication(
        publication.topic,
        publication.payload,
        publication.qos,
        publication.retain,
        properties,
        publication.expires_at,
        publication.publisher,
        publication.user,
    )
