"""MQTT without a network: bytes, names, messages, sessions.

In     bytes, packets, publications, times.
Out    bytes, packets, and what a session wants kept.
Never  I/O, a clock, other clients: who gets what is the business of ``broker``.

Glossary
    codec         packets ↔ bytes, pure functions
    topics        names, filters and shares: what is valid, what matches
    publication   an application message inside weft, with its encodings
    session       what one client id keeps between connections: subscriptions, QoS machines both ways, a queue
    client        the other side's machine: ``weft pub``, ``weft sub``, bridges
"""
