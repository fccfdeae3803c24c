"""How often something took how long."""

from weft.telemetry.histograms import LATENCY_S, Commits, Histogram


def test_a_bound_belongs_to_its_bucket():
    histogram = Histogram()
    for value in (0.0, LATENCY_S[0], LATENCY_S[0] * 1.01, LATENCY_S[-1], LATENCY_S[-1] * 2):
        histogram.observe(value)
    assert histogram.counts[0] == 2
    assert histogram.counts[1] == 1
    assert histogram.counts[-2:] == [1, 1]


def test_batches_are_done_together():
    histogram = Histogram((1.0, 10.0))
    commits = Commits(histogram)
    commits.begun(100.0, 7)
    commits.begun(105.0, 8)
    commits.begun(106.0, 9)
    commits.done(106.0, 8)
    assert (histogram.counts, histogram.total) == ([1, 1, 0], 7.0)
    commits.done(106.5, 9)
    commits.done(107.0, 9)
    assert histogram.counts == [2, 1, 0]
