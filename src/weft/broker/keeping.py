"""Which messages the store holds: one copy each, however many sessions wait for it, gone when nobody does."""

from weft.broker.journal import Journal
from weft.broker.records import MessageGone, MessageKept
from weft.mqtt.codec.properties import pack
from weft.mqtt.publication import Publication


class Keeping:
    """Invariant: a publication with ``refs`` > 0 is in the store (once its batch is committed) under its ``number``."""

    def __init__(self, journal: Journal) -> None:
        self.journal = journal
        self.last_number = 0

    def keep(self, publication: Publication) -> int:
        """One more needs it; the answer is its number."""
        if not publication.refs:
            self.last_number += 1
            publication.number = self.last_number
            self.journal.append(
                MessageKept(
                    publication.number,
                    publication.topic,
                    publication.payload,
                    publication.qos,
                    publication.retain,
                    pack(publication.properties),
                    publication.expires_at,
                    publication.publisher,
                    publication.user,
                )
            )
        publication.refs += 1
        return publication.number

    def drop(self, publication: Publication) -> None:
        """One fewer needs it."""
        publication.refs -= 1
        if not publication.refs:
            self.journal.append(MessageGone(publication.number))
            publication.number = 0
