"""JSON Web Tokens (RFC 7519) as passwords, read as strictly as RFC 8725 asks.

A key decides which algorithms it is for, the operator which of them are allowed; the token's header only chooses among
what both agree on. So there is no ``none``, and no RSA key that is mistaken for a secret. Headers that point elsewhere
(``jku``, ``x5u``, ``jwk``) mean nothing here, one that must be understood (``crit``) is refused, and nothing is read
twice: a doubled name is an error.
"""

import base64
import binascii
import hmac
import json
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from weft.broker.access.settings import JwtSettings
from weft.core.errors import Misuse

TOKEN_BYTES_MAX = 16_384
KEYS_MAX = 1_000
KEY_FILE_BYTES_MAX = 4 << 20
RSA_BITS_MIN = 2_048  # RFC 7518 §3.3
USER_BYTES_MAX = 1_024
ROLES_MAX = 64
TIME_MAX = 1e12

Secret = bytes
Key = Secret | rsa.RSAPublicKey | ec.EllipticCurvePublicKey | Ed25519PublicKey

_HASHES: dict[str, Callable[[], hashes.HashAlgorithm]] = {
    "256": hashes.SHA256,
    "384": hashes.SHA384,
    "512": hashes.SHA512,
}
_CURVES = {
    "ES256": ("P-256", ec.SECP256R1, 32),
    "ES384": ("P-384", ec.SECP384R1, 48),
    "ES512": ("P-521", ec.SECP521R1, 66),
}


class JwtError(Exception):
    """Why a token is not accepted; the text quotes nothing of it."""


class KeyEntry(msgspec.Struct, frozen=True):
    """A key, the name that tokens call it by, and what it is for."""

    kid: str | None
    key: Any  # Key; msgspec need not know cryptography's types
    algorithms: frozenset[str]

    def __repr__(self) -> str:
        return f"KeyEntry({self.kid}, {sorted(self.algorithms)})"


class Claims(msgspec.Struct, frozen=True):
    """What a good token says."""

    user: str
    until: float | None
    roles: tuple[str, ...]
    is_superuser: bool


class Token(msgspec.Struct, frozen=True):
    """A token that is well formed, with the key that must have signed it; nothing in it is believed yet."""

    algorithm: str
    key: KeyEntry
    signed: bytes
    signature: bytes
    payload: bytes

    @property
    def is_quick(self) -> bool:
        """An HMAC: not worth another thread."""
        return isinstance(self.key.key, bytes)


class JwtVerifier:
    """One set of keys and rules: ``open`` (quick), then ``Token`` → ``check`` (a signature: slow, for any thread)."""

    def __init__(self, settings: JwtSettings, keys: Iterable[KeyEntry]) -> None:
        self._settings = settings
        self._allowed = frozenset(settings.algorithms)
        self._keys = [entry for entry in keys if entry.algorithms & self._allowed]

    def open(self, text: bytes) -> Token:
        """Take the token apart and choose its key; raises ``JwtError``."""
        if len(text) > TOKEN_BYTES_MAX:
            raise JwtError(f"a token of more than {TOKEN_BYTES_MAX} bytes")
        parts = text.split(b".")
        if len(parts) != 3:
            raise JwtError("not three parts")
        header = _object(_unbase64(parts[0]), "header")
        if "crit" in header or "b64" in header or "zip" in header:
            raise JwtError("a header that wants more than is understood here")  # RFC 7515 §4.1.11
        algorithm, kid = header.get("alg"), header.get("kid")
        if not isinstance(algorithm, str) or algorithm not in self._allowed:
            raise JwtError("an algorithm that is not allowed")
        if not isinstance(kid, str | None):
            raise JwtError("a key id that is no text")
        fitting = [entry for entry in self._keys if algorithm in entry.algorithms]
        if kid is not None and any(entry.kid is not None for entry in fitting):
            fitting = [entry for entry in fitting if entry.kid == kid]
        if len(fitting) != 1:
            raise JwtError("no key for it" if not fitting else "it does not say which key")
        return Token(algorithm, fitting[0], parts[0] + b"." + parts[1], _unbase64(parts[2]), _unbase64(parts[1]))

    def check(self, token: Token, now: float) -> Claims:
        """Verify the signature, then, and only then, believe the claims; raises ``JwtError``."""
        if not signature_holds(token):
            raise JwtError("the signature is wrong")
        return self._claims(_object(token.payload, "claims"), now)

    def _claims(self, claims: dict[str, Any], now: float) -> Claims:
        settings, leeway = self._settings, self._settings.leeway_s
        expires, starts, issued = (_time(claims, name) for name in ("exp", "nbf", "iat"))
        if expires is None and settings.require_expiry:
            raise JwtError("it never expires")
        if expires is not None and now >= expires + leeway:
            raise JwtError("it has expired")
        if starts is not None and now < starts - leeway:
            raise JwtError("it is not valid yet")
        if issued is not None and now < issued - leeway:
            raise JwtError("it was issued in the future")
        if settings.issuer is not None and claims.get("iss") != settings.issuer:
            raise JwtError("another issuer")
        audience = claims.get("aud", [])
        audiences = [audience] if isinstance(audience, str) else audience
        if not isinstance(audiences, list) or not all(isinstance(each, str) for each in audiences):
            raise JwtError("an audience that is neither text nor a list of texts")
        # A token made for somebody else is no token for us, even if we were not told our own name (RFC 7519 §4.1.3).
        if (settings.audience is not None or audiences) and settings.audience not in audiences:
            raise JwtError("another audience")
        user = claims.get(settings.user_claim)
        if not isinstance(user, str) or not user or len(user.encode(errors="replace")) > USER_BYTES_MAX:
            raise JwtError(f"no claim '{settings.user_claim}' that could be a user")
        if any(not letter.isprintable() for letter in user):
            raise JwtError("a user name with characters that do not print")
        is_superuser = settings.superuser_claim is not None and claims.get(settings.superuser_claim) is True
        until = None if expires is None else expires + leeway
        return Claims(user, until, self._roles(claims), is_superuser)

    def _roles(self, claims: dict[str, Any]) -> tuple[str, ...]:
        if self._settings.roles_claim is None:
            return ()
        value = claims.get(self._settings.roles_claim, [])
        roles = value.split() if isinstance(value, str) else value  # a list, or as "scope" is written (RFC 8693 §4.2)
        if not isinstance(roles, list) or len(roles) > ROLES_MAX or not all(isinstance(role, str) for role in roles):
            raise JwtError(f"claim '{self._settings.roles_claim}' is no list of at most {ROLES_MAX} roles")
        return tuple(roles)


def looks_like_one(password: bytes) -> bool:
    """Base64 of ``{"`` in front, and three parts: nobody's password looks like this by accident."""
    return password.startswith((b"eyJ", b"ewog", b"eyAi", b"ewoi")) and password.count(b".") == 2


def signature_holds(token: Token) -> bool:
    key, kind, size = token.key.key, token.algorithm[:2], token.algorithm[2:]
    if isinstance(key, bytes):
        return hmac.compare_digest(hmac.digest(key, token.signed, f"sha{size}"), token.signature)
    try:
        if isinstance(key, rsa.RSAPublicKey):
            algorithm = _HASHES[size]()
            filling = (
                padding.PKCS1v15()
                if kind == "RS"
                else padding.PSS(
                    padding.MGF1(algorithm), algorithm.digest_size
                )  # RFC 7518 §3.5: salt as long as the hash
            )
            key.verify(token.signature, token.signed, filling, algorithm)
        elif isinstance(key, ec.EllipticCurvePublicKey):
            _, _, half = _CURVES[token.algorithm]
            if len(token.signature) != 2 * half:  # RFC 7518 §3.4: R and S, nothing else
                return False
            r, s = (int.from_bytes(part, "big") for part in (token.signature[:half], token.signature[half:]))
            key.verify(encode_dss_signature(r, s), token.signed, ec.ECDSA(_HASHES[size]()))
        else:
            key.verify(token.signature, token.signed)
    except InvalidSignature:
        return False
    return True


# ----------------------------------------------------------------------------------------------------------- keys


def secret_key(data: bytes, path: str, allowed: Iterable[str]) -> list[KeyEntry]:
    """A file that is a secret, but for the line break that editors put behind it."""
    secret = data.removesuffix(b"\n").removesuffix(b"\r")
    fitting = _hmac_algorithms(secret)
    short = sorted(name for name in allowed if name.startswith("HS") and name not in fitting)
    if short:
        raise Misuse(
            f"{path}:1: a secret of {len(secret)} bytes is too short for {short[0]}, which needs {int(short[0][2:]) // 8}"
        )
    if secret.startswith((b"-----BEGIN", b"ssh-", b"{")):
        raise Misuse(
            f"{path}:1: this is a public key or a key set, not a secret: name it as public_key_file or jwks_file"
        )
    return [KeyEntry(None, secret, fitting)]


def pem_key(data: bytes, path: str) -> list[KeyEntry]:
    """One public key in PEM."""
    try:
        key = load_pem_public_key(data)
    except (ValueError, UnsupportedAlgorithm):
        raise Misuse(f"{path}:1: no public key in PEM (-----BEGIN PUBLIC KEY-----)") from None
    try:
        return [KeyEntry(None, key, _algorithms(key))]
    except JwtError as error:
        raise Misuse(f"{path}:1: {error}") from None


def key_set(data: bytes, path: str) -> list[KeyEntry]:
    """A JWK Set (RFC 7517 §5). Keys of kinds that are not known here are passed over, as it asks; broken ones are not."""
    if len(data) > KEY_FILE_BYTES_MAX:
        raise Misuse(f"{path}: more than {KEY_FILE_BYTES_MAX} bytes")
    try:
        keys = _object(data, "key set").get("keys")
    except JwtError as error:
        raise Misuse(f"{path}:1: {error}") from None
    if not isinstance(keys, list) or len(keys) > KEYS_MAX or not all(isinstance(key, dict) for key in keys):
        raise Misuse(f"{path}:1: no list 'keys' of at most {KEYS_MAX} keys")
    entries: list[KeyEntry] = []
    for number, key in enumerate(keys, 1):
        try:
            entry = _jwk(key)
        except JwtError as error:
            raise Misuse(f"{path}:1: key {number}: {error}") from None
        except (ValueError, UnsupportedAlgorithm):
            raise Misuse(f"{path}:1: key {number}: numbers that are no key") from None
        if entry is None:
            continue
        if any(other.kid == entry.kid and other.algorithms & entry.algorithms for other in entries):
            raise Misuse(f"{path}:1: key {number}: a second key with the same 'kid' for the same algorithms")
        entries.append(entry)
    if not entries:
        raise Misuse(f"{path}:1: no key in it can verify a signature")
    return entries


def _jwk(jwk: dict[str, Any]) -> KeyEntry | None:
    kid = jwk.get("kid")
    if not isinstance(kid, str | None):
        raise JwtError("'kid' is no text")
    uses = jwk.get("key_ops", ["verify"])
    if not isinstance(uses, list) or jwk.get("use", "sig") != "sig" or "verify" not in uses:
        return None
    key: Key
    match jwk.get("kty"), jwk.get("crv"):
        case "oct", _:
            key = _field(jwk, "k")
        case "RSA", _:
            key = rsa.RSAPublicNumbers(_int(jwk, "e"), _int(jwk, "n")).public_key()
        case "EC", str(curve) if found := [c for c in _CURVES.values() if c[0] == curve]:
            _, kind, size = found[0]
            if len(_field(jwk, "x")) != size or len(_field(jwk, "y")) != size:  # RFC 7518 §6.2.1.2
                raise JwtError(f"a coordinate that is not {size} bytes long")
            key = ec.EllipticCurvePublicNumbers(_int(jwk, "x"), _int(jwk, "y"), kind()).public_key()
        case "OKP", "Ed25519":
            key = Ed25519PublicKey.from_public_bytes(_field(jwk, "x"))
        case _:
            return None
    algorithms = _algorithms(key)
    if "alg" in jwk:
        algorithms &= {jwk["alg"]} if isinstance(jwk["alg"], str) else set()
    return KeyEntry(kid, key, algorithms) if algorithms else None


def _algorithms(key: object) -> frozenset[str]:
    """What a key is for, by its own kind."""
    match key:
        case bytes():
            if len(key) < 32:
                raise JwtError("a secret of fewer than 32 bytes (RFC 7518 §3.2)")
            return _hmac_algorithms(key)
        case rsa.RSAPublicKey():
            if key.key_size < RSA_BITS_MIN:
                raise JwtError(f"an RSA key of fewer than {RSA_BITS_MIN} bits (RFC 7518 §3.3)")
            return frozenset({"RS256", "RS384", "RS512", "PS256", "PS384", "PS512"})
        case ec.EllipticCurvePublicKey():
            for name, (_, kind, _) in _CURVES.items():
                if isinstance(key.curve, kind):
                    return frozenset({name})
            raise JwtError("a curve that JWT does not know")
        case Ed25519PublicKey():
            return frozenset({"EdDSA"})
        case _:
            raise JwtError("a kind of key that JWT does not know")


def _hmac_algorithms(secret: bytes) -> frozenset[str]:
    """RFC 7518 §3.2: a secret at least as long as the hash."""
    return frozenset(f"HS{bits}" for bits in (256, 384, 512) if 8 * len(secret) >= bits)


# ----------------------------------------------------------------------------------------------------- small parts


def _unbase64(data: bytes) -> bytes:
    """RFC 7515 §2: the URL alphabet without padding, and only one way to write each value."""
    try:
        decoded = base64.b64decode(data + b"=" * (-len(data) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        raise JwtError("a part that is not base64url") from None
    if base64.urlsafe_b64encode(decoded).rstrip(b"=") != data:
        raise JwtError("a part that is not base64url")
    return decoded


def _object(data: bytes, what: str) -> dict[str, Any]:
    try:
        value = json.loads(data.decode(), object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise JwtError(f"a {what} that is not JSON, or says something twice") from None
    if not isinstance(value, dict):
        raise JwtError(f"a {what} that is no JSON object")
    return value


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    names = dict(pairs)
    if len(names) != len(pairs):
        raise ValueError("a name twice")
    return names


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _time(claims: dict[str, Any], name: str) -> float | None:
    """RFC 7519 §2: NumericDate."""
    if name not in claims:
        return None
    value = claims[name]
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= TIME_MAX:
        raise JwtError(f"'{name}' is no time")
    return float(value)


def _field(jwk: dict[str, Any], name: str) -> bytes:
    value = jwk.get(name)
    if not isinstance(value, str):
        raise JwtError(f"'{name}' is missing")
    return _unbase64(value.encode(errors="replace"))


def _int(jwk: dict[str, Any], name: str) -> int:
    return int.from_bytes(_field(jwk, name), "big")
