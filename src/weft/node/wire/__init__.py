"""What two brokers say to each other, as bytes: frames, who is who, the overlay's messages, when a link is dead.

In     bytes of another broker, messages of our own overlay, the time.
Out    bytes, messages, and what became of a connection.
Never  a socket, a clock or entropy: nonces and times are arguments.

Glossary
    frame         a length, a kind, a body (``frames``)
    vocabulary    the messages that may travel, each with its number for all time
    codec         a message to bytes and back; what does not fit is a ``Violation``
    hello, proof  what each side says of itself, and how it proves it (``handshake``)
"""
