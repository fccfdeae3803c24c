"""The two ways to be wrong.

``Misuse``     our own caller broke the contract: raised at once, with what to do.
``Violation``  a peer broke the protocol: raised by the code that notices, caught at the machine's front door, counted
               and traced there; it never leaves ``receive``.
A broken invariant of our own is neither: that is an ``assert``.
"""


class Misuse(ValueError):
    """The caller asked for something that the contract does not allow."""


class Violation(Exception):
    """A peer sent what the protocol forbids; the message is dropped and counted under this text."""
