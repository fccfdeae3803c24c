"""A broker's numbers and choices; the bounds of everything that a client can make grow.

Each bound has a name, a default, and a counter in ``telemetry`` that rises when it is hit. 0 means no bound where the text
says so. Times are in seconds, sizes in bytes.
"""

from typing import Annotated, Literal

import msgspec

Count = Annotated[int, msgspec.Meta(ge=1)]
CountOrNone = Annotated[int, msgspec.Meta(ge=0)]
Seconds = Annotated[float, msgspec.Meta(ge=0)]


class Limits(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Per client, unless the name says ``total``."""

    connections_total_max: Count = 100_000  # network connections, with or without a CONNECT
    connections_per_address_max: CountOrNone = 0  # 0: no bound
    connections_per_second_max: CountOrNone = 0  # accepted, of all clients; 0: no bound
    connect_timeout_s: Seconds = 10.0  # until the CONNECT has been accepted, authentication included
    packet_bytes_max: Count = 1_048_576  # a longer packet ends the connection
    packet_bytes_unauthenticated_max: Count = 65_536  # the same before the CONNECT has been accepted
    client_id_bytes_max: Count = 1_024  # a longer one is refused
    topic_levels_max: Count = 128  # of a topic name or filter
    topic_aliases_max: CountOrNone = 64  # MQTT 5: aliases that a client may use towards us; 0: none
    subscriptions_max: Count = 10_000  # of one session
    subscriptions_total_max: Count = 2_000_000  # of all sessions
    receive_maximum: Annotated[int, msgspec.Meta(ge=1, le=65_535)] = (
        1_000  # QoS>0 messages a client may have under way to us
    )
    inflight_max: Annotated[int, msgspec.Meta(ge=1, le=65_535)] = 100  # QoS>0 messages under way to a client
    queue_messages_max: Count = 10_000  # waiting in one session's queue
    queue_bytes_max: Count = 16_777_216  # the same in bytes
    queue_total_bytes_max: Count = 1_073_741_824  # waiting in all queues
    out_buffer_bytes_max: Count = 1_048_576  # past it, a slow consumer meets ``slow_consumer``
    out_buffer_total_bytes_max: Count = 268_435_456  # past it, reading from publishers pauses
    messages_per_second_max: CountOrNone = 0  # 0: no bound; reading pauses, nothing is dropped
    bytes_per_second_max: CountOrNone = 0  # the same for bytes
    sessions_total_max: Count = 1_000_000  # connected or not
    session_expiry_max_s: Seconds = 7 * 86_400.0  # a client that asks for more gets this
    message_expiry_max_s: Seconds = 0.0  # 0: as the publisher says
    keep_alive_max_s: Annotated[int, msgspec.Meta(ge=0, le=65_535)] = 0  # 0: as the client says
    retained_total_max: Count = 1_000_000  # topics with a retained message
    retained_total_bytes_max: Count = 1_073_741_824  # the same in bytes
    qos_max: Annotated[int, msgspec.Meta(ge=0, le=2)] = 2  # what is granted to subscribers and accepted from publishers


class BrokerSettings(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Choices.

    retain           whether retained messages are taken
    wildcards        whether filters may have wildcards
    shared           whether subscriptions may be shared ($share)
    slow_consumer    what happens when a client does not read: ``drop`` the oldest QoS 0 messages, or ``disconnect`` it
    queue_full       a persistent session's queue is full: drop its ``oldest`` message or the ``newest``
    queue_qos0       whether QoS 0 messages are queued for sessions whose client is away
    share_strategy   who of a shared subscription's members gets a message
    sys_interval_s   how often ``$SYS`` is published; 0: never
    """

    limits: Limits = Limits()
    retain: bool = True
    wildcards: bool = True
    shared: bool = True
    slow_consumer: Literal["drop", "disconnect"] = "drop"
    queue_full: Literal["oldest", "newest"] = "oldest"
    queue_qos0: bool = False
    share_strategy: Literal["round-robin", "random", "sticky", "hash-client", "hash-topic", "least-loaded"] = (
        "round-robin"
    )
    sys_interval_s: Seconds = 10.0
