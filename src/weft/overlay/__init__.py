"""Structured overlays: brokers in key order on a ring, and routes across it, without a centre.

In     the verbs of ``api.Overlay``; messages of other brokers' overlays
Out    messages; ``api`` events for the layer above
Never  I/O, MQTT, OpenFlow; never another overlay's tables: suzaku and skipgraph do not know each other

Data flow
    peer       front door and verbs; stacks what follows; suzaku and skipgraph derive from it
    ring       DDLL: who is left and right (``reunion``: two rings become one)
    lookup     where a key belongs, over ``contacts``: the union of all tables
    spread     range multicast, conditional multicast, anycast
    hops       one hop that must not be lost
    keys, values, settings, local   the order, the reductions, the numbers, what one broker's parts share
"""
