"""Scenario files that say what means nothing, or what cannot be, are refused with file and line."""

from pathlib import Path

import pytest

from weft.core.errors import Misuse
from weft.core.ids import NodeId
from weft.sim.scenario.load import read
from weft.sim.scenario.model import numbered

EXAMPLE = Path(__file__).parents[4] / "examples" / "first-ring.toml"
GOOD = """\
seed = 1
until = 10.0

[overlay]
kind = "suzaku"
brokers = 4
clusters = 2
keys = "topic"

[topology]
kind = "line"

[[fault]]
kind = "drop"
at = 1.0
until = 2.0

[[step]]
at = 0.0
do = "join"
brokers = "1-4"

[[step]]
at = 5.0
do = "multicast"
broker = 1
expect = { reached = "all" }

[[step]]
at = 6.0
do = "partition"
source = 1
to = [2, 3]
until = 7.0

[[step]]
at = 8.0
do = "check"
expect = { ring = "whole" }
"""


def refusal(tmp_path: Path, text: str) -> str:
    path = tmp_path / "x.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Misuse) as raised:
        read(path)
    return str(raised.value).removeprefix(f"{tmp_path}/")


def test_the_good_ones_are_read(tmp_path: Path) -> None:
    path = tmp_path / "x.toml"
    path.write_text(GOOD, encoding="utf-8")
    topology = read(path).topology
    assert topology is not None
    assert [topology.place_of(NodeId(broker)) for broker in (1, 2, 3, 4)] == ["s1", "s2", "s1", "s2"]
    assert read(EXAMPLE).scenario.overlay.brokers == 8


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("brokers = 4", "brokres = 4", "x.toml:6: unknown field 'brokres' in [overlay]; known: "),
        ('kind = "suzaku"', 'kind = "chord"', "x.toml:5: 'chord' is no kind in [overlay]; known: skipgraph, suzaku"),
        ("brokers = 4", "brokers = 0", "x.toml:6: brokers: 1…"),
        ("clusters = 2", "clusters = 0", "x.toml:7: clusters: a number above 0"),
        ("clusters = 2", 'clusters = ["a", "a"]', "x.toml:7: clusters: a number above 0"),
        ("clusters = 2", 'clusters = ["a/b/c/d/e/f/g/h/i"]', "x.toml:4: cluster path deeper than 8"),
        ('keys = "topic"', 'keys = "hash"', "x.toml:8: 'hash' is no keys in [overlay]; known: number, topic"),
        ('keys = "topic"', "topics = []", "x.toml:8: topics: a list of different topics"),
        ("until = 10.0", "until = 0", "x.toml:2: until is a time above 0"),
        ("[topology]", "[network]\ndelay_ms = 1\n[topology]", "x.toml:10: a scenario has a [network] or a [topology]"),
        ('kind = "line"', 'kind = "file"', 'x.toml:10: kind = "file" needs file'),
        ('kind = "line"', 'kind = "line"\nfile = "a.toml"', 'x.toml:10: kind = "file" needs file'),
        ('kind = "line"', 'kind = "ring"\nswitches = 2', "x.toml:10: this topology has 3 switches or more"),
        ('kind = "drop"', 'kind = "flood"', "x.toml:14: 'flood' is no kind in [[fault]]; known: drop, duplicate, "),
        ("until = 2.0", "until = 0.5", "x.toml:13: a fault begins at 0 or later and ends after"),
        ("until = 2.0", "until = 2.0\nto = [9]", "x.toml:17: there is no broker 9: the scenario has 1…4"),
        ('brokers = "1-4"', 'brokers = "1-5"', "x.toml:21: there is no broker 5"),
        ('brokers = "1-4"', 'brokers = "some"', "x.toml:21: 'some' names no brokers"),
        ('brokers = "1-4"', "brokers = []", "x.toml:21: there is no broker []"),
        ('brokers = "1-4"', "every_s = -1.0", "x.toml:21: every_s is not below 0"),
        ("at = 5.0", "at = 11.0", "x.toml:24: at: between 0 and the end of the run (10), not 11"),
        ('do = "multicast"', 'do = "multicats"', "x.toml:25: 'multicats' is no do in [[step]]; known: "),
        ("broker = 1", 'broker = 1\nstrategy = "flood"', "x.toml:27: 'flood' is no strategy; known: binary, split"),
        ("broker = 1", 'broker = 1\ntopic = "other"', "x.toml:27: 'other' is none of the topics"),
        ("broker = 1", "broker = 1\nbetween = [1, 2]", "x.toml:27: between numbers: the keys are topics"),
        ('{ reached = "all" }', "{ reached = 7 }", "x.toml:27: there is no broker 7"),
        ('{ reached = "all" }', '{ reched = "all" }', "x.toml:27: unknown field 'reched' in [step.expect]; known: "),
        ("until = 7.0", "until = 6.0", "x.toml:34: until: after the beginning (6), not 6"),
        ('expect = { ring = "whole" }', "", "x.toml:36: field 'expect' is missing in [[step]]"),
        ('{ ring = "whole" }', '{ ring = "broken" }', "x.toml:39: 'broken' is no ring in [step.expect]; known: whole"),
    ],
)
def test_refusals(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert GOOD.count(old) >= 1
    assert refusal(tmp_path, GOOD.replace(old, new, 1)).startswith(said)


def test_a_topology_file_is_as_strict(tmp_path: Path) -> None:
    drawn = tmp_path / "world.toml"
    scenario = GOOD.replace('kind = "line"', 'kind = "file"\nfile = "world.toml"')
    (tmp_path / "x.toml").write_text(scenario, encoding="utf-8")
    text = (
        'switches = ["a", "b"]\nhosts = ["h"]\n[[link]]\na = "a"\nb = "b"\ndelay_ms = 3\n[[link]]\na = "h"\nb = "b"\n'
    )
    drawn.write_text(text, encoding="utf-8")
    topology = read(tmp_path / "x.toml").topology
    assert topology is not None
    assert topology.place_of(NodeId(1)) == "h"
    assert topology.path("h", "a") == ("h", "b", "a")
    drawn.write_text(text.replace('a = "h"', 'a = "c"'), encoding="utf-8")
    assert "world.toml:7: there is no switch or host called c" in refusal(tmp_path, scenario)
    drawn.write_text(text.replace("delay_ms", "delay_s"), encoding="utf-8")
    assert "world.toml:6: unknown field 'delay_s' in [[link]]; known: a, b, bandwidth_mbps, delay_ms" in refusal(
        tmp_path, scenario
    )


def test_brokers_by_name() -> None:
    assert numbered("all", 3) == [1, 2, 3]
    assert numbered("2-3", 3) == [2, 3]
    assert numbered("2", 3) == numbered(2, 3) == [2]
    assert numbered([3, 1], 3) == [3, 1]
    for wrong in ("3-2", "0-2", "-1", "", 4, 0, [1, 9], []):
        with pytest.raises(Misuse):
            numbered(wrong, 3)
