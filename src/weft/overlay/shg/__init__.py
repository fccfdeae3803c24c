"""SHG: content-based multicast over a hypercube cut into partitions (paper SHG, corrected; overlay §9).

In     the verbs of ``Groups``, for patterns and attributes; Subscribe, Unsubscribe, Up, Across, Down of other nodes
Out    events, to every node with a pattern that matches, once; ``Received``
Never  a subscription outside its sub-partition; an event down a path without a match there; churn: corners are given

Glossary
    node                a subset of {0 … n−1}, as an integer: a corner of a hypercube of dimension n; node id = corner + 1
    partition           the nodes with the same high n−k bits: a hypercube of dimension k, in which subscriptions stay
    dominating node     of partition a: a itself, and a ∪ {0 … k−1}; every node belongs to the nearer one, ties to the first
    sub-partition       the nodes that belong to one dominating node
    layer               the dominating nodes of one kind: 0 the bare a, 1 the full ones; each a hypercube of dimension n−k
    event partition     both layers: what every event crosses, so that it meets every subscription
    installed path      the way of a pattern, from who wants it to the dominating node, as the nodes on it keep it
    literal             the variant that follows the paper's two procedures as printed, to show what they cost
"""
