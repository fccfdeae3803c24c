"""One publication on its way to one session."""

from typing import Any

from weft.mqtt.publication import Publication


class Delivery:
    """Where it stands: ``packet_id`` 0 is queued; else sent; ``released`` once PUBREC came and PUBREL is what is owed.

    ``publication`` is None after the release (only the identifier is still needed), and for deliveries that no restart and no
    reconnection will ever ask for again. ``position`` orders the deliveries of a session, also in the store. ``group`` is the
    shared subscription that chose this session, for when it dies before it has acknowledged (§4.8.2).
    """

    __slots__ = ("group", "identifiers", "packet_id", "position", "publication", "qos", "released", "retain")

    def __init__(
        self,
        publication: Publication | None,
        qos: int,
        retain: bool = False,
        identifiers: tuple[int, ...] = (),
        group: Any = None,
    ) -> None:
        self.publication = publication
        self.qos = qos
        self.retain = retain
        self.identifiers = identifiers
        self.group = group
        self.position = 0
        self.packet_id = 0
        self.released = False


FLEETING = Delivery(None, 1)
"""All QoS 1 deliveries to sessions that end with their connection: nothing of them is ever needed but the identifier."""
FLEETING_2, FLEETING_RELEASED = Delivery(None, 2), Delivery(None, 2)
"""The same at QoS 2, before and after PUBREC."""
FLEETING_RELEASED.released = True
