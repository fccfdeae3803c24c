"""Scribe: a tree per topic, made of the ways to its root, walked back (RELAY §3.1; overlay §8).

In     the verbs of ``Groups``; Join, Leave, Beat of other nodes; a route below
Out    publications, down the tree of a topic; ``Received``
Never  a second way: a node takes publications from its parent only; another overlay's tables, the route is handed in

Glossary
    forwarder   a node on the way from a subscriber to the root: it has children, and a parent unless it is the root
    Join        goes towards the root, makes forwarders, and stops at the first that is one already
    Leave       from a forwarder that is of no use any more, to its parent
    surplus     in a ring that wraps, the way from the root all round to where the first Join entered: it leaves again
    Beat        from the root down the tree: who misses it joins anew (``upkeep``; experiments switch it off)
"""
