"""Every gauge of weft, named in one table: numbers that are asked for when somebody looks, and cost nothing until then.

Who knows a number says it under its name here; a name that is not in the table is refused by ``Gauges`` at once. Times are in
seconds, sizes in bytes. Names that start with ``process_`` are those that Prometheus expects of every process.
"""

TABLE: dict[str, str] = {
    "weft_build_info": "Always 1; the label says the version",
    "weft_uptime_seconds": "Time since the broker started",
    "weft_ready": "1 if the broker takes clients, 0 while it drains or its store is broken",
    "weft_connections": "Network connections, with or without a CONNECT",
    "weft_sessions_online": "Sessions whose client is connected",
    "weft_sessions_offline": "Sessions that wait for their client",
    "weft_subscriptions": "Subscriptions of all sessions, shared ones included",
    "weft_retained_messages": "Topics with a retained message",
    "weft_retained_bytes": "Bytes that retained messages take",
    "weft_queued_messages": "Messages that wait in the queues of sessions",
    "weft_queued_bytes": "Bytes that the queues of sessions take",
    "weft_inflight_messages": "Messages with QoS above 0 that clients have been sent and have not acknowledged",
    "weft_out_buffer_bytes": "Bytes that wait for slow sockets",
    "weft_journal_records": "Records that wait to be taken by the store",
    "weft_store_bytes": "Size of the store's files",
    "process_cpu_seconds_total": "Processor time of this process, user and system",
    "process_resident_memory_bytes": "Memory of this process that is in RAM",
    "process_open_fds": "Open file descriptors",
    "process_max_fds": "How many file descriptors may be open",
    "process_start_time_seconds": "When this process started, since the epoch",
}
"""Name → help. A layer that can say something new adds its line here."""

COUNTERS = {"process_cpu_seconds_total"}
"""Those that only rise: asked for like the others, but a counter to whoever reads them."""


class Gauges(dict[str, float]):
    """What was asked for now. Labels are part of the name: ``weft_build_info{version="1"}``."""

    def say(self, name: str, value: float) -> None:
        assert name.partition("{")[0] in TABLE, f"{name} is not in the table of gauges"
        self[name] = value
