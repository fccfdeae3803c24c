"""From bytes to bytes, for what nearly all packets are: PUBLISH at QoS 0 and 1 without flags or properties, and PUBACK.

This is the one place where speed outranks shape (docs/adr/0010-hotpath.md). It does what ``Connection._walk``, ``inbound`` and
``delivery`` do, for packets about which nothing is to be decided that was not decided before: the topic has a live route in
``connection.routes``, so its name is valid and this client may publish to it. A property test holds it to the slow way, which
takes everything else.

What makes it quick: no object per packet at QoS 0; consecutive packets with the same length and topic (a *run*) are found by
comparing their common prefix, and go on as one slice of the input; a packet is encoded once per version, not per subscriber;
an output list per connection that the driver joins once per tick.
"""

from collections.abc import Iterator

from weft.broker.access.api import PUBLISH
from weft.broker.connection import Connection
from weft.broker.routes import RESERVED, Route
from weft.broker.runs import HIGH, LOW, acknowledged, numbered, shaped, sound
from weft.broker.shared import Turns
from weft.mqtt.codec.reasons import Reason, Refused
from weft.mqtt.publication import Publication
from weft.mqtt.session.delivery import FLEETING
from weft.mqtt.session.outgoing import IDS, Outgoing
from weft.mqtt.topics import check_name, levels

QOS_0, QOS_1, ACK = 0x30, 0x32, 0x40
ROUTES_MAX = 256
"""Topics that a connection remembers; past it, it forgets them all."""
PUBACK = b"\x40\x02\0\0"
PUBACK_UNHEARD = b"\x40\x03\0\0%c" % Reason.NO_MATCHING_SUBSCRIBERS


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
    packets = delivered = unheard = acknowledgements = 0
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
                if first == QOS_0:
                    if length > 2:
                        after = start + 2 + (data[start] << 8 | data[start + 1])
                        key = data[start:after]
                        route = routes.get(key)
                        if route is None or not route.live:
                            route = _resolve(connection, key) if after <= stop else None
                        if route is not None:
                            if five:
                                after += 1
                            if after <= stop and (not five or not data[after - 1]):
                                size = stop - at
                                prefix = data[at:after]
                                count = 1
                                while data.startswith(prefix, stop):
                                    stop += size
                                    count += 1
                                if stop > end:
                                    stop -= size
                                    count -= 1
                                packets += count
                                delivered += _spread(connection, now, route, key, data[at:stop], size, after - at)
                                at = stop
                                continue
                elif first == QOS_1:
                    if length > 4 and not connection.held and not session.incoming:
                        after = start + 2 + (data[start] << 8 | data[start + 1])
                        key = data[start:after]
                        route = routes.get(key)
                        if route is None or not route.live:
                            route = _resolve(connection, key) if after <= stop else None
                        body = after + 3 if five else after + 2
                        if route is not None and body <= stop:
                            size = stop - at
                            # What a store, a group or the publisher himself is to see goes one by one, in its order.
                            alone = route.slow or route.groups or (session.subscriptions and route.has(connection))
                            if not alone:
                                prefix = data[at:after]
                                while data.startswith(prefix, stop):
                                    stop += size
                                if stop > end:
                                    stop -= size
                            high, low = data[after:stop:size], data[after + 1 : stop : size]
                            if low[0] and stop - at == size:  # the most common run
                                count = not five or not data[after + 2]
                            else:
                                count = sound(high, low, data[after + 2 : stop : size] if five else b"")
                            if count:
                                stop = at + count * size
                                packets += count
                                before = len(broker.journal.records)
                                heard = _spread_1(connection, now, route, key, data[at:stop], size, body - at)
                                shape = PUBACK if heard or not five else PUBACK_UNHEARD
                                answers = numbered(shape * count, len(shape), 2, high[:count], low[:count])
                                if alone and len(broker.journal.records) > before:
                                    connection.hold(answers)
                                else:
                                    connection.send(answers)
                                if not heard:
                                    unheard += count
                                at = stop
                                continue
                elif first == ACK and length == 2:
                    outgoing = session.outgoing
                    inflight = outgoing.inflight
                    if inflight:
                        begun = at
                        if stop < end and data[stop] == ACK:
                            packet_ids = acknowledged(data, at, ACK, len(inflight))
                        else:
                            packet_ids = (data[start] << 8 | data[start + 1],)
                        for packet_id in packet_ids:
                            delivery = inflight.get(packet_id)
                            if delivery is FLEETING:
                                del inflight[packet_id]
                            elif delivery is not None and delivery.qos == 1:
                                broker.deliverer.on_puback(now, session, packet_id)
                            else:
                                break
                            at += 4
                        if at > begun:
                            acknowledgements += (at - begun) >> 2
                            if outgoing.queue:
                                broker.deliverer.pump(now, session)
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
        counters["weft_packets_received_total"] += packets + acknowledgements
        counters["weft_messages_received_total"] += packets
        counters["weft_messages_delivered_total"] += delivered
        counters["weft_messages_unheard_total"] += unheard
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
    """A run of QoS 0 packets of ``size`` bytes, whose payload begins at ``body``, to everybody; the answer: deliveries."""
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
        heard = delivered
        for publication in _publications(connection, route, run, size, body, 0):
            heard += broker.deliverer.to_slow(now, route.slow, route.groups_slow, publication)
            if not heard:
                broker.counters["weft_messages_unheard_total"] += 1
            heard = delivered
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


def _publications(
    connection: Connection, route: Route, run: bytes, size: int, body: int, qos: int
) -> Iterator[Publication]:
    """The packets of a run as the slow way has them."""
    user = connection.granted.user if connection.granted else None
    for at in range(0, len(run), size):
        yield Publication(route.topic, run[at + body : at + size], qos, publisher=connection.client_id, user=user)


def _spread_1(connection: Connection, now: float, route: Route, key: bytes, run: bytes, size: int, body: int) -> int:
    """A run of QoS 1 to everybody; it is a run of one if some go the slow way. The answer: sessions that hear it."""
    broker = connection.broker
    dirty = broker.dirty
    heard = len(route.fast)
    slow = next(_publications(connection, route, run, size, body, 1)) if route.slow or route.groups else None
    if slow is not None:
        heard += broker.deliverer.to_slow(now, route.slow, (), slow)
    own = connection.version == 5
    count = len(run) // size
    delivered = 0
    others: dict[tuple[bool, int], tuple[bytes, int]] = {}
    for match in route.fast:
        session = match.session
        link = session.link
        assert link is not None
        five = link.version == 5
        if five is own and match.qos:
            shape, long = run, size
        else:
            found = others.get((five, match.qos))
            if found is None:
                found = others[five, match.qos] = shaped(run, size, body, key, five, min(match.qos, 1))
            shape, long = found
        if match.qos:
            outgoing = session.outgoing
            sent = 0 if outgoing.queue else max(0, min(count, outgoing.window - len(outgoing.inflight)))
            if sent > 0:
                high, low = _take_ids(outgoing, sent)
                place = long - (size - body) - (3 if five else 2)
                shape = numbered(shape if sent == count else shape[: sent * long], long, place, high, low)
        else:
            sent = count
        if sent > 0:
            delivered += sent
            out = link.out
            if not out:
                dirty.append(link)
            out.append(shape)
        if sent < count:
            for publication in _publications(connection, route, run[sent * size :], size, body, 1):
                broker.deliverer.deliver(now, session, publication, 1, False, ())
    broker.counters["weft_messages_delivered_total"] += delivered
    if slow is not None and route.groups:
        heard += broker.deliverer.to_slow(now, (), route.groups, slow)
    return heard


def _take_ids(outgoing: Outgoing, count: int) -> tuple[bytes, bytes]:
    """Identifiers for ``count`` deliveries of which nothing else is needed: their high and their low bytes."""
    inflight = outgoing.inflight
    first = outgoing.last_id + 1
    if count == 1 and first < IDS and first not in inflight:
        inflight[first] = FLEETING
        outgoing.last_id = first
        return HIGH[first : first + 1], LOW[first : first + 1]
    end = first + count
    if end <= IDS and inflight.keys().isdisjoint(range(first, end)):
        inflight.update(dict.fromkeys(range(first, end), FLEETING))
        outgoing.last_id = end - 1
        return HIGH[first:end], LOW[first:end]
    numbers = []
    for _ in range(count):
        number = outgoing.next_id()
        inflight[number] = FLEETING
        numbers.append(number)
    return bytes(number >> 8 for number in numbers), bytes(number & 255 for number in numbers)
