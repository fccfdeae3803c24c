"""What survives a restart: the broker's records in one SQLite file, written by one thread.

In     batches of records (``broker.records``) from the event loop, in order.
Out    "committed up to batch n", and at the start everything that was kept; one line when the disk is full or the file broken.
Never  a decision about what to keep, counting of references, a wait in the event loop.

Glossary
    batch        the records of one tick of the event loop: kept together or not at all
    changes      what a run of records comes to: one change for each row, and none for what came and went in between
    durability   ``always``: on the disk before the client hears of it; ``interval``: on the disk within so many ms; ``none``
    behind       more waits to be written than memory should hold: the host stops reading from clients
    trouble      writing does not succeed (a full disk): tried again until it does, said once
    clean        nothing in the file that no session and no topic names: what ``load`` leaves
"""
