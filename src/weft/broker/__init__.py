"""The broker: MQTT clients on one side, subscriptions and messages on the other; pub/sub between sites will meet MQTT here.

In     bytes of connections and the time, from a driver (``runtime``, or a test); what the store kept; verdicts; commands.
Out    bytes per connection, records for the store, work for other threads, notices for the log: lists that the driver empties.
Never  sockets, clocks, files, threads.

Glossary
    connection   one client's network connection: framing, the state before and after CONNECT, both flow controls
    hotpath      the loop from bytes to bytes for what nearly all packets are; ``connection`` does the same slowly
    session      ``mqtt.session``: survives the connection if the client wants it
    route        who gets a topic's messages: computed once, thrown away when a subscription that matters changes
    journal      what must be durable before an acknowledgement leaves
    access       who may connect and what they may do
    plugin       ``hooks``: somebody else's class that watches, changes and decides, inside a fence
    origin       where a connection came from: listener, transport, address, certificate
"""
