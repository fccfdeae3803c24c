"""The password file: who there is, checking a password, and remembering for a short time that it was right.

A line is ``user:hash``; the hashes are in ``hashes``. A user may have one hash and one SCRAM verifier per mechanism,
each on a line of its own. Empty lines and lines that start with ``#`` are kept and mean nothing.

Somebody who asks for an unknown user waits as long as somebody with a wrong password: the check is made against a hash that is
like one of the file's, always the same one for one name, so that mixed schemes do not tell either.
"""

import hmac
from collections.abc import Iterable

from weft.broker.access.hashes import (
    ARGON2ID,
    HASH_BYTES,
    SALT_BYTES,
    SCRYPT,
    Hash,
    Unreadable,
    default_scheme,
    matches,
    read,
    write,
)  # fmt: skip
from weft.core.errors import Misuse
from weft.mqtt.scram import ITERATIONS, MECHANISMS, Verifier

FILE_BYTES_MAX = 256 << 20
USER_BYTES_MAX = 1_024


class Passwords:
    """A password file as it was read. Immutable; a reload makes another one."""

    def __init__(self, hashes: dict[str, Hash], verifiers: dict[tuple[str, str], Verifier]) -> None:
        self._verifiers = verifiers
        # A SCRAM verifier can check a plain password too, for a user who has nothing else.
        self._known: dict[str, Hash | Verifier] = {user: known for (user, _), known in verifiers.items()} | hashes
        self._likenesses = list(self._known.values())
        self._by_method: dict[str, list[int]] = {}
        for (_, method), known in verifiers.items():
            self._by_method.setdefault(method, []).append(known.iterations)

    def __contains__(self, user: object) -> bool:
        return user in self._known

    def __len__(self) -> int:
        return len(self._known)

    def check(self, user: str, password: bytes, secret: bytes) -> "Check":
        """What has to be computed; quick itself. ``secret`` chooses whom an unknown user is like."""
        known = self._known.get(user)
        return Check(known or self._likeness(user, secret), password, is_real=known is not None)

    def verifier(self, user: str, method: str) -> Verifier | None:
        return self._verifiers.get((user, method))

    def methods(self) -> list[str]:
        """The SCRAM mechanisms for which somebody has a verifier, the strongest first."""
        return [method for method in reversed(MECHANISMS) if method in self._by_method]

    def iterations_like(self, user: str, method: str, secret: bytes) -> int:
        """How many iterations an unknown ``user`` would have."""
        counts = self._by_method.get(method)
        return counts[_number(user, secret) % len(counts)] if counts else ITERATIONS

    def line(self, user: str) -> str:
        """The hash as text: it changes whenever the password does. Empty for an unknown user."""
        known = self._known.get(user)
        return write(known) if known is not None else ""

    def _likeness(self, user: str, secret: bytes) -> Hash | Verifier:
        if self._likenesses:
            return self._likenesses[_number(user, secret) % len(self._likenesses)]
        scheme = default_scheme()
        return Hash(scheme, ARGON2ID if scheme == "argon2id" else SCRYPT, bytes(SALT_BYTES), bytes(HASH_BYTES))


class Check:
    """A password to compare, for any thread. Never true for an unknown user, whatever the comparison says."""

    __slots__ = ("_is_real", "_known", "_password")

    def __init__(self, known: Hash | Verifier, password: bytes, is_real: bool) -> None:
        self._known = known
        self._password = password
        self._is_real = is_real

    def holds(self) -> bool:
        return matches(self._known, self._password) and self._is_real


def _number(user: str, secret: bytes) -> int:
    return int.from_bytes(hmac.digest(secret, user.encode(), "sha256")[:8], "big")


# ------------------------------------------------------------------------------------------------------- the file


def parse(data: bytes, path: str) -> Passwords:
    """The file's content; raises ``Misuse`` with ``file:line: what``, which quotes no hash."""
    hashes: dict[str, Hash] = {}
    verifiers: dict[tuple[str, str], Verifier] = {}
    for number, line in enumerate(_lines(data, path), 1):
        if not line.strip() or line.startswith("#"):
            continue
        user, colon, text = line.partition(":")
        if not colon:
            raise Misuse(f"{path}:{number}: no 'user:hash'; weft passwd writes such lines")
        wrong = user_wrong(user)
        if wrong:
            raise Misuse(f"{path}:{number}: {wrong}")
        try:
            known = read(text.strip())
        except Unreadable as error:
            raise Misuse(f"{path}:{number}: {error}") from None
        if isinstance(known, Verifier):
            if (user, known.method) in verifiers:
                raise Misuse(f"{path}:{number}: a second {known.method} verifier of the same user")
            verifiers[user, known.method] = known
        else:
            if user in hashes:
                raise Misuse(f"{path}:{number}: a second password of the same user")
            hashes[user] = known
    return Passwords(hashes, verifiers)


def replace(data: bytes, path: str, user: str, texts: Iterable[str]) -> bytes:
    """The file with exactly ``texts`` (hashes and verifiers) for ``user``, in his old place; all other lines as they were."""
    fresh = [f"{user}:{text}" for text in texts]
    kept: list[str] = []
    place: int | None = None
    for line in _lines(data, path):
        if not line.startswith("#") and line.partition(":")[0] == user and ":" in line:
            place = len(kept) if place is None else place
        else:
            kept.append(line)
    while kept and not kept[-1].strip():
        kept.pop()
    place = len(kept) if place is None else min(place, len(kept))
    lines = [*kept[:place], *fresh, *kept[place:]]
    return "".join(f"{line}\n" for line in lines).encode()


def user_wrong(user: str) -> str:
    """Why ``user`` cannot be a user's name; empty if it can."""
    if not user:
        return "a user without a name"
    if len(user.encode()) > USER_BYTES_MAX:
        return f"a user name of more than {USER_BYTES_MAX} bytes"
    if ":" in user or user.startswith("#") or user != user.strip() or any(not letter.isprintable() for letter in user):
        return "a user name with ':', a '#' in front, spaces around it, or characters that do not print"
    return ""


def _lines(data: bytes, path: str) -> list[str]:
    if len(data) > FILE_BYTES_MAX:
        raise Misuse(f"{path}: more than {FILE_BYTES_MAX} bytes")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Misuse(f"{path}:{data.count(10, 0, error.start) + 1}: not UTF-8") from None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines[:-1] if lines and not lines[-1] else lines


# -------------------------------------------------------------------------------------------------- the short memory


class Verified:
    """Passwords that were right a moment ago, so that a thousand clients that reconnect do not cost a thousand hashes.

    What is kept is an HMAC, under a key that never leaves this process, of user, password and the line that it was right
    for: it proves nothing elsewhere, and it is void once the line changes. Bounded, and forgotten after ``keep_s``.
    """

    def __init__(self, key: bytes, keep_s: float, entries_max: int) -> None:
        self._key = key
        self._keep_s = keep_s
        self._entries_max = entries_max
        self._until: dict[bytes, float] = {}

    def mark(self, user: str, password: bytes, line: str) -> bytes:
        parts = (user.encode(), line.encode(), password)
        return hmac.digest(self._key, b"".join(len(part).to_bytes(4, "big") + part for part in parts), "sha256")

    def knows(self, now: float, mark: bytes) -> bool:
        until = self._until.get(mark)
        if until is not None and until <= now:
            del self._until[mark]
            return False
        return until is not None

    def remember(self, now: float, mark: bytes) -> None:
        """From a full check only: a memory that refreshed itself would never end."""
        if self._keep_s <= 0 or self._entries_max <= 0:
            return
        self._until.pop(mark, None)
        while self._until and (len(self._until) >= self._entries_max or next(iter(self._until.values())) <= now):
            del self._until[next(iter(self._until))]  # the oldest comes first
        self._until[mark] = now + self._keep_s

    def __len__(self) -> int:
        return len(self._until)
