"""``$SYS``: said while somebody listens, only what has changed, and never into a store."""

import pytest

from admin_bench import Bench, publications
from weft.broker.journal import Journal
from weft.broker.settings import BrokerSettings
from weft.broker.sys_topics import AVERAGED, COUNTED, ROOT


@pytest.fixture
def bench():
    made = Bench(journal=Journal(keeps=True))
    made.pass_time(0)
    return made


def by_name(connection):
    return {topic.removeprefix(ROOT): payload.decode() for topic, payload, _ in publications(connection)}


def test_whoever_subscribes_finds_the_values_at_once(bench):
    client = bench.connect("a", version=4)
    bench.pass_time(20)
    assert bench.broker.sys_topics.deadline is None
    bench.subscribe(client, "$SYS/#")
    bench.pass_time(0)
    found = publications(client)
    assert not any(retain for _, _, retain in found)
    values = {topic.removeprefix(ROOT): payload.decode() for topic, payload, _ in found}
    assert values["version"].startswith("weft version ")
    assert values["uptime"] == "20 seconds"
    assert values["clients/connected"] == "1"
    assert set(COUNTED) < set(values)
    assert {f"load/{name}/15min" for name in AVERAGED} < set(values)


def test_the_second_subscriber_finds_them_retained(bench):
    for name, retain in (("a", False), ("b", True)):
        client = bench.connect(name, version=4)
        bench.subscribe(client, "$SYS/broker/version")
        bench.pass_time(0)
        assert [(topic, flag) for topic, _, flag in publications(client)] == [("$SYS/broker/version", retain)]


def test_only_what_changed_is_said_again(bench):
    client = bench.connect("a", version=4)
    bench.subscribe(client, "$SYS/#")
    bench.pass_time(0)
    client.out.clear()
    bench.connect("b", version=4)
    bench.pass_time(10)
    values = by_name(client)
    assert values["clients/total"] == "2"
    assert values["uptime"] == "10 seconds"
    assert "version" not in values
    assert "clients/expired" not in values


def test_only_what_is_heard_is_sent(bench):
    client = bench.connect("a", version=4)
    bench.subscribe(client, "$SYS/broker/uptime")
    bench.pass_time(0)
    client.out.clear()
    bench.pass_time(30)
    assert list(by_name(client)) == ["uptime"]
    assert bench.broker.counters["weft_messages_unheard_total"] == 0


def test_while_nobody_listens_nothing_is_kept(bench):
    client = bench.connect("a", version=4)
    bench.subscribe(client, "#", "+/broker/uptime", "$SYSTEM/#")
    client.out.clear()
    bench.pass_time(60)
    assert client.out == []
    assert bench.broker.retained.count == 0
    assert bench.broker.sys_topics.deadline is None
    bench.subscribe(client, "$SYS/#")
    bench.pass_time(0)
    assert bench.broker.retained.count > 20
    bench.leave(client)
    assert bench.broker.retained.count == 0


def test_a_store_never_sees_it(bench):
    client = bench.connect("a", version=4)
    bench.subscribe(client, "$SYS/#")
    bench.pass_time(60)
    bench.leave(client)
    assert bench.broker.journal.records == []


def test_a_will_below_sys_survives_for_persistent_sessions_without_confusing_the_store(bench):
    """A value that is queued for a session that survives is kept as its message, and goes with it."""
    client = bench.connect("a", expiry_s=100)
    bench.subscribe(client, "$SYS/broker/uptime", qos=1)
    bench.leave(client)
    bench.pass_time(30)
    assert bench.broker.keeping.last_number == 0  # QoS 0 is not queued
    bench.pass_time(100)
    assert bench.broker.sessions.by_client == {}
    assert bench.broker.retained.count == 0


def test_load_averages_tend_to_the_rate(bench):
    bench.subscribe(bench.connect("a", keep_alive_s=0), "$SYS/broker/nothing")
    for _ in range(60):
        bench.broker.counters["weft_messages_received_total"] += 100  # per ten seconds
        bench.pass_time(10)
    values = bench.broker.sys_topics.values()
    one, five, fifteen = (float(values[f"load/publish/received/{span}"]) for span in ("1min", "5min", "15min"))
    assert one == pytest.approx(600, rel=0.01)
    assert 500 < five < one
    assert fifteen < five


def test_what_happened_while_nobody_listened_counts_as_spread_evenly(bench):
    bench.broker.counters["weft_messages_received_total"] += 36_000
    bench.pass_time(3_600)
    bench.subscribe(bench.connect("a"), "$SYS/#")
    bench.pass_time(0)
    assert float(bench.broker.sys_topics.values()["load/publish/received/1min"]) == pytest.approx(600)


def test_an_interval_of_nothing_is_never():
    bench = Bench(BrokerSettings(sys_interval_s=0))
    assert bench.broker.sys_topics.deadline is None
    client = bench.connect("a", version=4)
    bench.subscribe(client, "$SYS/#")
    bench.pass_time(100)
    assert publications(client) == []
