"""Rules compiled as they are."""

from weft.overlay.rendezvous import geometry
from weft.sim.vector.borrowed import borrowed


def test_a_rule_gives_what_it_gives_in_python():
    compiled = borrowed(geometry.shared)
    for one in range(0, 64, 5):
        for other in range(64):
            assert compiled(one, other, 6) == geometry.shared(one, other, 6)
