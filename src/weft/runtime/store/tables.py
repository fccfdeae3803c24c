"""Records into rows, and rows into records: the only place with the tables' SQL, but for ``schema`` and ``maintenance``.

Rows are written by ``executemany``, one statement per table and kind of change. Each of its steps lets other threads run; that
it takes the interpreter back many times was measured against long statements with many rows, and is the quicker
(docs/adr/0009-store.md).
"""

import sqlite3
from collections.abc import Iterator

import msgspec

from weft.broker import records as r
from weft.broker.records import Kept, KeptSession
from weft.core.machine import Record
from weft.mqtt.codec.packets import Request, Will
from weft.mqtt.codec.properties import Properties
from weft.runtime.store.changes import Changes

OF_CLIENT = ("session", "subscription", "queue", "incoming", "will")
"""The tables with a client id."""

ORPHANS = {
    "subscriptions without a session": ("subscription", "client_id NOT IN (SELECT client_id FROM session)"),
    "incoming identifiers without a session": ("incoming", "client_id NOT IN (SELECT client_id FROM session)"),
    "wills without a session": ("will", "client_id NOT IN (SELECT client_id FROM session)"),
    "queue entries without a session": ("queue", "client_id NOT IN (SELECT client_id FROM session)"),
    "queue entries without a message": (
        "queue",
        "number <> 0 AND NOT EXISTS (SELECT 1 FROM message WHERE message.number = queue.number)",
    ),
    "retained topics without a message": ("retained", "number NOT IN (SELECT number FROM message)"),
    "messages that nothing names": (
        "message",
        "number NOT IN (SELECT number FROM queue) AND number NOT IN (SELECT number FROM retained)",
    ),
}
"""What cannot be given back → where it is. In this order: what goes first may make orphans of what comes later."""

_encode = msgspec.msgpack.encode
_properties = msgspec.msgpack.Decoder(Properties)


def apply(connection: sqlite3.Connection, changes: Changes) -> None:
    """Within the caller's transaction."""
    many = connection.executemany
    wiped = [(client_id,) for client_id, client in changes.clients.items() if client.wiped]
    if wiped:
        for table in OF_CLIENT:
            many(f"DELETE FROM {table} WHERE client_id = ?", wiped)  # noqa: S608  names from above
    if changes.messages:
        _apply_messages(connection, changes)
    if changes.clients:
        _apply_queues(connection, changes)
        _apply_sessions(connection, changes)
    if changes.retained:
        many("DELETE FROM retained WHERE topic = ?", [(t,) for t, n in changes.retained.items() if n is None])
        many("REPLACE INTO retained VALUES (?, ?)", [(t, n) for t, n in changes.retained.items() if n is not None])


def _apply_messages(connection: sqlite3.Connection, changes: Changes) -> None:
    gone = [(number,) for number, message in changes.messages.items() if message is None]
    kept = [
        (m.number, m.topic, m.payload, m.qos, int(m.retain), m.properties, m.expires_at, m.publisher, m.user)
        for m in changes.messages.values()
        if m is not None
    ]
    if gone:
        connection.executemany("DELETE FROM message WHERE number = ?", gone)
    if kept:
        connection.executemany("REPLACE INTO message VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", kept)


def _apply_queues(connection: sqlite3.Connection, changes: Changes) -> None:
    new: list[tuple[str, int, int, int, int, str, int]] = []
    gone: list[tuple[str, int]] = []
    patched: list[tuple[int | None, bool, str, int]] = []
    for client_id, client in changes.clients.items():
        for position, change in client.queue.items():
            if change is None:
                gone.append((client_id, position))
            elif type(change) is r.Queued:
                ids = ",".join(map(str, change.identifiers)) if change.identifiers else ""
                new.append((client_id, position, change.number, change.qos, int(change.retain), ids, change.packet_id))
            else:
                packet_id, released = change  # type: ignore[misc]
                patched.append((packet_id, released, client_id, position))
    if gone:
        connection.executemany("DELETE FROM queue WHERE client_id = ? AND position = ?", gone)
    if new:
        connection.executemany("REPLACE INTO queue VALUES (?, ?, ?, ?, ?, ?, ?)", new)
    if patched:
        connection.executemany(
            "UPDATE queue SET packet_id = ifnull(?, packet_id), number = CASE WHEN ? THEN 0 ELSE number END"
            " WHERE client_id = ? AND position = ?",
            patched,
        )


def _apply_sessions(connection: sqlite3.Connection, changes: Changes) -> None:
    statements: dict[str, list[tuple[object, ...]]] = {}

    def do(statement: str, *row: object) -> None:
        statements.setdefault(statement, []).append(row)

    for client_id, client in changes.clients.items():
        if (s := client.session) is not None:
            do("REPLACE INTO session VALUES (?, ?, ?, ?)", client_id, s.expiry_s, s.ends_at, s.user)
        match client.will:
            case r.WillGone():
                do("DELETE FROM will WHERE client_id = ?", client_id)
            case r.WillKept(will=w) as kept:
                do(
                    "REPLACE INTO will VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    client_id, w.topic, w.payload, w.qos, w.retain, _encode(w.properties),
                    kept.delay_s, kept.due_at, kept.user,
                )  # fmt: skip
        for name, subscription in client.subscriptions.items():
            match subscription:
                case r.SubscriptionGone():
                    do("DELETE FROM subscription WHERE client_id = ? AND filter = ?", client_id, name)
                case r.SubscriptionKept(request=q):
                    do(
                        "REPLACE INTO subscription VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                        client_id, name, q.qos, q.no_local, q.retain_as_published, q.retain_handling,
                        subscription.identifier, subscription.given,
                    )  # fmt: skip
        for packet_id, taken in client.incoming.items():
            if taken:
                do("REPLACE INTO incoming VALUES (?, ?)", client_id, packet_id)
            else:
                do("DELETE FROM incoming WHERE client_id = ? AND packet_id = ?", client_id, packet_id)
    for statement, rows in statements.items():
        connection.executemany(statement, rows)


# ------------------------------------------------------------------------------------------------------- and back


def drop_orphans(connection: sqlite3.Connection) -> dict[str, int]:
    """Within the caller's transaction: what was dropped, and how many of each."""
    counts = {
        what: connection.execute(f"DELETE FROM {table} WHERE {where}").rowcount  # noqa: S608  from above
        for what, (table, where) in ORPHANS.items()
    }
    return {what: count for what, count in counts.items() if count}


def sessions(connection: sqlite3.Connection) -> Iterator[r.SessionKept]:
    for row in connection.execute("SELECT client_id, expiry_s, ends_at, user FROM session ORDER BY client_id"):
        yield r.SessionKept(*row)


def subscriptions(connection: sqlite3.Connection) -> Iterator[r.SubscriptionKept]:
    for client_id, name, qos, no_local, as_published, handling, identifier, given in connection.execute(
        "SELECT client_id, filter, qos, no_local, retain_as_published, retain_handling, identifier, given FROM subscription"
        " ORDER BY client_id, filter"
    ):
        request = Request(name, qos, bool(no_local), bool(as_published), handling)
        yield r.SubscriptionKept(client_id, request, identifier, given)


def messages(connection: sqlite3.Connection) -> Iterator[r.MessageKept]:
    for number, topic, payload, qos, retain, properties, expires_at, publisher, user in connection.execute(
        "SELECT number, topic, payload, qos, retain, properties, expires_at, publisher, user FROM message ORDER BY number"
    ):
        yield r.MessageKept(number, topic, payload, qos, retain == 1, properties, expires_at, publisher, user)


def queue(connection: sqlite3.Connection) -> Iterator[r.Queued]:
    for client_id, position, number, qos, retain, ids, packet_id in connection.execute(
        "SELECT client_id, position, number, qos, retain, identifiers, packet_id FROM queue ORDER BY client_id, position"
    ):
        identifiers = tuple(map(int, ids.split(","))) if ids else ()
        yield r.Queued(client_id, position, number, qos, retain == 1, identifiers, packet_id)


def incoming(connection: sqlite3.Connection) -> Iterator[r.Incoming]:
    for row in connection.execute("SELECT client_id, packet_id FROM incoming ORDER BY client_id, packet_id"):
        yield r.Incoming(*row)


def retained(connection: sqlite3.Connection) -> Iterator[r.RetainedKept]:
    for row in connection.execute("SELECT topic, number FROM retained ORDER BY topic"):
        yield r.RetainedKept(*row)


def wills(connection: sqlite3.Connection) -> Iterator[r.WillKept]:
    for client_id, topic, payload, qos, retain, properties, delay_s, due_at, user in connection.execute(
        "SELECT client_id, topic, payload, qos, retain, properties, delay_s, due_at, user FROM will ORDER BY client_id"
    ):
        will = Will(topic, payload, qos, retain == 1, _properties.decode(properties))
        yield r.WillKept(client_id, will, delay_s, due_at, user)


READERS = {
    "session": sessions, "subscription": subscriptions, "message": messages, "queue": queue, "incoming": incoming,
    "retained": retained, "will": wills,
}  # fmt: skip
"""Table → its records. In this order an export can be written back: nothing names what comes later."""


def count(connection: sqlite3.Connection, table: str, where: str = "TRUE") -> int:
    found: int = connection.execute(f"SELECT count(*) FROM {table} WHERE {where}").fetchone()[0]  # noqa: S608  our names
    return found


def everything(connection: sqlite3.Connection) -> Iterator[Record]:
    for read in READERS.values():
        yield from read(connection)


def load(connection: sqlite3.Connection) -> Kept | None:
    """All that is kept, or None if there are orphans: to be dropped before it is tried again.

    Looking for them on the way costs a third of asking SQLite, and nearly always there are none.
    """
    kept = Kept(messages=list(messages(connection)), retained=list(retained(connection)))
    unnamed = {message.number for message in kept.messages}
    known = unnamed.copy()
    known.add(0)
    for topic in kept.retained:
        if topic.number not in known:
            return None
        unnamed.discard(topic.number)
    by_client = {session.client_id: KeptSession(session) for session in sessions(connection)}
    try:
        for entry in queue(connection):
            if entry.number not in known:
                return None
            unnamed.discard(entry.number)
            by_client[entry.client_id].queue.append(entry)
        for subscription in subscriptions(connection):
            by_client[subscription.client_id].subscriptions.append(subscription)
        for taken in incoming(connection):
            by_client[taken.client_id].incoming.append(taken.packet_id)
        for will in wills(connection):
            by_client[will.client_id].will = will
    except KeyError:  # something of a session that is not there
        return None
    kept.sessions = list(by_client.values())
    return None if unnamed else kept
