"""What holds across the parts of a broker: rights that change, sessions of others, rewriting, who is told what."""

import pytest

from broker_bench import Bench
from weft.broker.access.api import SHARE, SUBSCRIBE, Granted, Origin
from weft.broker.rewrite import Rewriter, Rule
from weft.mqtt.codec.packets import Connack, Publish, Suback, Unsuback, Unsubscribe, Will
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.publication import Publication


@pytest.fixture
def bench() -> Bench:
    return Bench()


class TestRulesThatChange:
    def test_subscriptions_that_are_not_allowed_any_more_end(self, bench):
        client = bench.client("c", version=5)
        client.subscribe("yes", "no", "$share/g/shared")
        bench.authority.forbidden = {(SUBSCRIBE, "no"), (SHARE, "shared")}
        bench.broker.reloaded(bench.now)
        publisher = bench.client("p")
        for topic in ("yes", "no", "shared"):
            publisher.publish(topic, topic.encode())
        assert client.payloads() == [b"yes"]

    def test_whoever_would_not_be_let_in_any_more_goes(self, bench):
        good, bad = bench.client("a", version=5, username="alice"), bench.client("b", version=5, username="bob")
        bench.authority.banned = {"bob"}
        bench.broker.reloaded(bench.now)
        bench.tick()
        assert not good.closed
        assert bad.take()[0].code == Reason.NOT_AUTHORIZED
        assert bad.closed

    def test_a_session_does_not_outlive_its_rights(self, bench):
        client = bench.client("c", version=5, session_expiry_s=100)
        client.subscribe("t", qos=1)
        client.vanish()
        bench.authority.forbidden = {(SUBSCRIBE, "t")}
        again = bench.client("c", version=5, clean=False, session_expiry_s=100)
        assert again.connack is not None
        assert again.connack.session_present
        bench.client("p").publish("t", qos=1)
        assert again.payloads() == []


class TestSessionsOfOthers:
    def connect(self, bench, user, **options):
        return bench.stranger(5).connect("c", username=user, **options).take()[0]

    def test_another_user_gets_neither_the_session_nor_its_place(self, bench):
        owner = bench.client("c", version=5, username="alice", session_expiry_s=100)
        answer = self.connect(bench, "mallory", clean=True)
        assert answer.code == Reason.NOT_AUTHORIZED
        assert not owner.closed

    def test_nor_does_somebody_without_a_name(self, bench):
        bench.client("c", version=5, username="alice", session_expiry_s=100).vanish()
        bench.authority.verdict = lambda credentials: Granted(None)
        assert self.connect(bench, None).code == Reason.NOT_AUTHORIZED

    def test_what_belongs_to_nobody_is_for_anybody(self, bench):
        bench.client("c", version=5, session_expiry_s=100).vanish()
        answer = self.connect(bench, "alice", clean=False)
        assert isinstance(answer, Connack)
        assert answer.session_present

    def test_behind_another_mount_it_is_another_session(self, bench):
        bench.client("c", version=5, session_expiry_s=100).vanish()
        behind = Origin("lan", "tcp", "127.0.0.1", 1, True, mount="lan/")
        answer = bench.stranger(5, behind).connect("c", clean=False, session_expiry_s=100).take()[0]
        assert not answer.session_present


class TestRewriting:
    @pytest.fixture
    def bench(self):
        bench = Bench()
        bench.broker.rewriter = Rewriter([Rule("old/+/temp", "site/$1/temperature")])
        return bench

    def test_messages_and_subscriptions_meet_under_the_new_name(self, bench):
        new, old = bench.client("new"), bench.client("old")
        new.subscribe("site/#")
        old.subscribe("old/7/temp")
        bench.client("p").publish("old/7/temp", b"20").publish("old/7/temp", b"21")
        assert [(packet.topic, packet.payload) for packet in new.take()] == [
            ("site/7/temperature", b"20"),
            ("site/7/temperature", b"21"),
        ]
        assert old.payloads() == [b"20", b"21"]

    def test_unsubscribing_by_the_old_name_works(self, bench):
        client = bench.client("c", version=5)
        assert client.subscribe("old/+/temp") == [Suback(1, (0,))]
        client.send(Unsubscribe(2, ("old/+/temp",)))
        assert client.take() == [Unsuback(2, (0,))]

    def test_wills_too(self, bench):
        heard = bench.client("w")
        heard.subscribe("site/#")
        bench.client("c", will=Will("old/1/temp", b"gone")).vanish()
        assert [packet.topic for packet in heard.take()] == ["site/1/temperature"]


class TestPublishing:
    def test_on_behalf_of_nobody(self, bench):
        client = bench.client("c", version=5)
        client.subscribe("t", no_local=True)
        assert bench.broker.publish(bench.now, Publication("t", b"x", retain=True)) == 1
        bench.tick()
        assert client.take() == [Publish("t", b"x")]
        assert bench.broker.retained.count == 1

    def test_watchers_of_filters_hear_the_first_and_the_last_subscriber(self, bench):
        heard = []
        bench.broker.routes.watchers.append(lambda filter_, there: heard.append((filter_, there)))
        one, two = bench.client("a"), bench.client("b")
        one.subscribe("t")
        two.subscribe("t", "$share/g/t")
        one.vanish()
        assert heard == [("t", True)]
        two.vanish()
        assert heard == [("t", True), ("t", False)]


def test_system_topics_are_published_while_somebody_listens():
    bench = Bench(system=True)
    client = bench.client("c")
    client.subscribe("$SYS/broker/clients/connected")
    client.take()
    bench.client("another")
    bench.later(11)
    assert client.payloads() == [b"2"]
