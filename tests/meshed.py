"""Two or more meshes in one process, joined by pipes that a test can cut or hold back. No sockets, no clock."""

from collections import deque
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.node.wire.conversation import Conversation
from weft.node.wire.handshake import NONCE_BYTES, Channel, Identity, Trust
from weft.node.wire.mesh import Mesh
from weft.node.wire.settings import Settings

KEY = b"0123456789abcdef0123456789abcdef"


class Pipe:
    """One connection: ``ends[0]`` has dialled. ``waiting[i]`` is on its way to ``ends[i]``."""

    def __init__(self, meshes: tuple["Side", "Side"], ends: tuple[Conversation, Conversation]) -> None:
        self.meshes = meshes
        self.ends = ends
        self.waiting: tuple[deque[bytes], deque[bytes]] = (deque(), deque())

    def move(self, now: float) -> bool:
        """What one end has to say reaches the other; False: nothing has."""
        moved = False
        for here in (0, 1):
            mesh, end, queue = self.meshes[here].mesh, self.ends[here], self.waiting[1 - here]
            while data := mesh.take(end):
                queue.append(data)
        for here in (0, 1):
            mesh, end, queue = self.meshes[here].mesh, self.ends[here], self.waiting[here]
            while queue:
                mesh.receive(now, end, queue.popleft())
                moved = True
            if self.ends[1 - here].is_over and not end.is_over and not self.waiting[here]:
                end.lost(now, "closed by the peer")
                moved = True
        return moved


class Side:
    """One broker's mesh, and what it has heard."""

    def __init__(self, node: int, key: bytes | None = KEY, settings: Settings | None = None, **more: Any) -> None:
        fields = {"cluster": "home", "incarnation": 1, "addresses": (f"h{node}:1",), **more}
        self.heard: list[tuple[NodeId, Message]] = []
        self.changes: list[tuple[NodeId, bool]] = []
        identity = Identity(node=NodeId(node), **fields)
        trust = Trust(key, plaintext=True)
        self.mesh = Mesh(identity, trust, lambda now, source, message: self.heard.append((source, message)), settings)
        self.mesh.on_change = lambda now, node, is_up: self.changes.append((node, is_up))


NONCES = iter(range(1, 1 << 30))


def nonce() -> bytes:
    return next(NONCES).to_bytes(NONCE_BYTES, "big")


def join(one: Side, other: Side, now: float = 0.0, **channel: Any) -> Pipe:
    """``one`` dials ``other``; nothing has been said yet."""
    ends = (
        one.mesh.connect(now, Channel(True, "there", **channel), nonce()),
        other.mesh.connect(now, Channel(False, "here", **channel), nonce()),
    )
    return Pipe((one, other), ends)


def settle(*pipes: Pipe, now: float = 0.0) -> None:
    """Until nobody has anything to say."""
    for _ in range(1_000):
        if not any(pipe.move(now) for pipe in pipes):
            return
    raise AssertionError("they never stop talking")
