"""Keep-alive by buckets: nobody is closed early, nobody stays much too long, and idle ones cost one look each."""

from weft.broker.keepalive import KeepAlives


class Talker:
    def __init__(self, keep_alive_s: int, heard_at: float = 0.0) -> None:
        self.keep_alive_s = keep_alive_s
        self.heard_at = heard_at
        self.reading = True


def overdue() -> tuple[KeepAlives, list[tuple[float, Talker]]]:
    found: list[tuple[float, Talker]] = []
    return KeepAlives(lambda now, talker: found.append((now, talker))), found


def run(keepalives: KeepAlives, until: float) -> int:
    """Wake when the deadline says so; how often that was."""
    wakes = 0
    while keepalives.deadline is not None and keepalives.deadline <= until:
        keepalives.timeout(keepalives.deadline)
        wakes += 1
    return wakes


def test_silence_of_one_and_a_half_keep_alives_is_the_end():
    """[MQTT-3.1.2-22], [MQTT-3.1.2-24 (3.1.1)]."""
    keepalives, found = overdue()
    talker = Talker(10)
    keepalives.add(talker)
    run(keepalives, 100)
    assert [each for _, each in found] == [talker]
    assert 15 <= found[0][0] <= 16.01


def test_whoever_spoke_gets_its_time_from_then():
    keepalives, found = overdue()
    talker = Talker(10)
    keepalives.add(talker)
    talker.heard_at = 14.0
    run(keepalives, 28)
    assert found == []
    run(keepalives, 31)
    assert [each for _, each in found] == [talker]


def test_a_talker_costs_one_look_per_keep_alive_however_much_it_says():
    keepalives, found = overdue()
    talker = Talker(10)
    keepalives.add(talker)
    wakes = 0
    for second in range(1, 150):
        talker.heard_at = float(second)
        wakes += run(keepalives, second)
    assert found == []
    assert wakes <= 15


def test_who_has_left_is_not_looked_at():
    keepalives, found = overdue()
    stays, leaves = Talker(10), Talker(10)
    keepalives.add(stays)
    keepalives.add(leaves)
    keepalives.remove(leaves)
    keepalives.remove(leaves)
    run(keepalives, 100)
    assert [each for _, each in found] == [stays]
    assert keepalives.deadline is None


def test_whom_we_do_not_read_from_cannot_be_silent():
    keepalives, found = overdue()
    talker = Talker(10)
    talker.reading = False
    keepalives.add(talker)
    run(keepalives, 100)
    assert found == []
