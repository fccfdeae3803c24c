"""What one client id keeps between connections, and the QoS machines both ways (§4.1, §4.3).

In     publications to deliver, acknowledgements, packet identifiers of the client.
Out    which delivery may be sent under which identifier, and which acknowledgement is due.
Never  bytes, other sessions, the store: who calls does what follows.

Glossary
    delivery   one publication on its way to one session: queued, sent, released, done
    outgoing   the QoS machine towards the client: window, queue, identifiers
    incoming   QoS 2 from the client: identifiers taken and not yet released
    window     how many deliveries may be unacknowledged: the client's receive maximum, and our own bound
"""
