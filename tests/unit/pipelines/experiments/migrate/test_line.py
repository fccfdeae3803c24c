"""MIGRATE's set-up: who stands where."""

from weft.overlay.keys import OFM
from weft.pipelines.experiments.migrate.line import ALM_RANGE, MEMBERS, OFM_RANGE, PUBLISHER, Setup, query_hops


def test_every_member_at_a_place_of_its_own():
    setup = Setup.drawn(3)
    assert sorted(setup.places) == list(range(MEMBERS))
    assert setup.places[setup.publisher] == PUBLISHER
    assert setup.broker(PUBLISHER) == setup.publisher + 1
    assert Setup.drawn(3) == setup != Setup.drawn(4)
    assert setup.ofm().links == MEMBERS - 1


def test_keys_are_in_their_topics():
    setup = Setup.drawn(0)
    assert all(key in ALM_RANGE for key in setup.keys())
    assert all(key in OFM_RANGE for key in setup.keys(OFM))
    assert setup.keys() == sorted(setup.keys())


def test_a_question_and_its_answer():
    assert [query_hops(gate) for gate in range(MEMBERS)] == list(range(0, 2 * MEMBERS, 2))


def test_messages_cross_the_links_between_two_places():
    setup = Setup.drawn(5)
    network = setup.network(10.0)
    network.begin(0)
    assert network.depart(0.0, setup.broker(1), setup.broker(6), None)[1] == 5
