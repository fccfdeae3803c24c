"""Scenarios at work: each kind of step, and expectations that do not hold."""

from pathlib import Path

import pytest

from weft.core.errors import Misuse
from weft.sim.scenario.load import read
from weft.sim.scenario.outcome import Outcome
from weft.sim.scenario.runner import Runner

EXAMPLE = Path(__file__).parents[4] / "examples" / "first-ring.toml"
HEAD = """\
seed = 3
until = 90.0
[overlay]
brokers = 6
clusters = 3
settings = { update_interval_s = 1.0, ping_interval_s = 1.0, ping_timeout_s = 0.5, lost_interval_s = 2.0 }
[[step]]
at = 0.0
do = "join"
every_s = 0.5
"""


def run(tmp_path: Path, steps: str, head: str = HEAD) -> Outcome:
    path = tmp_path / "x.toml"
    path.write_text(head + steps, encoding="utf-8")
    return Runner(read(path)).run()


def test_the_example_holds_and_is_the_same_each_time() -> None:
    first, second = (Runner(read(EXAMPLE)).run() for _ in range(2))
    assert first.failures == []
    assert first.held >= 10
    assert first == second
    hello = first.spreads[0]
    assert {branch.broker for branch in hello.tree.walk()} == set(range(1, 9))
    assert sum(len(branch.keys) for branch in hello.tree.walk()) == 8
    assert hello.links == sum(branch.links for branch in hello.tree.walk())


def test_crash_and_restart_pause_and_leave(tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        """
[[step]]
at = 10.0
do = "crash"
brokers = [4, 5]
[[step]]
at = 40.0
do = "check"
expect = { ring = "whole", members = 4 }
[[step]]
at = 41.0
do = "restart"
brokers = [4, 5]
[[step]]
at = 50.0
do = "leave"
brokers = 2
[[step]]
at = 60.0
do = "pause"
brokers = 3
until = 60.5
[[step]]
at = 60.1
do = "multicast"
broker = 1
expect = { reached = [1, 3, 4, 5, 6], value = 5, missing = 0 }
[[step]]
at = 80.0
do = "check"
expect = { ring = "whole", members = 5 }
""",
    )
    assert outcome.failures == []
    assert [member.broker for member in outcome.ring] == [1, 4, 5, 3, 6]


def test_anycast_takes_one_that_satisfies_the_condition(tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        """
[[step]]
at = 10.0
do = "aggregate"
brokers = [2, 6]
values = { free = 1 }
[[step]]
at = 60.0
do = "anycast"
broker = 1
selection = "many"
condition = { label = "free", op = ">=", bound = 1 }
""",
    )
    assert outcome.failures == []
    (spread,) = outcome.spreads
    assert len(spread.reached) == 1
    assert spread.reached[0] in ("demo@site2/2", "demo@site3/6")


def test_a_multicast_to_numbers_and_a_lookup(tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        """
[[step]]
at = 30.0
do = "multicast"
broker = 6
between = [2, 5]
reduce = "sum"
expect = { reached = "2-4", value = 3, missing = 0, hand_overs_max = 3 }
[[step]]
at = 31.0
do = "lookup"
broker = 6
of = 3
expect = { broker = 3, hops_max = 2 }
""",
        HEAD.replace("clusters = 3", 'keys = "number"'),
    )
    assert outcome.failures == []


def test_faults_of_the_file_are_carried_out(tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        """
[[step]]
at = 80.0
do = "check"
expect = { ring = "whole", members = 6 }
[[fault]]
kind = "crash-restart"
at = 10.0
until = 40.0
node = 3
[[fault]]
kind = "drop"
at = 10.0
until = 20.0
rate = 0.1
""",
    )
    assert outcome.failures == []
    assert sum(traffic.dropped for traffic in outcome.messages.values()) > 10


def test_what_does_not_hold_is_told_with_its_line(tmp_path: Path) -> None:
    outcome = run(
        tmp_path,
        """
[[step]]
at = 30.0
do = "multicast"
broker = 1
[step.expect]
reached = [1, 2, 3]
value = 7
missing = 0
between_clusters_max = 1
[[step]]
at = 40.0
do = "crash"
brokers = [2]
[[step]]
at = 40.5
do = "check"
expect = { ring = "whole", members = 6 }
[[step]]
at = 41.0
do = "multicast"
broker = 2
expect = { reached = [2] }
""",
    )
    gaps = "these were told other neighbours: demo@site1/4 (1 and 2), demo@site2/5 (2 and 3)"
    assert [failure.removeprefix(f"{tmp_path}/") for failure in outcome.failures] == [
        f"x.toml:28: expected ring, but of 5 keys {gaps}",
        "x.toml:28: expected members, but 5 keys are in the ring, not 6",
        "x.toml:17: expected reached, but broker 4, 5, 6 got it too",
        "x.toml:18: expected value, but the answer is 6, not 7",
        "x.toml:20: expected between_clusters_max, but 2 between clusters, not at most 1",
        "x.toml:33: expected reached, but its broker was not running",
    ]
    assert outcome.held == 1


def test_a_verb_that_is_misused_is_refused_with_the_line_of_its_step(tmp_path: Path) -> None:
    with pytest.raises(Misuse, match=r"x.toml:12: broker 2: .*joined already"):
        run(tmp_path, '\n[[step]]\nat = 20.0\ndo = "join"\nbrokers = 2\n')


def test_a_run_too_long_for_its_trees_says_so() -> None:
    with pytest.raises(Misuse, match=r"first-ring.toml:39: more than 100 events follow"):
        Runner(read(EXAMPLE), steps_max=100).run()
