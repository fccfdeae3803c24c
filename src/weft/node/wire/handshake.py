"""Who is there, and is it one of us? Two hellos, two proofs; then both sides know the other's name, life and version.

    dialler                     acceptor
      Hello  ───────────────────▶        cluster, node, incarnation, versions, a nonce
             ◀───────────────────  Hello
      Proof  ───────────────────▶        HMAC(key, "dialler", both hellos, TLS channel)
             ◀───────────────────  Proof the same with "acceptor"

A proof covers both hellos, so nothing in them can be changed or replayed (each has a fresh nonce); the side's name is in it, so
it cannot be reflected; the TLS channel is in it, so whoever stands in the middle with a certificate of his own has two
channels and no valid proof. The dialler proves first: an acceptor signs nothing for a stranger.

Without a key the proof only shows that both have seen the same; trust is then what TLS says of certificates that the
cluster's authority has signed. With neither, or without TLS, a link is refused unless ``plaintext`` allows it.

Never  a secret in an error, a log line or a ``repr``.
"""

import hashlib
import hmac

import msgspec

from weft.core.errors import Misuse, Violation
from weft.core.ids import NODE_ID_MAX, NodeId
from weft.node.wire.frames import HELLO, PROOF, frame

MAGIC = "weft-peer"
VERSIONS = (1, 1)
"""The oldest and the newest version of the protocol that we speak; the newest that both do is spoken."""

KEY_BYTES_MIN = 16
"""A shared key is random, not a password: whoever answers a dialler gets a proof to try guesses on."""

NONCE_BYTES = 32
CLUSTER_CHARACTERS_MAX = 64
ADDRESSES_MAX = 8
ADDRESS_CHARACTERS_MAX = 260

REASONS = {
    "address": "the address leads to ourselves",
    "certificate": "no certificate of the cluster's authority, and no shared key",
    "cluster": "another cluster's name",
    "duplicate": "there is a link already",
    "full": "too many peers",
    "key": "one side has a cluster key, the other has none",
    "late": "the handshake took too long",
    "malformed": "what came is no handshake of ours",
    "plaintext": "the link is not encrypted, and plaintext is not allowed",
    "proof": "the cluster key is another",
    "stale": "an earlier life of a broker that is known in a later one",
    "version": "no common version of the protocol",
}
"""Why a link is refused: the word that travels, and what the log says."""


class Refused(Violation):
    """The link is refused; ``reason`` is one of ``REASONS``."""

    def __init__(self, reason: str) -> None:
        super().__init__(REASONS[reason])
        self.reason = reason


class Identity(msgspec.Struct, frozen=True):
    """Who we are; ``addresses`` (host:port) is where others reach us.

    ``incarnation`` grows with each start, also with one from an old copy of the data: a broker in a life earlier than one that
    is known is refused.
    """

    cluster: str
    node: NodeId
    incarnation: int
    addresses: tuple[str, ...] = ()


class Trust(msgspec.Struct, frozen=True):
    """What is asked of a peer. ``plaintext`` allows links without TLS and, without a key, without any proof."""

    key: bytes | None = None
    plaintext: bool = False

    def __post_init__(self) -> None:
        if self.key is not None and len(self.key) < KEY_BYTES_MIN:
            raise Misuse(f"a cluster key has at least {KEY_BYTES_MIN} bytes; make one with: openssl rand -hex 32")

    def __repr__(self) -> str:
        return f"Trust(key={'…' if self.key else None}, plaintext={self.plaintext})"


class Channel(msgspec.Struct, frozen=True):
    """What the socket is: ``binding`` is the same at both ends of one TLS connection and of no other."""

    is_dialler: bool
    address: str
    """Of the other side, for the log."""
    is_secure: bool = False
    is_certified: bool = False
    """The other side has shown a certificate that the cluster's authority has signed."""
    binding: bytes = b""


class Hello(msgspec.Struct, frozen=True, array_like=True):
    """Its beginning stands for all versions; later ones may append."""

    magic: str
    version_min: int
    version_max: int
    cluster: str
    node: NodeId
    incarnation: int
    nonce: bytes
    has_key: bool
    addresses: tuple[str, ...]


_encode = msgspec.msgpack.Encoder().encode
_hello = msgspec.msgpack.Decoder(Hello)


def check_addresses(addresses: tuple[str, ...]) -> None:
    """What a peer says of where somebody is."""
    if len(addresses) > ADDRESSES_MAX or any(len(each) > ADDRESS_CHARACTERS_MAX for each in addresses):
        raise Violation("too many addresses, or too long")


class Handshake:
    """In: ``begin``, then each frame. Out: frames; ``peer`` once it is known, ``is_complete`` once it is proved."""

    def __init__(
        self, identity: Identity, trust: Trust, channel: Channel, nonce: bytes, versions: tuple[int, int] = VERSIONS
    ) -> None:
        assert len(nonce) == NONCE_BYTES
        self._identity = identity
        self._trust = trust
        self._channel = channel
        self._versions = versions
        mine = Hello(
            MAGIC, *versions, identity.cluster, identity.node, identity.incarnation, nonce,
            trust.key is not None, identity.addresses,
        )  # fmt: skip
        self._mine = _encode(mine)
        self._theirs = b""
        self.peer: Hello | None = None
        self.version = 0
        self.is_complete = False

    def begin(self) -> bytes:
        """What a dialler says first; an acceptor waits, and refuses at once what it could never accept."""
        trust, channel = self._trust, self._channel
        if not trust.plaintext:
            if not channel.is_secure:
                raise Refused("plaintext")
            if trust.key is None and not channel.is_certified:
                raise Refused("certificate")
        return frame(HELLO, self._mine) if channel.is_dialler else b""

    def hear_hello(self, body: bytes) -> None:
        """The other's hello; ``peer`` is who it says it is."""
        if self.peer is not None:
            raise Refused("malformed")
        try:
            hello = _hello.decode(body)
        except (msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise Refused("malformed") from error
        self._check(hello)
        self._theirs = body
        self.peer = hello

    def _check(self, hello: Hello) -> None:
        if hello.magic != MAGIC:
            raise Refused("malformed")
        self.version = min(self._versions[1], hello.version_max)
        if self.version < max(self._versions[0], hello.version_min):
            raise Refused("version")
        if len(hello.nonce) != NONCE_BYTES or not 0 < hello.node <= NODE_ID_MAX or not 0 <= hello.incarnation < 1 << 62:
            raise Refused("malformed")
        try:
            check_addresses(hello.addresses)
        except Violation as violation:
            raise Refused("malformed") from violation
        if hello.cluster != self._identity.cluster:
            raise Refused("cluster")
        if hello.node == self._identity.node:
            raise Refused("address")
        if hello.has_key is not (self._trust.key is not None):
            raise Refused("key")

    def answer_hello(self) -> bytes:
        """What follows the other's hello, if it is let in."""
        if self._channel.is_dialler:
            return frame(PROOF, self._proof("dialler"))
        return frame(HELLO, self._mine)

    def hear_proof(self, body: bytes) -> bytes:
        """The other's proof; the answer is ours, if it is still due."""
        is_dialler = self._channel.is_dialler
        if self.peer is None or self.is_complete:
            raise Refused("malformed")
        if not hmac.compare_digest(body, self._proof("acceptor" if is_dialler else "dialler")):
            raise Refused("proof")
        self.is_complete = True
        return b"" if is_dialler else frame(PROOF, self._proof("acceptor"))

    def _proof(self, side: str) -> bytes:
        hellos = (self._mine, self._theirs) if self._channel.is_dialler else (self._theirs, self._mine)
        said = [MAGIC.encode(), side.encode(), *hellos, self._channel.binding]
        # Each part is hashed alone, so that no two lists of parts are the same bytes.
        digest = b"".join(hashlib.sha256(part).digest() for part in said)
        return hmac.digest(self._trust.key or b"", digest, "sha256")
