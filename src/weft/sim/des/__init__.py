"""The event simulator: deterministic, one step at a time, with a story for each.

In     machines (``weft.core.machine``), commands for them, a network, a fault plan.
Out    effects carried out in order; counters, a trace hash, stories, transcripts.
Never  a protocol's rule, wall-clock time, or an order that depends on the hash seed.

Glossary
    step        one event that a machine, a command or the driver handled; numbered from 1; its number is its id
    cause       the id of the step in which a message, a timer, a command or a record was made; 0 is outside the run
    agenda      what is still to happen, in order
    flight      one message under way: (source, to, message, cause, links crossed)
    host        where a machine runs: its clock, its pause, its one timer
    network     how long a message takes and which links it crosses (``Uniform``, ``Physical``)
    injector    carries out a fault plan; asks its fate for each message while a fault on links is active
    transcript  a run as stable text, one line per delivered message
"""
