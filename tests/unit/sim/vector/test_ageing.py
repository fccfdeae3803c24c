"""Aggregated values: what converged tables hold, and how a change spreads (that machines do so: ``tests/cross``)."""

import numpy as np
import pytest

from weft.core.errors import Misuse
from weft.sim.vector.ageing import Ageing, aggregated, phases
from weft.sim.vector.draws import Draws
from weft.sim.vector.layout import Layout


def test_converged_values_by_hand():
    forward, backward = aggregated(np.array([1.0, 2, 4, 8, 16]))
    assert forward.tolist()[0] == [2, 4 + 8, 16 + 1 + 2 + 4], "FFT[2] of 5 nodes reaches round the ring"
    assert backward.tolist()[0] == [16, 8, 2 + 4]
    assert [table.shape for table in aggregated(np.array([7.0]))] == [(1, 0), (1, 0)]


@pytest.mark.parametrize("size", [2, 3, 8, 13, 64])
def test_updates_alone_make_the_converged_tables(size):
    draws = Draws(size)
    model = Ageing(np.zeros(size), draws.random(size) * 60)
    for position, value in enumerate(draws.below(9, size).tolist()):
        model.put(position, value)
    assert model.stale() > 0
    model.run(model.bound_s)
    assert model.stale() == 0


def test_time_in_pieces_is_time_at_once():
    first = Draws(1).random(20) * 60
    whole, pieces = Ageing(np.zeros(20), first), Ageing(np.zeros(20), first)
    for model in (whole, pieces):
        model.put(4, 1.0)
    whole.run(500.0)
    for time in (1.0, 1.0, 59.9, 60.0, 333.0, 500.0):
        pieces.run(time)
    assert np.array_equal(whole.forward, pieces.forward)
    assert np.array_equal(whole.backward, pieces.backward)


def test_nodes_at_different_levels_of_their_sweeps_know_by_the_same_bound_and_later_on_the_whole():
    """SELECT §3.3: (k+1)²T is the worst case; where all refresh the same level at once, one sweep is enough."""
    first, turns = Draws(2).random(512) * 60, Draws(3).below(9, 512)
    together, apart = Ageing(np.zeros(512), first), Ageing(np.zeros(512), first, turns=turns)
    for model in (together, apart):
        model.put(100, 1.0)
        model.run(model.levels * model.interval_s + 60.0)
    assert together.stale() == 0
    assert apart.stale() > 0
    apart.run(apart.bound_s)
    assert apart.stale() == 0


def test_phases_are_uniform_and_each_key_has_its_own():
    layout = Layout.shared([3, 4], [0, 1, 0, 0])
    drawn, _ = phases(layout, 5, 60.0)
    assert len(set(drawn.tolist())) == 4
    many, _ = phases(Layout.plain(range(1, 10_001)), 5, 60.0)
    assert 29 < many.mean() < 31
    assert 0 <= many.min() < many.max() < 60


def test_alone_there_is_nothing_to_update():
    model = Ageing([1.0], [0.0])
    model.run(1_000.0)
    assert (model.levels, model.bound_s, model.stale()) == (0, 0.0, 0)


def test_misuse_is_said_at_once():
    model = Ageing([1.0, 2.0], [0.0, 59.0])
    model.run(10.0)
    for wrong in (
        lambda: model.run(9.0),
        lambda: Ageing([1.0, 2.0], [0.0]),
        lambda: Ageing([1.0], [60.0]),
        lambda: Ageing([1.0], [0.0], turns=[-1]),
    ):
        with pytest.raises(Misuse):
            wrong()
