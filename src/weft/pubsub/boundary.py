"""The boundary rule: a member at the edge of its segment looks at its neighbour's key, nothing else (RELAY §5.3.3).

``Answer`` is what follows ``pub`` in a topic: the order of the next segment that has members, or ``NOBODY``. Segments are
contiguous (RELAY §5.3.1), so the right neighbour of the last publisher, the rendezvous point, decides it alone: another topic's
key, or the key at which the ring begins anew, means that nobody listens.
"""

from hashlib import blake2b

from weft.overlay.keys import ALM, PUB, Key, KeyRange, segment_range

Place = tuple[str, str]
"""(shape, literals): a topic or a filter."""

NOBODY = 0
"""The answer that suspends; others are the order of a segment: alm, ofm, share."""
LISTENING = ALM.order
ANSWER_MAX = 3

_DIGEST_BYTES = 8


def place_of(key: Key) -> Place:
    return key.shape, key.literals


def members(place: Place) -> KeyRange:
    """The segment that a publication goes to."""
    return segment_range(*place, ALM)


def publishers(place: Place) -> KeyRange:
    """The segment that a signal goes to."""
    return segment_range(*place, PUB)


def is_publisher_beside(key: Key, other: Key) -> bool:
    """Is ``other`` another publisher of ``key``'s topic?"""
    return other != key and place_of(other) == place_of(key) and other.segment == PUB


def seen(key: Key, right: Key) -> int | None:
    """What publisher ``key`` concludes from its right neighbour; None if that is a publisher too: it is not at the edge."""
    if place_of(right) != place_of(key) or right <= key:
        return NOBODY
    return None if right.segment == PUB else right.segment.order


def note(place: Place, answer: int) -> bytes:
    """What a newcomer right of a publisher is told (RELAY §5.3.5). It names the topic: predecessors may be of another."""
    return bytes([answer]) + _digest(place)


def noted(place: Place, text: bytes) -> int | None:
    """The answer in a note, or None if it is no publisher's of this topic."""
    if len(text) != 1 + _DIGEST_BYTES or text[1:] != _digest(place) or text[0] > ANSWER_MAX:
        return None
    return text[0]


def _digest(place: Place) -> bytes:
    shape, literals = place
    return blake2b(f"{shape}\0{literals}".encode(), digest_size=_DIGEST_BYTES).digest()
