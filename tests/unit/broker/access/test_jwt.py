"""Tokens: the examples of the RFCs, every algorithm, and every way to cheat that RFC 8725 lists and some more."""

import base64
import hashlib
import hmac
import json

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from weft.broker.access import jwt
from weft.broker.access.jwt import (
    Claims,
    JwtError,
    JwtVerifier,
    key_set,
    looks_like_one,
    pem_key,
    secret_key,
    signature_holds,
)
from weft.broker.access.settings import JwtSettings
from weft.core.errors import Misuse

SECRET = b"an adequately long secret, of sixty-four bytes for all three of them"
ALL = [f"{kind}{size}" for kind in ("HS", "RS", "PS", "ES") for size in (256, 384, 512)] + ["EdDSA"]
NOW = 1_300_819_000.0

# RFC 7515, appendix A: one payload, {"iss":"joe","exp":1300819380,…}, signed in several ways.
JOE = "eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ"
A1_KEY = {"kty": "oct", "k": "AyM1SysPpbyDfgZld3umj1qzKObwVMkoqQ-EstJQLr_T-1qS0gZH75aKtMN3Yj0iPS4hcgUuTwjAzZr1Z9CAow"}
A1 = f"eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.{JOE}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
A2_KEY = {
    "kty": "RSA",
    "n": "ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCg"
    "NMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5Zw"
    "Kh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ",
    "e": "AQAB",
}
A2 = (
    f"eyJhbGciOiJSUzI1NiJ9.{JOE}.cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9"
    "uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwu"
    "sC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw"
)
A3_KEY = {
    "kty": "EC",
    "crv": "P-256",
    "x": "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
    "y": "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
}
A3 = (
    f"eyJhbGciOiJFUzI1NiJ9.{JOE}.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q"
)


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def number(value: int, size: int | None = None) -> str:
    return b64(value.to_bytes(size or (value.bit_length() + 7) // 8, "big"))


@pytest.fixture(scope="module")
def keys():
    """Private keys by algorithm."""
    one = rsa.generate_private_key(65537, 2048)
    found = dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), one)
    curves = {"ES256": ec.SECP256R1, "ES384": ec.SECP384R1, "ES512": ec.SECP521R1}
    found |= {name: ec.generate_private_key(curve()) for name, curve in curves.items()}
    return found | {"EdDSA": ed25519.Ed25519PrivateKey.generate()}


def jwk(algorithm: str, keys, **more) -> dict:
    if algorithm.startswith("HS"):
        return {"kty": "oct", "k": b64(SECRET)} | more
    key = keys[algorithm].public_key()
    match algorithm[:2]:
        case "RS" | "PS":
            numbers = key.public_numbers()
            return {"kty": "RSA", "n": number(numbers.n), "e": number(numbers.e)} | more
        case "ES":
            numbers, size = key.public_numbers(), (key.key_size + 7) // 8
            curve = {256: "P-256", 384: "P-384", 521: "P-521"}[key.key_size]
            return {"kty": "EC", "crv": curve, "x": number(numbers.x, size), "y": number(numbers.y, size)} | more
        case _:
            return {"kty": "OKP", "crv": "Ed25519", "x": b64(key.public_bytes(Encoding.Raw, PublicFormat.Raw))} | more


def sign(algorithm: str, keys, data: bytes) -> bytes:
    size = algorithm[2:]
    if algorithm.startswith("HS"):
        return hmac.digest(SECRET, data, f"sha{size}")
    key = keys[algorithm]
    if algorithm == "EdDSA":
        return key.sign(data)
    digest = {"256": hashes.SHA256(), "384": hashes.SHA384(), "512": hashes.SHA512()}[size]
    if algorithm.startswith("RS"):
        return key.sign(data, padding.PKCS1v15(), digest)
    if algorithm.startswith("PS"):
        return key.sign(data, padding.PSS(padding.MGF1(digest), digest.digest_size), digest)
    half = (key.key_size + 7) // 8
    return b"".join(part.to_bytes(half, "big") for part in decode_dss_signature(key.sign(data, ec.ECDSA(digest))))


def token(algorithm: str, keys, claims: dict | str, **header) -> bytes:
    body = claims if isinstance(claims, str) else json.dumps(claims)
    signed = f"{b64(json.dumps({'alg': algorithm} | header).encode())}.{b64(body.encode())}".encode()
    return signed + b"." + b64(sign(algorithm, keys, signed)).encode()


def verifier(entries, *algorithms: str, **settings) -> JwtVerifier:
    return JwtVerifier(JwtSettings(algorithms=list(algorithms), jwks_file="keys", **settings), entries)


def key_file(*keys_) -> bytes:
    return json.dumps({"keys": keys_}).encode()


def hs256(**settings) -> JwtVerifier:
    return verifier(secret_key(SECRET, "secret", ["HS256"]), "HS256", **settings)


def check(one: JwtVerifier, text: bytes, now: float = NOW) -> Claims:
    return one.check(one.open(text), now)


def good(**more) -> bytes:
    return token("HS256", {}, {"sub": "alice", "exp": NOW + 60} | more)


@pytest.mark.parametrize(
    ("key", "text", "algorithm"), [(A1_KEY, A1, "HS256"), (A2_KEY, A2, "RS256"), (A3_KEY, A3, "ES256")]
)
def test_the_examples_of_rfc_7515(key, text, algorithm):
    """RFC 7515, appendix A.1 to A.3."""
    one = verifier(key_set(key_file(key), "keys"), algorithm, user_claim="iss")
    assert check(one, text.encode()) == Claims("joe", 1300819380.0 + 30.0, (), False)
    with pytest.raises(JwtError, match="expired"):
        check(one, text.encode(), 1300819380.0 + 30.0)


def test_the_example_of_rfc_8037():
    """RFC 8037, appendix A.4: its payload is no set of claims, so the signature alone is looked at."""
    key = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    text = (
        "eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc."
        "hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg"
    )
    opened = verifier(key_set(key_file(key), "keys"), "EdDSA").open(text.encode())
    assert signature_holds(opened)


@pytest.mark.parametrize("algorithm", ALL)
def test_every_algorithm(algorithm, keys):
    one = verifier(key_set(key_file(jwk(algorithm, keys, kid="k", alg=algorithm)), "keys"), algorithm)
    text = token(algorithm, keys, {"sub": "alice", "exp": NOW + 60}, kid="k")
    assert check(one, text).user == "alice"
    assert one.open(text).is_quick == algorithm.startswith("HS")
    for bad in (text[:-6] + b"AAAAAA", text.rpartition(b".")[0] + b".", text + b"AAAA"):
        with pytest.raises(JwtError):
            check(one, bad)


def test_a_signature_of_another_curve_size_or_in_der_is_refused(keys):
    """RFC 7518 §3.4."""
    one = verifier(key_set(key_file(jwk("ES256", keys)), "keys"), "ES256")
    text = token("ES256", keys, {"sub": "alice", "exp": NOW + 60})
    signed = text.rpartition(b".")[0]
    der = keys["ES256"].sign(signed, ec.ECDSA(hashes.SHA256()))
    for signature in (der, bytes(64), bytes(96), b"\xff" * 64):
        with pytest.raises(JwtError, match="signature"):
            check(one, signed + b"." + b64(signature).encode())


def test_none_is_no_algorithm():
    """RFC 8725 §2.1."""
    body = b64(json.dumps({"sub": "alice", "exp": NOW + 60}).encode())
    for name in ("none", "None", "NONE", "", None, 1, ["HS256"]):
        text = f"{b64(json.dumps({'alg': name}).encode())}.{body}.".encode()
        with pytest.raises(JwtError, match="not allowed"):
            hs256().open(text)
    with pytest.raises(JwtError):
        hs256().open(f"{b64(b'{}')}.{body}.".encode())


def test_a_public_key_is_never_a_secret(keys):
    """RFC 8725 §2.1: HS256 with the RSA key's text as the secret."""
    pem = keys["RS256"].public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    one = verifier(pem_key(pem, "key"), "RS256", "HS256")
    header = b64(json.dumps({"alg": "HS256"}).encode())
    signed = f"{header}.{b64(json.dumps({'sub': 'eve', 'exp': NOW + 60}).encode())}".encode()
    forged = signed + b"." + b64(hmac.digest(pem, signed, hashlib.sha256)).encode()
    with pytest.raises(JwtError, match="no key"):
        one.open(forged)
    with pytest.raises(Misuse, match="not a secret"):
        secret_key(pem, "key", ["HS256"])


def test_only_what_the_operator_allows(keys):
    both = key_set(key_file(jwk("RS256", keys)), "keys")
    with pytest.raises(JwtError, match="not allowed"):
        verifier(both, "PS256").open(token("RS256", keys, {"sub": "a", "exp": NOW + 60}))


def test_a_key_that_names_its_algorithm_is_for_no_other(keys):
    entries = key_set(key_file(jwk("RS256", keys, alg="PS512")), "keys")
    assert entries[0].algorithms == {"PS512"}


def test_the_key_is_the_one_that_the_token_names(keys):
    two = key_set(key_file(jwk("HS256", keys, kid="one"), jwk("RS256", keys, kid="two"), jwk("ES256", keys)), "keys")
    one = verifier(two, *ALL)
    claims = {"sub": "alice", "exp": NOW + 60}
    assert check(one, token("RS256", keys, claims, kid="two")).user == "alice"
    assert check(one, token("ES256", keys, claims, kid="unnamed keys fit")).user == "alice"
    with pytest.raises(JwtError, match="no key"):
        one.open(token("RS256", keys, claims, kid="one"))
    with pytest.raises(JwtError, match="no text"):
        one.open(token("RS256", keys, claims, kid=2))


def test_a_token_without_kid_among_several_keys_is_refused(keys):
    other = {"kty": "oct", "k": b64(b"x" * 64), "kid": "other"}
    one = verifier(key_set(key_file(jwk("HS256", keys, kid="one"), other), "keys"), "HS256")
    with pytest.raises(JwtError, match="which key"):
        one.open(good())


@pytest.mark.parametrize(
    ("claims", "said"),
    [
        ({"sub": "alice"}, "never expires"),
        ({"sub": "alice", "exp": NOW - 30}, "expired"),
        ({"sub": "alice", "exp": "tomorrow"}, "'exp' is no time"),
        ({"sub": "alice", "exp": True}, "'exp' is no time"),
        ({"sub": "alice", "exp": 1e300}, "'exp' is no time"),
        ({"sub": "alice", "exp": -1}, "'exp' is no time"),
        ({"sub": "alice", "exp": NOW + 60, "nbf": NOW + 31}, "not valid yet"),
        ({"sub": "alice", "exp": NOW + 60, "iat": NOW + 31}, "in the future"),
        ({"sub": "alice", "exp": NOW + 60, "aud": "others"}, "another audience"),
        ({"sub": "alice", "exp": NOW + 60, "aud": {"a": 1}}, "audience"),
        ({"sub": "", "exp": NOW + 60}, "no claim 'sub'"),
        ({"sub": 7, "exp": NOW + 60}, "no claim 'sub'"),
        ({"sub": "x" * 1025, "exp": NOW + 60}, "no claim 'sub'"),
        ({"sub": "a\nb", "exp": NOW + 60}, "do not print"),
        ({"exp": NOW + 60}, "no claim 'sub'"),
        ("[]", "no JSON object"),
        ("{", "not JSON"),
        ('{"sub":"alice","sub":"root","exp":9e9}', "twice"),
        ('{"sub":"alice","exp":Infinity}', "not JSON"),
        ("[" * 9_000, "not JSON"),
    ],
)
def test_claims_that_are_refused(claims, said):
    with pytest.raises(JwtError, match=said):
        check(hs256(), token("HS256", {}, claims))


def test_leeway_goes_both_ways():
    assert check(hs256(), good(exp=NOW - 29, nbf=NOW + 29, iat=NOW + 29)).until == NOW - 29 + 30
    with pytest.raises(JwtError):
        check(hs256(leeway_s=0), good(exp=NOW))


def test_issuer_and_audience():
    one = hs256(issuer="https://id", audience="weft")
    assert check(one, good(iss="https://id", aud="weft")).user == "alice"
    assert check(one, good(iss="https://id", aud=["x", "weft"])).user == "alice"
    for claims in (
        {"aud": "weft"},
        {"iss": "https://id"},
        {"iss": ["https://id"], "aud": "weft"},
        {"iss": "https://id", "aud": [1]},
    ):
        with pytest.raises(JwtError):
            check(one, good(**claims))


def test_roles_and_superusers_only_by_their_claims():
    one = hs256(roles_claim="scope", superuser_claim="root")
    assert check(one, good(scope="ops dev", root=True)) == Claims("alice", NOW + 90, ("ops", "dev"), True)
    assert check(one, good(scope=["a b"], root="true")) == Claims("alice", NOW + 90, ("a b",), False)
    assert check(hs256(), good(scope="ops", root=True)) == Claims("alice", NOW + 90, (), False)
    for scope in (7, [7], ["r"] * 65, {"ops": 1}):
        with pytest.raises(JwtError, match="list"):
            check(one, good(scope=scope))


def test_a_token_may_be_eternal_if_the_operator_says_so():
    assert check(hs256(require_expiry=False), token("HS256", {}, {"sub": "a"})).until is None


@pytest.mark.parametrize(
    "text",
    [b"", b".", b"..", b"...", b"a.b.c", b"eyJ.eyJ.eyJ", b"\xff.\xff.\xff", b"x" * 20_000,
     b"e30.e30.e30.e30.e30", b"bnVsbA.e30."],
)  # fmt: skip
def test_what_is_no_token_is_refused(text):
    with pytest.raises(JwtError):
        hs256().open(text)


@pytest.mark.parametrize("header", [{"crit": ["exp"]}, {"b64": False}, {"zip": "DEF"}])
def test_a_header_that_wants_more_is_refused(header):
    """RFC 7515 §4.1.11."""
    with pytest.raises(JwtError, match="more than is understood"):
        hs256().open(token("HS256", {}, {"sub": "a", "exp": NOW + 60}, **header))


def test_base64_has_one_way_to_write_each_value():
    text = good()
    for bad in (
        text + b"=",
        text.replace(b".", b"=.", 1),
        text[:-1] + (b"B" if text[-1:] != b"B" else b"C"),
        text + b"\n",
    ):
        with pytest.raises(JwtError):
            check(hs256(), bad)


def test_keys_in_a_header_mean_nothing(keys):
    own = {"kty": "oct", "k": b64(b"y" * 64)}
    signed = f"{b64(json.dumps({'alg': 'HS256', 'jwk': own, 'jku': 'http://evil'}).encode())}.{b64(b'{}')}".encode()
    forged = signed + b"." + b64(hmac.digest(b"y" * 64, signed, "sha256")).encode()
    with pytest.raises(JwtError, match="signature"):
        check(hs256(), forged)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"{", "keys:1: a key set that is not JSON"),
        (b"[]", "keys:1: a key set that is no JSON object"),
        (b"{}", "keys:1: no list 'keys'"),
        (key_file(), "keys:1: no key in it"),
        (key_file({"kty": "oct", "k": b64(b"short")}), "keys:1: key 1: a secret of fewer than 32 bytes"),
        (key_file({"kty": "oct"}), "keys:1: key 1: 'k' is missing"),
        (key_file(A1_KEY, A1_KEY), "keys:1: key 2: a second key"),
        (key_file(A1_KEY | {"kid": 1}), "keys:1: key 1: 'kid' is no text"),
        (key_file({"kty": "RSA", "n": number((1 << 1023) + 1), "e": "AQAB"}), "keys:1: key 1: an RSA key of fewer"),
        (key_file({"kty": "RSA", "n": "", "e": ""}), "keys:1: key 1:"),
        (key_file(A3_KEY | {"x": A3_KEY["y"]}), "keys:1: key 1: numbers that are no key"),
        (key_file(A3_KEY | {"x": "AA"}), "keys:1: key 1: a coordinate"),
        (key_file({"kty": "OKP", "crv": "Ed25519", "x": "AA"}), "keys:1: key 1: numbers that are no key"),
        (key_file({"kty": "DH"}, {"kty": "EC", "crv": "P-1"}, A1_KEY | {"use": "enc"}), "keys:1: no key in it"),
        (key_file(A1_KEY | {"key_ops": 7}, A1_KEY | {"key_ops": ["sign"]}), "keys:1: no key in it"),
    ],
)
def test_a_bad_key_set_is_refused_with_its_place(data, said):
    with pytest.raises(Misuse) as wrong:
        key_set(data, "keys")
    assert str(wrong.value).startswith(said)


def test_unknown_keys_of_a_set_are_passed_over():
    """RFC 7517 §5."""
    assert len(key_set(key_file({"kty": "future"}, A1_KEY, {"kty": "OKP", "crv": "X25519"}), "keys")) == 1


def test_a_secret_must_be_long_enough_for_what_is_allowed():
    """RFC 7518 §3.2."""
    assert secret_key(b"x" * 32 + b"\n", "secret", ["HS256"])[0].key == b"x" * 32
    with pytest.raises(Misuse, match="secret:1: a secret of 32 bytes is too short for HS384, which needs 48"):
        secret_key(b"x" * 32, "secret", ["HS256", "HS384"])


def test_a_pem_that_is_no_public_key_is_refused():
    with pytest.raises(Misuse, match="key:1: no public key"):
        pem_key(b"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n", "key")
    small = ec.generate_private_key(ec.SECP224R1()).public_key()
    with pytest.raises(Misuse, match="key:1: a curve"):
        pem_key(small.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo), "key")


def test_a_password_is_taken_for_a_token_only_if_it_looks_like_one():
    assert looks_like_one(A1.encode())
    assert looks_like_one(good())
    assert not looks_like_one(b"pencil")
    assert not looks_like_one(b"eyJhbGciOiJIUzI1NiJ9")


def test_nothing_secret_is_printed():
    assert repr(secret_key(SECRET, "s", [])[0]) == "KeyEntry(None, ['HS256', 'HS384', 'HS512'])"
    assert jwt.TOKEN_BYTES_MAX < 65_535
