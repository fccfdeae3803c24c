"""The TLS of whoever connects to a broker: ``weft pub``, ``weft sub``, bridges."""

import ssl
from collections.abc import Callable

from weft.core.errors import Misuse
from weft.mqtt.client.endpoint import TlsFiles


def context(files: TlsFiles) -> ssl.SSLContext:
    """The client's TLS context; a file that cannot be used is named."""
    context = ssl.create_default_context()
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    if files.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if files.cafile or files.capath:
        _use(files.cafile or files.capath, lambda: context.load_verify_locations(files.cafile, files.capath))
    if files.key and not files.cert:
        raise Misuse(f"{files.key}: a key needs its certificate (--cert)")
    if files.cert:
        cert = files.cert
        _use(cert, lambda: context.load_cert_chain(cert, files.key))
    if files.alpn:
        context.set_alpn_protocols([files.alpn])
    return context


def _use(path: object, load: Callable[[], None]) -> None:
    try:
        load()
    except ssl.SSLError as error:
        raise Misuse(f"{path}: not usable for TLS: {error.reason or 'not PEM, or the key does not fit'}") from None
    except OSError as error:
        raise Misuse(f"{path}: cannot be read: {error.strerror}") from None
