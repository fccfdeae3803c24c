"""All links of one broker: one connection per pair of brokers, what waits for each, who is where.

*One connection.* Both sides may dial at once, or one may dial again before the other has noticed that the old connection is
dead. Of each pair the broker with the lower id decides: it adopts every connection that opens, by a number that only grows, and
the highest number is the one to use. The other is retired: its BYE is its last word, and what was under way still arrives.
Whoever dials and finds a link there already ends the new connection before it is proved, so nothing changes.

*Queues.* A message waits with its pair, not with a connection, so it survives a change of connection. Bounds and what is
dropped first are in ``settings``; each drop is counted. A message to a broker that cannot be reached is lost, as in a network.

*Book.* Where brokers are reached, with the incarnation that said so: told to each new link, passed on when it is news.
"""

from collections import Counter, deque
from collections.abc import Callable, Iterator

import msgspec

from weft.broker.notices import Notices
from weft.core.errors import Misuse, Violation
from weft.core.ids import NODE_ID_MAX, NodeId
from weft.core.machine import Message
from weft.node.wire.codec import Codec
from weft.node.wire.conversation import Conversation, Ended
from weft.node.wire.frames import MESSAGE, frame
from weft.node.wire.handshake import Channel, Handshake, Hello, Identity, Refused, Trust, check_addresses
from weft.node.wire.settings import Settings
from weft.node.wire.vocabulary import OVERLAY, may_drop

PIECE_BYTES = 1 << 18
"""As much of a queue is given to a socket at once; what is left can still be dropped."""

PAGE_ENTRIES = 128
"""Entries of the book in one frame: with addresses of the longest kind it stays far below a message's bound."""


class Place(msgspec.Struct, frozen=True, array_like=True):
    """Where ``node`` in its life ``incarnation`` is reached."""

    node: NodeId
    incarnation: int
    addresses: tuple[str, ...]


_pages = msgspec.msgpack.Decoder(tuple[Place, ...])


class Pair:
    """We and one other broker. ``link`` is the connection in use; ``queued`` the bytes of ``queue``."""

    __slots__ = ("incarnation", "link", "node", "number", "queue", "queued")

    def __init__(self, node: NodeId, incarnation: int) -> None:
        self.node = node
        self.incarnation = incarnation
        self.link: Conversation | None = None
        self.number = 0
        self.queue: deque[bytes] = deque()
        self.queued = 0


Heard = Callable[[float, NodeId, Message], None]


class Mesh:
    """In: connections and their bytes, messages to send. Out: ``heard``, ``dirty``, ``wanted``, ``counts``, ``notices``."""

    def __init__(
        self,
        identity: Identity,
        trust: Trust,
        heard: Heard,
        settings: Settings | None = None,
        notices: Notices | None = None,
    ) -> None:
        self.identity = identity
        self.settings = settings or Settings()
        self.counts: Counter[str] = Counter()
        self.notices = notices or Notices()
        self.dirty: dict[Conversation, None] = {}
        """Those that have something to write or are over; the driver empties it."""
        self.wanted: dict[NodeId, None] = {}
        """Brokers that something waits for, without a link; the driver takes them out, dials, and says ``unreachable``."""
        self.pairs: dict[NodeId, Pair] = {}
        self.book: dict[NodeId, Place] = {}
        self.queued = 0
        self.is_pressed = False
        """More waits than ``queues_bytes``: publish less."""
        self.on_change: Callable[[float, NodeId, bool], None] = lambda now, node, is_up: None
        """A link to ``node`` is up, or no longer."""
        self._trust = trust
        self._heard = heard
        self._codec = Codec(OVERLAY, self.settings.message_bytes_max)
        self._number = 0
        self._open: dict[Conversation, None] = {}

    # ------------------------------------------------------------------------------------------- from the driver

    def connect(self, now: float, channel: Channel, nonce: bytes) -> Conversation:
        """A new connection."""
        handshake = Handshake(self.identity, self._trust, channel, nonce)
        conversation = Conversation(now, channel, handshake, self.settings, self)
        self._open[conversation] = None
        self.dirty[conversation] = None
        conversation.begin(now)
        return conversation

    def receive(self, now: float, conversation: Conversation, data: bytes) -> None:
        conversation.receive(now, data)
        if conversation.out or conversation.is_over:
            self.dirty[conversation] = None

    @property
    def deadline(self) -> float | None:
        return min((each.deadline for each in self._open), default=None)

    def timeout(self, now: float) -> None:
        for conversation in [each for each in self._open if each.deadline <= now]:
            conversation.timeout(now)
            self.dirty[conversation] = None

    def send(self, now: float, to: NodeId, message: Message) -> None:
        """Queue ``message``; never raises, as a network does not."""
        try:
            data = frame(MESSAGE, self._codec.encode(message))
        except Misuse as misuse:
            self.counts["unsendable"] += 1
            self.notices.say_seldom(now, "warning", "message not sent to a peer", str(to), why=str(misuse))
            return
        pair = self.pairs.get(to)
        if pair is None:
            if not self._is_known(to) or not self._has_room():
                self.counts["dropped.unknown"] += 1
                return
            pair = self.pairs[to] = Pair(to, 0)
        waiting = pair.queued + len(data)
        if waiting > self.settings.queue_bytes_max:
            self.counts["dropped.full"] += 1
            return
        if waiting > self.settings.queue_bytes and may_drop(message):
            self.counts["dropped.slow"] += 1
            return
        pair.queue.append(data)
        self._count_queued(pair, len(data))
        if pair.link is not None:
            self.dirty[pair.link] = None
        elif self._is_known(to):
            self.wanted[to] = None

    def take(self, conversation: Conversation) -> bytes:
        """What is to be written on ``conversation`` now, in one piece; call again while it answers with something."""
        pieces, conversation.out = conversation.out, []
        pair = self._pair_of(conversation)
        if pair is not None:
            size = 0
            while pair.queue and size < PIECE_BYTES:
                pieces.append(pair.queue.popleft())
                size += len(pieces[-1])
            self._count_queued(pair, -size)
        return b"".join(pieces)

    def unreachable(self, now: float, node: NodeId) -> None:
        """``node`` cannot be dialled: what waits for it is lost."""
        pair = self.pairs.get(node)
        if pair is not None and pair.link is None:
            self.counts["dropped.unreachable"] += len(pair.queue)
            self._forget(pair)

    def has_link(self, node: NodeId) -> bool:
        pair = self.pairs.get(node)
        return pair is not None and pair.link is not None

    def links(self) -> Iterator[NodeId]:
        """Those with whom there is a link."""
        return (pair.node for pair in self.pairs.values() if pair.link is not None)

    def close(self, now: float) -> None:
        """Say bye to all."""
        for conversation in list(self._open):
            conversation.retire(now)
            self.dirty[conversation] = None

    # -------------------------------------------------------------------------------------- from the conversations

    def on_hello(self, now: float, conversation: Conversation, hello: Hello) -> None:
        pair = self.pairs.get(hello.node)
        if pair is None:
            if not self._has_room():
                raise Refused("full")
            return
        if hello.incarnation < pair.incarnation:
            raise Refused("stale")
        # Only here, before our proof: once it is given, the other side may have adopted this connection already.
        if conversation.channel.is_dialler and pair.link is not None and hello.incarnation == pair.incarnation:
            raise Refused("duplicate")

    def on_open(self, now: float, conversation: Conversation) -> None:
        hello = conversation.peer
        assert hello is not None
        pair = self.pairs.setdefault(hello.node, Pair(hello.node, hello.incarnation))
        if hello.incarnation < pair.incarnation:  # its next life has come meanwhile
            raise Refused("stale")
        if hello.incarnation > pair.incarnation:  # it was started again, and counts from the beginning
            pair.incarnation = hello.incarnation
            pair.number = 0
            self._use(now, pair, None)
        self._learn(now, [Place(hello.node, hello.incarnation, hello.addresses)])
        if self.identity.node < hello.node:
            self._number += 1
            pair.number = self._number
            conversation.adopt(self._number)
            self._use(now, pair, conversation)

    def on_adopted(self, now: float, conversation: Conversation, number: int) -> None:
        hello = conversation.peer
        assert hello is not None
        pair = self.pairs.get(hello.node)
        if self.identity.node < hello.node:
            raise Violation("adopted by whom it is not for to say")
        if pair is None:
            pair = self.pairs[hello.node] = Pair(hello.node, hello.incarnation)
        if pair.incarnation != hello.incarnation or number <= pair.number:
            conversation.retire(now)
            return
        pair.number = number
        self._use(now, pair, conversation)

    def on_message(self, now: float, conversation: Conversation, body: bytes) -> None:
        hello = conversation.peer
        assert hello is not None
        self._heard(now, hello.node, self._codec.decode(body))

    def on_book(self, now: float, conversation: Conversation, body: bytes) -> None:
        try:
            places = _pages.decode(body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise Violation("a page of the book that is none") from error
        if len(places) > PAGE_ENTRIES:
            raise Violation("a page of the book that is too long")
        for place in places:
            check_addresses(place.addresses)
            if not 0 < place.node <= NODE_ID_MAX or not 0 <= place.incarnation < 1 << 62:
                raise Violation("nobody's place")
        self._learn(now, places)

    def on_bye(self, now: float, conversation: Conversation) -> None:
        """The pair's queue waits for the next connection."""

    def on_ended(self, now: float, conversation: Conversation) -> None:
        self._open.pop(conversation, None)
        self.dirty[conversation] = None
        ended, address = conversation.ended, conversation.channel.address
        assert ended is not None
        if ended.refused is not None:
            self._say_refused(now, ended, address)
        pair = self._pair_of(conversation)
        if pair is not None:
            self._use(now, pair, None)
            if pair.queue:
                self.wanted[pair.node] = None

    # -------------------------------------------------------------------------------------------------------- within

    def _say_refused(self, now: float, ended: Ended, address: str) -> None:
        assert ended.refused is not None
        self.counts[f"refused.{ended.refused}"] += 1
        if ended.refused not in {"duplicate", "address"}:  # these two are no news: a seed leads there
            by = "peer" if ended.by_peer else "us"
            self.notices.say_seldom(now, "warning", "peer refused", address, address=address, by=by, why=ended.why)

    def _use(self, now: float, pair: Pair, link: Conversation | None) -> None:
        """From now on ``link`` is what ``pair`` uses."""
        old, pair.link = pair.link, link
        if old is not None and old is not link:
            old.retire(now)
            self.dirty[old] = None
        if link is not None:
            link.was_used = True
            self.wanted.pop(pair.node, None)
            self.dirty[link] = None
            for page in self._all_pages():
                link.say_book(now, page)
        if (old is None) is not (link is None):
            self.on_change(now, pair.node, link is not None)

    def _pair_of(self, conversation: Conversation) -> Pair | None:
        """The pair that uses ``conversation``."""
        hello = conversation.peer
        pair = self.pairs.get(hello.node) if hello is not None else None
        return pair if pair is not None and pair.link is conversation else None

    def _has_room(self) -> bool:
        """For one more pair; whoever has no link is forgotten for it."""
        if len(self.pairs) < self.settings.peers_max:
            return True
        idle = next((pair for pair in self.pairs.values() if pair.link is None), None)
        if idle is not None:
            self.counts["dropped.unreachable"] += len(idle.queue)
            self._forget(idle)
            self.pairs.pop(idle.node, None)
        return idle is not None

    def _is_known(self, node: NodeId) -> bool:
        place = self.book.get(node)
        return place is not None and bool(place.addresses)

    def _forget(self, pair: Pair) -> None:
        self._count_queued(pair, -pair.queued)
        pair.queue.clear()
        self.wanted.pop(pair.node, None)
        if self.pairs.get(pair.node) is pair and pair.incarnation == 0:
            del self.pairs[pair.node]  # we have never met

    def _count_queued(self, pair: Pair, change: int) -> None:
        pair.queued += change
        self.queued += change
        high = self.settings.queues_bytes
        self.is_pressed = self.queued > (high // 2 if self.is_pressed else high)

    def _learn(self, now: float, places: list[Place] | tuple[Place, ...]) -> None:
        """Take what is news into the book, and pass it on."""
        news = []
        for place in places:
            known = self.book.get(place.node)
            if place.node == self.identity.node or (known is not None and place.incarnation <= known.incarnation):
                continue
            if known is None and len(self.book) >= self.settings.peers_max:
                idle = next((node for node in self.book if not self.has_link(node)), None)
                if idle is None:
                    self.counts["book.full"] += 1
                    continue
                del self.book[idle]
            self.book[place.node] = place
            news.append(place)
        if news:
            page = msgspec.msgpack.encode(news)
            for link in [pair.link for pair in self.pairs.values() if pair.link is not None]:
                link.say_book(now, page)
                self.dirty[link] = None

    def _all_pages(self) -> Iterator[bytes]:
        places = list(self.book.values())
        for start in range(0, len(places), PAGE_ENTRIES):
            yield msgspec.msgpack.encode(places[start : start + PAGE_ENTRIES])
