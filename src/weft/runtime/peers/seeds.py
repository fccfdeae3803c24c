"""Where other brokers may be: addresses, names with all their addresses, a file. Looked up anew each time it is asked.

A seed is ``host:port``. A host that is a name stands for all of its addresses as they are now, so a name in DNS may grow and
shrink with the cluster. The file has a seed per line and ``#`` comments; it may be missing, and may change at any time.
What is wrong is said, and leaves the other seeds alone.
"""

import asyncio
import socket
from pathlib import Path

from weft.core.errors import Misuse
from weft.node.addresses import host_and_port

FILE_BYTES_MAX = 1 << 16
SEEDS_MAX = 256
"""Addresses after all names are looked up."""

RESOLVE_S = 5.0
"""A name server that does not answer costs one round no more than this for each name."""

Address = tuple[str, int]


class Seeds:
    """In: ``find``. Out: addresses, each once; ``wrong`` has what could not be used, and why."""

    def __init__(self, fixed: tuple[str, ...] = (), file: Path | None = None) -> None:
        self._fixed = [seed_of(each) for each in fixed]  # what an operator has mistyped is said at the start
        self._file = file
        self.wrong: list[str] = []

    async def find(self) -> list[Address]:
        """All addresses as of now."""
        self.wrong = []
        found: dict[Address, None] = {}
        for seed in dict.fromkeys([*self._fixed, *self._read()]):
            found.update(dict.fromkeys(await self._resolve(seed)))
        if len(found) > SEEDS_MAX:
            self.wrong.append(f"more than {SEEDS_MAX} addresses of seeds; the first are used")
        return list(found)[:SEEDS_MAX]

    def _read(self) -> list[Address]:
        """What the file says now."""
        if self._file is None:
            return []
        try:
            with self._file.open("rb") as file:
                text = file.read(FILE_BYTES_MAX + 1).decode()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            self.wrong.append(f"{self._file}: cannot be read: {why}")
            return []
        if len(text) > FILE_BYTES_MAX:
            self.wrong.append(f"{self._file}: longer than {FILE_BYTES_MAX} bytes")
            return []
        seeds = []
        for number, line in enumerate(text.splitlines(), 1):
            said = line.partition("#")[0].strip()
            try:
                seeds += [seed_of(said)] if said else []
            except Misuse as misuse:
                self.wrong.append(f"{self._file}:{number}: {misuse}")
        return seeds

    async def _resolve(self, seed: Address) -> list[Address]:
        host, port = seed
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(RESOLVE_S):
                found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except (OSError, UnicodeError) as error:
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            self.wrong.append(f"{host}:{port}: no address: {why}")
            return []
        return [(str(address[0]), port) for _, _, _, _, address in found]


def seed_of(text: str) -> Address:
    """``host:port`` taken apart."""
    host, port = host_and_port(text, text)
    if not host or not port:
        raise Misuse(f"'{text}' is no seed: expected host:port")
    return host, port
