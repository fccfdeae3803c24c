"""The password file: reading, changing, checking, and the short memory."""

import pytest

from weft.broker.access import passwords
from weft.broker.access.hashes import Hash, write
from weft.broker.access.passwords import Verified, parse, replace
from weft.core.errors import Misuse
from weft.mqtt.scram import ITERATIONS, verifier

SALT = b"0123456789abcdef"


def line(user: str, password: bytes, cost: tuple[int, ...] = (4, 8, 1)) -> str:
    from weft.broker.access.hashes import _digest

    return f"{user}:{write(Hash('scrypt', cost, SALT, _digest(password, 'scrypt', cost, SALT, 32)))}"


FILE = f"# users\n\n{line('alice', b'pencil')}\r\n{line('bob', b'pen', (5, 8, 1))}\n".encode()
SCRAM = f"carol:{write(verifier('SCRAM-SHA-256', 'ink', SALT, 5000))}\n".encode()


def test_the_right_password_holds_and_no_other():
    known = parse(FILE, "users")
    assert known.check("alice", b"pencil", b"s").holds()
    assert not known.check("alice", b"pen", b"s").holds()
    assert not known.check("alice", b"", b"s").holds()
    assert not known.check("nobody", b"pencil", b"s").holds()
    assert "alice" in known
    assert "nobody" not in known
    assert len(known) == 2


def test_an_unknown_user_costs_a_check_like_one_of_the_file(monkeypatch):
    """By construction: the same function runs, with the costs of some line, the same one for one name."""
    known = parse(FILE, "users")
    seen: list[tuple[int, ...]] = []
    monkeypatch.setattr(passwords, "matches", lambda made, password: seen.append(made.cost) or True)
    for name in ("nobody", "nobody", "a", "b", "c", "d", "e"):
        assert not known.check(name, b"x", b"secret").holds()  # although the comparison says yes
    assert seen[0] == seen[1]
    assert set(seen) == {(4, 8, 1), (5, 8, 1)}


def test_an_empty_file_costs_the_default(monkeypatch):
    seen: list[Hash] = []
    monkeypatch.setattr(passwords, "matches", lambda made, password: seen.append(made) or True)
    assert not parse(b"", "users").check("nobody", b"x", b"secret").holds()
    assert seen[0].cost in {(19_456, 2, 1), (14, 8, 5)}


def test_a_scram_verifier_stands_beside_a_hash_or_alone():
    known = parse(FILE + SCRAM + SCRAM.replace(b"carol", b"alice"), "users")
    assert known.methods() == ["SCRAM-SHA-256"]
    assert known.verifier("carol", "SCRAM-SHA-256") is not None
    assert known.verifier("carol", "SCRAM-SHA-512") is None
    assert known.check("carol", b"ink", b"s").holds()
    assert known.check("alice", b"pencil", b"s").holds()
    assert known.iterations_like("nobody", "SCRAM-SHA-256", b"s") == 5000
    assert known.iterations_like("nobody", "SCRAM-SHA-512", b"s") == ITERATIONS


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"# ok\nalice", "users:2: no 'user:hash'"),
        (b"alice:pencil\n", "users:1: no hashed password"),
        (b":$6$AAAA$AAAA\n", "users:1: a user without a name"),
        (b" alice:$6$AAAA$AAAA\n", "users:1: a user name with"),
        (b"\n\xff", "users:2: not UTF-8"),
        (FILE + line("alice", b"x").encode(), "users:5: a second password of the same user"),
        (SCRAM * 2, "users:2: a second SCRAM-SHA-256 verifier"),
        (b"x" * 1025 + b":y", "users:1: a user name of more than 1024 bytes"),
    ],
)
def test_a_bad_line_is_named_and_not_quoted(data, said):
    with pytest.raises(Misuse) as wrong:
        parse(data, "users")
    assert str(wrong.value).startswith(said)
    assert "pencil" not in str(wrong.value)


def test_replacing_a_user_leaves_every_other_line():
    changed = replace(FILE, "users", "alice", ["NEW", "NEWER"]).decode().splitlines()
    assert changed[:4] == ["# users", "", "alice:NEW", "alice:NEWER"]
    assert changed[4:] == [line("bob", b"pen", (5, 8, 1))]
    assert replace(FILE, "users", "bob", []).decode().splitlines()[-1] == line("alice", b"pencil")
    assert replace(b"", "users", "dave", ["H"]) == b"dave:H\n"
    assert replace(b"# no break", "users", "dave", ["H"]) == b"# no break\ndave:H\n"
    assert replace(b"#dave:x\n", "users", "dave", ["H"]) == b"#dave:x\ndave:H\n"


def test_what_was_right_is_remembered_for_a_while():
    memory = Verified(b"key", 60.0, 10)
    mark = memory.mark("alice", b"pencil", "line")
    assert not memory.knows(0.0, mark)
    memory.remember(0.0, mark)
    assert memory.knows(59.0, mark)
    assert not memory.knows(60.0, mark)
    assert len(memory) == 0


def test_a_mark_is_of_one_user_password_line_and_process():
    marks = {
        Verified(key, 60.0, 10).mark(*parts)
        for key in (b"one", b"two")
        for parts in (("a", b"bc", "l"), ("ab", b"c", "l"), ("a", b"bc", "m"), ("a", b"cb", "l"))
    }
    assert len(marks) == 8


def test_the_memory_is_bounded_and_can_be_switched_off():
    memory = Verified(b"key", 60.0, 3)
    marks = [memory.mark(str(number), b"", "") for number in range(5)]
    for mark in marks:
        memory.remember(0.0, mark)
    assert len(memory) == 3
    assert [memory.knows(1.0, mark) for mark in marks] == [False, False, True, True, True]
    memory.remember(100.0, marks[0])  # and the stale ones go when one comes
    assert len(memory) == 1
    off = Verified(b"key", 0.0, 3)
    off.remember(0.0, marks[0])
    assert not off.knows(0.0, marks[0])
