"""Scenario files: a simulation that somebody can read, run, and be sure of.

In     a TOML file: an overlay and its brokers, a network or a topology, faults, steps, expectations.
Out    an outcome: what was reached, over which ways, the counts, the trace hash, and which expectations do not hold.
Never  a field that means nothing, or a value that cannot be: those are refused with file and line.

Glossary
    step         something done at a time: join, leave, multicast, anycast, lookup, aggregate, crash, restart, pause,
                 partition, heal, check
    expectation  ``expect`` of a step: what must have come of it at the end of the run (``check``: at its time)
    hand-over    a message on the way of a multicast to a broker that it reached
    whole        each key's neighbours, as its broker was told, are the next keys in the order of all that joined
"""
