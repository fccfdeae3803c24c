"""``[[bridge]]``: one other broker, and what crosses."""

from typing import Annotated, Literal

import msgspec

from weft.broker.bridge.filters import intersect
from weft.broker.settings import Count, Seconds
from weft.core.errors import Misuse
from weft.mqtt.client.endpoint import parse
from weft.mqtt.codec.reasons import Refused
from weft.mqtt.topics import check_filter, has_wildcards

NAME_CHARS_MAX = 64
BRIDGES_MAX = 100
TOPICS_MAX = 1_000
"""Entries of ``topics`` in one bridge."""


class Topic(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What crosses. Here the topics are ``local_prefix`` + ``filter``, there ``remote_prefix`` + ``filter``."""

    filter: str
    """A topic filter; shared subscriptions do not cross."""
    direction: Literal["in", "out", "both"] = "out"
    """``in``: from the other broker to this one; ``out``: from this one to the other."""
    qos: Annotated[int, msgspec.Meta(ge=0, le=2)] = 1
    """Highest quality of service; a message crosses with this or its own, whichever is lower."""
    local_prefix: str = ""
    """Empty, or ends with a slash."""
    remote_prefix: str = ""
    """Empty, or ends with a slash."""

    @property
    def local(self) -> str:
        return self.local_prefix + self.filter

    @property
    def remote(self) -> str:
        return self.remote_prefix + self.filter

    @property
    def goes_in(self) -> bool:
        return self.direction != "out"

    @property
    def goes_out(self) -> bool:
        return self.direction != "in"


class BridgeTls(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """TLS of a bridge; without ``ca``, what the system trusts."""

    ca: str = ""
    """PEM file with the authorities that sign the other broker's certificate."""
    cert: str = ""
    """PEM file with this broker's certificate, if the other wants one."""
    key: str = ""
    """PEM file with its private key."""
    server_name: str = ""
    """Name to ask for and to check; empty: the host of ``url``."""
    insecure: bool = False
    """Do not check the other broker's certificate: for tests only."""


class BridgeSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A bridge to a broker of any make that speaks MQTT 3.1.1 or 5."""

    name: str
    """Its name in logs; its session in this broker is ``$bridge/NAME``."""
    url: str
    """mqtt:// mqtts:// ws:// wss:// or unix:// of the other broker."""
    topics: list[Topic]
    """What crosses."""
    version: Literal["auto", "5", "3.1.1"] = "auto"
    """``auto``: 5, and 3.1.1 if the other broker does not know it."""
    client_id: str = ""
    """Client id at the other broker; empty: ``weft-`` with this broker's id and the bridge's name."""
    username: str = ""
    """User name at the other broker; empty: none."""
    password_file: str = ""
    """The password is the first line of this file."""
    tls: BridgeTls = BridgeTls()
    keep_alive_s: Annotated[int, msgspec.Meta(ge=5, le=65_535)] = 60
    """Keep-alive of the connection to the other broker."""
    session_expiry_s: Annotated[int, msgspec.Meta(ge=0, le=0xFFFF_FFFF)] = 86_400
    """How long the other broker keeps messages for us while there is no connection (MQTT 5; before, as it likes)."""
    inflight_max: Annotated[int, msgspec.Meta(ge=1, le=10_000)] = 100
    """QoS 1 and 2 messages under way, in each direction."""
    buffer_bytes_max: Count = 1_048_576
    """Output for the other broker past which its QoS 0 messages are dropped and its others wait in the session."""
    demand: Literal["auto", "ack", "always"] = "auto"
    """``auto``: fetch what local clients subscribe to, and send QoS 0 only where it is heard; ``ack``: send nothing at
    any QoS where it is not heard; ``always``: everything."""
    linger_s: Seconds = 60.0
    """How long a subscription at the other broker outlives the last local one."""
    probe_s: Annotated[float, msgspec.Meta(ge=0.1)] = 10.0
    """How long a topic that nobody hears is left alone before it is tried again."""
    retry_first_s: Annotated[float, msgspec.Meta(gt=0)] = 1.0
    """First wait before connecting again; it doubles up to ``retry_max_s``."""
    retry_max_s: Annotated[float, msgspec.Meta(gt=0)] = 60.0
    """The longest wait before connecting again."""


def check_all(bridges: list[BridgeSettings]) -> None:
    """Each by itself, and no two of one name."""
    if len(bridges) > BRIDGES_MAX:
        raise Misuse(f"{len(bridges)} bridges; {BRIDGES_MAX} at most")
    names: set[str] = set()
    for each in bridges:
        check(each)
        if each.name in names:
            raise Misuse(f"two bridges are called '{each.name}'")
        names.add(each.name)


def check(settings: BridgeSettings) -> None:
    """What the types cannot say; ``Misuse`` if it does not hold."""
    name = settings.name
    if not 0 < len(name) <= NAME_CHARS_MAX or not all(c.isalnum() or c in "-_." for c in name):
        raise Misuse(f"bridge '{name}': a name is 1 to {NAME_CHARS_MAX} letters, digits, '-', '_' or '.'")
    if not 0 < len(settings.topics) <= TOPICS_MAX:
        raise Misuse(f"bridge '{name}': give 1 to {TOPICS_MAX} topics")
    parse(settings.url)
    for topic in settings.topics:
        for prefix in (topic.local_prefix, topic.remote_prefix):
            if prefix and (not prefix.endswith("/") or has_wildcards(prefix) or prefix.startswith("$share/")):
                raise Misuse(f"bridge '{name}': prefix '{prefix}': end it with a slash, and use no wildcards")
        for filter_ in (topic.filter, topic.local, topic.remote):
            try:
                check_filter(filter_)
            except Refused as error:
                raise Misuse(f"bridge '{name}': filter '{filter_}': {error}") from None
            if filter_.startswith("$share/"):
                raise Misuse(f"bridge '{name}': filter '{filter_}': shared subscriptions do not cross a bridge")
    _check_overlaps(settings, [topic.remote for topic in settings.topics if topic.goes_in], "in")
    _check_overlaps(settings, [topic.local for topic in settings.topics if topic.goes_out], "out")


def _check_overlaps(settings: BridgeSettings, filters: list[str], direction: str) -> None:
    """One message, one way across: where filters overlap, a broker may give us one copy for each subscription."""
    for at, one in enumerate(filters):
        for other in filters[:at]:
            if intersect(one, other) is not None:
                raise Misuse(f"bridge '{settings.name}': '{other}' and '{one}' overlap in the direction {direction}")
