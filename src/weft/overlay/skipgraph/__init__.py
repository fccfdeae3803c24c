"""Skip Graph, multi-key: a ring per shared prefix of random digits (Aspnes & Shah; Konishi et al.; RELAY §5.1–5.2; overlay §6).

In     the ring's links at all levels; Step from whoever looks for its like
Out    entries for routing: at each level the neighbours, twice as far away as one level below, on average
Never  a level without company: a ring that holds only our own keys ends our height; never another overlay's tables

Glossary
    membership vector   a broker's random binary digits, most significant first; all its keys have the same
    level i             the rings of those who share i digits; level 0 is the one ring of all
    tower               one virtual node's levels, from 0 up
    walk                along a level, from node to node, until somebody of the next level is met
    kin                 a node that shares the digits of the next level, whether it is in that level's ring or not yet
"""
