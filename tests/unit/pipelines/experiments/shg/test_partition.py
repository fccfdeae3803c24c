"""SHG's partitions counted, as rows."""

from weft.pipelines.experiments.shg.partition import COLUMNS, counted


def test_a_run_is_one_row():
    rows = counted({"dimension": 4, "k": 2, "variant": "corrected"}, 0)
    assert list(rows) == list(COLUMNS)
    assert {len(values) for values in rows.values()} == {1}
    assert (rows["corners"], rows["partitions"], rows["dominating"]) == ([16], [4], [8])
    assert rows == counted({"dimension": 4, "k": 2, "variant": "corrected"}, 1)


def test_the_variants_differ_in_what_events_do_and_in_nothing_else():
    fine, printed = (counted({"dimension": 5, "k": 3, "variant": variant}, 0) for variant in ("corrected", "literal"))
    assert [name for name in COLUMNS if fine[name] != printed[name]] == [
        "handed_least",
        "handed_most",
        "received_least",
        "received_most",
        "across",
        "subscribing",
        "publishing",
        "alike",
    ]
