"""Who may connect, and what they may do: the seam between a broker and everything that answers such questions.

Nothing here does I/O. A check that costs much (scrypt, a signature) is handed to the driver as ``Work``, a callable without
side effects, and the connection waits for its verdict while others go on.
"""

from collections.abc import Callable
from typing import Protocol

import msgspec

from weft.broker.notices import Notices
from weft.mqtt.codec.reasons import Reason
from weft.telemetry.counters import Counters


class Certificate(msgspec.Struct, frozen=True):
    """What a client's TLS certificate says, once the driver has verified its chain."""

    common_name: str | None = None
    dns_names: tuple[str, ...] = ()
    email_names: tuple[str, ...] = ()
    uri_names: tuple[str, ...] = ()
    serial: str = ""


class Origin(msgspec.Struct, frozen=True):
    """Where a connection came from, as the driver knows it.

    ``is_local``: over loopback or a unix socket: anonymous clients are allowed where nothing else is said or asked for.
    """

    listener: str
    transport: str  # tcp | tls | ws | wss | unix
    address: str
    port: int
    is_local: bool
    mount: str = ""
    anonymous: bool | None = None
    """The listener's explicit setting; None: as ``[access]`` says."""
    certificate: Certificate | None = None


class Credentials(msgspec.Struct, frozen=True):
    """What a CONNECT brings. ``method``: after an enhanced authentication by it, with the user that it has proved."""

    client_id: str
    username: str | None
    password: bytes | None
    origin: Origin
    version: int
    method: str | None = None

    def __repr__(self) -> str:
        """Without the password, wherever it is printed."""
        secret = "None" if self.password is None else f"<{len(self.password)} bytes>"
        return f"Credentials({self.client_id!r}, {self.username!r}, {secret}, {self.origin!r}, {self.version})"


class Granted(msgspec.Struct, frozen=True):
    """May connect, as ``user`` (None: anonymous). ``until``: when the right ends (a token's expiry), in driver time.

    ``by`` says what was believed: certificate, token, password, scram, plugin, anonymous.
    """

    user: str | None
    until: float | None = None
    roles: tuple[str, ...] = ()
    is_superuser: bool = False
    by: str = ""


class Denied(msgspec.Struct, frozen=True):
    reason: Reason
    text: str


class Work(msgspec.Struct, frozen=True):
    """Call ``run`` anywhere, in any thread; its answer is the verdict."""

    run: "Callable[[], Granted | Denied]"


class Challenge(msgspec.Struct, frozen=True):
    """Enhanced authentication goes on: send ``data`` with AUTH 0x18 (§4.12)."""

    data: bytes


class Success(msgspec.Struct, frozen=True):
    """Enhanced authentication is over; ``data`` goes into the CONNACK, or the AUTH that ends a re-authentication."""

    granted: Granted
    data: bytes


class Conversation(Protocol):
    """One enhanced authentication under way (SCRAM): each ``step`` takes what the client sent."""

    def step(self, now: float, data: bytes) -> "Challenge | Success | Denied | ConversationWork": ...


class ConversationWork(msgspec.Struct, frozen=True):
    """Like ``Work``, for a step that costs much."""

    run: "Callable[[], Challenge | Success | Denied]"


PUBLISH, SUBSCRIBE, WILL, RETAIN, SHARE = "publish", "subscribe", "will", "retain", "share"
"""What an access rule may allow or deny. RETAIN and WILL are asked beside PUBLISH, SHARE beside SUBSCRIBE."""


class Subject(msgspec.Struct, frozen=True):
    """Who asks, for an access rule: ``%u`` and ``%c`` stand for user and client id."""

    client_id: str
    granted: Granted
    origin: Origin


class Authority(Protocol):
    """Everything that a broker asks. All of it is quick; ``admit`` may answer with ``Work``."""

    version: int
    """Rises when rules were reloaded: what connections have cached is then void."""

    def admit(self, now: float, credentials: Credentials) -> Granted | Denied | Work: ...

    def admitted(self, now: float, credentials: Credentials, verdict: Granted | Denied) -> None:
        """The verdict of an ``admit`` or of its ``Work``, when it is in: throttling counts failures here."""

    def stands(self, now: float, subject: Subject) -> bool:
        """After a change of the rules: would he still be let in?"""

    def converse(self, now: float, method: str, credentials: Credentials) -> Conversation | None:
        """None: no such authentication method."""

    def methods(self) -> list[str]: ...

    def may(self, subject: Subject, action: str, topic: str, qos: int) -> bool:
        """``topic`` is a name for publish, will and retain, a filter for subscribe and share; unmounted, as clients say it."""


class Opinions(Protocol):
    """What an authority asks plugins; ``broker.hooks.Plugins`` is the real one."""

    decides: bool
    """Whether ``may`` is worth a call."""

    def bind(self, counters: Counters, notices: Notices, changed: Callable[[], None]) -> None: ...

    def connect(self, now: float, credentials: Credentials) -> Granted | Denied | Work | None: ...

    def decided(self, now: float, verdict: Granted | Denied) -> None: ...

    def may(self, now: float, subject: Subject, action: str, topic: str, qos: int) -> bool | None: ...
