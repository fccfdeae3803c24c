"""One connection between two brokers, from its first byte to its last: handshake, messages, pings, the end.

    OPENING ──proofs──▶ OPEN ──BYE said──▶ RETIRED ──BYE heard, or too late──▶ OVER
       └──────────── refused, malformed, silent, lost: from anywhere ───────────▶ OVER

Which of two open connections is used is for the ``mesh`` to say; an open one is heard in any case, a retired one until the
other side has said BYE. A frame that may not be, or is too long, ends this connection and nothing else.

Silence: whoever hears nothing for ``ping_s`` asks, and after ``silence_s`` gives up. If it was *we* who slept (the machine was
paused, so our own look comes late), that time does not count against the other side.
"""

from enum import Enum
from typing import Protocol

import msgspec

from weft.core.errors import Violation
from weft.node.wire.frames import (
    ADOPTED,
    BOOK,
    BYE,
    HELLO,
    MESSAGE,
    OPENING_BYTES_MAX,
    PING,
    PONG,
    PROOF,
    REFUSED,
    Splitter,
    frame,
)
from weft.node.wire.handshake import REASONS, Channel, Handshake, Hello, Refused
from weft.node.wire.settings import Settings

WAITING_MAX = 1_024
"""Frames of our own (answers to pings, pages of the book) that may wait for a peer that does not read."""


class State(Enum):
    OPENING = "opening"
    OPEN = "open"
    RETIRED = "retired"
    OVER = "over"


class Ended(msgspec.Struct, frozen=True):
    """Why a conversation is over. ``refused`` is one of ``handshake.REASONS``, ours or what the other side said."""

    why: str
    refused: str | None = None
    by_peer: bool = False


class Owner(Protocol):
    """What a conversation tells the mesh. ``Violation`` and ``Refused`` raised in these end the conversation."""

    def on_hello(self, now: float, conversation: "Conversation", hello: Hello) -> None: ...

    def on_open(self, now: float, conversation: "Conversation") -> None: ...

    def on_adopted(self, now: float, conversation: "Conversation", number: int) -> None: ...

    def on_message(self, now: float, conversation: "Conversation", body: bytes) -> None: ...

    def on_book(self, now: float, conversation: "Conversation", body: bytes) -> None: ...

    def on_bye(self, now: float, conversation: "Conversation") -> None: ...

    def on_ended(self, now: float, conversation: "Conversation") -> None: ...


class Conversation:
    """In: ``receive``, ``timeout``, ``lost``. Out: ``out`` (bytes, in order), ``is_over``, calls to the owner."""

    def __init__(self, now: float, channel: Channel, handshake: Handshake, settings: Settings, owner: Owner) -> None:
        self.channel = channel
        self.out: list[bytes] = []
        self.state = State.OPENING
        self.ended: Ended | None = None
        self.was_used = False
        """The mesh has used it for messages."""
        self._handshake = handshake
        self._settings = settings
        self._owner = owner
        self._splitter = Splitter()
        self._heard_at = now
        self.deadline = now + settings.handshake_s

    @property
    def peer(self) -> Hello | None:
        """Who the other side says it is; proved if the state is beyond OPENING."""
        return self._handshake.peer

    @property
    def version(self) -> int:
        return self._handshake.version

    @property
    def is_over(self) -> bool:
        """Write what is in ``out``, then close the socket."""
        return self.state is State.OVER

    def begin(self, now: float) -> None:
        """The connection is there."""
        try:
            self._say(self._handshake.begin())
        except Refused as refused:
            self._refuse(now, refused)

    def receive(self, now: float, data: bytes) -> None:
        """Bytes of the other side; never raises for what they are."""
        if self.is_over:
            return
        self._heard_at = now
        self._splitter.feed(data)
        try:
            for kind, body in self._splitter.frames():
                self._hear(now, kind, body)
                if self.is_over:
                    return
        except Refused as refused:
            self._refuse(now, refused)
        except Violation as violation:
            self.end(now, Ended(str(violation), "malformed"))

    def _hear(self, now: float, kind: int, body: bytes) -> None:
        if kind == REFUSED:
            word = body[:32].decode("ascii", "replace")
            reason = word if word in REASONS else "malformed"
            self.end(now, Ended(REASONS[reason], reason, by_peer=True))
        elif self.state is State.OPENING:
            self._hear_opening(now, kind, body)
        elif kind == MESSAGE:
            self._owner.on_message(now, self, body)
        elif kind == PING:
            if len(self.out) < WAITING_MAX:  # whoever asks without reading the answers gets no more of them
                self._say(frame(PONG))
        elif kind == PONG:
            pass
        elif kind == ADOPTED and len(body) == 8:
            self._owner.on_adopted(now, self, int.from_bytes(body, "big"))
        elif kind == BOOK:
            self._owner.on_book(now, self, body)
        elif kind == BYE:
            self._owner.on_bye(now, self)
            self.end(now, Ended("the other side said bye"))
        else:
            raise Violation(f"a frame of kind {kind}")

    def _hear_opening(self, now: float, kind: int, body: bytes) -> None:
        if kind == HELLO:
            self._handshake.hear_hello(body)
            assert self.peer is not None
            self._owner.on_hello(now, self, self.peer)
            self._say(self._handshake.answer_hello())
        elif kind == PROOF:
            self._say(self._handshake.hear_proof(body))
            self.state = State.OPEN
            self._splitter.bytes_max = max(OPENING_BYTES_MAX, self._settings.message_bytes_max)
            self.deadline = now + self._settings.ping_s
            self._owner.on_open(now, self)
        else:
            raise Refused("malformed")

    def timeout(self, now: float) -> None:
        """Call when ``deadline`` has passed."""
        settings = self._settings
        if self.state is State.OPENING:
            self._refuse(now, Refused("late"))
        elif self.state is State.RETIRED:
            self.end(now, Ended("retired, and no bye"))
        elif self.state is State.OPEN:
            if now - self.deadline > settings.ping_s:
                self._heard_at = now  # we were paused; what was said meanwhile has not been read yet
            quiet_s = now - self._heard_at
            if quiet_s >= settings.silence_s:
                self.end(now, Ended(f"silent for {quiet_s:.0f} s"))
                return
            if quiet_s >= settings.ping_s:
                self._say(frame(PING))
            self.deadline = now + settings.ping_s

    def adopt(self, number: int) -> None:
        """Say that this is the connection to use from now on."""
        self._say(frame(ADOPTED, number.to_bytes(8, "big")))

    def say_book(self, now: float, body: bytes) -> None:
        """A page of the book. A link that has left out one would never hear of it again, so it ends instead."""
        if len(self.out) < WAITING_MAX:
            self._say(frame(BOOK, body))
        else:
            self.end(now, Ended("it does not read"))

    def retire(self, now: float) -> None:
        """Nothing more will be said here; what is under way is still heard."""
        if self.state is State.OPEN:
            self._say(frame(BYE))
            self.state = State.RETIRED
            self.deadline = now + self._settings.retire_s

    def lost(self, now: float, why: str) -> None:
        """The socket is closed."""
        self.end(now, Ended(why))

    def end(self, now: float, ended: Ended) -> None:
        """It is over; the owner hears so once."""
        if not self.is_over:
            if ended.refused is not None and not ended.by_peer:
                self._say(frame(REFUSED, ended.refused.encode()))
            self.state = State.OVER
            self.ended = ended
            self._owner.on_ended(now, self)

    def _refuse(self, now: float, refused: Refused) -> None:
        self.end(now, Ended(str(refused), refused.reason))

    def _say(self, data: bytes) -> None:
        if data:
            self.out.append(data)
