"""Pub/sub: topics as key ranges of a structured overlay; who publishes where nobody listens is suspended (RELAY §5).

In     ``engine.Engine``'s verbs: start, subscribe, unsubscribe, publish; messages of other brokers' engines and overlays
Out    messages; ``Arrived`` for the layer above
Never  MQTT, OpenFlow, I/O; never a concrete overlay: ``overlay.api`` and ``overlay.keys`` are all it knows

Data flow
    engine      front door and verbs
    shapes      wildcards: which shapes are live, and a topic's projection on each
    publishers  a topic's publisher: outside, joining, in and perhaps suspended; the rendezvous point; both repairs
    nodes       one reference-counted virtual node for each (filter, segment), and the broker's home
    port        the overlay, with its events caught
    boundary    what a neighbour's key says, and the note for newcomers
    messages, settings
"""
