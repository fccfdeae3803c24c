"""weft: a distributed MQTT broker for many sites, held together by a structured overlay instead of a central server.

In     MQTT clients of one site, and peers: brokers of other sites.
Out    each message, once and in order, to whoever listens, and to nobody else.
Never  a central server; traffic for a topic that nobody listens to.

Glossary
    broker       one weft process; one peer of the overlay; may hold many virtual nodes
    virtual node one key of one broker on the overlay
    overlay      how brokers find each other and spread a message over a range of keys
    ALM, OFM     multicast by the overlay (the *warp*), multicast by OpenFlow switches (the *weft*)
    driver       what runs the machines: ``sim`` in virtual time, ``runtime`` on real sockets

The folders and their order are drawn in docs/ARCHITECTURE.md.
"""

__version__ = "0.1.0"
