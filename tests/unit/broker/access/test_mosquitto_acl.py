"""mosquitto's rules become ours."""

import pytest

from weft.broker.access import rules
from weft.broker.access.mosquitto_acl import convert
from weft.core.errors import Misuse

FILE = b"""# general
topic read $SYS/#

user roger
topic foo/bar
topic deny foo/bar/secret
topic write 100%/u
pattern write $SYS/broker/connection/%c/state
pattern read home/%u/50%/#
"""


def test_the_same_is_allowed():
    text = convert(FILE, "mosquitto.acl")
    known = rules.Rules(rules.parse(text.encode(), "acl"), default_allow=False)
    nobody, roger = known.view(None, (), "c1"), known.view("roger", (), "c1")
    assert nobody.may("subscribe", "$SYS/broker", 0)
    assert not nobody.may("publish", "foo/bar", 0)
    assert roger.may("publish", "foo/bar", 2)
    assert roger.may("retain", "foo/bar", 2)
    assert not roger.may("subscribe", "foo/bar/secret", 0)
    assert roger.may("publish", "100%/u", 0)
    assert roger.may("publish", "$SYS/broker/connection/c1/state", 0)
    assert roger.may("subscribe", "home/roger/50%/x", 0)


@pytest.mark.parametrize("line", ["user", "topic", "listener 1883", "topic read a/#/b", "user a*", "\xff"])
def test_a_bad_line_is_refused_with_its_place(line):
    with pytest.raises(Misuse, match="acl:2: "):
        convert(f"\n{line}\n".encode("latin-1"), "acl")
