"""The one clock of a process: seconds since the epoch, and never a step back.

It is the wall clock at the start plus what the monotonic clock has counted since. When somebody sets the machine's clock, weft
goes on counting: no timer fires early, and what a store has kept is put right at the next start.
"""

from time import monotonic, time

_START = time() - monotonic()


def now() -> float:
    """The time that machines are given."""
    return _START + monotonic()
