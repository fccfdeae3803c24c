"""Every counter of weft, named in one table. Counting what is not in it is a ``KeyError`` at once.

A counter is an integer in a dictionary: hot code adds its sums once per buffer of input. Names follow Prometheus; labels, where
there are any, are part of the name.
"""

TABLE: dict[str, str] = {
    "weft_bytes_received_total": "Bytes read from clients",
    "weft_bytes_sent_total": "Bytes given to the sockets of clients",
    "weft_packets_received_total": "Control packets from clients",
    "weft_messages_received_total": "PUBLISH packets from clients",
    "weft_messages_delivered_total": "PUBLISH packets to clients",
    "weft_messages_unheard_total": "Messages that no subscription matched",
    "weft_messages_refused_total": "PUBLISH packets refused by access rules or limits",
    "weft_messages_expired_total": "Messages whose expiry passed before they were delivered",
    "weft_messages_dropped_slow_total": "QoS 0 messages dropped because their subscriber does not read fast enough",
    "weft_messages_dropped_queue_total": "Messages dropped because a session's queue, or all queues together, were full",
    "weft_messages_dropped_plugin_total": "Messages that a plugin dropped",
    "weft_messages_dropped_size_total": "Messages not sent because they exceed the client's maximum packet size",
    "weft_connections_opened_total": "Connections accepted",
    "weft_connections_refused_total": "Connections refused because of a total limit",
    "weft_connections_closed_total": "Connections that ended, however",
    "weft_connects_accepted_total": "CONNECTs answered with success",
    "weft_connects_denied_total": "CONNECTs denied by authentication or authorisation",
    "weft_sessions_taken_over_total": "Sessions taken over by a newer connection of the same client id",
    "weft_sessions_expired_total": "Sessions that ended because their expiry passed",
    "weft_malformed_total": "Connections closed because of a malformed packet",
    "weft_protocol_errors_total": "Connections closed because of a protocol error",
    "weft_limits_hit_total": "Connections closed or requests refused because of a bound, by its name in the configuration",
    "weft_forbidden_total": "Connections closed because of what they wanted and may not, or cannot have here",
    "weft_keep_alive_timeouts_total": "Connections closed because the client was silent too long",
    "weft_slow_consumers_total": "Connections closed because they did not read",
    "weft_reading_paused_total": "Times that reading from a client was paused",
    "weft_bridge_in_total": "Messages that came in over bridges",
    "weft_bridge_out_total": "Messages that went out over bridges",
    "weft_bridge_suspended_total": "Messages that stayed here because nobody at the other broker hears their topic",
    "weft_bridge_loops_total": "Messages that came back over a bridge and were dropped",
    "weft_bridge_refused_total": "Messages that the other broker of a bridge refused",
    "weft_bridge_oversize_total": "Messages that were too large for the other side of a bridge",
    "weft_wills_published_total": "Will messages published",
    "weft_auth_failures_total": "Wrong passwords, tokens, SCRAM proofs and unknown users",
    "weft_auth_throttled_total": "CONNECTs refused unread because their address or user name failed too often",
    "weft_auth_remembered_total": "Passwords that were right a moment ago and not hashed again",
    "weft_acl_denied_total": "Questions that the access rules answered with no",
    "weft_access_reloads_total": "Times that password file, keys and rules were loaded again",
    "weft_plugin_errors_total": "Calls of a plugin that raised, or answered what they may not",
    "weft_handshakes_refused_total": "Connections closed because their TLS handshake failed, or too many were under way",
    "weft_proxies_refused_total": "Connections closed because of a missing or bad PROXY header",
    "weft_websockets_refused_total": "WebSocket requests refused, and WebSockets closed because their framing was wrong",
    "weft_checks_refused_total": "CONNECTs denied because too many checks of credentials were waiting",
    "weft_retained_refused_total": "Retained messages not kept because of a total limit",
    "weft_admin_requests_total": "Requests to the admin interface",
    "weft_admin_refused_total": "Requests and connections that the admin interface refused: no token, a foreign page, too many",
    "weft_admin_errors_total": "Requests that the admin interface could not answer because of a mistake of ours",
}
"""Name → help. A layer that counts something new adds its line here."""


LIMITS = (
    "client_id_bytes_max",
    "connect_timeout_s",
    "packet_bytes_max",
    "packet_bytes_unauthenticated_max",
    "qos_max",
    "receive_maximum",
    "sessions_total_max",
    "subscriptions_max",
    "subscriptions_total_max",
    "topic_aliases_max",
    "topic_levels_max",
)
"""Bounds that refuse; those that pause, drop or cap have counters that say so, or are told to the client beforehand."""


def hit(limit: str) -> str:
    """The counter of one of ``LIMITS``."""
    return f'weft_limits_hit_total{{limit="{limit}"}}'


class Counters(dict[str, int]):
    """All counters of one broker, at 0 from the start."""

    def __init__(self) -> None:
        super().__init__(dict.fromkeys(TABLE, 0))
        del self["weft_limits_hit_total"]  # it has only its parts
        self.update(dict.fromkeys(map(hit, LIMITS), 0))
