"""SUBSCRIBE and UNSUBSCRIBE (§3.8–§3.11): each line is judged by itself, and the answer says how."""

from weft.broker.access.api import SHARE, SUBSCRIBE
from weft.broker.connection import Connection
from weft.broker.hub import Hub
from weft.broker.replay import Replay
from weft.mqtt.codec.encode import encode
from weft.mqtt.codec.packets import Request, Suback, Subscribe, Unsuback, Unsubscribe
from weft.mqtt.codec.reasons import Reason, Refused
from weft.mqtt.codec.returns import suback_code
from weft.mqtt.session.session import Subscription
from weft.mqtt.topics import check_filter, levels, split_share
from weft.telemetry.counters import hit

SEND_ALWAYS, SEND_IF_NEW = 0, 1
"""Retain Handling (§3.8.3.1); 2 is never."""


class Subscribing:
    """In: lists of filters. Out: subscriptions in the session and the routes, retained messages, SUBACK and UNSUBACK."""

    def __init__(self, broker: Hub) -> None:
        self.broker = broker

    def on_subscribe(self, connection: Connection, now: float, packet: Subscribe) -> None:
        session = connection.session
        assert session is not None
        identifier = packet.properties.subscription_ids[0] if packet.properties.subscription_ids else 0
        _check_answer(connection, Suback(packet.packet_id, (0,) * len(packet.requests)))
        before = len(self.broker.journal.records)
        codes: list[int] = []
        made: list[tuple[Subscription, Request, bool]] = []
        for asked in packet.requests:  # [MQTT-3.8.4-5]: as if each had come alone
            request, outcome = asked, self._judge(connection, asked, identifier)
            if self.broker.plugins.sees_subscribe and isinstance(outcome, Subscription):
                request, outcome = self._seen(connection, now, asked, outcome, identifier)
            if isinstance(outcome, Subscription):
                made.append((outcome, request, self.broker.sessions.subscribe(session, outcome)))
                codes.append(outcome.qos)  # [MQTT-3.8.4-7]
            else:
                codes.append(outcome)
        granted = tuple(suback_code(connection.version, code) for code in codes)
        answer = encode(
            connection.version, Suback(packet.packet_id, granted)
        )  # [MQTT-3.8.4-1], [MQTT-3.8.4-2], [MQTT-3.8.4-6]
        connection.acknowledge(answer, is_recorded=len(self.broker.journal.records) > before)
        for subscription, request, is_new in made:
            self._retained(connection, now, subscription, request, is_new)

    def _seen(
        self, connection: Connection, now: float, request: Request, outcome: Subscription, identifier: int
    ) -> tuple[Request, Subscription | Reason]:
        """What plugins make of a request that would be granted; one with other options is judged again."""
        assert connection.subject is not None
        answer = self.broker.plugins.subscribe(now, connection.subject, request)
        self.broker.hear_plugins(now)
        if isinstance(answer, Reason):
            return request, answer
        return (request, outcome) if answer is request else (answer, self._judge(connection, answer, identifier))

    def _judge(self, connection: Connection, request: Request, identifier: int) -> Subscription | Reason:
        """The subscription that ``request`` comes to, or why not."""
        broker, subject, session = self.broker, connection.subject, connection.session
        assert subject is not None
        assert session is not None
        settings, limits = broker.settings, broker.limits
        try:
            check_filter(request.filter)
            group, filter_ = split_share(request.filter)
        except Refused as refused:
            return refused.reason
        if levels(filter_) > limits.topic_levels_max:
            broker.counters[hit("topic_levels_max")] += 1
            return Reason.TOPIC_FILTER_INVALID
        if group is not None and not settings.shared:
            return Reason.SHARED_SUBSCRIPTIONS_NOT_SUPPORTED
        if not settings.wildcards and ("+" in filter_ or "#" in filter_):
            return Reason.WILDCARD_SUBSCRIPTIONS_NOT_SUPPORTED
        if not broker.authority.may(subject, SUBSCRIBE, filter_, request.qos):
            return Reason.NOT_AUTHORIZED
        if group is not None and not broker.authority.may(subject, SHARE, filter_, request.qos):
            return Reason.NOT_AUTHORIZED
        matched = broker.matching(connection.origin, filter_)
        name = matched if group is None else f"$share/{group}/{matched}"
        if name not in session.subscriptions:
            for limit, count in (
                ("subscriptions_max", len(session.subscriptions)),
                ("subscriptions_total_max", broker.routes.subscriptions),
            ):
                if count >= getattr(limits, limit):
                    broker.counters[hit(limit)] += 1
                    return Reason.QUOTA_EXCEEDED
        return Subscription(
            name,
            matched,
            request.filter,
            min(request.qos, limits.qos_max),
            request.no_local or connection.is_bridge,
            request.retain_as_published or connection.is_bridge,
            identifier,
            group,
        )

    def _retained(
        self, connection: Connection, now: float, subscription: Subscription, request: Request, is_new: bool
    ) -> None:
        """What the topics retain [MQTT-3.3.1-9], [MQTT-3.3.1-10], [MQTT-3.3.1-11]; never for shared ones (§4.8.2)."""
        session = connection.session
        if subscription.group is not None or session is None:
            return
        if request.retain_handling == SEND_ALWAYS or (request.retain_handling == SEND_IF_NEW and is_new):
            replay = Replay(self.broker, session, subscription)
            if replay.advance(now):
                connection.replay(replay)

    def on_unsubscribe(self, connection: Connection, now: float, packet: Unsubscribe) -> None:
        session = connection.session
        assert session is not None
        _check_answer(connection, Unsuback(packet.packet_id, (0,) * len(packet.filters)))
        before = len(self.broker.journal.records)
        codes = tuple(self._remove(connection, given) for given in packet.filters)
        if self.broker.plugins and connection.subject is not None:
            for given, code in zip(packet.filters, codes, strict=True):
                if code is Reason.SUCCESS:
                    self.broker.plugins.unsubscribed(now, connection.subject, given)
            self.broker.hear_plugins(now)
        answer = encode(connection.version, Unsuback(packet.packet_id, codes))  # [MQTT-3.10.4-4], [MQTT-3.10.4-5]
        connection.acknowledge(answer, is_recorded=len(self.broker.journal.records) > before)

    def _remove(self, connection: Connection, given: str) -> Reason:
        """[MQTT-3.10.4-1]: compared character by character, once both have been mounted and rewritten alike."""
        assert connection.session is not None
        try:
            check_filter(given)
            group, filter_ = split_share(given)
        except Refused as refused:
            return refused.reason
        matched = self.broker.matching(connection.origin, filter_)
        name = matched if group is None else f"$share/{group}/{matched}"
        if self.broker.sessions.unsubscribe(connection.session, name):
            return Reason.SUCCESS
        return Reason.NO_SUBSCRIPTION_EXISTED


def _check_answer(connection: Connection, answer: Suback | Unsuback) -> None:
    """A client that cannot take the answer [MQTT-3.1.2-24] would wait for ever: it is told before anything is done."""
    if connection.packet_bytes_max and not connection.takes(encode(connection.version, answer)):
        raise Refused(Reason.PACKET_TOO_LARGE, "the answer would be larger than the client takes")
