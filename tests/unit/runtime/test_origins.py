"""Peer names as addresses, and which of them are this machine."""

import pytest

from weft.runtime.origins import is_local, plain


@pytest.mark.parametrize(
    ("peer", "found", "local"),
    [
        (("127.0.0.1", 5), ("127.0.0.1", 5), True),
        (("127.9.9.9", 5), ("127.9.9.9", 5), True),
        (("::1", 5, 0, 0), ("::1", 5), True),
        (("::ffff:127.0.0.1", 5, 0, 0), ("127.0.0.1", 5), True),
        (("::ffff:192.0.2.1", 5, 0, 0), ("192.0.2.1", 5), False),
        (("fe80::1%eth0", 5, 0, 3), ("fe80::1%eth0", 5), False),
        (("192.0.2.1", 5), ("192.0.2.1", 5), False),
        ("", ("", 0), True),
        (None, ("", 0), True),
    ],
)
def test_a_peer(peer: object, found: tuple[str, int], local: bool) -> None:
    assert plain(peer) == found
    assert is_local(found[0]) is local
    assert not is_local("what is this")
