"""Who is let in: the right cluster, version, key and channel, proved by both sides; and what a liar gets."""

from dataclasses import dataclass

import msgspec
import pytest

from meshed import KEY, nonce
from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.node.wire.frames import HEAD_BYTES, HELLO, PROOF, frame
from weft.node.wire.handshake import MAGIC, NONCE_BYTES, Channel, Handshake, Hello, Identity, Refused, Trust

SECURE = {"is_secure": True, "binding": b"channel"}


@dataclass
class End:
    """What one side is made of."""

    node: int = 1
    cluster: str = "home"
    key: bytes | None = KEY
    plaintext: bool = True
    versions: tuple[int, int] = (1, 1)
    channel: dict | None = None

    def made(self, is_dialler: bool) -> Handshake:
        identity = Identity(self.cluster, NodeId(self.node), 1, ("h:1",))
        channel = Channel(is_dialler, "there", **(self.channel or {}))
        return Handshake(identity, Trust(self.key, self.plaintext), channel, nonce(), self.versions)


def shake(one: End, other: End) -> tuple[Handshake, Handshake]:
    """All four frames; ``Refused`` comes from whoever refuses."""
    dialler, acceptor = one.made(True), other.made(False)
    acceptor.begin()
    acceptor.hear_hello(dialler.begin()[HEAD_BYTES:])
    dialler.hear_hello(acceptor.answer_hello()[HEAD_BYTES:])
    dialler.hear_proof(acceptor.hear_proof(dialler.answer_hello()[HEAD_BYTES:])[HEAD_BYTES:])
    return dialler, acceptor


def refusal(one: End, other: End) -> str:
    with pytest.raises(Refused) as refused:
        shake(one, other)
    return refused.value.reason


@pytest.mark.parametrize("key", [KEY, None])
def test_both_know_each_other_at_the_end(key):
    dialler, acceptor = shake(End(1, key=key), End(2, key=key))
    assert dialler.is_complete
    assert acceptor.is_complete
    assert (dialler.peer.node, acceptor.peer.node) == (2, 1)
    assert dialler.peer.addresses == ("h:1",)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"cluster": "away"}, "cluster"),
        ({"key": b"another key of 16+ bytes"}, "proof"),
        ({"key": None}, "key"),
        ({"node": 1}, "address"),
        ({"versions": (2, 3)}, "version"),
        ({"channel": {"binding": b"another channel"}}, "proof"),
        ({"channel": SECURE}, "proof"),
    ],
)
def test_who_is_not_one_of_us_is_refused(change, reason):
    assert refusal(End(1), End(**{"node": 2, **change})) == reason
    assert refusal(End(**{"node": 2, **change}), End(1)) == reason


@pytest.mark.parametrize(("ours", "theirs", "spoken"), [((1, 3), (2, 5), 3), ((1, 1), (1, 9), 1), ((2, 4), (4, 4), 4)])
def test_the_newest_common_version_is_spoken(ours, theirs, spoken):
    dialler, acceptor = shake(End(1, versions=ours), End(2, versions=theirs))
    assert dialler.version == acceptor.version == spoken


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (End(plaintext=False), "plaintext"),
        (End(plaintext=False, key=None), "plaintext"),
        (End(plaintext=False, key=None, channel=SECURE), "certificate"),
    ],
)
@pytest.mark.parametrize("is_dialler", [True, False])
def test_what_is_not_safe_must_be_allowed(end, reason, is_dialler):
    with pytest.raises(Refused) as refused:
        end.made(is_dialler).begin()
    assert refused.value.reason == reason


@pytest.mark.parametrize("more", [{"key": KEY}, {"key": None, "channel": {**SECURE, "is_certified": True}}])
def test_tls_with_a_key_or_with_certificates_is_enough(more):
    fields = {"plaintext": False, "channel": SECURE, **more}
    assert shake(End(1, **fields), End(2, **fields))[0].is_complete


def test_a_proof_cannot_be_reflected_or_used_twice():
    """A dialler's own proof is not an acceptor's, and another connection has other nonces."""
    dialler, acceptor = End(1).made(True), End(2).made(False)
    acceptor.hear_hello(dialler.begin()[HEAD_BYTES:])
    dialler.hear_hello(acceptor.answer_hello()[HEAD_BYTES:])
    proof = dialler.answer_hello()[HEAD_BYTES:]
    with pytest.raises(Refused, match="key is another"):
        dialler.hear_proof(proof)
    again = End(2).made(False)
    again.hear_hello(dialler.begin()[HEAD_BYTES:])
    with pytest.raises(Refused, match="key is another"):
        again.hear_proof(proof)


def test_nothing_in_a_hello_can_be_changed_on_the_way():
    dialler, acceptor = End(1).made(True), End(2).made(False)
    hello = msgspec.msgpack.decode(dialler.begin()[HEAD_BYTES:], type=Hello)
    acceptor.hear_hello(msgspec.msgpack.encode(msgspec.structs.replace(hello, incarnation=99)))
    dialler.hear_hello(acceptor.answer_hello()[HEAD_BYTES:])
    with pytest.raises(Refused, match="key is another"):
        acceptor.hear_proof(dialler.answer_hello()[HEAD_BYTES:])


def test_order_is_kept():
    acceptor = End(2).made(False)
    with pytest.raises(Refused, match="no handshake"):
        acceptor.hear_proof(b"")
    hello = End(1).made(True).begin()[HEAD_BYTES:]
    acceptor.hear_hello(hello)
    with pytest.raises(Refused, match="no handshake"):
        acceptor.hear_hello(hello)


GOOD = (MAGIC, 1, 1, "home", 7, 1, b"n" * NONCE_BYTES, True, ("h:1",))


@pytest.mark.parametrize(
    "hello",
    [
        ("mqtt", *GOOD[1:]),
        (*GOOD[:4], 0, *GOOD[5:]),
        (*GOOD[:5], -1, *GOOD[6:]),
        (*GOOD[:6], b"short", *GOOD[7:]),
        (*GOOD[:8], ("h:1",) * 9),
        (*GOOD[:8], ("h" * 300,)),
        GOOD[:5],
        5,
    ],
)
def test_a_hello_that_is_none_is_refused(hello):
    with pytest.raises(Refused, match="no handshake"):
        End(1).made(False).hear_hello(msgspec.msgpack.encode(hello))
    with pytest.raises(Refused, match="no handshake"):
        End(1).made(False).hear_hello(b"GET / HTTP/1.1\r\n")


def test_a_newer_hello_may_say_more():
    acceptor = End(1).made(False)
    acceptor.hear_hello(msgspec.msgpack.encode((*GOOD, "and more")))
    assert acceptor.peer.node == 7


def test_a_short_key_is_no_key():
    with pytest.raises(Misuse, match="at least 16 bytes"):
        Trust(b"secret")


def test_a_key_is_never_shown():
    assert repr(Trust(KEY)) == "Trust(key=…, plaintext=False)"
    assert KEY not in frame(HELLO, End().made(True).begin())
    assert PROOF != HELLO
