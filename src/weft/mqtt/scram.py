"""SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677): what both sides compute, and the client's side.

In MQTT 5 it travels as enhanced authentication (§4.12): the method is the mechanism's name, each message is the authentication
data of a CONNECT, an AUTH or the CONNACK. The server's side is ``broker.access.scram``. Channel binding is not offered: TLS is
the listener's business, and the mechanism names without ``-PLUS`` say so.
"""

import base64
import binascii
import hashlib
import hmac
import stringprep
import unicodedata

import msgspec

MECHANISMS = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
"""Method name → hash, the weaker first."""

ITERATIONS = 10_000
"""For new verifiers; a small device computes this on each connect."""

ITERATIONS_MIN = 4_096
"""RFC 7677 §4."""

ITERATIONS_MAX = 1_000_000
"""A client believes no server that asks for more."""

MESSAGE_BYTES_MAX = 4_096
NONCE_CHARACTERS_MAX = 512

_PROHIBITED = (
    stringprep.in_table_a1, stringprep.in_table_c12, stringprep.in_table_c21_c22, stringprep.in_table_c3,
    stringprep.in_table_c4, stringprep.in_table_c5, stringprep.in_table_c6, stringprep.in_table_c7, stringprep.in_table_c8,
    stringprep.in_table_c9,
)  # fmt: skip


class ScramError(Exception):
    """The other side's message breaks RFC 5802, or proves nothing. The text holds no secret."""


class Verifier(msgspec.Struct, frozen=True):
    """What a server keeps of a password: enough to check a proof, not enough to make one (RFC 5802 §3)."""

    method: str
    iterations: int
    salt: bytes
    stored_key: bytes
    server_key: bytes

    def __repr__(self) -> str:
        return f"Verifier({self.method}, {self.iterations})"


def verifier(method: str, password: str, salt: bytes, iterations: int = ITERATIONS) -> Verifier:
    """The verifier of ``password``; raises ``ScramError`` if SASLprep forbids it."""
    digest = MECHANISMS[method]
    salted = hashlib.pbkdf2_hmac(digest, saslprep(password).encode(), salt, iterations)
    stored, _ = _client_keys(digest, salted)
    return Verifier(method, iterations, salt, stored, _mac(digest, salted, b"Server Key"))


def proves(known: Verifier, message: bytes, proof: bytes) -> bool:
    """Does ``proof`` show that its maker knows the password? Takes the same time whatever is wrong with it."""
    digest = MECHANISMS[known.method]
    signature = _mac(digest, known.stored_key, message)
    right_length = len(proof) == len(signature)
    client_key = _xor(signature, proof if right_length else signature)
    same = hmac.compare_digest(hashlib.new(digest, client_key).digest(), known.stored_key)
    return right_length and same


def server_signature(known: Verifier, message: bytes) -> bytes:
    return _mac(MECHANISMS[known.method], known.server_key, message)


class ScramClient:
    """One authentication: ``first``, then ``answer`` to what the server says, then ``finish`` with its last word.

    ``nonce`` is fresh entropy from the caller, printable ASCII without a comma.
    """

    def __init__(self, method: str, user: str, password: str, nonce: str) -> None:
        self._digest = MECHANISMS[method]
        self._password = saslprep(password)
        self._nonce = nonce
        self._bare = f"n={escape(saslprep(user))},r={nonce}"
        self._signature: bytes | None = None

    def first(self) -> bytes:
        return f"n,,{self._bare}".encode()

    def answer(self, data: bytes) -> bytes:
        """The client's final message, with its proof (RFC 5802 §3)."""
        text = decode(data)
        nonce, salt_text, iterations_text = expect(text, "rsi")
        if not nonce.startswith(self._nonce) or len(nonce) == len(self._nonce):
            raise ScramError("the server's nonce does not continue ours")
        if not (
            iterations_text.isascii() and iterations_text.isdigit() and len(iterations_text) <= len(str(ITERATIONS_MAX))
        ):
            raise ScramError("the iteration count is not a number")
        iterations = int(iterations_text)
        if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
            raise ScramError(
                f"the server wants {iterations} iterations: not between {ITERATIONS_MIN} and {ITERATIONS_MAX}"
            )
        salted = hashlib.pbkdf2_hmac(self._digest, self._password.encode(), unbase64(salt_text), iterations)
        stored, client_key = _client_keys(self._digest, salted)
        final = f"c={base64.b64encode(b'n,,').decode()},r={nonce}"
        message = f"{self._bare},{text},{final}".encode()
        proof = _xor(client_key, _mac(self._digest, stored, message))
        self._signature = _mac(self._digest, _mac(self._digest, salted, b"Server Key"), message)
        return f"{final},p={base64.b64encode(proof).decode()}".encode()

    def finish(self, data: bytes) -> None:
        """Raises unless the server has proved that it knows the verifier: it is who it claims to be."""
        text = decode(data)
        if text.startswith("e="):
            raise ScramError(f"the server refuses: {text[2:60]}")
        (signature,) = expect(text, "v")
        if self._signature is None or not hmac.compare_digest(unbase64(signature), self._signature):
            raise ScramError("the server does not know the password either: it is not who it claims to be")


# ------------------------------------------------------------------------------------------------------ messages


def decode(data: bytes) -> str:
    if len(data) > MESSAGE_BYTES_MAX:
        raise ScramError(f"a message of {len(data)} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ScramError("a message that is not UTF-8") from None
    if "\0" in text:
        raise ScramError("a message with a NUL")
    return text


def expect(text: str, names: str) -> list[str]:
    """The values of the attributes ``names``, which come first and in this order; extensions may follow (§5.1)."""
    values = []
    parts = text.split(",")
    for position, name in enumerate(names):
        part = parts[position] if position < len(parts) else ""
        if not part.startswith(f"{name}="):
            raise ScramError(f"attribute '{name}' is missing")
        values.append(part[2:])
    return values


def escape(name: str) -> str:
    return name.replace("=", "=3D").replace(",", "=2C")


def unescape(name: str) -> str:
    """RFC 5802 §5.1: any other use of ``=`` is an error."""
    parts = name.split("=")
    text = parts[0]
    for part in parts[1:]:
        if part[:2] not in {"2C", "3D"}:
            raise ScramError("a user name with a stray '='")
        text += ("," if part[:2] == "2C" else "=") + part[2:]
    return text


def unbase64(text: str) -> bytes:
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise ScramError("a value that is not base64") from None
    if not data:
        raise ScramError("an empty value")
    return data


def saslprep(text: str) -> str:
    """RFC 4013, as for a stored string: two ways to type one password give the same bytes."""
    mapped = "".join(" " if stringprep.in_table_c12(c) else c for c in text if not stringprep.in_table_b1(c))
    prepared = unicodedata.normalize("NFKC", mapped)
    if not prepared:
        raise ScramError("an empty name or password")
    if any(forbidden(letter) for letter in prepared for forbidden in _PROHIBITED):
        raise ScramError("a name or password with a character that SASLprep forbids")
    if any(stringprep.in_table_d1(letter) for letter in prepared) and not (
        stringprep.in_table_d1(prepared[0])
        and stringprep.in_table_d1(prepared[-1])
        and not any(stringprep.in_table_d2(letter) for letter in prepared)
    ):
        raise ScramError("a name or password that mixes directions of writing (RFC 3454 §6)")
    return prepared


def _client_keys(digest: str, salted: bytes) -> tuple[bytes, bytes]:
    client_key = _mac(digest, salted, b"Client Key")
    return hashlib.new(digest, client_key).digest(), client_key


def _mac(digest: str, key: bytes, message: bytes) -> bytes:
    return hmac.digest(key, message, digest)


def _xor(one: bytes, other: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(one, other, strict=True))
