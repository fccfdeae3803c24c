"""What is measured of the four methods for table 1."""

import numpy as np
import pytest

from weft.pipelines.experiments.relay import growth
from weft.pipelines.experiments.relay.growth import BAYEUX, CAN, PROPOSED, SCRIBE


def test_connected_over_contacts_that_are_members():
    edges = {1: [2, 9], 2: [1], 3: [9], 9: [1, 3]}

    def contacts(member: int) -> np.ndarray:
        return np.array(edges.get(member, []), np.int32)

    assert growth.connected([1, 2], contacts)
    assert not growth.connected([1, 2, 3], contacts), "9, between them, is no member"
    assert growth.connected([1, 2, 3, 9], contacts)
    assert growth.connected([7], contacts)


@pytest.fixture(scope="module")
def found() -> dict[str, dict[str, float]]:
    rows = growth.model({"nodes": 512, "members": 32, "rounds": 2, "dims": 2}, 1)
    return {name: dict(zip(rows["method"], rows[name], strict=True)) for name in rows if name != "method"}


def test_who_reaches_strangers(found):
    assert found["strangers"][PROPOSED] == found["strangers"][CAN] == 0
    assert min(found["strangers"][SCRIBE], found["strangers"][BAYEUX]) > 0.3


def test_who_keeps_publishers_and_subscribers_together(found):
    assert found["parted"][PROPOSED] == 0
    assert min(found["parted"][each] for each in (SCRIBE, BAYEUX, CAN)) > 0


def test_storage(found):
    """Bayeux's nodes register each member below them, Scribe's only who is next; a key of ours has two towers' entries."""
    assert 1 < found["storage"][SCRIBE] < found["storage"][BAYEUX] < found["storage"][PROPOSED]
    assert found["storage"][CAN] == pytest.approx(3 * 4.5, rel=0.2), (
        "two topics and the whole, about 4.5 neighbours each"
    )


def test_topics_are_looked_at_evenly():
    society = growth.Society(np.zeros((100, 4), np.int32), 2, 400, 0)
    assert list(society.looked_at(4)) == [0, 25, 50, 75]
    assert len(growth.Society(np.zeros((3, 4), np.int32), 2, 12, 0).looked_at()) == 3
