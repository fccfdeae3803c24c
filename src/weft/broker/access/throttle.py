"""Slowing down those who guess: failures per address and per user name, with waits that double.

A client is charged before its password is looked at and gets the charge back if it was right: so a thousand guesses at once
count as a thousand, and not as none because no answer is in yet. Pure: ``now`` is an argument, tables are bounded.

Per user name, the wait is for guessers spread over many addresses; somebody who fails on purpose can make a user wait
that way. He who has been in lately is not asked (``passwords.Verified``), nor are certificates and tokens.
"""

import ipaddress
from collections import OrderedDict

import msgspec

from weft.broker.access.settings import ThrottleSettings

DOUBLINGS_MAX = 60


class Entry(msgspec.Struct):
    """``failures`` as of ``at``, less one for each ``forgive_s`` since; none is let through before ``until``."""

    failures: float
    at: float
    until: float = 0.0
    doublings: int = 0


class Table:
    """One kind of key. At its bound the entry that was touched longest ago is forgotten: it is the nearest to forgiven."""

    def __init__(self, settings: ThrottleSettings, burst: int) -> None:
        self._settings = settings
        self._burst = burst
        self._entries: OrderedDict[str, Entry] = OrderedDict()

    def wait_s(self, now: float, key: str) -> float:
        """How long until ``key`` may try again; 0: at once."""
        entry = self._entries.get(key)
        return max(0.0, entry.until - now) if entry is not None else 0.0

    def charge(self, now: float, key: str) -> None:
        entry = self._entries.get(key)
        if entry is None:
            while len(self._entries) >= self._settings.entries_max:
                self._entries.popitem(last=False)
            entry = self._entries[key] = Entry(0.0, now)
        self._entries.move_to_end(key)
        self._forgive(now, entry)
        entry.failures += 1
        if entry.failures > self._burst:
            entry.failures = self._burst + 1.0
            wait = self._settings.wait_s * 2.0 ** min(entry.doublings, DOUBLINGS_MAX)
            entry.until = now + min(wait, self._settings.wait_max_s)
            entry.doublings += 1

    def refund(self, now: float, key: str) -> None:
        """The charge was not deserved."""
        entry = self._entries.get(key)
        if entry is None:
            return
        self._forgive(now, entry)
        if entry.failures > self._burst:
            entry.until = now
            entry.doublings = max(0, entry.doublings - 1)
        entry.failures -= 1
        if entry.failures <= 0:
            del self._entries[key]

    def __len__(self) -> int:
        return len(self._entries)

    def _forgive(self, now: float, entry: Entry) -> None:
        since = max(entry.at, entry.until)
        if now <= since:
            return
        entry.failures = max(0.0, entry.failures - (now - since) / self._settings.forgive_s)
        entry.at = now
        if entry.failures == 0:
            entry.doublings = 0


class Throttle:
    """Both tables. A client without an address worth counting (a local one) is counted by its user name only."""

    def __init__(self, settings: ThrottleSettings) -> None:
        self._enabled = settings.enabled
        self._addresses = Table(settings, settings.address_failures)
        self._users = Table(settings, settings.user_failures)

    def wait_s(self, now: float, address: str, user: str) -> float:
        if not self._enabled:
            return 0.0
        return max(self._addresses.wait_s(now, network(address)), self._users.wait_s(now, user))

    def charge(self, now: float, address: str, user: str) -> None:
        for table, key in self._keys(address, user):
            table.charge(now, key)

    def refund(self, now: float, address: str, user: str) -> None:
        for table, key in self._keys(address, user):
            table.refund(now, key)

    def __len__(self) -> int:
        return len(self._addresses) + len(self._users)

    def _keys(self, address: str, user: str) -> list[tuple[Table, str]]:
        if not self._enabled:
            return []
        return [(table, key) for table, key in ((self._addresses, network(address)), (self._users, user)) if key]


def network(address: str) -> str:
    """What one guesser has: an IPv4 address, or an IPv6 /64; an IPv4 address written as IPv6 is the IPv4 address."""
    if ":" not in address:
        return address
    try:
        six = ipaddress.IPv6Address(address.partition("%")[0])
    except ValueError:
        return address
    if six.ipv4_mapped is not None:
        return str(six.ipv4_mapped)
    return str(ipaddress.IPv6Network((int(six) >> 64 << 64, 64)))
