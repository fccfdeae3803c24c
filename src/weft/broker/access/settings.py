"""Section ``[access]`` of a broker's configuration: who is let in, by what, and what they may do. Secure where it says nothing.

File names are relative to the configuration; the driver reads the files, ``authority.build`` gets their bytes.
"""

from typing import Annotated, Any, Literal

import msgspec

Algorithm = Literal[
    "HS256", "HS384", "HS512", "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]
Seconds = Annotated[float, msgspec.Meta(ge=0)]
Count = Annotated[int, msgspec.Meta(ge=1)]
CountOrNone = Annotated[int, msgspec.Meta(ge=0)]


class JwtSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[access.jwt]``. Exactly one of the three files; ``algorithms`` has no default, because only the operator knows.

    issuer, audience   what ``iss`` must be and ``aud`` contain; a token with an audience is refused if none is set here
    user_claim         whose value becomes the user
    roles_claim        a list, or words in one text (as in ``scope``): roles for the access rules
    superuser_claim    whose value ``true`` makes a superuser
    where              which field of CONNECT carries the token
    """

    algorithms: Annotated[list[Algorithm], msgspec.Meta(min_length=1)]  # those that a token may be signed with
    jwks_file: str | None = None  # a JSON web key set
    public_key_file: str | None = None  # a public key in PEM
    secret_file: str | None = None  # the secret of the HS algorithms
    issuer: str | None = None  # what ``iss`` must be
    audience: str | None = None  # what ``aud`` must contain; a token with an audience is refused if none is set here
    user_claim: str = "sub"
    roles_claim: str | None = None
    superuser_claim: str | None = None
    leeway_s: Annotated[float, msgspec.Meta(ge=0, le=600)] = 30.0  # by which clocks may differ
    require_expiry: bool = True  # whether a token without ``exp`` is refused
    where: Literal["password", "username"] = "password"


class ThrottleSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[access.throttle]``. Failures that are free, how fast they are forgiven, and how long one waits past them.

    Past its burst, an address (of IPv6: a /64) or user name waits ``wait_s``, after the next failure twice that, and so
    on up to ``wait_max_s``; ``forgive_s`` without a failure gives one back.
    """

    enabled: bool = True  # whether failures are counted at all
    address_failures: Count = 20  # free failures of an address
    user_failures: Count = 20  # free failures of a user name
    forgive_s: Annotated[float, msgspec.Meta(gt=0)] = 10.0  # without a failure for so long, one is given back
    wait_s: Annotated[float, msgspec.Meta(gt=0)] = 1.0  # the first wait past the free failures; it doubles
    wait_max_s: Annotated[float, msgspec.Meta(gt=0)] = 300.0  # the longest wait
    entries_max: Count = 50_000  # addresses and names that are remembered


class PluginSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[[access.plugins]]``: ``use = "module:Class"``, and what the class is given.

    ``on_error``: what happens to a message or subscription at which the plugin raised. Connecting and access are always
    refused.
    """

    use: Annotated[str, msgspec.Meta(pattern=r"^[A-Za-z_][\w.]*:[A-Za-z_]\w*$")]  # module:Class
    settings: dict[str, Any] = {}  # what the class is given
    on_error: Literal["refuse", "pass"] = "refuse"  # what happens to a message or subscription at which it raised


class AccessSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """``[access]``.

    anonymous          None: over loopback and unix sockets only; a listener's own setting goes before either
    certificate_user   the part of a client certificate that names the user; None: certificates admit, but name nobody
    scram              offer SCRAM (MQTT 5) for users who have a verifier in the password file
    acl_file           rules; without one, whoever is in may do everything
    default            what applies where no rule does; None: ``deny`` if there is an ``acl_file``, ``allow`` if not
    roles              role → users, beside the roles that a token brings
    remember_s         how long a right password need not be hashed again; 0: never
    """

    password_file: str | None = None  # users, made with weft passwd
    jwt: JwtSettings | None = None
    certificate_user: Literal["common-name", "dns", "email", "uri"] | None = None
    scram: bool = True
    anonymous: bool | None = None
    superusers: list[str] = []  # users to whom no rule applies
    roles: dict[str, list[str]] = {}
    acl_file: str | None = None
    default: Literal["allow", "deny"] | None = None
    remember_s: Seconds = 60.0
    remember_max: CountOrNone = 10_000  # how many right passwords are remembered
    throttle: ThrottleSettings = ThrottleSettings()
    plugins: list[PluginSettings] = []
