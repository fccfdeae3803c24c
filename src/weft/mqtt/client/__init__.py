"""The other side's machine: what a client of an MQTT broker does, without a network. ``weft pub``, ``weft sub``, bridges.

In     bytes of one server, the time, and what the caller wants published and subscribed.
Out    bytes to the server, a deadline, and events.
Never  I/O, a clock; an exception because of what a server sent.

Glossary
    link       one network connection seen from the client: framing, CONNECT to CONNACK, keep-alive, aliases, limits
    machine    ``Client``: what lives longer than a link: messages under way both ways, subscriptions
    outgoing   messages to the server at QoS 1 and 2, from the queue to the last acknowledgement
    token      the caller's name for a publish, a subscribe or an unsubscribe until its event comes
"""
