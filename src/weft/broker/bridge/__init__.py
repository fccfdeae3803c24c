"""A bridge: another broker as if it were one more client of ours, and we one of its.

In     bytes of both brokers, the filters that local clients subscribe to, the time.
Out    bytes to both, a deadline, counts, notices.
Never  I/O; a message of its own: what it must not lose lies in a session of our broker or of the other.

Glossary
    near       our own broker, reached through an ordinary ``Connection`` as client ``$bridge/NAME``
    far        the other broker
    in, out    from far to near, from near to far
    relay      passes packets on with their packet identifiers, so it needs no memory
    mapping    which topics cross, and what they are called on the other side
    demand     what of it somebody wants: subscriptions at far that follow those of local clients; topics nobody hears there
    hop        the user property ``weft-hop``: which brokers a message has left over a bridge
"""
