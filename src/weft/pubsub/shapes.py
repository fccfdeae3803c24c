"""Wildcards by shapes: which shapes are live, so that a publication goes to its projection on each (docs/adr/0003).

A filter is its shape and its literals (``a/+/#`` is ``L/+/#`` and ``a``), so its members are one segment like a topic's. What
a topic's publisher must know beside is which shapes anybody uses: few. Each broker keeps them as soft state:

    grows     who holds filters of a shape has a node in the catalogue, a range below all topics; the leftmost of a shape's run
              there tells all homes, at once when it comes to stand there, and each announce_s
    shrinks   what nobody told of for expire_s is dropped; until then its segments are empty, and publishers suspended

So an announcement that is lost, a holder that has crashed and two halves of a partition come right by the next one; and who
comes into the overlay asks its neighbour, rather than wait. A shape of literals only is always live.
"""

from collections import Counter
from typing import Any

import msgspec

from weft.core.errors import Violation
from weft.core.ids import NodeId
from weft.core.machine import Message, Outbox
from weft.core.timers import Timers
from weft.overlay.api import NeighbourChanged, Query
from weft.overlay.keys import ALM, LEVEL_SEPARATOR, TOPIC_BYTES_MAX, Key
from weft.pubsub.boundary import Place, place_of, publishers
from weft.pubsub.nodes import HOME, Nodes
from weft.pubsub.port import Port
from weft.pubsub.settings import Settings

CATALOGUE = "catalogue"
"""First literal of the catalogue's places; as homes, they have the empty shape."""


class Live(Message, frozen=True, gc=False):
    """To all homes, or to one that asked: (shape, how long ago it was announced)."""

    shapes: tuple[tuple[str, float], ...]


class AskShapes(Message, frozen=True, gc=False):
    """To a neighbour of our home."""


class AnnounceDue(msgspec.Struct, frozen=True, gc=False):
    """Timer: shape ``shape`` is announced again, if we still stand leftmost."""

    shape: str


def catalogued(shape: str) -> Place:
    return "", CATALOGUE + LEVEL_SEPARATOR + shape


def is_wild(shape: str) -> bool:
    return "+" in shape or "#" in shape


def projection(topic: str, shape: str) -> str | None:
    """The literals of the one filter of ``shape`` that matches ``topic``; None if none of that shape does.

    ``#`` matches the level above it too [MQTT-4.7.1-2]; no wildcard stands for a first level with ``$`` [MQTT-4.7.2-1].
    """
    if topic.startswith("$") != shape.startswith("$"):
        return None
    levels, blanks = topic.split("/"), shape.removeprefix("$").split("/")
    if blanks[-1] == "#":
        blanks.pop()
        if len(levels) < len(blanks):
            return None
    elif len(levels) != len(blanks):
        return None
    return LEVEL_SEPARATOR.join(level for level, blank in zip(levels, blanks, strict=False) if blank == "L")


def reaches(topic: str, place: Place) -> bool:
    """Is ``place`` where a publication to ``topic`` goes?"""
    return projection(topic, place[0]) == place[1]


def check_shape(shape: str) -> None:
    """What a peer calls a shape."""
    if len(shape) > TOPIC_BYTES_MAX or not is_wild(shape):
        raise Violation("not a shape with wildcards")
    levels = shape.removeprefix("$").split("/")
    if any(level not in {"L", "+", "#"} for level in levels) or "#" in levels[:-1]:
        raise Violation("not a shape")


class Shapes:
    """In: what is subscribed, the catalogue's neighbours, announcements. Out: ``places`` of a topic; announcements."""

    def __init__(
        self, node: NodeId, nodes: Nodes, port: Port, timers: Timers, counts: Counter[str], settings: Settings
    ) -> None:
        self._node = node
        self._nodes = nodes
        self._port = port
        self._timers = timers
        self._counts = counts
        self._settings = settings
        self._leftmost: set[str] = set()
        self._asked = False
        self.live: dict[str, float] = {}
        """Shape → when it was last heard of."""

    def places(self, now: float, topic: str) -> list[Place]:
        """Where a publication to ``topic`` goes: its own place, and its projection on each live shape."""
        found = []
        self._expire(now)
        for shape in self.live:
            literals = projection(topic, shape)
            if literals is not None:
                found.append((shape, literals))
        return found

    def want(self, now: float, shape: str, out: Outbox) -> None:
        """One more filter of ``shape`` is held here."""
        self._nodes.want(now, self._nodes.key(catalogued(shape), ALM), out)

    def unwant(self, now: float, shape: str, out: Outbox) -> None:
        self._nodes.unwant(now, self._nodes.key(catalogued(shape), ALM), out)

    # The catalogue

    def on_neighbours(self, now: float, event: NeighbourChanged, out: Outbox) -> None:
        """The boundary rule once more: who stands leftmost in its shape's run speaks for it."""
        key = event.key
        if place_of(key) == HOME:
            if not self._asked and event.right.node != self._node:
                self._asked = True
                out.send(event.right.node, AskShapes())
            return
        if not self._nodes.is_in(key):
            return
        shape = key.literals.partition(LEVEL_SEPARATOR)[2]
        leftmost = place_of(event.left.key) != place_of(key) or event.left.key >= key
        if leftmost and shape not in self._leftmost:
            self._leftmost.add(shape)
            self._announce(now, shape, out)
        elif not leftmost:
            self._silence(shape)

    def on_left(self, key: Key) -> None:
        if place_of(key)[1].startswith(CATALOGUE + LEVEL_SEPARATOR) and not key.shape:
            self._silence(key.literals.partition(LEVEL_SEPARATOR)[2])

    def _silence(self, shape: str) -> None:
        self._leftmost.discard(shape)
        self._timers.cancel(AnnounceDue(shape))

    def on_announce_due(self, now: float, due: AnnounceDue, out: Outbox) -> None:
        self._announce(now, due.shape, out)

    def _announce(self, now: float, shape: str, out: Outbox) -> None:
        self._timers.set(AnnounceDue(shape), now + self._settings.announce_s)
        self._counts["announced"] += 1
        self._learn(now, shape, now)
        query = Query(publishers(HOME), Live(((shape, 0.0),)), strategy=self._settings.strategy, reliable=True)
        self._port.multicast(now, query, out)

    # What others say

    def on_announced(self, now: float, source: NodeId, payload: Any, out: Outbox) -> None:
        """A multicast reached our home."""
        if not isinstance(payload, Live):
            raise Violation("what is no announcement sent to homes")
        self.on_live(now, source, payload, out)

    def on_live(self, now: float, source: NodeId, message: Live, out: Outbox) -> None:
        if len(message.shapes) > self._settings.shapes_max:
            raise Violation("too many shapes")
        for shape, age_s in message.shapes:
            check_shape(shape)
            if not age_s >= 0:
                raise Violation("announced in the future")
            self._learn(now, shape, now - age_s)

    def on_ask(self, now: float, source: NodeId, message: AskShapes, out: Outbox) -> None:
        self._expire(now)
        if self.live:
            out.send(source, Live(tuple((shape, max(0.0, now - heard)) for shape, heard in self.live.items())))

    def _expire(self, now: float) -> None:
        for shape in [shape for shape, heard in self.live.items() if heard + self._settings.expire_s < now]:
            del self.live[shape]

    def _learn(self, now: float, shape: str, heard: float) -> None:
        self._expire(now)
        if shape in self.live or len(self.live) < self._settings.shapes_max:
            self.live[shape] = max(heard, self.live.get(shape, heard))
        else:
            self._counts["shapes.full"] += 1
