"""QoS 1 and 2 the quick way: a run of messages to everybody, and rows of PUBACK, PUBREC, PUBREL and PUBCOMP.

Part of ``hotpath``, and held to the slow way by the same test. For a session that ends with its connection nothing of a
delivery is ever needed but its identifier and how far it is: one of three constants stands in its window. The answers to a
run, and the run under each subscriber's identifiers, are made with a handful of calls (``runs``), however long it is.
"""

from collections.abc import Iterator

from weft.broker.connection import Connection
from weft.broker.routes import Route
from weft.broker.runs import HIGH, LOW, acknowledged, numbered, shaped, sound
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.publication import Publication
from weft.mqtt.session.delivery import FLEETING, FLEETING_2, FLEETING_RELEASED, Delivery
from weft.mqtt.session.outgoing import IDS, Outgoing
from weft.mqtt.session.session import Session

RUN_MAX = 64
"""Packets looked at together: if the slow way must take the first of them, looking was for nothing, and will be again."""

PUBACK, PUBREC, PUBREL, PUBCOMP = 0x40, 0x50, 0x62, 0x70
TAKEN = (b"", b"\x40\x02\0\0", b"\x50\x02\0\0")
UNHEARD = (
    b"",
    b"\x40\x03\0\0%c" % Reason.NO_MATCHING_SUBSCRIBERS,
    b"\x50\x03\0\0%c" % Reason.NO_MATCHING_SUBSCRIBERS,
)
"""What answers a PUBLISH, by its QoS."""
NO_ID = b"\0\0"


def publish(
    connection: Connection, now: float, route: Route, key: bytes, data: bytes, at: int, after: int, stop: int
) -> int:
    """The PUBLISH at ``at``, whose topic ends at ``after``, and those behind it that are alike; the answer: where they end.

    ``at`` itself: the slow way must look at it.
    """
    broker, session = connection.broker, connection.session
    assert session is not None
    five = connection.version == 5
    body = after + 3 if five else after + 2
    if body > stop or connection.held:
        return at
    qos, size = data[at] >> 1 & 3, stop - at
    if qos == 1 and route.alike is five and not session.incoming and not data.startswith(data[at:after], stop):
        return _one(connection, now, route, data, at, after, stop)
    # What a store, a group or the publisher himself is to see goes one by one, in its order.
    alone = route.slow or route.groups or (session.subscriptions and route.has(connection))
    if not alone:
        prefix, bound = data[at:after], at + RUN_MAX * size
        while stop < bound and data.startswith(prefix, stop):
            stop += size
        if stop > len(data):
            stop -= size
    high, low = data[after:stop:size], data[after + 1 : stop : size]
    if low[0] and stop - at == size:  # the most common run
        count = int(not five or not data[after + 2])
    else:
        count = sound(high, low, data[after + 2 : stop : size] if five else b"")
    if count and (session.incoming or qos == 2):
        count = _welcome(connection, session, qos, high[:count], low[:count])
    if not count:
        return at
    stop = at + count * size
    before = len(broker.journal.records)
    heard = _spread(connection, now, route, key, data[at:stop], size, body - at, qos)
    if not heard:
        broker.counters["weft_messages_unheard_total"] += count
    answer = TAKEN[qos] if heard or not five else UNHEARD[qos]
    answers = numbered(answer * count, len(answer), 2, high[:count], low[:count])
    if alone and len(broker.journal.records) > before:
        connection.hold(answers)
    else:
        connection.send(answers)
    return stop


def _one(connection: Connection, now: float, route: Route, data: bytes, at: int, after: int, stop: int) -> int:
    """One QoS 1 message that is no run, to subscribers of the publisher's version: the same with less ado."""
    packet_id, tail = data[after : after + 2], data[after + 2 : stop]
    if packet_id == NO_ID or (connection.version == 5 and tail[0]):
        return at
    broker = connection.broker
    dirty, head, delivered = broker.dirty, data[at:after], 0
    for match in route.fast:
        outgoing = match.session.outgoing
        inflight = outgoing.inflight
        if outgoing.queue or len(inflight) >= outgoing.window:
            body = after + 2 + (connection.version == 5) - at
            publication = next(publications(connection, route, data[at:stop], stop - at, body, 1))
            broker.deliverer.deliver(now, match.session, publication, 1, False, ())
            continue
        number = outgoing.last_id + 1
        if number == IDS or number in inflight:
            number = outgoing.next_id()
        outgoing.last_id = number
        inflight[number] = FLEETING
        delivered += 1
        link = match.session.link
        assert link is not None
        out = link.out
        if not out:
            dirty.append(link)
        out.append(b"%b%b%b" % (head, number.to_bytes(2, "big"), tail))
    broker.counters["weft_messages_delivered_total"] += delivered
    connection.send(b"\x40\x02" + packet_id)
    return stop


def _welcome(connection: Connection, session: Session, qos: int, high: bytes, low: bytes) -> int:
    """How many of a run's first messages may be taken beside the QoS 2 that is under way; QoS 2 is under way from now on."""
    limits = connection.broker.limits
    if qos == 2 and (session.survives or limits.qos_max < 2):
        return 0
    count = len(high)
    if connection.version == 5:  # [MQTT-3.3.4-7]: past it the slow way ends the connection
        if len(session.incoming) >= limits.receive_maximum:
            return 0
        if qos == 2:
            count = min(count, limits.receive_maximum - len(session.incoming))
    if qos == 2:
        for taken in range(count):
            packet_id = high[taken] << 8 | low[taken]
            if packet_id in session.incoming:  # a double [MQTT-4.3.3-10]
                return taken
            session.incoming[packet_id] = None
    return count


def publications(
    connection: Connection, route: Route, run: bytes, size: int, body: int, qos: int
) -> Iterator[Publication]:
    """The packets of a run as the slow way has them."""
    user = connection.granted.user if connection.granted else None
    for at in range(0, len(run), size):
        yield Publication(route.topic, run[at + body : at + size], qos, publisher=connection.client_id, user=user)


def _spread(
    connection: Connection, now: float, route: Route, key: bytes, run: bytes, size: int, body: int, qos: int
) -> int:
    """A run to everybody; it is a run of one if some go the slow way. The answer: sessions that hear it."""
    broker = connection.broker
    dirty = broker.dirty
    heard = len(route.fast)
    slow = next(publications(connection, route, run, size, body, qos)) if route.slow or route.groups else None
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
        at_qos = min(qos, match.qos)
        if five is own and at_qos == qos:
            shape, long = run, size
        else:
            found = others.get((five, at_qos))
            if found is None:
                found = others[five, at_qos] = shaped(run, size, body, key, five, at_qos)
            shape, long = found
        if at_qos:
            outgoing = session.outgoing
            sent = 0 if outgoing.queue else max(0, min(count, outgoing.window - len(outgoing.inflight)))
            if sent > 0:
                high, low = _take_ids(outgoing, sent, FLEETING if at_qos == 1 else FLEETING_2)
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
            for publication in publications(connection, route, run[sent * size :], size, body, qos):
                broker.deliverer.deliver(now, session, publication, at_qos, False, ())
    broker.counters["weft_messages_delivered_total"] += delivered
    if slow is not None and route.groups:
        heard += broker.deliverer.to_slow(now, (), route.groups, slow)
    return heard


def _take_ids(outgoing: Outgoing, count: int, delivery: Delivery) -> tuple[bytes, bytes]:
    """Identifiers for ``count`` deliveries, which are all ``delivery``: their high and their low bytes."""
    inflight = outgoing.inflight
    first = outgoing.last_id + 1
    if count == 1 and first < IDS and first not in inflight:
        inflight[first] = delivery
        outgoing.last_id = first
        return HIGH[first : first + 1], LOW[first : first + 1]
    end = first + count
    if end <= IDS and inflight.keys().isdisjoint(range(first, end)):
        inflight.update(dict.fromkeys(range(first, end), delivery))
        outgoing.last_id = end - 1
        return HIGH[first:end], LOW[first:end]
    numbers = []
    for _ in range(count):
        number = outgoing.next_id()
        inflight[number] = delivery
        numbers.append(number)
    return bytes(number >> 8 for number in numbers), bytes(number & 255 for number in numbers)


def answers(connection: Connection, now: float, first: int, data: bytes, at: int) -> int:
    """The answers of one kind that stand at ``at``; the answer: where they end, ``at`` if the slow way must look at them."""
    session = connection.session
    assert session is not None
    waiting = len(session.incoming if first == PUBREL else session.outgoing.inflight)
    if not waiting:
        return at
    if at + 4 < len(data) and data[at + 4] == first:
        packet_ids = acknowledged(data, at, first, min(waiting, RUN_MAX))
    else:
        packet_ids = (data[at + 2] << 8 | data[at + 3],)
    if first == PUBREL:
        return at + 4 * _released(connection, session, packet_ids)
    return at + 4 * _answered(connection, now, session, first, packet_ids)


def _answered(connection: Connection, now: float, session: Session, first: int, packet_ids: tuple[int, ...]) -> int:
    """PUBACK, PUBREC or PUBCOMP for these; the answer is how many there were something to answer."""
    outgoing, deliverer = session.outgoing, connection.broker.deliverer
    inflight = outgoing.inflight
    count, ended = 0, first != PUBREC
    expected = FLEETING if first == PUBACK else FLEETING_2 if first == PUBREC else FLEETING_RELEASED
    for packet_id in packet_ids:
        delivery = inflight.get(packet_id)
        if delivery is expected:
            if ended:
                del inflight[packet_id]
            else:
                inflight[packet_id] = FLEETING_RELEASED
        elif delivery is not None and first == PUBACK and delivery.qos == 1:
            deliverer.on_puback(now, session, packet_id)
        else:
            break
        count += 1
    if not ended:
        if count:
            _say(connection, PUBREL, packet_ids[:count])
    elif outgoing.queue or outgoing.unsent:
        deliverer.pump(now, session)
    return count


def _released(connection: Connection, session: Session, packet_ids: tuple[int, ...]) -> int:
    """PUBREL: the identifiers are free again [MQTT-4.3.3-11]."""
    if session.survives or connection.held:
        return 0
    count = 0
    for packet_id in packet_ids:
        if packet_id not in session.incoming:
            break
        del session.incoming[packet_id]
        count += 1
    if count:
        _say(connection, PUBCOMP, packet_ids[:count])
    return count


def _say(connection: Connection, first: int, packet_ids: tuple[int, ...]) -> None:
    """One answer for each, in their order."""
    head = b"%c\x02" % first
    connection.send(b"".join([head + packet_id.to_bytes(2, "big") for packet_id in packet_ids]))
