"""A process that writes a known history until it is killed: ``store_writer.py FOLDER SEED FIRST DURABILITY``.

It prints 0 when the store is open, then each batch that the writer says is committed. At most ``AHEAD`` are under way.
"""

import os
import random
import sys
import threading
from pathlib import Path

from kept import History
from weft.core.machine import Record
from weft.runtime.store.store import Durability, Store
from weft.runtime.store.writer import Writer

AHEAD = 32


def batches(seed: int):
    """The history of ``seed``: the same in the process that writes and in the one that checks."""
    rng = random.Random(seed)
    history = History(rng)
    while True:
        yield history.batch(rng.randint(1, 40))


def say(number: int) -> None:
    os.write(1, f"{number}\n".encode())


def main() -> None:
    folder, seed, first, durability = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Durability(sys.argv[4])
    store = Store.open(folder, durability)
    store.load()
    say(0)
    room = threading.Semaphore(AHEAD)
    committed = first - 1

    def on_committed(number: int) -> None:
        nonlocal committed
        say(number)
        room.release(number - committed)
        committed = number

    writer = Writer(store, on_committed, lambda trouble: sys.exit(str(trouble)), durability, 0.05)
    writer.start()
    for number, batch in enumerate(batches(seed), 1):
        if number >= first:
            room.acquire()
            records: list[Record] = batch
            writer.put(number, records)


if __name__ == "__main__":
    main()
