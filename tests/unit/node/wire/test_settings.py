"""How long to wait before the next try."""

from weft.core.rand import Rng
from weft.node.wire.settings import Settings


def test_waits_double_up_to_a_bound_and_are_spread():
    settings, rng = Settings(), Rng(1)
    for failures in range(1, 60):
        whole = min(settings.retry_max_s, settings.retry_min_s * 2 ** (failures - 1))
        waits = [settings.retry_s(failures, rng) for _ in range(20)]
        assert all(whole / 2 <= wait <= whole for wait in waits)
        assert len(set(waits)) == 20


def test_the_same_seed_waits_the_same():
    assert Settings().retry_s(3, Rng(7)) == Settings().retry_s(3, Rng(7))
