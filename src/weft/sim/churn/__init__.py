"""Members that come and go, in the event simulator: what that does to a ring, and what it costs to keep up.

In: terms (which overlay, how many, how long sessions last, what is asked) and a seed.
Out: rows: deliveries, holes in the ring, how right tables are, lookups, messages and bytes by purpose.
Never: a model of an overlay: these are the machines themselves.
"""
