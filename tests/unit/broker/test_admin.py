"""What an operator sees and does: lists, details, kicks, publications; all of it bounded."""

import pytest

from admin_bench import Bench, publications
from weft.broker import admin as module
from weft.broker.reports import PublishOrder
from weft.broker.settings import BrokerSettings, Limits
from weft.core.errors import Misuse
from weft.mqtt.codec.decode import decode
from weft.mqtt.codec.frames import split
from weft.mqtt.codec.packets import Disconnect
from weft.mqtt.codec.reasons import Reason
from weft.telemetry.gauges import TABLE, Gauges


@pytest.fixture
def bench():
    made = Bench()
    made.pass_time(0)
    return made


def test_status_counts_what_is_there(bench):
    here = bench.connect("here")
    bench.subscribe(here, "a/#", "$share/g/b")
    bench.leave(bench.connect("away", expiry_s=100))
    bench.publish(here, "kept", b"12345", retain=True)
    bench.broker.accept(bench.now, here.origin)
    status = bench.admin.status(bench.now + 5, None)
    assert (status.connections, status.sessions, status.sessions_online, status.subscriptions) == (2, 2, 1, 2)
    assert (status.retained, status.retained_bytes, status.uptime_s, status.ready) == (1, 5, 5.0, True)
    assert bench.admin.status(bench.now, "draining").trouble == "draining"


def test_gauges_agree_with_the_status(bench):
    client = bench.connect("c", expiry_s=100)
    bench.subscribe(client, "a", qos=1)
    bench.publish(client, "a", b"123", qos=1)
    bench.leave(client)
    bench.publish(bench.connect("d"), "a", b"4567", qos=1)
    gauges = Gauges()
    bench.admin.measure(bench.now, gauges)
    status = bench.admin.status(bench.now, None)
    assert gauges["weft_inflight_messages"] == status.inflight == 1
    assert gauges["weft_queued_messages"] == status.queued == 1
    assert gauges["weft_queued_bytes"] == status.queued_bytes == 4
    assert gauges["weft_sessions_offline"] == 1
    assert {name.partition("{")[0] for name in gauges} < set(TABLE)


def test_clients_are_those_who_are_here(bench):
    bench.connect("b", user="bob")
    bench.connect("a", version=4)
    bench.leave(bench.connect("gone", expiry_s=100))
    page = bench.admin.clients(bench.now)
    assert [client.client_id for client in page.items] == ["a", "b"]
    assert page.cursor is None
    first = page.items[0]
    assert (first.version, first.address, first.transport, first.keep_alive_s, first.reading) == (
        4, "127.0.0.1", "tcp", 60, True,
    )  # fmt: skip
    assert [client.client_id for client in bench.admin.clients(bench.now, user="bob").items] == ["b"]
    assert bench.admin.clients(bench.now, contains="go").items == []


def test_sessions_are_all_of_them(bench):
    bench.connect("a")
    bench.leave(bench.connect("gone", expiry_s=100))
    names = lambda **given: [item.client_id for item in bench.admin.sessions(bench.now, **given).items]  # noqa: E731
    assert names() == ["a", "gone"]
    assert names(online=True) == ["a"]
    assert names(online=False) == ["gone"]
    assert names(contains="on") == ["gone"]
    assert bench.admin.sessions(bench.now).items[1].ends_at == bench.now + 100


def test_lists_come_in_pages(bench):
    for number in range(25):
        bench.connect(f"c{number:02}")
    seen, cursor = [], ""
    while cursor is not None:
        page = bench.admin.clients(bench.now, cursor, 10)
        seen += [client.client_id for client in page.items]
        cursor = page.cursor
    assert seen == [f"c{number:02}" for number in range(25)]
    for limit in (0, -1, 1001):
        with pytest.raises(Misuse):
            bench.admin.clients(bench.now, "", limit)


def test_a_client_in_detail(bench):
    client = bench.connect("c", expiry_s=100)
    bench.subscribe(client, "a/+", "$share/g/b", qos=1)
    bench.publish(bench.connect("d"), "a/1", b"123", qos=1)
    detail = bench.admin.client("c")
    assert detail.client.client_id == "c"
    assert [(row.filter, row.group, row.qos) for row in detail.subscriptions] == [("a/+", None, 1), ("b", "g", 1)]
    assert [(row.topic, row.payload_bytes, row.qos, row.packet_id) for row in detail.inflight] == [("a/1", 3, 1, 1)]
    bench.leave(client)
    bench.publish(bench.connect("e"), "a/2", b"4", qos=1)
    detail = bench.admin.client("c")
    assert detail.client is None
    assert [row.topic for row in detail.queue] == ["a/2"]
    assert bench.admin.client("nobody") is None


def test_a_detail_is_cut(bench, monkeypatch):
    monkeypatch.setattr(module, "LISTED_MAX", 3)
    client = bench.connect("c")
    bench.subscribe(client, *(f"t/{number}" for number in range(9)))
    detail = bench.admin.client("c")
    assert (len(detail.subscriptions), detail.session.subscriptions) == (3, 9)


def test_a_kicked_client_hears_why_and_its_session_stays(bench):
    """Reason code 0x98, administrative action (§3.14.2.1)."""
    client = bench.connect("c", expiry_s=100)
    ended = bench.admin.kick(bench.now, "c", "go\r\naway" + "!" * 500)
    assert ended.online
    assert client.closing
    first, start, end = split(b"".join(client.out), 0)
    packet = decode(5, first, b"".join(client.out)[start:end])
    assert isinstance(packet, Disconnect)
    assert packet.code == Reason.ADMINISTRATIVE_ACTION
    assert packet.properties.reason_string.startswith("go away!")
    assert len(packet.properties.reason_string) == module.REASON_CHARACTERS_MAX
    assert bench.admin.client("c").client is None
    assert bench.admin.kick(bench.now, "c") is None
    assert bench.admin.kick(bench.now, "nobody") is None


def test_a_discarded_session_is_forgotten(bench):
    client = bench.connect("c", expiry_s=100)
    bench.subscribe(client, "a")
    bench.leave(bench.connect("away", expiry_s=100))
    bench.connect("short")
    assert [bench.admin.discard(bench.now, name).online for name in ("c", "away", "short")] == [True, False, True]
    assert bench.broker.sessions.by_client == {}
    assert bench.broker.routes.subscriptions == 0
    assert bench.admin.discard(bench.now, "c") is None


def test_subscriptions_by_client_and_by_filter(bench):
    bench.subscribe(bench.connect("a"), "x", "y/#")
    bench.subscribe(bench.connect("b"), "x")
    rows = lambda **given: [(row.client_id, row.filter) for row in bench.admin.subscriptions(bench.now, **given).items]  # noqa: E731
    assert rows() == [("a", "x"), ("a", "y/#"), ("b", "x")]
    assert rows(pattern="x") == [("a", "x"), ("b", "x")]
    assert rows(client="a") == [("a", "x"), ("a", "y/#")]
    assert rows(client="nobody") == []
    page = bench.admin.subscriptions(bench.now, "", 1)
    assert [row.filter for row in page.items] == ["x"]
    assert [row.filter for row in bench.admin.subscriptions(bench.now, page.cursor, 9).items] == ["y/#", "x"]


def test_topics_are_the_filters_that_are_subscribed_to(bench):
    bench.subscribe(bench.connect("a"), "x", "y/#", "$share/g/x")
    bench.subscribe(bench.connect("b"), "x")
    page = bench.admin.filters(bench.now)
    assert [(row.filter, row.subscribers) for row in page.items] == [("x", 3), ("y/#", 1)]
    assert [row.filter for row in bench.admin.filters(bench.now, contains="#").items] == ["y/#"]


def test_who_would_get_a_message(bench):
    bench.subscribe(bench.connect("a"), "x/#", qos=2)
    bench.subscribe(bench.connect("b"), "$share/g/x/1", "y")
    report = bench.admin.route("x/1")
    assert [(receiver.client_id, receiver.qos, receiver.online) for receiver in report.receivers] == [("a", 2, True)]
    assert [(one.group, one.total, one.members[0].client_id) for one in report.shared] == [("g", 1, "b")]
    assert report.total == 1
    assert bench.admin.route("z").total == 0
    for topic in ("", "a/+", "#", "a\0b"):
        with pytest.raises(Misuse):
            bench.admin.route(topic)


def test_retained_messages_are_listed_shown_and_deleted(bench):
    client = bench.connect("c", user="carol")
    bench.publish(client, "r/text", "grüß".encode(), retain=True)
    bench.publish(client, "r/binary", b"\xff\x00", qos=0, retain=True)
    assert [row.topic for row in bench.admin.retained(bench.now).items] == ["r/binary", "r/text"]
    assert [row.topic for row in bench.admin.retained(bench.now, pattern="+/text").items] == ["r/text"]
    detail = bench.admin.retained_at(bench.now, "r/text")
    assert (detail.text, detail.message.publisher, detail.message.user) == ("grüß", "c", "carol")
    assert bench.admin.retained_at(bench.now, "r/binary").text is None
    assert bench.admin.forget_retained("r/text").topic == "r/text"
    assert bench.admin.forget_retained("r/text") is None
    assert bench.admin.retained_at(bench.now, "r/text") is None
    with pytest.raises(Misuse):
        bench.admin.retained(bench.now, pattern="a/#/b")


def test_an_expired_retained_message_is_not_listed(bench):
    bench.admin.publish(bench.now, PublishOrder("r", "x", retain=True, expiry_s=5))
    assert len(bench.admin.retained(bench.now + 4).items) == 1
    assert bench.admin.retained(bench.now + 6).items == []


def test_publish_on_behalf_of_nobody(bench):
    client = bench.connect("c", version=4)
    bench.subscribe(client, "a")
    client.out.clear()
    assert bench.admin.publish(bench.now, PublishOrder("a", "grüß")).sessions == 1
    assert bench.admin.publish(bench.now, PublishOrder("a", payload_base64=b"\xff")).sessions == 1
    assert bench.admin.publish(bench.now, PublishOrder("b")).sessions == 0
    assert [payload for _, payload, _ in publications(client)] == ["grüß".encode(), b"\xff"]


@pytest.mark.parametrize(
    "order",
    [
        PublishOrder("a/+"),
        PublishOrder(""),
        PublishOrder("a" * 70_000),
        PublishOrder("a/" * 200),
        PublishOrder("a", "x", payload_base64=b"x"),
        PublishOrder("a", "x" * 1001),
        PublishOrder("a", response_topic="#"),
        PublishOrder("a", retain=True),
    ],
)
def test_what_cannot_be_published_is_refused(order):
    bench = Bench(BrokerSettings(Limits(packet_bytes_max=1000), retain=False))
    with pytest.raises(Misuse):
        bench.admin.publish(bench.now, order)


def test_the_limits_are_the_settings(bench):
    assert bench.admin.limits().settings is bench.broker.settings
