"""Members and next hops."""

from weft.core.ids import NodeId
from weft.overlay.bayeux.tables import Branch


def test_a_next_hop_counts_once_in_the_order_of_coming():
    branch = Branch({NodeId(1): NodeId(7), NodeId(2): NodeId(6), NodeId(3): NodeId(7)})
    assert branch.targets() == [7, 6]


def test_a_member_is_forgotten_with_its_parent():
    branch = Branch({NodeId(1): NodeId(7)}, {NodeId(5): {NodeId(1), NodeId(2)}})
    assert branch.forget(NodeId(1), NodeId(5)) == 7
    assert branch.parents == {NodeId(5): {NodeId(2)}}
    assert branch.forget(NodeId(2), NodeId(5)) is None
    assert branch == Branch()
    assert branch.forget(NodeId(3), None) is None
