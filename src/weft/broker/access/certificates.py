"""From a client's TLS certificate to what the broker knows of it, and to a user.

The driver has verified the chain; nothing is verified here. A name that does not print, or is too long, names nobody: such a
certificate is refused where certificates name users, and never read as the part before a NUL.
"""

from typing import Literal

from cryptography import x509
from cryptography.x509.oid import NameOID

from weft.broker.access.api import Certificate
from weft.core.errors import Violation

USER_BYTES_MAX = 1_024
NAMES_MAX = 100

Part = Literal["common-name", "dns", "email", "uri"]


def from_der(data: bytes) -> Certificate:
    """What the certificate says (``ssl.SSLObject.getpeercert(True)`` gives its bytes); raises ``Violation``."""
    try:
        certificate = x509.load_der_x509_certificate(data)
        names = [str(attribute.value) for attribute in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)]
        try:
            others = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        except x509.ExtensionNotFound:
            others = x509.SubjectAlternativeName([])
        return Certificate(
            # Two common names are two claims: neither is taken.
            common_name=names[0] if len(names) == 1 else None,
            dns_names=tuple(others.get_values_for_type(x509.DNSName)[:NAMES_MAX]),
            email_names=tuple(others.get_values_for_type(x509.RFC822Name)[:NAMES_MAX]),
            uri_names=tuple(others.get_values_for_type(x509.UniformResourceIdentifier)[:NAMES_MAX]),
            serial=f"{certificate.serial_number:x}",
        )
    except (ValueError, x509.DuplicateExtension, x509.UnsupportedGeneralNameType) as error:
        raise Violation("a certificate that cannot be read") from error


def user_of(certificate: Certificate, part: Part) -> str | None:
    """The user that ``part`` names; of several alternative names the first. None: it names nobody."""
    names: dict[Part, tuple[str | None, ...]] = {
        "common-name": (certificate.common_name,),
        "dns": certificate.dns_names,
        "email": certificate.email_names,
        "uri": certificate.uri_names,
    }
    name = next(iter(names[part]), None)
    if (
        not name
        or len(name.encode(errors="replace")) > USER_BYTES_MAX
        or any(not letter.isprintable() for letter in name)
    ):
        return None
    return name
