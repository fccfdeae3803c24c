"""What must be true of a ring: I1–I5 of overlay §2, looked at from above, where all machines and messages can be seen.

    I1  without failures, the right pointers of the nodes in the ring form one cycle in key order
    I2  p.r = q  ⇒  p.rseq ≥ q.lseq, and equal iff no newer SetL is on its way to q; if they are equal, q.l = p
    I3  a node's lseq never falls
    I4  at rest, p.r = q  ⇔  q.l = p
    I5  a node that is being inserted is unreachable until a left neighbour of it has accepted its SetR

I3 and I5 hold whatever happens; I1 and I2 hold after every event as long as nobody fails; I4 at rest, and again once the
faults have stopped and the ring has healed. A check that fails raises ``Broken`` with the names of those concerned.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weft.core.ids import NodeId
from weft.core.machine import Message
from weft.overlay.api import Ref
from weft.overlay.peer import Peer
from weft.overlay.ring.messages import Seq, SetL, SetRAck, Status
from weft.overlay.ring.tables import Link

InFlight = Sequence[tuple[NodeId, NodeId, Message]]


class Broken(AssertionError):
    """An invariant does not hold."""


def short(ref: Ref) -> str:
    """A reference as people read it."""
    return f"{ref.key.literals.lstrip('0') or '0'}@{ref.node}#{ref.incarnation & 0xFFFF}"


def describe(links: Iterable[Link]) -> str:
    """A ring's links, a line each."""
    return "\n".join(
        f"  {short(link.left)} ← {short(link.me)} → {short(link.right)}  {link.status.value}"
        f" lseq={tuple(link.left_seq)} rseq={tuple(link.right_seq)}"
        for link in sorted(links, key=lambda link: link.me.key)
    )


class RingCheck:
    """One level's ring across all brokers. Remembers each lseq it saw, for I3, and who was accepted, for I5."""

    def __init__(self, level: int = 0) -> None:
        self._level = level
        self._seen: dict[Ref, Seq] = {}
        self._accepted: set[Ref] = set()
        self._last: dict[Ref, object] = {}

    def links(self, peers: Iterable[Peer]) -> dict[Ref, Link]:
        return {link.me: link for peer in peers for (level, _), link in peer.ring.links.items() if level == self._level}

    def always(self, peers: Mapping[NodeId, Peer], node: NodeId) -> None:
        """I3 and I5, after an event at ``node``: true whatever fails."""
        peer = peers.get(node)
        if peer is None:
            return
        for (level, _), link in peer.ring.links.items():
            answered = next(reversed(link.answers), None)
            state = (link.left_seq, link.right, link.status, answered)
            if level != self._level or self._last.get(link.me) == state:
                continue
            self._last[link.me] = state
            self._accept(link)
            self._link(peers, link)

    def _link(self, peers: Mapping[NodeId, Peer], link: Link) -> None:
        last = self._seen.get(link.me)
        if last is not None and link.left_seq < last:
            raise Broken(f"I3: lseq of {short(link.me)} fell from {tuple(last)} to {tuple(link.left_seq)}")
        self._seen[link.me] = link.left_seq
        right = peers.get(link.right.node)
        there = (
            right.ring.find(link.right, self._level) if right is not None and link.status is not Status.INS else None
        )
        if there is not None and there.status is Status.INS and there.me not in self._accepted:
            raise Broken(f"I5: {short(there.me)} is reached from {short(link.me)}, but nobody accepted it")

    def accepted(self, peer: Peer) -> None:
        """Note whose SetR this broker has accepted."""
        for link in peer.ring.links.values():
            self._accept(link)

    def _accept(self, link: Link) -> None:
        self._accepted.update(asker for (asker, _), said in link.answers.items() if isinstance(said, SetRAck))

    def unfailed(self, peers: Iterable[Peer], in_flight: InFlight) -> None:
        """I1 and I2: true after every event, as long as nobody fails and nothing is lost."""
        links = self.links(peers)
        cycle = self._cycle(links)
        newer: set[Ref] = set()
        for _, _, message in in_flight:
            if not isinstance(message, SetL) or message.level != self._level:
                continue
            if message.at in links and message.seq > links[message.at].left_seq:
                newer.add(message.at)
        for link in cycle:
            right = links[link.right]
            if link.status is Status.INS or (right.status is Status.INS and right.left != link.me):
                continue
            if link.right_seq < right.left_seq:
                raise Broken(f"I2: {short(link.me)}.rseq < {short(right.me)}.lseq\n{describe(links.values())}")
            if (link.right_seq == right.left_seq) == (right.me in newer):
                raise Broken(f"I2: SetL to {short(right.me)} and its numbers disagree\n{describe(links.values())}")
            if link.right_seq == right.left_seq and right.left != link.me:
                raise Broken(
                    f"I2: {short(right.me)} took another SetL for {short(link.me)}'s\n{describe(links.values())}"
                )

    def _cycle(self, links: dict[Ref, Link]) -> list[Link]:
        """The nodes reached over right pointers; raises unless they are one cycle in key order with every IN node (I1)."""
        members = [link for link in links.values() if link.status is Status.IN]
        if not members:
            return []
        first = link = members[0]
        cycle = [first]
        while link.right != first.me and len(cycle) <= len(links):
            step = links.get(link.right)
            if step is None:
                raise Broken(f"I1: {short(link.me)} points at {short(link.right)}, which is not there")
            cycle.append(step)
            link = step
        if link.right != first.me:
            raise Broken(f"I1: right pointers never come back to {short(first.me)}\n{describe(links.values())}")
        wraps = sum(link.right.key <= link.me.key for link in cycle)
        if wraps != 1:
            raise Broken(f"I1: right pointers go round {wraps} times\n{describe(links.values())}")
        missing = [short(member.me) for member in members if member not in cycle]
        if missing:
            raise Broken(f"I1: not on the cycle: {', '.join(missing)}\n{describe(links.values())}")
        return cycle

    def at_rest(self, peers: Iterable[Peer]) -> None:
        """I4, with I1: every link IN, one cycle, left pointers its mirror, numbers agreed."""
        links = self.links(peers)
        for link in links.values():
            if link.status is not Status.IN:
                raise Broken(f"at rest {short(link.me)} is {link.status.value}\n{describe(links.values())}")
        for link in self._cycle(links):
            right = links[link.right]
            if right.left != link.me or right.left_seq != link.right_seq:
                raise Broken(f"I4: {short(link.me)} and {short(right.me)} disagree\n{describe(links.values())}")


def no_violations(peers: Iterable[Peer]) -> None:
    """Our own machines never send what our own machines refuse."""
    for peer in peers:
        bad: dict[str, Any] = {what: n for what, n in peer.local.counts.items() if what.startswith("violation")}
        if bad:
            raise Broken(f"broker {peer.local.node} refused a message of a peer that keeps the protocol: {bad}")
