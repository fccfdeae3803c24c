"""Bayeux: joins go all the way to the root, which answers with TREE down the forward path (RELAY §3.1; overlay §8).

In     the verbs of ``Groups``; Join, Tree, Leave, Prune of other nodes; a route below
Out    publications, from the root by the ways to its members; ``Received``
Never  a node on a Join's way in the tree for that alone; another overlay's tables, the route is handed in

Glossary
    member      a subscriber, as the nodes on the way from the root to it have registered it
    Join        to the root; who hands it on forgets it
    Tree        from the root towards the member by its id: who hands it on registers the member and the next hop
    Leave       to the root; Prune, from there down the member's way, takes it out of the tables again
    copy        two members' ways may part and meet again: what comes a second time is dropped by its number
"""
