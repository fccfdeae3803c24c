"""Renaming in later rounds, which MIGRATE §5.3 leaves open."""

from weft.pipelines.experiments.beyond.rounds import METHODS, rounds


def test_5_3_with_ranks_every_migration_is_a_rename_and_costs_less_than_a_rejoin():
    """§5.3: with PeerIDs alone renaming is for the first migration only."""
    rejoin, rename, _ = (rounds({"method": method}, 0) for method in METHODS)
    assert all(one < other for one, other in zip(rename["messages"], rejoin["messages"], strict=True))
    assert all(one < other for one, other in zip(rename["time_ms"], rejoin["time_ms"], strict=True))


def test_decision_0003_one_round_keeps_the_order_of_clusters_and_later_rounds_mix_it():
    rename = rounds({"method": "rename"}, 0)
    assert rename["stretches"][0] == 1
    assert rename["stretches"] == sorted(rename["stretches"])
    assert rename["stretches"][-1] > 3
