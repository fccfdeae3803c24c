"""Who is dialled, when, and how often: keepers for seeds, reachers for brokers that something waits for.

A keeper holds one seed's address: it dials, waits for the end, and dials again after a wait that doubles with each failure.
Where there is a link to that broker already it waits for the end of that. An address that leads to ourselves is left alone, and
one that is no longer among the seeds is given up. A reacher tries all addresses of one broker a few times; then what waits for
it is dropped, and the next message begins anew. Waits are drawn from a seeded generator: brokers do not dial in step.
"""

import asyncio
from collections.abc import Iterator

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.core.rand import Rng
from weft.node.wire.conversation import Conversation
from weft.runtime.clock import now
from weft.runtime.peers.link import PeerLink
from weft.runtime.peers.links import Links
from weft.runtime.peers.seeds import Address, Seeds, seed_of

LOOK_S = 30.0
"""How often seeds are looked up anew."""

REACH_TRIES = 6
"""With the default waits: gives up after some 12 s; where nothing answers at all, ``DIAL_S`` later with each try."""


class Dialing:
    """In: ``start``, ``close``; what the mesh wants. Out: connections, which the mesh accepts or not."""

    def __init__(self, links: Links, seeds: Seeds, rng: Rng, look_s: float = LOOK_S) -> None:
        self._links = links
        self._mesh = links.mesh
        self._seeds = seeds
        self._rng = rng
        self._look_s = look_s
        self._kept: dict[Address, bool] = {}
        """Addresses with a keeper; False: it is to give up."""
        self._reached: set[NodeId] = set()
        self._ours: set[Address] = set()
        self._turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        """Done, and made anew, whenever a link is up or down."""
        self._closing = asyncio.Event()
        links.on_wanted = self._want
        links.mesh.on_change = self._on_change

    def start(self) -> None:
        self._links.tasks.spawn(self._look(), "seeds")

    def close(self) -> None:
        """Dial no more."""
        self._closing.set()
        self._turned()

    # ------------------------------------------------------------------------------------------------------- seeds

    async def _look(self) -> None:
        while not self._closing.is_set():
            found = await self._seeds.find()
            for what in self._seeds.wrong:
                self._mesh.notices.say_seldom(now(), "warning", "seed not usable", what, why=what)
            for address in self._kept:
                self._kept[address] = address in found
            for address in found:
                if address not in self._kept and address not in self._ours:
                    self._kept[address] = True
                    self._links.tasks.spawn(self._keep(address), f"seed {address[0]}:{address[1]}")
            self._links.wake()
            await self._pause(self._look_s * self._rng.uniform(0.75, 1.25))

    async def _keep(self, address: Address) -> None:
        failures = 0
        try:
            while self._kept[address] and not self._closing.is_set():
                link = await self._links.dial(address)
                conversation = link.conversation if link is not None else None
                if link is not None and conversation is not None:
                    await asyncio.wait([link.ended])
                    if self._leads_to_us(conversation):
                        self._ours.add(address)
                        return
                    was_used = conversation.was_used
                    if conversation.peer is not None:
                        was_used |= await self._until_down(conversation.peer.node)
                    failures = 0 if was_used else failures
                failures += 1
                await self._pause(self._mesh.settings.retry_s(failures, self._rng))
        finally:
            del self._kept[address]

    @staticmethod
    def _leads_to_us(conversation: Conversation) -> bool:
        return conversation.ended is not None and conversation.ended.refused == "address"

    async def _until_down(self, node: NodeId) -> bool:
        """Wait while there is a link to ``node``; False: there was none."""
        was_up = False
        while self._mesh.has_link(node) and not self._closing.is_set():
            was_up = True
            await asyncio.wait([self._turn])
        return was_up

    # ----------------------------------------------------------------------------------------------------- brokers

    def _on_change(self, at: float, node: NodeId, is_up: bool) -> None:
        self._turned()
        if not is_up:
            self._want(node)

    def _turned(self) -> None:
        self._turn.set_result(None)
        self._turn = asyncio.get_running_loop().create_future()

    def _want(self, node: NodeId) -> None:
        if node not in self._reached and not self._closing.is_set() and not self._links.tasks.is_full:
            self._reached.add(node)
            self._links.tasks.spawn(self._reach(node), f"dialling broker {node}")

    async def _reach(self, node: NodeId) -> None:
        mesh = self._mesh
        try:
            for failures in range(1, REACH_TRIES + 1):
                for address in self._addresses_of(node):
                    if mesh.has_link(node) or self._closing.is_set():
                        return
                    link = await self._links.dial(address)
                    if link is not None:
                        await self._until_used(node, link)
                if mesh.has_link(node):
                    return
                await self._pause(mesh.settings.retry_s(failures, self._rng))
            mesh.unreachable(now(), node)
        finally:
            self._reached.discard(node)

    def _addresses_of(self, node: NodeId) -> Iterator[Address]:
        place = self._mesh.book.get(node)
        for text in place.addresses if place is not None else ():
            try:
                yield seed_of(text)
            except Misuse:  # a peer's word for it
                self._mesh.counts["book.bad"] += 1

    async def _until_used(self, node: NodeId, link: PeerLink) -> None:
        """Wait until there is a link to ``node``, by way of ``link`` or another, or ``link`` has ended."""
        while not (self._mesh.has_link(node) or link.ended.done() or self._closing.is_set()):
            await asyncio.wait([self._turn, link.ended], return_when=asyncio.FIRST_COMPLETED)

    async def _pause(self, wait_s: float) -> None:
        try:
            await asyncio.wait_for(self._closing.wait(), wait_s)
        except TimeoutError:
            return
