"""Suzaku: a ring with two finger tables that keep each other fresh (Abe & Teranishi; SELECT §3.2–3.3; overlay §3–4).

In     the ring's links; Update from whoever points here
Out    entries for routing: FFT[i] 2**i nodes to the right, BFT[i] 2**i to the left, each with aggregated values
Never  hashing: order is the keys' own; never another overlay's tables

Glossary
    FFT, BFT         forward and backward finger table; index 0 is the ring neighbour, −1 the node itself
    active update    we ask the node at FFT[i]; its answer brings its aggregate and the next level's node
    passive update   the one who was asked learns the asker as its own opposite finger, at no cost
    backups          the left neighbours of a finger's node, used when that node dies
    reverse          who points here: told, by our left neighbour, when we leave
"""
