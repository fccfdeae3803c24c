"""Spread: what reaches a key range, all of it, some of it, or one of it (RELAY §5.2; SELECT §3.2, §3.4, §4.2; overlay §4–5).

In     a query; the overlay's tables of our own virtual nodes; Scatter, Gather, Astray, Returned, Pick, Picked
Out    ``Received`` once per key in the range, ``Answered``, ``Selected``; pieces of the range for other brokers
Never  a key outside the range, a wrap around the ring, another overlay's name, or a routing table of its own

Glossary
    piece        a sub-range somebody is in charge of: it delivers to its own keys inside and hands on the gaps between them
    gap          what lies between two of our keys, or between one and the piece's border
    strategy     a pure function: gap → pieces and who takes each (``geometry``); they tile the gap whenever it has a taker
    first        the ring's word on the first member of a piece, where a right pointer gave it: left pointers are hints
    duty         a node's share of a query that wants answers: it ends when each child and each key of ours has answered
    census       a query that asks who matches and delivers nothing (SELECT's InfoReq)
    delegate     a node inside the range to which a sender outside hands everything (SELECT §3.4)
    arc          the part of the ring that a routing entry's aggregated value speaks for
    ruled out    ranges in which Anycast found nobody; they travel with it
"""
