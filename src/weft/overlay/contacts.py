"""Everybody this broker knows, in key order: the union of the tables of all its virtual nodes, and those nodes themselves.

Routing uses the union (overlay §3, RELAY §5.2): a query is handed on from whichever of our tables knows best. The tables own
their entries and report each change here; a pointer that several tables hold is counted.
"""

from bisect import bisect_left, bisect_right, insort

from weft.core.ids import NodeId
from weft.overlay.api import Ref
from weft.overlay.keys import Key

SHUNNED_MAX = 1_024
MET_MAX = 64
"""Brokers remembered although no table holds them (any more): the way back for who has lost everybody else."""


class Contacts:
    """Invariant: ``_keys[i] == _refs[i].key``, sorted; each reference appears once, ``_holders`` says for how many tables."""

    def __init__(self, node: NodeId) -> None:
        self._node = node
        self._keys: list[Key] = []
        self._refs: list[Ref] = []
        self._holders: dict[Ref, int] = {}
        self._own: dict[Key, Ref] = {}
        self._own_keys: list[Key] = []
        self._shunned: dict[NodeId, float] = {}
        self.met: dict[NodeId, None] = {}
        """Brokers we know of, the latest met last."""

    def __len__(self) -> int:
        return len(self._refs)

    @property
    def own(self) -> list[Ref]:
        """Our virtual nodes that are in the ring, in key order."""
        return [self._own[key] for key in self._own_keys]

    def own_inside(self, low: Key, high: Key) -> list[Ref]:
        """Our virtual nodes with ``low <= key < high``, in order."""
        keys = self._own_keys
        return [self._own[key] for key in keys[bisect_left(keys, low) : bisect_left(keys, high)]]

    def own_around(self, low: Key, high: Key) -> tuple[Ref | None, Ref | None]:
        """Our virtual nodes next to a range: the last below ``low``, the first not below ``high``; neither wraps."""
        keys = self._own_keys
        below, above = bisect_left(keys, low) - 1, bisect_left(keys, high)
        return (
            self._own[keys[below]] if below >= 0 else None,
            self._own[keys[above]] if above < len(keys) else None,
        )

    def is_own(self, ref: Ref) -> bool:
        return self._own.get(ref.key) == ref

    def settle(self, ref: Ref) -> None:
        """Our virtual node ``ref`` is in the ring."""
        if ref.key not in self._own:
            insort(self._own_keys, ref.key)
        self._own[ref.key] = ref
        self.add(ref)

    def unsettle(self, ref: Ref) -> None:
        """Our virtual node ``ref`` is out of the ring."""
        if self._own.get(ref.key) == ref:
            del self._own[ref.key]
            del self._own_keys[bisect_left(self._own_keys, ref.key)]
            self.drop(ref)

    def add(self, ref: Ref) -> None:
        """One more table holds ``ref``."""
        held = self._holders.get(ref, 0)
        self._holders[ref] = held + 1
        if held == 0:
            self.meet(ref.node)
            at = bisect_left(self._keys, ref.key)
            self._keys.insert(at, ref.key)
            self._refs.insert(at, ref)

    def meet(self, node: NodeId) -> None:
        """Remember ``node``, though perhaps no table will hold it."""
        if node == self._node:
            return
        self.met.pop(node, None)
        self.met[node] = None
        if len(self.met) > MET_MAX:
            del self.met[next(iter(self.met))]

    def drop(self, ref: Ref) -> None:
        """One table fewer holds ``ref``."""
        held = self._holders[ref] - 1
        if held:
            self._holders[ref] = held
            return
        del self._holders[ref]
        at = bisect_left(self._keys, ref.key)
        while self._refs[at] != ref:
            at += 1
        del self._keys[at]
        del self._refs[at]

    def floor(self, key: Key, now: float) -> Ref | None:
        """The usable contact with the greatest key not above ``key``, wrapping below the least; None if there is none."""
        refs = self._refs
        at = bisect_right(self._keys, key) - 1
        if refs and refs[at].node != self._node and not self._shunned:
            return refs[at]
        for _ in range(len(refs)):
            ref = refs[at]
            if self._usable(ref, now):
                return ref
            at -= 1
        return None

    def inside(self, low: Key, high: Key, now: float) -> list[Ref]:
        """The usable contacts with ``low <= key < high``, in order."""
        refs = self._refs[bisect_left(self._keys, low) : bisect_left(self._keys, high)]
        return [ref for ref in refs if self._usable(ref, now)]

    def _usable(self, ref: Ref, now: float) -> bool:
        if ref.node == self._node:
            return self._own.get(ref.key) == ref
        return not self._shunned or not self.is_shunned(ref.node, now)

    def shun(self, node: NodeId, until: float) -> None:
        """Route around ``node`` until then, or until it is heard."""
        self._shunned.pop(node, None)
        self._shunned[node] = until
        if len(self._shunned) > SHUNNED_MAX:
            del self._shunned[next(iter(self._shunned))]

    def heard(self, node: NodeId) -> None:
        """``node`` has just spoken: it is alive."""
        if self._shunned:
            self._shunned.pop(node, None)

    def is_shunned(self, node: NodeId, now: float) -> bool:
        until = self._shunned.get(node)
        return until is not None and now < until
