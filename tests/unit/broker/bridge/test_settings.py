"""``[[bridge]]`` in a file: the example is good, what cannot be has a line."""

from pathlib import Path

import pytest

from weft.core.errors import Misuse
from weft.node.config import read, read_text

EXAMPLE = Path(__file__).parents[4] / "examples" / "bridge.toml"
GOOD = '[[bridge]]\nname = "b"\nurl = "mqtt://h"\n[[bridge.topics]]\nfilter = "a/#"\n'


def test_the_example_is_good():
    (bridge,) = read(EXAMPLE).bridge
    assert [(topic.local, topic.remote, topic.direction) for topic in bridge.topics] == [
        ("sensors/#", "site/7/sensors/#", "out"),
        ("commands/#", "site/7/commands/#", "in"),
    ]


def test_files_are_found_beside_the_configuration(tmp_path):
    file = tmp_path / "weft.toml"
    file.write_text(GOOD.replace("[[bridge.topics]]", 'password_file = "secret"\ntls.ca = "ca.pem"\n[[bridge.topics]]'))
    (bridge,) = read(file).bridge
    assert (bridge.password_file, bridge.tls.ca) == (str(tmp_path / "secret"), str(tmp_path / "ca.pem"))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (GOOD + GOOD, "weft.toml:7: two bridges are called 'b'"),
        (GOOD.replace("mqtt://h", "http://h"), "weft.toml:2: http://h: no URL of a broker"),
        (GOOD.replace("a/#", "a#"), "weft.toml:2: bridge 'b': filter 'a#'"),
        (GOOD + "qos = 3\n", "weft.toml:6: "),
        (GOOD + 'direction = "up"\n', "weft.toml:6: 'up' is no direction"),
        (GOOD + "[[bridge.topics]]\nfilter = '+/b'\n", "overlap in the direction out"),
    ],
)
def test_what_cannot_be_has_a_line(text, said):
    with pytest.raises(Misuse) as raised:
        read_text(text)
    assert said in str(raised.value)
