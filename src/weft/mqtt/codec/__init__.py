"""MQTT's bytes and MQTT's packets, both ways, for 3.1, 3.1.1 and 5.0.

In     bytes: ``frames.split`` finds a packet's bounds, ``decode.decode`` reads it; or a packet, for ``encode.encode``.
Out    a packet as a value, or ``Refused`` with the reason code that the standard wants.
Never  state between packets: aliases, packet ids and the order of packets are a connection's business.

Glossary
    version      protocol level: 3 (3.1), 4 (3.1.1), 5
    frame        one packet's first byte and body, without the length between them
    properties   ``Properties``, one value object for every packet of version 5
    reason       ``Reason``; ``Malformed`` and ``ProtocolError`` are the two ways to be refused
"""
