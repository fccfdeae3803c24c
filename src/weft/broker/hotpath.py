"""From bytes to bytes, for what nearly all packets are: PUBLISH at QoS 0 and 1 without flags or properties, and PUBACK.

This is the one place where speed outranks shape (docs/adr/0010-hotpath.md). It does what ``Connection._walk``, ``inbound`` and
``delivery`` do, for packets about which nothing is to be decided that was not decided before: the topic has a live route in
``connection.routes``, so its name is valid and this client may publish to it. A property test holds it to the slow way, which
takes everything else.

What makes it quick: no object per packet at QoS 0; consecutive packets with the same length and topic (a *run*) are found by
comparing their common prefix, and go on as one slice of the input; a packet is encoded once per version, not per subscriber;
an output list per connection that the driver joins once per tick.
"""

from weft.broker.access.api import PUBLISH
from weft.broker.connection import Connection
from weft.broker.routes import RESERVED, Route
from weft.mqtt.codec.primitives import varint
from weft.mqtt.codec.reasons import Reason, Refused
from weft.mqtt.publication import Publication
from weft.mqtt.session.delivery import FLEETING
from weft.mqtt.session.outgoing import IDS
from weft.mqtt.topics import check_name, levels

QOS_0, QOS_1, ACK = 0x30, 0x32, 0x40
ROUTES_MAX = 256
"""Topics that a connection remembers; past it, it forgets them all."""
NOBODY = bytes((Reason.NO_MATCHING_SUBSCRIBERS,))


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
    packets = delivered = unheard = acknowledged = 0
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
                            delivered += _spread(connection, now, route, data[at:stop], size, after - at, count)
                            at = stop
                            continue
            elif first == QOS_1:
                if length > 4:
                    after = start + 2 + (data[start] << 8 | data[start + 1])
                    key = data[start:after]
                    route = routes.get(key)
                    if route is None or not route.live:
                        route = _resolve(connection, key) if after <= stop else None
                    body = after + 3 if five else after + 2
                    if (
                        route is not None
                        and body <= stop
                        and (not five or not data[after + 2])
                        and not connection.held
                        and not session.incoming
                        and (data[after] or data[after + 1])
                    ):
                        packets += 1
                        before = len(broker.journal.records)
                        heard = _spread_1(connection, now, route, key, data[body:stop])
                        packet_id = data[after : after + 2]
                        if heard or not five:
                            answer = b"\x40\x02" + packet_id
                        else:
                            answer = b"\x40\x03" + packet_id + NOBODY
                        if len(broker.journal.records) > before:
                            connection.hold(answer)
                        else:
                            connection.send(answer)
                        if not heard:
                            unheard += 1
                        at = stop
                        continue
            elif first == ACK and (length == 2 or (five and length == 3 and not data[start + 2])):
                packet_id_ = data[start] << 8 | data[start + 1]
                outgoing = session.outgoing
                delivery = outgoing.inflight.get(packet_id_)
                if delivery is FLEETING:
                    del outgoing.inflight[packet_id_]
                    if outgoing.queue:
                        broker.deliverer.pump(now, session)
                    acknowledged += 1
                    at = stop
                    continue
        at_next = connection.one(now, data, at)
        if at_next < 0:
            break
        at = at_next
        if not connection.is_plain or connection.is_waiting:  # closed, or a verdict is awaited
            break
        if connection.generation != broker.routes.generation or connection.rights != broker.authority.version:
            _refresh(connection)
    counters = broker.counters
    counters["weft_packets_received_total"] += packets + acknowledged
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


def _spread(connection: Connection, now: float, route: Route, run: bytes, size: int, head: int, count: int) -> int:
    """A run of ``count`` QoS 0 packets of ``size`` bytes, whose payload begins at ``head``, to everybody."""
    broker = connection.broker
    dirty = broker.dirty
    if connection.version == 5:
        same, others = route.fast5, route.fast3
    else:
        same, others = route.fast3, route.fast5
    for link in same:
        out = link.out
        if not out:
            dirty.append(link)
        out.append(run)
    if others:
        converted = _converted(connection.version, run, size, head)
        for link in others:
            out = link.out
            if not out:
                dirty.append(link)
            out.append(converted)
    if route.slow or route.groups:
        user = connection.granted.user if connection.granted else None
        for begin in range(0, len(run), size):
            payload = run[begin + head : begin + size]
            publication = Publication(route.topic, payload, publisher=connection.client_id, user=user)
            heard = broker.deliverer.to_slow(now, route, publication)
            if not heard and not same and not others:
                broker.counters["weft_messages_unheard_total"] += 1
    elif not same and not others:
        broker.counters["weft_messages_unheard_total"] += count
    return count * (len(same) + len(others))


def _converted(version: int, run: bytes, size: int, head: int) -> bytes:
    """The same packets for the other version: version 5 has an empty property block before the payload."""
    topic = run[2 if size - 2 < 128 else 3 : head - 1 if version == 5 else head]
    if version == 5:
        prefix = b"\x30" + varint(len(topic) + size - head) + topic
    else:
        prefix = b"\x30" + varint(len(topic) + 1 + size - head) + topic + b"\x00"
    if len(run) == size:
        return prefix + run[head:]
    return prefix + prefix.join([run[begin + head : begin + size] for begin in range(0, len(run), size)])


def _spread_1(connection: Connection, now: float, route: Route, key: bytes, payload: bytes) -> int:
    """One QoS 1 message to everybody; the answer is how many sessions that was."""
    broker = connection.broker
    dirty = broker.dirty
    publication: Publication | None = None
    if route.slow or route.groups:
        publication = Publication(
            route.topic,
            payload,
            1,
            publisher=connection.client_id,
            user=connection.granted.user if connection.granted else None,
        )
        heard = broker.deliverer.to_slow(now, route, publication)
    else:
        heard = 0
    heads: dict[int, tuple[bytes, bytes]] = {}
    delivered = 0
    for match in route.fast:
        session = match.session
        link = session.link
        assert link is not None
        shape = link.version if match.qos else -link.version
        halves = heads.get(shape)
        if halves is None:
            halves = heads[shape] = _halves(link.version, match.qos, key, payload)
        if match.qos:
            outgoing = session.outgoing
            inflight = outgoing.inflight
            if outgoing.queue or len(inflight) >= outgoing.window:
                if publication is None:
                    publication = Publication(route.topic, payload, 1, publisher=connection.client_id)
                broker.deliverer.deliver(now, session, publication, 1, False, ())
                continue
            packet_id = outgoing.last_id + 1
            if packet_id == IDS or packet_id in inflight:
                packet_id = outgoing.next_id()
            outgoing.last_id = packet_id
            inflight[packet_id] = FLEETING
            packet = halves[0] + packet_id.to_bytes(2, "big") + halves[1]
        else:
            packet = halves[0]
        delivered += 1
        out = link.out
        if not out:
            dirty.append(link)
        out.append(packet)
    broker.counters["weft_messages_delivered_total"] += delivered
    return heard + len(route.fast)


def _halves(version: int, qos: int, key: bytes, payload: bytes) -> tuple[bytes, bytes]:
    """What stands before and after a packet identifier, or at QoS 0 the whole packet."""
    tail = b"\x00" + payload if version == 5 else payload
    if qos:
        return b"\x32" + varint(len(key) + 2 + len(tail)) + key, tail
    return b"\x30" + varint(len(key) + len(tail)) + key + tail, b""
