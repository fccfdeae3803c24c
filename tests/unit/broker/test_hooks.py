"""Plugins: only what is overridden is asked, and whatever one does wrong stays inside the fence."""

import pytest

from weft.broker.access.api import Credentials, Denied, Granted, Origin, Subject, Work
from weft.broker.hooks import OUTBOX_MAX, REFUSED, WORK_FAILED, Plugin, Plugins
from weft.broker.notices import Notices
from weft.mqtt.codec.packets import Request
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.publication import Publication
from weft.telemetry.counters import Counters

ORIGIN = Origin("main", "tcp", "127.0.0.1", 1, is_local=True)
CREDENTIALS = Credentials("c", "alice", b"pencil", ORIGIN, 5)
SUBJECT = Subject("c", Granted("alice"), ORIGIN)
MESSAGE = Publication("a/b", b"x")
REQUEST = Request("a/#", 1)


class Broken(Plugin):
    """Raises wherever it is asked."""

    def fail(self, *args):
        raise RuntimeError("pencil")

    on_connect = on_connected = on_disconnected = on_publish = on_subscribe = on_unsubscribe = may = fail


def plugins(*made: Plugin, on_error="refuse") -> Plugins:
    return Plugins([(each, on_error) for each in made])


def answering(**answers) -> Plugin:
    """A plugin that answers as given, each method with its one answer."""
    methods = {name: (lambda self, *args, answer=answer: answer) for name, answer in answers.items()}
    return type("Answering", (Plugin,), methods)({})


def test_a_plugin_that_overrides_nothing_changes_and_costs_nothing():
    one = plugins(Plugin({}))
    assert (one.sees_publish, one.sees_subscribe, one.decides) == (False, False, False)
    assert one.connect(0.0, CREDENTIALS) is None
    assert one.publish(0.0, SUBJECT, MESSAGE) is MESSAGE
    assert one.subscribe(0.0, SUBJECT, REQUEST) is REQUEST
    assert one.may(0.0, SUBJECT, "publish", "a", 0) is None
    assert len(one) == 1
    assert len(Plugins.NONE) == 0


def test_the_methods_of_the_base_class_have_no_opinion():
    base = Plugin({"a": 1})
    assert base.settings == {"a": 1}
    assert base.on_connect(0.0, CREDENTIALS) is None
    assert base.on_publish(0.0, SUBJECT, MESSAGE) is MESSAGE
    assert base.on_subscribe(0.0, SUBJECT, REQUEST) is REQUEST
    assert base.may(SUBJECT, "publish", "a", 0) is None
    base.on_connected(0.0, SUBJECT)
    base.on_disconnected(0.0, SUBJECT)
    base.on_unsubscribe(0.0, SUBJECT, "a")
    base.changed()


def test_what_decides_fails_closed_and_what_watches_is_passed_over():
    one = plugins(Broken({}))
    assert one.connect(0.0, CREDENTIALS) == REFUSED
    assert one.may(0.0, SUBJECT, "publish", "a", 0) is False
    assert one.publish(0.0, SUBJECT, MESSAGE) is Reason.IMPLEMENTATION_SPECIFIC_ERROR
    assert one.subscribe(0.0, SUBJECT, REQUEST) is Reason.IMPLEMENTATION_SPECIFIC_ERROR
    one.connected(0.0, SUBJECT)
    one.disconnected(0.0, SUBJECT)
    one.unsubscribed(0.0, SUBJECT, "a/#")
    assert one.counters["weft_plugin_errors_total"] == 7


def test_messages_and_subscriptions_pass_a_broken_plugin_if_the_operator_says_so():
    one = plugins(Broken({}), on_error="pass")
    assert one.publish(0.0, SUBJECT, MESSAGE) is MESSAGE
    assert one.subscribe(0.0, SUBJECT, REQUEST) is REQUEST
    assert one.connect(0.0, CREDENTIALS) == REFUSED
    assert one.may(0.0, SUBJECT, "publish", "a", 0) is False


def test_errors_are_told_once_a_minute_and_quote_nothing():
    one, counters, notices = plugins(Broken({})), Counters(), Notices()
    one.bind(counters, notices, lambda: None)
    for second in range(120):
        one.publish(float(second), SUBJECT, MESSAGE)
    told = notices.take()
    assert [notice.fields.get("left_out") for notice in told] == [None, 59]
    assert told[0].fields == {"plugin": "Broken", "method": "on_publish", "error": "RuntimeError"}
    assert counters["weft_plugin_errors_total"] == 120


def test_the_first_opinion_on_a_connection_counts():
    denied = Denied(Reason.BANNED, "no")
    one = plugins(Plugin({}), answering(on_connect=denied), answering(on_connect=Granted("eve")))
    assert one.connect(0.0, CREDENTIALS) == denied
    assert plugins(answering(on_connect=Granted("eve"))).connect(0.0, CREDENTIALS) == Granted("eve", by="plugin")
    assert plugins(answering(on_connect=Granted("eve", by="ldap"))).connect(0.0, CREDENTIALS) == Granted(
        "eve", by="ldap"
    )


def test_work_is_fenced_in_too():
    def fail():
        raise RuntimeError

    for run in (fail, lambda: None, lambda: "granted"):
        one = plugins(answering(on_connect=Work(run)))
        work = one.connect(0.0, CREDENTIALS)
        assert isinstance(work, Work)
        verdict = work.run()
        assert verdict is WORK_FAILED
        assert one.counters["weft_plugin_errors_total"] == 0  # another thread counts nothing
        one.decided(0.0, verdict)
        assert one.counters["weft_plugin_errors_total"] == 1
    good = plugins(answering(on_connect=Work(lambda: Granted("bob")))).connect(0.0, CREDENTIALS)
    assert isinstance(good, Work)
    assert good.run() == Granted("bob", by="plugin")


def test_messages_go_through_all_plugins_in_order():
    class Suffix(Plugin):
        def on_publish(self, now, subject, publication):
            return Publication(publication.topic + self.settings["suffix"], publication.payload)

    changed = plugins(Suffix({"suffix": "/1"}), Suffix({"suffix": "/2"})).publish(0.0, SUBJECT, MESSAGE)
    assert isinstance(changed, Publication)
    assert changed.topic == "a/b/1/2"
    assert plugins(answering(on_publish=None), Suffix({"suffix": "/2"})).publish(0.0, SUBJECT, MESSAGE) is None
    refused = plugins(answering(on_publish=Reason.QUOTA_EXCEEDED)).publish(0.0, SUBJECT, MESSAGE)
    assert refused is Reason.QUOTA_EXCEEDED


@pytest.mark.parametrize(
    "answer", [7, "a/b", Reason.SUCCESS, Publication("", b""), Publication("a/#", b""), Publication("a\0", b"")]
)
def test_an_answer_that_a_method_may_not_give_is_an_error(answer):
    one = plugins(answering(on_publish=answer, on_subscribe=answer, may=answer, on_connect=answer))
    assert one.publish(0.0, SUBJECT, MESSAGE) is Reason.IMPLEMENTATION_SPECIFIC_ERROR
    assert one.subscribe(0.0, SUBJECT, REQUEST) is Reason.IMPLEMENTATION_SPECIFIC_ERROR
    assert one.may(0.0, SUBJECT, "publish", "a", 0) is False
    assert one.connect(0.0, CREDENTIALS) == REFUSED
    assert one.counters["weft_plugin_errors_total"] == 4


def test_a_subscription_is_changed_or_refused():
    lower = Request("a/#", 0)
    assert plugins(answering(on_subscribe=lower)).subscribe(0.0, SUBJECT, REQUEST) is lower
    refused = plugins(answering(on_subscribe=Reason.NOT_AUTHORIZED)).subscribe(0.0, SUBJECT, REQUEST)
    assert refused is Reason.NOT_AUTHORIZED
    for bad in (Request("b/#", 0), Request("a/#", 3)):  # another filter could not be unsubscribed from
        assert (
            plugins(answering(on_subscribe=bad)).subscribe(0.0, SUBJECT, REQUEST)
            is Reason.IMPLEMENTATION_SPECIFIC_ERROR
        )


def test_one_no_outweighs_every_yes():
    yes, no = answering(may=True), answering(may=False)
    assert plugins(yes, no).may(0.0, SUBJECT, "publish", "a", 0) is False
    assert plugins(Plugin({}), yes).may(0.0, SUBJECT, "publish", "a", 0) is True


def test_what_a_plugin_wants_to_say_is_bounded_and_checked():
    talker, liar = Plugin({}), Plugin({})
    one = plugins(talker, liar)
    talker.outbox += [MESSAGE] * (OUTBOX_MAX + 5)
    liar.outbox.append("no publication")
    assert len(one.take(0.0)) == OUTBOX_MAX
    assert one.counters["weft_plugin_errors_total"] == 2
    assert one.take(0.0) == []


def test_a_plugin_can_void_what_was_cached():
    plugin, calls = Plugin({}), []
    plugins(plugin).bind(Counters(), Notices(), lambda: calls.append(1))
    plugin.changed()
    assert calls == [1]
