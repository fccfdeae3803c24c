"""Filters as sets of topics: what two have in common, whether one holds the other, the smallest that holds both (§4.7)."""


def intersect(one: str, other: str) -> str | None:
    """The filter that matches what both match; None if they have nothing in common. Of two filters it is always one."""
    if (one[:1] == "$") is not (
        other[:1] == "$"
    ):  # [MQTT-4.7.2-1]: wildcards at the front leave out what begins with $
        return None
    ones, others = one.split("/"), other.split("/")
    common: list[str] = []
    for at in range(max(len(ones), len(others)) + 1):
        left = ones[at] if at < len(ones) else None
        right = others[at] if at < len(others) else None
        if left is None and right is None:
            break
        if left == "#":
            common += others[at:]
            break
        if right == "#":
            common += ones[at:]
            break
        if left is None or right is None:
            return None
        if right in {left, "+"}:
            common.append(left)
        elif left == "+":
            common.append(right)
        else:
            return None
    return "/".join(common)


def covers(wide: str, narrow: str) -> bool:
    """Whether ``wide`` matches everything that ``narrow`` matches."""
    return intersect(wide, narrow) == narrow


def generalise(one: str, other: str) -> str:
    """The least filter that covers both, which begin both with $ or neither."""
    ones, others = one.split("/"), other.split("/")
    least: list[str] = []
    for at in range(max(len(ones), len(others))):
        left = ones[at] if at < len(ones) else None
        right = others[at] if at < len(others) else None
        if left is None or right is None or "#" in {left, right}:
            least.append("#")
            break
        least.append(left if left == right else "+")
    return "/".join(least)


def disjoint(filters: list[str], within: str, filters_max: int) -> list[str]:
    """Filters that cover ``filters``, no two of which overlap, all inside ``within``; too many become ``within`` itself.

    Where two overlap without one holding the other, their generalisation takes their place: a little more than was asked
    for comes, but never a message twice.
    """
    if len(filters) > filters_max:
        return [within]
    found: list[str] = []
    for fresh in sorted(set(filters)):
        wanted = fresh
        while True:
            clash = next((old for old in found if intersect(old, wanted) is not None), None)
            if clash is None:
                found.append(wanted)
                break
            found.remove(clash)
            wanted = (
                clash if covers(clash, wanted) else wanted if covers(wanted, clash) else _merged(clash, wanted, within)
            )
    return sorted(found)


def _merged(one: str, other: str, within: str) -> str:
    wide = generalise(one, other)
    if wide[:1] in {"+", "#"} and one[:1] == "$":
        return within
    return intersect(wide, within) or within
