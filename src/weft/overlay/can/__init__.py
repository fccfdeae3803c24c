"""CAN-MC: a small CAN for each topic, joined by its publishers and subscribers alike, and flooded (RELAY §3.1; overlay §8).

In     the verbs of ``Groups``, and ``enter`` for the CAN of all nodes; messages of other nodes' CANs
Out    publications, to all members of a topic's CAN; ``Received``
Never  a node that has nothing to do with a topic on a publication's way; loss and crashes are not repaired

Glossary
    space       a torus of ``dims`` dimensions, each ``SIDE`` long
    zone        a box of it, made by halving: at depth t along dimension t mod dims; zones of a CAN tile its space
    buddy       the other half of the box that a zone was halved from
    neighbour   a zone that touches ours in one dimension and overlaps it in all others; through one side of it, or two
    side        2·i: towards higher coordinates of dimension i; 2·i + 1: towards lower ones
    the CAN of all nodes   named "": finds, by the hash of a topic, who keeps its introducer
    introducer  a member of a topic's CAN through which others join it
"""
