"""Expectations against what happened: how many hold, and one line with file and line for each that does not."""

from collections import Counter
from collections.abc import Iterable, Sequence

from weft.core.ids import NodeId
from weft.overlay.api import Found as FoundEvent
from weft.overlay.keys import Key
from weft.sim.scenario.load import Ready
from weft.sim.scenario.model import Found, Reached, Whole, numbered
from weft.sim.scenario.names import key_name
from weft.sim.scenario.outcome import Spread


class Verdicts:
    """In: what was expected and what was. Out: ``held`` and ``failures``."""

    def __init__(self, ready: Ready) -> None:
        self._document = ready.document
        self._brokers = ready.scenario.overlay.brokers
        self.held = 0
        self.failures: list[str] = []

    def judge(self, index: int, field: str, holds: bool, text: str) -> None:
        """Expectation ``field`` of step ``index``: does it hold? ``text`` says what was found if it does not."""
        if holds:
            self.held += 1
        else:
            where = ("step", index, "expect", field)
            self.failures.append(str(self._document.wrong(where, f"expected {field}, but {text}")))

    def at_most(self, index: int, field: str, most: float | None, found: float, unit: str) -> None:
        if most is not None:
            self.judge(index, field, found <= most, f"{found:g} {unit}, not at most {most:g}")

    def spread(self, index: int, expect: Reached, spread: Spread | None, arrivals: Sequence[Key]) -> None:
        """A multicast or an anycast; None if its broker was down when it should have sent it."""
        wanted = [name for name in expect.__struct_fields__ if getattr(expect, name) is not None]
        if spread is None:
            for name in wanted:
                self.judge(index, name, False, "its broker was not running")
            return
        if expect.reached is not None:
            found = self._difference(numbered(expect.reached, self._brokers), arrivals)
            self.judge(index, "reached", not found, found)
        if expect.value is not None:
            self.judge(
                index, "value", spread.value == expect.value, f"the answer is {spread.value}, not {expect.value:g}"
            )
        if expect.missing is not None:
            was = f"{spread.missing} sub-ranges are missing" if spread.answered else "there is no answer"
            self.judge(index, "missing", spread.answered and spread.missing == expect.missing, was)
        self.at_most(index, "hand_overs_max", expect.hand_overs_max, spread.hand_overs, "hand-overs")
        self.at_most(
            index, "between_clusters_max", expect.between_clusters_max, spread.between_clusters, "between clusters"
        )
        self.at_most(index, "links_max", expect.links_max, spread.links, "links crossed")

    def _difference(self, wanted: Iterable[NodeId], arrivals: Sequence[Key]) -> str:
        """In words; empty if the arrivals are at just these brokers, and at no key twice."""
        reached = {key.broker for key in arrivals}
        lacking = sorted({*wanted} - reached)
        besides = sorted(reached - {*wanted})
        twice = sorted(key_name(key) for key, count in Counter(arrivals).items() if count > 1)
        parts = [
            f"broker {_list(lacking)} got nothing" if lacking else "",
            f"broker {_list(besides)} got it too" if besides else "",
            f"{_list(twice)} got it more than once" if twice else "",
        ]
        return "; ".join(part for part in parts if part)

    def lookup(self, index: int, expect: Found, found: FoundEvent | None) -> None:
        at = None if found is None else found.at
        if expect.broker is not None:
            was = "nothing was found" if at is None else f"broker {at.node} was found"
            self.judge(index, "broker", at is not None and at.node == expect.broker, was)
        if expect.hops_max is not None:
            hops = -1 if found is None else found.hops
            was = f"it took {hops} hops" if at is not None else "nothing was found"
            self.judge(index, "hops_max", at is not None and hops <= expect.hops_max, was)

    def check(self, index: int, expect: Whole, gaps: Sequence[str], members: int, dropped: int, in_flight: int) -> None:
        if expect.ring is not None:
            text = f"of {members} keys these were told other neighbours: {_list(gaps)}"
            self.judge(index, "ring", not gaps, text)
        if expect.members is not None:
            self.judge(
                index, "members", members == expect.members, f"{members} keys are in the ring, not {expect.members}"
            )
        self.at_most(index, "dropped_max", expect.dropped_max, dropped, "messages were lost")
        self.at_most(index, "in_flight_max", expect.in_flight_max, in_flight, "messages are under way")


def _list(items: Sequence[object]) -> str:
    """The first ten."""
    more = f" and {len(items) - 10} more" if len(items) > 10 else ""
    return ", ".join(str(item) for item in items[:10]) + more
