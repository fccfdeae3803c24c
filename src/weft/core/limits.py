"""Named bounds. Each queue, table, retry and hop count in weft has one, and hitting it leaves a count and a trace.

Times are in seconds; they are defaults, and every machine takes its own ``OverlaySettings``-like value object, so a test can
make a ring that pings each second or never.
"""

TTL_HOPS = 64
"""No message is forwarded more often than this; twice log2 of any overlay we can imagine."""

PENDING_MAX = 65_536
"""Requests a broker may have under way at once, of each kind."""

VIRTUAL_NODES_MAX = 1_000_000
"""Keys one broker may hold."""

LEFT_NEIGHBOURS_MAX = 4
"""How many nodes to its left a virtual node knows (overlay §2), and the length of a backup list (§3)."""

LEVELS_MAX = 64
"""Levels of a finger table or of a Skip Graph: 2**64 nodes."""
