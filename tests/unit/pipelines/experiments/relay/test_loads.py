"""What nodes forward: sums over publications."""

import numpy as np
import pytest

from weft.pipelines.experiments.experiment import Rows
from weft.pipelines.experiments.relay import loads

TOPICS, SUBSCRIBERS = 6, 40


@pytest.fixture(scope="module")
def rows() -> Rows:
    return {
        name: np.asarray(values)
        for name, values in loads.model({"topics": TOPICS, "subscribers": SUBSCRIBERS}, 1).items()
    }


def test_every_node_once_for_each_method(rows):
    for method in (loads.PROPOSED, loads.SCRIBE):
        nodes = rows["node"][rows["method"] == method]
        assert sorted(nodes.tolist()) == list(range(TOPICS * (SUBSCRIBERS + 1)))


def test_a_message_a_subscriber_and_publication_by_the_proposed_method(rows):
    publications = sum(range(1, TOPICS + 1))
    ours = rows["method"] == loads.PROPOSED
    assert rows["forwarded"][ours].sum() == SUBSCRIBERS * publications
    publisher = ours & (rows["role"] == loads.PUBLISHER)
    assert np.array_equal(rows["forwarded"][publisher], rows["own"][publisher]), "its one first hop each time"


def test_scribe_needs_more_and_a_publishers_message_to_the_root_is_one(rows):
    theirs = rows["method"] == loads.SCRIBE
    assert rows["forwarded"][theirs].sum() > SUBSCRIBERS * sum(range(1, TOPICS + 1))
    publisher = theirs & (rows["role"] == loads.PUBLISHER)
    assert (rows["forwarded"][publisher] >= rows["own"][publisher]).mean() > 0.5


def test_shown_are_all_publishers_and_at_most_1000_subscribers(rows):
    assert rows["shown"].all(), "there are fewer"
    assert loads.SHOWN == 1_000
