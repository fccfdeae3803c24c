"""Bulk models: what the machines would do on a converged overlay, for 100,000 to 10,000,000 nodes, in arrays (numpy, numba).

In     seeds, or the very keys and membership vectors of a simulation
Out    tables, trees and walks as arrays; the same, edge by edge, as those of the event simulator (tests/cross)
Never  a rule of its own: what a model obeys is decided in ``weft.overlay``; churn, faults and time between messages

Glossary
    position   a node's place in key order, 0 … n−1: all that a model knows of a key
    layout     whose each position is, and which neighbouring positions share a locality
    run        neighbouring positions of one locality (topic, segment, rank and cluster): ``cluster-first``'s unit
    site       the cluster alone: what crossings are counted between
    compiled   a function that numba compiles; kernels that call each other share a file, as numba's cache looks no farther
    borrowed   a rule of ``weft.overlay`` compiled as it is, and the kernels that call it (scribe, bayeux, can)
"""
