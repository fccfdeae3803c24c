"""Listening sockets: bound, or refused with one line that says why.

A unix socket's file survives the process that made it. It is removed only if nobody answers on it; where somebody
does, or where something that is no socket has the name, nothing is touched.
"""

import contextlib
import errno
import os
import socket
import stat
from pathlib import Path

from weft.core.errors import Misuse
from weft.node.addresses import Endpoint
from weft.runtime.errors import PortTaken


def bind(endpoint: Endpoint, url: str, backlog: int, mode: int = 0o660) -> list[socket.socket]:
    """Listening sockets for ``endpoint``, one for each address of its host."""
    if endpoint.scheme == "unix":
        return [_bind_unix(endpoint.path, url, backlog, mode)]
    found: list[socket.socket] = []
    port = endpoint.port
    try:
        for family, address in _addresses(endpoint, url):
            listening = _bind(family, address, port, url, backlog)
            found.append(listening)
            port = listening.getsockname()[1]  # port 0: the same for all addresses
    except BaseException:
        for each in found:
            each.close()
        raise
    return found


def _addresses(endpoint: Endpoint, url: str) -> list[tuple[int, str]]:
    """Family and address of each; every address of the machine is one socket of IPv6 and one of IPv4."""
    if not endpoint.host:
        return [(socket.AF_INET6, "::"), (socket.AF_INET, "0.0.0.0")] if _has_ipv6() else [(socket.AF_INET, "0.0.0.0")]  # noqa: S104
    try:
        found = socket.getaddrinfo(endpoint.host, endpoint.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as error:
        raise Misuse(f"{url}: no address for {endpoint.host}: {error.strerror}") from error
    addresses = list(dict.fromkeys((int(family), str(address[0])) for family, _, _, _, address in found))
    if endpoint.host == "localhost" and not _has_ipv6():
        addresses = [each for each in addresses if each[0] == socket.AF_INET]
    return addresses


def _has_ipv6() -> bool:
    if not socket.has_ipv6:
        return False
    try:
        with socket.socket(socket.AF_INET6, socket.SOCK_STREAM) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def _bind(family: int, address: str, port: int, url: str, backlog: int) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # accepted sockets inherit it
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.setblocking(False)
        listening.bind((address, port))
        listening.listen(backlog)
    except OSError as error:
        listening.close()
        raise _refused(error, url, f"{address} port {port}") from error
    return listening


def _bind_unix(path: str, url: str, backlog: int, mode: int) -> socket.socket:
    if _answers(path):
        raise PortTaken(url, path)
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    before = os.umask(0o777 & ~mode)  # there is no moment at which the socket is more open than it should be
    try:
        listening.setblocking(False)
        listening.bind(path)
        listening.listen(backlog)
    except OSError as error:
        listening.close()
        raise _refused(error, url, path) from error
    finally:
        os.umask(before)
    return listening


def _answers(path: str) -> bool:
    """Whether somebody listens on the unix socket at ``path``; a stale one is removed."""
    try:
        if not stat.S_ISSOCK(Path(path).stat(follow_symlinks=False).st_mode):
            raise Misuse(f"unix://{path}: there is a file of that name, and it is no socket")
    except FileNotFoundError:
        return False
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        try:
            probe.connect(path)
        except ConnectionRefusedError:
            Path(path).unlink(missing_ok=True)
            return False
        except OSError:
            return True  # a full backlog, or not ours to open: somebody's
    return True


def remove_unix(path: str) -> None:
    """The file of a unix socket that was closed."""
    with contextlib.suppress(OSError):
        Path(path).unlink(missing_ok=True)


def _refused(error: OSError, url: str, where: str) -> Exception:
    match error.errno:
        case errno.EADDRINUSE:
            return PortTaken(url, where)
        case errno.EADDRNOTAVAIL:
            return Misuse(f"{url}: this machine has no such address")
        case errno.EACCES | errno.EPERM:
            return Misuse(f"{url}: not allowed to listen on {where}; ports below 1024 need CAP_NET_BIND_SERVICE")
        case errno.ENOENT:
            return Misuse(f"{url}: the directory of the socket does not exist")
    return Misuse(f"{url}: cannot listen on {where}: {error.strerror}")
