"""Routes: right after every change that matters, kept through every change that does not."""

from hypothesis import given
from hypothesis import strategies as st

from weft.broker.routes import Routes
from weft.broker.shared import strategy
from weft.mqtt.session.session import Session, Subscription
from weft.mqtt.topics import matches

FILTERS = ["a", "a/b", "+", "a/+", "#", "a/#", "$x", "b"]
TOPICS = ["a", "a/b", "b", "$x", "a/b/c"]


def routes() -> Routes:
    return Routes(strategy("round-robin", 1))


def subscription(filter_: str, qos: int = 0, group: str | None = None, identifier: int = 0) -> Subscription:
    name = filter_ if group is None else f"$share/{group}/{filter_}"
    return Subscription(name, filter_, name, qos, identifier=identifier, group=group)


def test_a_route_is_computed_once():
    made = routes()
    assert made.to("t") is made.to("t")


def test_a_literal_subscription_ends_only_its_own_route():
    made = routes()
    touched, other = made.to("t"), made.to("u")
    generation = made.generation
    made.subscribe(Session("s", 1), subscription("t"))
    assert not touched.live
    assert other.live
    assert made.generation == generation
    assert made.to("u") is other


def test_a_wildcard_begins_a_new_generation():
    made = routes()
    made.to("t")
    generation = made.generation
    made.subscribe(Session("s", 1), subscription("x/+"))
    assert made.generation > generation


def test_a_session_that_moves_ends_its_routes():
    made = routes()
    session = Session("s", 1)
    session.subscriptions["t"] = subscription("t")
    made.subscribe(session, session.subscriptions["t"])
    before = made.to("t")
    made.moved(session)
    assert not before.live


def test_one_match_per_session_with_the_highest_qos_and_all_identifiers():
    """[MQTT-3.3.4-2], [MQTT-3.3.4-3]."""
    made = routes()
    session = Session("s", 1)
    for each in (subscription("a/b", 0, identifier=1), subscription("a/+", 2), subscription("#", 1, identifier=3)):
        made.subscribe(session, each)
    (match,) = made.to("a/b").matches
    assert match.qos == 2
    assert sorted(match.identifiers) == [1, 3]


def test_counts_of_subscriptions_and_filters():
    made = routes()
    one, two = Session("1", 1), Session("2", 1)
    made.subscribe(one, subscription("t"))
    made.subscribe(two, subscription("t"))
    made.subscribe(two, subscription("t", group="g"))
    assert made.subscriptions == 3
    assert list(made.filters()) == ["t"]
    made.unsubscribe(one, subscription("t"))
    made.unsubscribe(one, subscription("t"))
    made.unsubscribe(two, subscription("t"))
    assert made.subscriptions == 1
    made.unsubscribe(two, subscription("t", group="g"))
    assert made.subscriptions == 0
    assert list(made.filters()) == []
    assert made.groups() == []


changes = st.lists(
    st.tuples(st.booleans(), st.integers(0, 2), st.sampled_from(FILTERS), st.sampled_from([None, "g"])), max_size=40
)


@given(changes=changes)
def test_whatever_changes_a_live_route_says_what_a_naive_match_does(changes):
    made = routes()
    sessions = [Session(str(number), 1) for number in range(3)]
    kept: dict[str, tuple] = {}
    truth: set[tuple[int, str, str | None]] = set()
    for is_added, number, filter_, group in changes:
        if is_added:
            made.subscribe(sessions[number], subscription(filter_, group=group))
            truth.add((number, filter_, group))
        else:
            made.unsubscribe(sessions[number], subscription(filter_, group=group))
            truth.discard((number, filter_, group))
        for topic in TOPICS:
            route, generation = kept.get(topic, (None, -1))
            if route is None or not route.live or generation != made.generation:
                kept[topic] = route, _ = made.to(topic), made.generation
            plain = {int(match.session.client_id) for match in route.matches}
            shared = {each.filter for each in route.groups}
            assert plain == {number for number, each, name in truth if name is None and matches(each, topic)}
            assert shared == {each for _, each, name in truth if name and matches(each, topic)}
    assert made.subscriptions == len(truth)
