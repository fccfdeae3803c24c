"""One hashed password: its text in a password file, making it, checking it. Pure functions that cost much on purpose.

    $argon2id$v=19$m=19456,t=2,p=1$salt$hash     the default where OpenSSL has it (RFC 9106; cryptography ≥ 44 on OpenSSL ≥ 3.2)
    $scrypt$ln=14,r=8,p=5$salt$hash              the default elsewhere (RFC 7914)
    $7$101$salt$hash, $6$salt$hash               mosquitto's: PBKDF2 or one round of SHA-512; checked, never made
    SCRAM-SHA-256$10000:salt$stored:server       a SCRAM verifier, as PostgreSQL writes it; ``weft.mqtt.scram``

Costs are OWASP's least (2024) for servers. Measured on one core of the project's machine: argon2id 15 ms and 19 MiB, scrypt
at equal strength 140 ms and 16 MiB, so argon2id is the default. Both release the interpreter's lock while they work.
"""

import base64
import binascii
import hashlib
import hmac

import msgspec
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id

from weft.mqtt.scram import ITERATIONS_MAX, MECHANISMS, ScramError, Verifier, verifier

SALT_BYTES = 16
HASH_BYTES = 32

ARGON2ID = (19_456, 2, 1)
"""KiB, passes, lanes."""
SCRYPT = (14, 8, 5)
"""log2 N, r, p."""

MEMORY_BYTES_MAX = 1 << 30
"""A line that wants more is refused: one login must not exhaust the machine."""
PASSES_MAX = 64
PBKDF2_ITERATIONS_MAX = 10_000_000
SALT_BYTES_MAX = 64
HASH_BYTES_MAX = 64


class Hash(msgspec.Struct, frozen=True):
    """``scheme`` and ``cost`` say how long a check takes; ``salt`` and ``digest`` whose password it is."""

    scheme: str  # argon2id | scrypt | pbkdf2-sha512 | sha512
    cost: tuple[int, ...]
    salt: bytes
    digest: bytes

    def __repr__(self) -> str:
        return f"Hash({self.scheme}, {self.cost})"


class Unreadable(ValueError):
    """A text that is no hashed password; the text of the error never quotes it."""


def default_scheme() -> str:
    """argon2id, unless the OpenSSL at hand is too old for it."""
    try:
        Argon2id(salt=bytes(SALT_BYTES), length=HASH_BYTES, iterations=1, lanes=1, memory_cost=8)
    except UnsupportedAlgorithm:
        return "scrypt"
    return "argon2id"


def make(password: bytes, salt: bytes, scheme: str) -> Hash:
    """``salt`` is ``SALT_BYTES`` of fresh entropy."""
    cost = ARGON2ID if scheme == "argon2id" else SCRYPT
    return Hash(scheme, cost, salt, _digest(password, scheme, cost, salt, HASH_BYTES))


def matches(known: Hash | Verifier, password: bytes) -> bool:
    """Slow on purpose; compares in constant time."""
    if isinstance(known, Verifier):
        try:
            made = verifier(known.method, password.decode(), known.salt, known.iterations)
        except (ScramError, UnicodeDecodeError):
            return False
        return hmac.compare_digest(made.stored_key, known.stored_key)
    return hmac.compare_digest(_digest(password, known.scheme, known.cost, known.salt, len(known.digest)), known.digest)


def _digest(password: bytes, scheme: str, cost: tuple[int, ...], salt: bytes, size: int) -> bytes:
    match scheme:
        case "argon2id":
            memory, passes, lanes = cost
            kdf = Argon2id(salt=salt, length=size, iterations=passes, lanes=lanes, memory_cost=memory)
            return kdf.derive(password)
        case "scrypt":
            log_n, r, p = cost
            room = 128 * r * ((1 << log_n) + p + 2) + 65_536
            return hashlib.scrypt(password, salt=salt, n=1 << log_n, r=r, p=p, dklen=size, maxmem=room)
        case "pbkdf2-sha512":
            return hashlib.pbkdf2_hmac("sha512", password, salt, cost[0], size)
        case _:
            return hashlib.sha512(password + salt).digest()


# ----------------------------------------------------------------------------------------------------------- texts


def read(text: str) -> Hash | Verifier:
    """The hash that ``text`` is; raises ``Unreadable``."""
    if text.startswith("SCRAM-"):
        return _read_scram(text)
    match text.split("$"):
        case ["", "argon2id", "v=19", cost, salt, digest]:
            memory, passes, lanes = _numbers(cost, "m", "t", "p")
            if (
                not 8 * lanes <= memory <= MEMORY_BYTES_MAX >> 10
                or not 1 <= passes <= PASSES_MAX
                or not 1 <= lanes <= 64
            ):
                raise Unreadable("costs out of bounds")
            return Hash("argon2id", (memory, passes, lanes), *_pair(salt, digest))
        case ["", "scrypt", cost, salt, digest]:
            log_n, r, p = _numbers(cost, "ln", "r", "p")
            if not (1 <= log_n < 16 * r and r <= 64 and 1 <= p <= PASSES_MAX) or (128 * r << log_n) > MEMORY_BYTES_MAX:
                raise Unreadable("costs out of bounds")
            return Hash("scrypt", (log_n, r, p), *_pair(salt, digest))
        case ["", "7", iterations, salt, digest]:
            count = _number(iterations)
            if not 1 <= count <= PBKDF2_ITERATIONS_MAX:
                raise Unreadable("costs out of bounds")
            return Hash("pbkdf2-sha512", (count,), *_pair(salt, digest))
        case ["", "6", salt, digest]:
            known = Hash("sha512", (), *_pair(salt, digest))
            if len(known.digest) != 64:
                raise Unreadable("a hash that is cut off")
            return known
        case _:
            raise Unreadable("no hashed password; known: $argon2id$ $scrypt$ $7$ $6$ SCRAM-SHA-256$ SCRAM-SHA-512$")


def write(known: Hash | Verifier) -> str:
    """``known`` as a password file has it."""
    if isinstance(known, Verifier):
        salt, stored, server = (base64.b64encode(b).decode() for b in (known.salt, known.stored_key, known.server_key))
        return f"{known.method}${known.iterations}:{salt}${stored}:{server}"
    salt, digest = (base64.b64encode(b).decode() for b in (known.salt, known.digest))
    match known.scheme:
        case "argon2id":
            memory, passes, lanes = known.cost
            return f"$argon2id$v=19$m={memory},t={passes},p={lanes}${salt.rstrip('=')}${digest.rstrip('=')}"
        case "scrypt":
            log_n, r, p = known.cost
            return f"$scrypt$ln={log_n},r={r},p={p}${salt.rstrip('=')}${digest.rstrip('=')}"
        case "pbkdf2-sha512":
            return f"$7${known.cost[0]}${salt}${digest}"
        case _:
            return f"$6${salt}${digest}"


def _read_scram(text: str) -> Verifier:
    method, _, rest = text.partition("$")
    costs, _, keys = rest.partition("$")
    iterations, _, salt = costs.partition(":")
    stored, _, server = keys.partition(":")
    if method not in MECHANISMS:
        raise Unreadable(f"an unknown mechanism; known: {' '.join(MECHANISMS)}")
    size = hashlib.new(MECHANISMS[method]).digest_size
    known = Verifier(method, _number(iterations), *_pair(salt, stored), _bytes(server))
    if not 1 <= known.iterations <= ITERATIONS_MAX:
        raise Unreadable("costs out of bounds")
    if len(known.stored_key) != size or len(known.server_key) != size:
        raise Unreadable("a verifier that is cut off")
    return known


def _numbers(text: str, *names: str) -> list[int]:
    parts = text.split(",")
    if len(parts) != len(names) or any(
        not part.startswith(f"{name}=") for part, name in zip(parts, names, strict=True)
    ):
        raise Unreadable(f"costs are not {','.join(f'{name}=…' for name in names)}")
    return [_number(part.partition("=")[2]) for part in parts]


def _number(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 9):
        raise Unreadable("a cost that is no number")
    return int(text)


def _pair(salt_text: str, digest_text: str) -> tuple[bytes, bytes]:
    salt, digest = _bytes(salt_text), _bytes(digest_text)
    if not 8 <= len(salt) <= SALT_BYTES_MAX or not 16 <= len(digest) <= HASH_BYTES_MAX:
        raise Unreadable("a salt or hash that is cut off or too long")
    return salt, digest


def _bytes(text: str) -> bytes:
    """Base64 with padding (mosquitto, PostgreSQL) or without (the others)."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise Unreadable("a salt or hash that is not base64") from None
