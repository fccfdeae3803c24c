"""The ground every layer stands on: one machine interface, its effects, and what a machine may not get from the world.

In     nothing but values: a time, a source, a message.
Out    effects, in order: ``Send``, ``Deliver``, ``Persist``, ``Trace``.
Never  a clock, a socket, ambient randomness, or an import from another layer.

Glossary
    machine    a protocol without I/O: ``receive``, ``timeout``, one pulled ``deadline``
    outbox     the ordered list of effects of one step
    cause      the id of the event in which an effect was made (the driver keeps it, see ``sim/des/trace``)
    token      a timer's name: a value, never a closure, so that machines can be copied, hashed and replayed
    document   a TOML file that was read strictly, and knows the line of each of its values (``strict``)
"""
