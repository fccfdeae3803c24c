"""How many messages of each type were sent, delivered, dropped, and over how many links.

Invariant: for each type, sent + doubled = delivered + dropped + under way (held back at a paused host counts as that).
"""

from collections import Counter

from weft.core.machine import Message


class Tally:
    """The counts of one message type; ``links`` are the links that its delivered messages crossed."""

    __slots__ = ("delivered", "doubled", "dropped", "links", "sent")

    def __init__(self) -> None:
        self.sent = 0
        self.delivered = 0
        self.dropped = 0
        self.doubled = 0
        self.links = 0


class Tallies(dict[type[Message], Tally]):
    """By message type; read by name through ``named``."""

    def __missing__(self, kind: type[Message]) -> Tally:
        tally = self[kind] = Tally()
        return tally

    def named(self, count: str) -> Counter[str]:
        """One of the counts, by type name, in name order; types that share a name are added up."""
        names: Counter[str] = Counter()
        for kind, tally in sorted(self.items(), key=lambda item: item[0].__name__):
            if number := getattr(tally, count):
                names[kind.__name__] += number
        return names
