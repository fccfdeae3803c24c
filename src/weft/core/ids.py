"""Who is who: the one identifier that all layers share.

A node id is a broker's persistent identity, a positive 63-bit integer: integers order and hash the same in every
process, so nothing that depends on them changes with ``PYTHONHASHSEED``.
"""

from typing import NewType

NodeId = NewType("NodeId", int)

NODE_ID_MAX = (1 << 63) - 1
