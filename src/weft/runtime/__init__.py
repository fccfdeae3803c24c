"""The asyncio host: everything that touches the world, and nothing that decides.

In     sockets, TLS, files, signals, the clock, entropy.
Out    the same, and calls into a node.
Never  a protocol rule: what bytes mean is decided below.

Glossary
    now      seconds since the epoch at the process's start plus what the monotonic clock has counted since: never jumps
    tick     one turn of the event loop: all that arrived is handled, then each connection is written to once
    drain    stop accepting, tell clients, write out, close
"""
