"""A campaign adds up, whoever runs its chunks; what breaks a rule is listed with the way to see it again."""

import pytest

from planted import falls_over, ignores_set_l, never_looks_left, planted
from weft.overlay.suzaku.machine import Suzaku
from weft.sim import campaign
from weft.sim.campaign import (
    VIOLATIONS_MAX,
    Tally,
    Violation,
    chunks,
    exhaustive_cases,
    explore,
    replay_command,
    run_seeds,
    trial,
)
from weft.sim.des.trace import Level
from weft.sim.explore import SETTINGS, Case, Explorer, cases
from weft.sim.overlays import OVERLAYS
from weft.sim.schedule import Bounds

SMALL = Bounds(("suzaku",), nodes_max=4)
BARE = Bounds(("suzaku",), nodes_max=4, faults=())


@pytest.fixture
def plant(monkeypatch):
    """Suzaku with a bug, in place of Suzaku."""
    return lambda bug: monkeypatch.setitem(OVERLAYS, "suzaku", planted(bug, Suzaku))


def test_chunks_are_the_seeds_in_order():
    assert [list(chunk) for chunk in chunks(5, 7, 3)] == [[5, 6, 7], [8, 9, 10], [11]]
    assert list(chunks(5, 0, 3)) == []


def test_the_sum_does_not_depend_on_the_chunks():
    whole, parts = run_seeds(range(12), SMALL), Tally()
    for chunk in chunks(0, 12, 5):
        parts.add(run_seeds(chunk, SMALL))
    assert parts == whole
    assert whole.schedules == 12
    assert whole.events > whole.messages > 0
    assert whole.queries >= 12 * 12
    assert whole.overlays == {"suzaku": 12}
    assert sum(whole.healed.values()) == sum(whole.converged.values()) == 12
    assert whole.violations == []


def test_violations_are_counted_past_the_list():
    total = Tally()
    for seed in range(VIOLATIONS_MAX):
        total.violate(Violation(seed, "rule", "replay"))
    more = Tally()
    more.violate(Violation(-7, "rule", "replay"))
    total.add(more)
    total.violate(Violation(None, "a case's rule", "replay"))
    assert (total.violated, len(total.violations)) == (VIOLATIONS_MAX + 2, VIOLATIONS_MAX)
    assert total.schedules == VIOLATIONS_MAX + 1, "a case of the explorer is no schedule"


def test_a_violation_names_its_seed_and_the_hash_that_its_replay_shows(plant):
    plant(ignores_set_l)
    tally = run_seeds(range(4), BARE)
    assert tally.violated > 0
    for violation in tally.violations:
        assert violation.rule.startswith("I2")
        assert violation.replay == f"weft sim replay {violation.seed} --nodes 4 --faults none --overlay suzaku"
        again = trial(violation.seed, BARE, Level.FULL)
        assert again.broken == violation.rule
        assert again.schedule.simulation.trace.hash() == violation.trace_hash


def test_a_machine_that_raises_does_not_end_the_campaign(plant):
    plant(falls_over)
    tally = run_seeds(range(4), BARE)
    assert tally.schedules == 4
    assert {violation.rule for violation in tally.violations} == {"KeyError: 'a bug of the machine'"}


def test_a_failure_that_does_not_repeat_says_so(monkeypatch):
    """It would be a leak of something ambient into a machine: worse than the failure."""
    lives = []

    def moody(node, settings, seed, run):
        lives.append(node)
        return planted(ignores_set_l, Suzaku)(node, settings, seed, run) if len(lives) <= 2 else Suzaku(node, settings)

    monkeypatch.setitem(OVERLAYS, "suzaku", moody)
    tally = run_seeds([0], Bounds(("suzaku",), nodes_max=2, faults=()))
    assert tally.violations[0].rule.endswith("(but, run again: ok)")


@pytest.mark.parametrize(
    ("bounds", "words"),
    [
        (Bounds(), ""),
        (Bounds(nodes_max=64), " --nodes 64"),
        (Bounds(faults=()), " --faults none"),
        (Bounds(faults=("drop", "crash")), " --faults drop,crash"),
        (Bounds(down_share=0.5), " --down-share 0.5"),
        (Bounds(overlays=("skipgraph",)), " --overlay skipgraph"),
    ],
)
def test_the_command_that_replays_has_what_is_not_usual(bounds, words):
    assert replay_command(7, bounds) == f"weft sim replay 7{words}"


def test_the_exhaustive_cases_are_all_of_each_size_four_ways():
    found = exhaustive_cases(3)
    assert len(found) == len(set(found)) == 4 * (4 + 16)
    for count in (2, 3):
        assert set(cases(count)) <= set(found)
        assert any(len(case.roles) == count and case.losses for case in found)
        assert any(len(case.roles) == count and case.doubles for case in found)
        assert any(len(case.roles) == count and case.timers and not case.losses for case in found)


def test_the_widest_cases_come_first():
    """So that no process is left alone with the largest at the end."""
    assert exhaustive_cases(3)[0].roles == ("stay", "join", "join")
    assert set(exhaustive_cases(3)[-1].roles) == {"stay"}


def test_a_case_that_is_right_has_no_violation():
    assert explore(Case(("stay", "join"))).violation == ""


@pytest.mark.parametrize(
    ("bug", "roles", "said"),
    [
        (ignores_set_l, ("stay", "join"), "I2: "),
        (never_looks_left, ("stay", "crash", "stay"), "I1: "),
        (falls_over, ("stay", "join"), "KeyError: 'a bug of the machine'"),
    ],
)
def test_a_case_that_is_wrong_tells_the_rule_and_the_way(monkeypatch, bug, roles, said):
    monkeypatch.setattr(campaign, "Explorer", lambda case: Explorer(case, lambda n: planted(bug)(n, SETTINGS, 1)))
    found = explore(Case(roles))
    assert found.case == "-".join(roles)
    assert found.violation.startswith(said)
    assert f"case {found.case}, after:" in found.violation


def test_messages_that_cause_each_other_for_ever_are_a_violation(monkeypatch):
    def echo(peer):
        """What arrives is sent back: there is always another message, and each is new."""
        peer.receive = lambda now, source, message, out: [peer.local.next_request(), out.send(source, message)]

    monkeypatch.setattr(campaign, "Explorer", lambda case: Explorer(case, lambda n: planted(echo)(n, SETTINGS, 1)))
    assert explore(Case(("stay", "join"))).violation == "messages that cause each other for ever"
