"""Messages of publishing while subscribers go away."""

import pytest

from weft.pipelines.experiments.relay import messages
from weft.pipelines.experiments.relay.messages import PROPOSED, SCRIBE, SEEKING, UNSUSPENDED

Found = dict[tuple[str, int], tuple[int, int]]


@pytest.fixture(scope="module")
def found() -> Found:
    rows = messages.model({"nodes": 3_000, "publishers": 10}, 2)
    columns = [rows[name] for name in ("method", "subscribers", "messages", "signals")]
    return {(method, left): (sent, told) for method, left, sent, told in zip(*columns, strict=True)}


def test_nobody_to_hear_nothing_is_sent(found):
    assert found[PROPOSED, 0] == (0, 9), "and the rendezvous point told the nine others once"
    assert found[UNSUSPENDED, 0][0] > 0


def test_while_somebody_subscribes_suspending_changes_nothing(found):
    for left in (1_000, 100, 10):
        assert found[PROPOSED, left] == found[UNSUSPENDED, left]
        assert found[PROPOSED, left][0] >= 10 * left, "each subscriber hears each publisher"


def test_scribe_sends_one_message_a_publisher_without_subscribers(found):
    assert found[SCRIBE, 0][0] in {9, 10}
    assert found[SEEKING, 0][0] > 10


def test_seeking_the_root_costs_the_same_whoever_subscribes(found):
    extra = {found[SEEKING, left][0] - found[SCRIBE, left][0] for left in (1_000, 100, 10)}
    assert len(extra) == 1
