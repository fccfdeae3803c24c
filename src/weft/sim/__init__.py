"""The driver in virtual time: the very machines that ``runtime`` puts on sockets, under a clock that we own.

In     machines, a network, faults, a seed; or a scenario file that says all of that.
Out    what happened: events, counters, a trace hash, stories, transcripts; the same for the same seed, in any process.
Never  real time, real sockets, ambient randomness; a protocol's rule: those live in the machines.

Glossary
    des         the event simulator: one event at a time, ordered by (time, priority, counter)
    scenario    a TOML file: an overlay, a network, faults, steps, and what must come of it
    overlays    names the overlays that scenarios and campaigns run
    baselines   names the group protocols that experiments compare with, over substrates that start whole
    schedule    everything drawn from one seed: brokers, churn, queries, faults; and what must hold during and after
    campaign    many schedules, and what they came to; ``report`` writes it down
    ofgate      SAPS's EITHER and BOTH around an OFGate that counts; ``turnover`` lets a topic's members come and go around it
    explore     every order of messages, for rings of up to four brokers
    invariants  what must be true of a ring, I1 to I5; ``convergence``: of the tables
    whole       rings that start converged
    vector      bulk models: whole overlays of millions of nodes as arrays, held to the machines by tests/cross
"""
