"""Everything together: who is let in, by what is believed in which order, and what he may do.

The order: plugins (the first opinion of one is final, so a plugin can ban whomever the rest would let in), then the
certificate, then a token if the password is one, then the password file, then nobody's name: anonymous. A name that was
given with a wrong password is denied; it never falls back to anonymous.

``Access`` is rebuilt from its files by ``reload``, wholly or not at all. What was learnt about clients (throttling,
passwords that were right a moment ago) outlives that.
"""

import base64
import hmac
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from weft.broker.access import jwt, passwords, rules
from weft.broker.access.api import (
    Authority,
    Challenge,
    Conversation,
    ConversationWork,
    Credentials,
    Denied,
    Granted,
    Opinions,
    Origin,
    Subject,
    Success,
    Work,
)  # fmt: skip
from weft.broker.access.certificates import user_of
from weft.broker.access.scram import NONCE_BYTES, ScramServer, fake
from weft.broker.access.settings import AccessSettings, JwtSettings
from weft.broker.access.throttle import Throttle
from weft.broker.notices import Notices
from weft.core.errors import Misuse
from weft.mqtt.codec.reasons import Reason
from weft.mqtt.scram import Verifier
from weft.telemetry.counters import Counters

Read = Callable[[Path], bytes]
Entropy = Callable[[int], bytes]
"""So many fresh random bytes: ``os.urandom`` from the driver, a seed's stream in a test."""

UNDERWAY_MAX = 10_000
"""Checks that are in other threads; past it the oldest is forgotten, so a right answer to it is not remembered."""

WRONG = "wrong user or password"
SECRET_BYTES = 32


class NoOpinions(Opinions):
    """No plugins."""

    decides = False

    def bind(self, counters: Counters, notices: Notices, changed: Callable[[], None]) -> None:
        return None

    def connect(self, now: float, credentials: Credentials) -> None:
        return None

    def decided(self, now: float, verdict: Granted | Denied) -> None:
        return None

    def may(self, now: float, subject: Subject, action: str, topic: str, qos: int) -> None:
        return None


class Parts(msgspec.Struct, frozen=True):
    """What the files say."""

    settings: AccessSettings
    passwords: passwords.Passwords | None
    tokens: jwt.JwtVerifier | None
    rules: rules.Rules
    superusers: frozenset[str]
    roles: dict[str, tuple[str, ...]]


class Underway(msgspec.Struct, frozen=True):
    """A password check in another thread: its two possible answers, known by identity, and what to do about them."""

    granted: Granted
    denied: Denied
    mark: bytes
    address: str
    user: str


class Access(Authority):
    """The authority of a broker."""

    def __init__(self, parts: Parts, entropy: Entropy, plugins: Opinions, secret: bytes) -> None:
        self.version = 1
        self.counters = Counters()
        self.notices = Notices()
        self.plugins = plugins
        self._parts = parts
        self._entropy = entropy
        self._secret = secret
        self._throttle = Throttle(parts.settings.throttle)
        self._verified = _memory(parts.settings, entropy)
        self._underway: dict[int, Underway] = {}
        self._now = 0.0
        self.bind(self.counters, self.notices)

    def bind(self, counters: Counters, notices: Notices) -> None:
        """Count and tell where the broker does. Once, after the broker is made."""
        self.counters, self.notices = counters, notices
        self.plugins.bind(counters, notices, self.changed)

    def changed(self) -> None:
        """What connections have cached is void."""
        self.version += 1

    def reload(self, settings: AccessSettings, read: Read) -> None:
        """The new files in place of the old; raises ``Misuse`` and changes nothing if one of them is wrong. Plugins stay."""
        old, new = self._parts.settings, load(settings, read)
        self._parts = new
        if old.throttle != settings.throttle:
            self._throttle = Throttle(settings.throttle)
        if (old.remember_s, old.remember_max) != (settings.remember_s, settings.remember_max):
            self._verified = _memory(settings, self._entropy)
        self.counters["weft_access_reloads_total"] += 1
        self.changed()

    # ------------------------------------------------------------------------------------------- who may connect

    def admit(self, now: float, credentials: Credentials) -> Granted | Denied | Work:
        self._now = now
        opinion = self.plugins.connect(now, credentials)
        if opinion is not None:
            return opinion
        parts, origin = self._parts, credentials.origin
        if parts.settings.certificate_user is not None and origin.certificate is not None:
            user = user_of(origin.certificate, parts.settings.certificate_user)
            if user is None:
                return Denied(
                    Reason.NOT_AUTHORIZED, f"the certificate names no user ({parts.settings.certificate_user})"
                )
            return Granted(user, by="certificate")
        if parts.tokens is not None and parts.settings.jwt is not None:
            token = _token(parts.settings.jwt, credentials)
            if token is not None:
                return self._admit_token(now, parts.tokens, token)
        if parts.passwords is not None and credentials.username is not None:
            return self._admit_password(now, parts.passwords, credentials.username, credentials)
        if credentials.username is not None and (parts.passwords is not None or parts.tokens is not None):
            return Denied(Reason.BAD_USER_NAME_OR_PASSWORD, "no token, and nothing else is asked for here")
        if self._anonymous(origin):
            return Granted(None, by="anonymous")
        return Denied(Reason.NOT_AUTHORIZED, "anonymous clients are not allowed here")

    def admitted(self, now: float, credentials: Credentials, verdict: Granted | Denied) -> None:
        self._now = now
        self.plugins.decided(now, verdict)
        check = self._underway.get(id(verdict))
        if check is not None:
            self._forget(check)
            if verdict is check.granted:
                self._verified.remember(now, check.mark)
                self._throttle.refund(now, check.address, check.user)
        if isinstance(verdict, Denied) and verdict.reason == Reason.BAD_USER_NAME_OR_PASSWORD:
            self.counters["weft_auth_failures_total"] += 1

    def stands(self, now: float, subject: Subject) -> bool:
        """Would he still be let in, after a reload? Of a password only: there still is such a user."""
        granted, parts = subject.granted, self._parts
        match granted.by:
            case "password" | "scram":
                return parts.passwords is not None and granted.user in parts.passwords
            case "certificate":
                certificate, part = subject.origin.certificate, parts.settings.certificate_user
                return certificate is not None and part is not None and user_of(certificate, part) == granted.user
            case "token":
                return parts.tokens is not None and (granted.until is None or now < granted.until)
            case "anonymous":
                return self._anonymous(subject.origin)
            case _:
                return True

    def _admit_token(self, now: float, tokens: jwt.JwtVerifier, text: bytes) -> Granted | Denied | Work:
        """A token cannot be guessed, so nothing is throttled, and a wrong one says why."""

        def verdict() -> Granted | Denied:
            try:
                claims = tokens.check(token, now)
            except jwt.JwtError as error:
                return Denied(Reason.BAD_USER_NAME_OR_PASSWORD, f"token refused: {error}")
            return Granted(claims.user, claims.until, claims.roles, claims.is_superuser, by="token")

        try:
            token = tokens.open(text)
        except jwt.JwtError as error:
            return Denied(Reason.BAD_USER_NAME_OR_PASSWORD, f"token refused: {error}")
        return verdict() if token.is_quick else Work(verdict)

    def _admit_password(
        self, now: float, known: passwords.Passwords, user: str, credentials: Credentials
    ) -> Granted | Denied | Work:
        password, address = credentials.password or b"", _address(credentials.origin)
        granted, denied = Granted(user, by="password"), Denied(Reason.BAD_USER_NAME_OR_PASSWORD, WRONG)
        mark = self._verified.mark(user, password, known.line(user))
        if self._verified.knows(now, mark):
            self.counters["weft_auth_remembered_total"] += 1
            return granted
        refusal = self._charge(now, address, user)
        if refusal is not None:
            return refusal
        check = known.check(user, password, self._secret)
        if len(self._underway) >= 2 * UNDERWAY_MAX:
            self._forget(next(iter(self._underway.values())))
        underway = Underway(granted, denied, mark, address, user)
        self._underway[id(granted)] = self._underway[id(denied)] = underway
        return Work(lambda: granted if check.holds() else denied)

    def _charge(self, now: float, address: str, user: str) -> Denied | None:
        wait_s = self._throttle.wait_s(now, address, user)
        if wait_s > 0:
            self.counters["weft_auth_throttled_total"] += 1
            subject = address or user
            self.notices.say_seldom(now, "warning", "authentication throttled", subject, address=address, user=user)
            text = f"too many failures; again in {math.ceil(wait_s)} s"
            return Denied(Reason.CONNECTION_RATE_EXCEEDED, text)
        self._throttle.charge(now, address, user)
        return None

    def _forget(self, check: Underway) -> None:
        self._underway.pop(id(check.granted), None)
        self._underway.pop(id(check.denied), None)

    def _anonymous(self, origin: Origin) -> bool:
        """The listener's word, then the section's; where both are silent, over loopback while nobody has a password."""
        parts = self._parts
        if origin.anonymous is not None:
            return origin.anonymous
        if parts.settings.anonymous is not None:
            return parts.settings.anonymous
        return origin.is_local and parts.passwords is None and parts.tokens is None

    # ------------------------------------------------------------------------------------ enhanced authentication

    def methods(self) -> list[str]:
        parts = self._parts
        return parts.passwords.methods() if parts.settings.scram and parts.passwords is not None else []

    def converse(self, now: float, method: str, credentials: Credentials) -> Conversation | None:
        self._now = now
        known = self._parts.passwords
        if known is None or method not in self.methods():
            return None
        address = _address(credentials.origin)

        def find(now: float, user: str) -> Verifier | Denied:
            refusal = self._charge(now, address, user)
            if refusal is not None:
                return refusal
            made_up = fake(method, user, known.iterations_like(user, method, self._secret), self._secret)
            return known.verifier(user, method) or made_up

        def ended(now: float, user: str, is_right: bool) -> Granted | Denied:
            if not is_right or known.verifier(user, method) is None:
                return Denied(Reason.BAD_USER_NAME_OR_PASSWORD, f"{method}: {WRONG}")
            self._throttle.refund(now, address, user)
            return Granted(user, by="scram")

        inner = ScramServer(method, find, ended, base64.b64encode(self._entropy(NONCE_BYTES)).decode())
        return Vetted(inner, self.plugins, msgspec.structs.replace(credentials, method=method, password=None))

    # ---------------------------------------------------------------------------------------------- what one may do

    def may(self, subject: Subject, action: str, topic: str, qos: int) -> bool:
        granted, parts = subject.granted, self._parts
        user = granted.user
        if granted.is_superuser or (user is not None and user in parts.superusers):
            return True
        roles = granted.roles if user is None else granted.roles + parts.roles.get(user, ())
        view = parts.rules.view(user, roles, subject.client_id)
        allowed = view.may(action, topic, qos)
        if self.plugins.decides:
            opinion = self.plugins.may(self._now, subject, action, topic, qos)
            if opinion is not None:
                allowed = opinion and not view.denies(action, topic, qos)
        if not allowed:
            self.counters["weft_acl_denied_total"] += 1
        return allowed


class Vetted(Conversation):
    """A conversation whose good end plugins may still object to, as they may to any other way in."""

    def __init__(self, inner: Conversation, plugins: Opinions, credentials: Credentials) -> None:
        self._inner = inner
        self._plugins = plugins
        self._credentials = credentials

    def step(self, now: float, data: bytes) -> Challenge | Success | Denied | ConversationWork:
        answer = self._inner.step(now, data)
        if not isinstance(answer, Success):
            return answer
        success: Success = answer
        proved = msgspec.structs.replace(self._credentials, username=success.granted.user)
        opinion = self._plugins.connect(now, proved)
        if isinstance(opinion, Work):
            work: Work = opinion
            return ConversationWork(lambda: verdict if isinstance(verdict := work.run(), Denied) else success)
        return opinion if isinstance(opinion, Denied) else success


# ------------------------------------------------------------------------------------------------------- the files


def build(
    settings: AccessSettings, read: Read, entropy: Entropy, plugins: Opinions | None = None, secret: bytes | None = None
) -> Access:
    """An authority from its settings and files; raises ``Misuse`` with ``file:line: what``.

    ``secret`` makes up answers about users that do not exist: one that outlives restarts hides better that they are made up.
    """
    parts = load(settings, read)
    return Access(parts, entropy, plugins or NoOpinions(), secret or entropy(SECRET_BYTES))


def load(settings: AccessSettings, read: Read) -> Parts:
    """What the files say, all of them; changes nothing."""
    known = None
    if settings.password_file is not None:
        known = passwords.parse(read(Path(settings.password_file)), settings.password_file)
    sections: list[rules.Section] = []
    if settings.acl_file is not None:
        sections = rules.parse(read(Path(settings.acl_file)), settings.acl_file)
    default = settings.default or ("allow" if settings.acl_file is None else "deny")
    roles: dict[str, list[str]] = {}
    for role, users in settings.roles.items():
        for user in users:
            roles.setdefault(user, []).append(role)
    return Parts(
        settings=settings,
        passwords=known,
        tokens=_tokens(settings.jwt, read) if settings.jwt is not None else None,
        rules=rules.Rules(sections, default == "allow"),
        superusers=frozenset(settings.superusers),
        roles={user: tuple(each) for user, each in roles.items()},
    )


def _tokens(settings: JwtSettings, read: Read) -> jwt.JwtVerifier:
    files = [file for file in (settings.jwks_file, settings.public_key_file, settings.secret_file) if file is not None]
    if len(files) != 1:
        raise Misuse("[access.jwt] takes exactly one of jwks_file, public_key_file and secret_file")
    data = read(Path(files[0]))
    keys: Sequence[jwt.KeyEntry]
    if settings.jwks_file is not None:
        keys = jwt.key_set(data, files[0])
    elif settings.public_key_file is not None:
        keys = jwt.pem_key(data, files[0])
    else:
        keys = jwt.secret_key(data, files[0], settings.algorithms)
    for algorithm in settings.algorithms:
        if not any(algorithm in entry.algorithms for entry in keys):
            raise Misuse(f"{files[0]}:1: no key in it is for {algorithm}, which [access.jwt] allows")
    return jwt.JwtVerifier(settings, keys)


def _token(settings: JwtSettings, credentials: Credentials) -> bytes | None:
    if settings.where == "username":
        field = None if credentials.username is None else credentials.username.encode()
    else:
        field = credentials.password
    return field if field is not None and jwt.looks_like_one(field) else None


def _memory(settings: AccessSettings, entropy: Entropy) -> passwords.Verified:
    return passwords.Verified(
        hmac.digest(entropy(SECRET_BYTES), b"verified", "sha256"), settings.remember_s, settings.remember_max
    )


def _address(origin: Origin) -> str:
    """What throttling counts; a local client's address says nothing, least of all behind a proxy."""
    return "" if origin.is_local else origin.address
