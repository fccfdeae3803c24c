"""Structured overlays: brokers in key order on a ring, and routes across it, without a centre.

In     the verbs of ``api.Overlay``, or of ``groups.Groups``; messages of other brokers' overlays
Out    messages; ``api`` (or ``groups``) events for the layer above
Never  I/O, MQTT, OpenFlow; never another overlay's tables: suzaku and skipgraph do not know each other

Data flow
    peer       front door and verbs; stacks what follows; suzaku and skipgraph derive from it
    ring       DDLL: who is left and right (``reunion``: two rings become one)
    lookup     where a key belongs, over ``contacts``: the union of all tables
    spread     range multicast, conditional multicast, anycast
    hops       one hop that must not be lost
    keys, values, settings, local   the order, the reductions, the numbers, what one broker's parts share

Baselines of the experiments, which have groups instead of a key order
    groups      verbs, events and front door of all of them
    rendezvous  the root of a topic and the way to it; scribe and bayeux, two trees below a root
    can         a small CAN for each topic, flooded
    shg         content-based: subscriptions stay in their partition of a hypercube, events cross all
"""
