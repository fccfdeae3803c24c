"""From bytes to bytes, for what nearly all packets are: PUBLISH without flags or properties, and what answers it.

This is the one place where speed outranks shape (docs/adr/0012-hotpath.md). It does what ``Connection._walk``, ``inbound`` and
``delivery`` do, for packets about which nothing is to be decided that was not decided before: the topic has a live route in
``connection.routes``, so its name is valid and this client may publish to it. A property test holds it to the slow way, which
takes everything else. Here is the loop over packets, and QoS 0; QoS 1 and 2 are in ``assured``.

What makes it quick: no object per packet; consecutive packets with the same length and topic (a *run*) are found by comparing
their common prefix, and go on as one slice of the input; a run is encoded once per version, not per subscriber; an output list
per connection that the driver joins once per tick.
"""

from weft.broker import assured
from weft.broker.access.api import PUBLISH
from weft.broker.assured import publications
from weft.broker.connection import Connection
from weft.broker.routes import RESERVED, Route
from weft.broker.runs import shaped
from weft.broker.shared import Turns
from weft.mqtt.codec.reasons import Refused
from weft.mqtt.topics import check_name, levels

QOS_0 = 0x30
PUBLISHES = (QOS_0, 0x32, 0x34)
ANSWERS = (0x40, 0x50, 0x62, 0x70)
"""First bytes of PUBLISH without flags, and of PUBACK, PUBREC, PUBREL, PUBCOMP."""
ROUTES_MAX = 256
"""Topics that a connection remembers; past it, it forgets them all."""


def receive(connection: Connection, now: float, data: bytes) -> int:  # noqa: C901, PLR0912, PLR0915  one loop, see above
    """As ``Connection._walk``: handle the whole packets in ``data``; the answer is where the first incomplete one begins."""
    broker = connection.broker
    routes = connection.routes
    if connection.generation != broker.routes.generation or connection.rights != broker.authority.version:
        _refresh(connection)
    five = connection.version == 5
    session = connection.session
    assert session is not None
    at, end = 0, len(data)
    bound = broker.limits.packet_bytes_max
    packets = delivered = answers = 0
    try:
        while at + 2 <= end:
            first = data[at]
            length = data[at + 1]
            start = at + 2
            if length > 127:
                if start >= end:
                    break
                length = length & 127 | data[start] << 7
                start += 1
                if length > 16_383:
                    start = 0  # three bytes or more: the slow way reads it
            stop = start + length
            if stop - at > bound:
                start = 0
            if start:
                if stop > end:
                    break
                if first in PUBLISHES:
                    if length > 2:
                        after = start + 2 + (data[start] << 8 | data[start + 1])
                        key = data[start:after]
                        route = routes.get(key)
                        if route is None or not route.live:
                            route = _resolve(connection, key) if after <= stop else None
                        if route is not None:
                            if first != QOS_0:
                                at_next = assured.publish(connection, now, route, key, data, at, after, stop)
                                if at_next > at:
                                    packets += (at_next - at) // (stop - at)
                                    at = at_next
                                    continue
                            else:
                                if five:
                                    after += 1
                                if after <= stop and (not five or not data[after - 1]):
                                    size = stop - at
                                    if not route.slow and not route.groups_slow:
                                        prefix = data[at:after]
                                        while data.startswith(prefix, stop):
                                            stop += size
                                        if stop > end:
                                            stop -= size
                                    packets += (stop - at) // size
                                    delivered += _spread(connection, now, route, key, data[at:stop], size, after - at)
                                    at = stop
                                    continue
                elif length == 2 and first in ANSWERS:
                    at_next = assured.answers(connection, now, first, data, at)
                    if at_next > at:
                        answers += (at_next - at) >> 2
                        at = at_next
                        continue
            at_next = connection.one(now, data, at)
            if at_next < 0:
                break
            at = at_next
            if not connection.is_plain or connection.is_waiting:  # closed, or a verdict is awaited
                break
            if connection.generation != broker.routes.generation or connection.rights != broker.authority.version:
                _refresh(connection)
    finally:  # also if a packet is refused: what came before it has been counted on
        counters = broker.counters
        counters["weft_packets_received_total"] += packets + answers
        counters["weft_messages_received_total"] += packets
        counters["weft_messages_delivered_total"] += delivered
    return at


def _refresh(connection: Connection) -> None:
    """A wildcard subscription came or went, or the access rules changed: what was known of topics is void."""
    connection.routes.clear()
    connection.generation = connection.broker.routes.generation
    connection.rights = connection.broker.authority.version


def _resolve(connection: Connection, key: bytes) -> Route | None:
    """The route for a topic as it stands in the packet, with its length; None: the slow way must look at it."""
    broker, routes = connection.broker, connection.routes
    try:
        topic = key[2:].decode()
        check_name(topic)
    except (UnicodeDecodeError, Refused):
        return None
    assert connection.subject is not None
    if (
        levels(topic) > broker.limits.topic_levels_max
        or topic.partition("/")[0] == RESERVED
        or not broker.authority.may(connection.subject, PUBLISH, topic, 1)
        or broker.named(connection.origin, topic) != topic
    ):
        return None
    if len(routes) >= ROUTES_MAX:
        routes.clear()
    route = routes[key] = broker.routes.to(topic)
    return route


def _spread(connection: Connection, now: float, route: Route, key: bytes, run: bytes, size: int, body: int) -> int:
    """A run of QoS 0 packets of ``size`` bytes, whose payload begins at ``body``, to everybody; the answer: quick deliveries.

    If some go the slow way it is a run of one, so that everybody gets everything in the order of the slow way.
    """
    broker = connection.broker
    dirty = broker.dirty
    five = connection.version == 5
    count = len(run) // size
    same, others = (route.fast5, route.fast3) if five else (route.fast3, route.fast5)
    for link in same:
        out = link.out
        if not out:
            dirty.append(link)
        out.append(run)
    if others:
        converted = shaped(run, size, body, key, not five, 0)[0]
        for link in others:
            out = link.out
            if not out:
                dirty.append(link)
            out.append(converted)
    delivered = count * (len(same) + len(others))
    for turns in route.turns:
        _share(turns, run, size, body, key, five)
        delivered += count
    if route.slow or route.groups_slow:
        publication = next(publications(connection, route, run, size, body, 0))
        heard = broker.deliverer.to_slow(now, route.slow, route.groups_slow, publication)
        if not heard and not delivered:
            broker.counters["weft_messages_unheard_total"] += 1
    elif not delivered:
        broker.counters["weft_messages_unheard_total"] += count
    return delivered


def _share(turns: Turns, run: bytes, size: int, body: int, key: bytes, five: bool) -> None:
    """A run to a shared subscription whose members take turns: each gets every so-manieth packet, as one piece."""
    runs: list[bytes | None] = [None, None]
    runs[five] = run
    for link, first, step in turns.take(len(run) // size):
        to_five = link.version == 5
        whole = runs[to_five]
        if whole is None:
            whole = runs[to_five] = shaped(run, size, body, key, to_five, 0)[0]
        if step == 1:
            link.send(whole)
        else:
            long = len(whole) * size // len(run)
            link.send(b"".join([whole[at : at + long] for at in range(first * long, len(whole), step * long)]))
