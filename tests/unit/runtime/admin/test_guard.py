"""Who may ask: tokens, names of this machine, pages."""

import pytest

from weft.core.errors import Misuse
from weft.runtime.admin.exchange import Problem
from weft.runtime.admin.guard import Guard, check_local, is_loopback, read_token, require_token

TOKEN = "0123456789abcdef"


@pytest.mark.parametrize("address", ["127.0.0.1", "127.255.0.1", "::1", "::ffff:127.0.0.1", "::1%lo"])
def test_loopback(address):
    assert is_loopback(address)
    require_token(address, None)


@pytest.mark.parametrize("address", ["0.0.0.0", "::", "10.0.0.1", "::ffff:10.0.0.1", "fe80::1%eth0", "example.org", ""])
def test_not_loopback(address):
    assert not is_loopback(address)
    require_token(address, TOKEN)
    with pytest.raises(Misuse, match="token"):
        require_token(address, None)


def test_a_token_file(tmp_path):
    path = tmp_path / "token"
    path.write_text(f"  {TOKEN}  \nand a remark\n")
    assert read_token(path) == TOKEN


@pytest.mark.parametrize(
    "content", [b"", b"\n" + TOKEN.encode(), b"short", b"0123456789 abcdef", b"\xff" * 20, b"a\0" * 20]
)
def test_what_is_no_token(tmp_path, content):
    path = tmp_path / "token"
    path.write_bytes(content)
    with pytest.raises(Misuse, match=str(path)):
        read_token(path)
    with pytest.raises(Misuse, match="cannot be read"):
        read_token(tmp_path / "missing")


def test_the_token_opens():
    guard = Guard(TOKEN)
    guard.check({"authorization": f"Bearer {TOKEN}"})
    guard.check({"authorization": f"bearer  {TOKEN} ", "host": "evil.example", "origin": "null"})
    for value in ("", "Bearer", f"Basic {TOKEN}", "Bearer x", f"Bearer {TOKEN}{TOKEN}", "Bearer \xff"):
        with pytest.raises(Problem) as found:
            guard.check({"authorization": value})
        assert found.value.status == 401
        assert TOKEN not in found.value.detail
    with pytest.raises(Problem):
        guard.check({"host": "localhost"})


def test_a_page_of_our_own_is_no_foreign_page():
    for origin in ("http://localhost:9883", "https://LOCALHOST:9883"):
        check_local({"host": "localhost:9883", "origin": origin})
    for origin in ("http://localhost", "http://127.0.0.1:9883", "null", ""):
        with pytest.raises(Problem):
            check_local({"host": "localhost:9883", "origin": origin})


def test_without_a_host_there_is_no_service():
    with pytest.raises(Problem):
        check_local({})
