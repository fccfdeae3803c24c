"""The server's side of SCRAM (RFC 5802) as a conversation: two messages from the client, then a verdict.

Who asks for an unknown user is answered like anybody else: with a salt that is always the same for that name, and with
a refusal only at the end (§9: the server must not tell whether a user exists). Nothing here costs more than a few
HMACs, so nothing is ``Work``.
"""

import base64
import hmac
from collections.abc import Callable

from weft.broker.access.api import Challenge, Conversation, Denied, Granted, Success
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.scram import (
    MECHANISMS,
    MESSAGE_BYTES_MAX,
    NONCE_CHARACTERS_MAX,
    ScramError,
    Verifier,
    decode,
    expect,
    proves,
    saslprep,
    server_signature,
    unbase64,
    unescape,
)  # fmt: skip

SALT_BYTES = 16
NONCE_BYTES = 18

Lookup = Callable[[float, str], Verifier | Denied]
"""A user's verifier, or a fake one (``fake`` makes it); denied: he failed too often."""

Ended = Callable[[float, str, bool], Granted | Denied]
"""What the authority makes of a user whose proof was right (True) or wrong."""


def fake(method: str, user: str, iterations: int, secret: bytes) -> Verifier:
    """A verifier that no password satisfies, always the same for one name: its keys are not made from any password."""
    size = len(hmac.digest(secret, b"", MECHANISMS[method]))
    salt, stored, server = (
        hmac.digest(secret, f"{part}\0{method}\0{user}".encode(), "sha512") for part in ("salt", "stored", "server")
    )
    return Verifier(method, iterations, salt[:SALT_BYTES], stored[:size], server[:size])


class ScramServer(Conversation):
    """``find`` gives a verifier for any name, ``ended`` hears how it went; ``nonce`` is fresh entropy,
    printable ASCII without a comma.
    """

    def __init__(self, method: str, find: Lookup, ended: Ended, nonce: str) -> None:
        assert method in MECHANISMS
        self._find = find
        self._ended = ended
        self._nonce = nonce
        self._expects: Callable[[float, str], Challenge | Success | Denied] = self._on_first
        self._user = ""
        self._known: Verifier | None = None
        self._header = ""
        self._so_far = ""

    def step(self, now: float, data: bytes) -> Challenge | Success | Denied:
        try:
            return self._expects(now, decode(data))
        except ScramError as error:
            self._expects = self._on_too_much
            return Denied(Reason.NOT_AUTHORIZED, f"SCRAM: {error}")

    def _on_first(self, now: float, text: str) -> Challenge | Denied:
        """``n,,n=user,r=nonce`` (§7: gs2-header, client-first-message-bare)."""
        binding, comma, rest = text.partition(",")
        authorization, comma, bare = rest.partition(",") if comma else ("", "", "")
        if not comma:
            raise ScramError("a first message without its header")
        if binding not in {"n", "y"}:  # §6: "y" is a client that thinks we cannot bind, and it is right
            raise ScramError("channel binding is not offered")
        name, nonce = expect(bare, "nr")
        user = saslprep(unescape(name))
        if authorization not in {"", f"a={name}"}:
            raise ScramError("nobody may act for somebody else")
        if not nonce or len(nonce) > NONCE_CHARACTERS_MAX or not all("!" <= letter <= "~" for letter in nonce):
            raise ScramError("a nonce that is empty, too long or not printable")
        self._header = f"{binding},{authorization},"
        known = self._find(now, user)
        if isinstance(known, Denied):
            self._expects = self._on_too_much
            return known
        self._user, self._known = user, known
        self._nonce = nonce + self._nonce
        salt = base64.b64encode(known.salt).decode()
        answer = f"r={self._nonce},s={salt},i={known.iterations}"
        self._so_far = f"{bare},{answer}"
        self._expects = self._on_final
        assert len(answer) <= MESSAGE_BYTES_MAX
        return Challenge(answer.encode())

    def _on_final(self, now: float, text: str) -> Success | Denied:
        """``c=header,r=nonce,p=proof``."""
        self._expects = self._on_too_much
        without_proof, found, proof_text = text.rpartition(",p=")
        if not found:
            raise ScramError("attribute 'p' is missing")
        header, nonce = expect(without_proof, "cr")
        if unbase64(header) != self._header.encode():
            raise ScramError("the header is not the one of the first message")
        if not hmac.compare_digest(nonce.encode(), self._nonce.encode()):
            raise ScramError("the nonce is not ours")
        known = self._known
        assert known is not None
        message = f"{self._so_far},{without_proof}".encode()
        verdict = self._ended(now, self._user, proves(known, message, unbase64(proof_text)))
        if isinstance(verdict, Denied):
            return verdict
        signature = base64.b64encode(server_signature(known, message)).decode()
        return Success(verdict, f"v={signature}".encode())

    def _on_too_much(self, now: float, text: str) -> Denied:
        return Denied(Reason.NOT_AUTHORIZED, "SCRAM: a message after the last one")
