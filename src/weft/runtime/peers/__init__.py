"""Links to other brokers: sockets, TLS, dialling and seeds around the mesh of ``weft.node.wire``.

In     where to listen, whom to trust, where others may be; messages to send; the sockets' bytes.
Out    messages heard, with who said them; the mesh's counts and notices.
Never  a decision about who is let in, which connection is used or what is dropped: the mesh makes those.

Glossary
    links    the driver of one broker's mesh: one write per connection and tick, one timer
    seed     an address, a name, or a line of a file, where another broker may be
    keeper   the task that sees to it that there is a link by way of one seed's address
    reacher  the task that dials a broker that something waits for, or whose link was lost
"""
