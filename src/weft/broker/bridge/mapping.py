"""What a message is called on the other side, what of it crosses, and whether it has been there before."""

import msgspec

from weft.broker.bridge.settings import Topic
from weft.mqtt.codec.packets import Publish
from weft.mqtt.codec.properties import Properties
from weft.mqtt.topics import matches

HOP = "weft-hop"
"""A user property with a broker's id: a message gets one from each broker that it enters or leaves over a bridge of that
broker. Who finds itself in front of the last one has had the message before."""
HOPS_MAX = 16


def outward(topics: list[Topic], name: str) -> tuple[Topic, str] | None:
    """The entry that ``name`` leaves by, and its name at far."""
    for topic in topics:
        if topic.goes_out and matches(topic.local, name) and name.startswith(topic.local_prefix):
            there = topic.remote_prefix + name[len(topic.local_prefix) :]
            return (topic, there) if there else None
    return None


def inward(topics: list[Topic], name: str) -> tuple[Topic, str] | None:
    """The entry that far's ``name`` comes by, and its name here."""
    for topic in topics:
        if topic.goes_in and matches(topic.remote, name) and name.startswith(topic.remote_prefix):
            here = topic.local_prefix + name[len(topic.remote_prefix) :]
            return (topic, here) if here else None
    return None


def hops(properties: Properties) -> list[str]:
    return [value for name, value in properties.user if name == HOP]


def may_enter(properties: Properties, broker: str) -> bool:
    """It has not been at ``broker`` yet, nor at too many others."""
    path = hops(properties)
    return broker not in path and len(path) < HOPS_MAX


def may_leave(properties: Properties, broker: str) -> bool:
    """The same, but that it may just have entered over another bridge of ``broker``."""
    path = hops(properties)
    return broker not in path[:-1] and len(path) < HOPS_MAX


def crossing(publish: Publish, topic: str, retain: bool, hop: str | None) -> Publish:
    """``publish`` as it goes on: what belongs to one connection is left behind (§3.3.2.3.4, §3.3.2.3.8)."""
    properties = publish.properties
    if properties.subscription_ids or properties.topic_alias is not None or hop is not None:
        user = properties.user if hop is None or hops(properties)[-1:] == [hop] else (*properties.user, (HOP, hop))
        properties = msgspec.structs.replace(properties, subscription_ids=(), topic_alias=None, user=user)
    return Publish(topic, publish.payload, publish.qos, retain, publish.dup, publish.packet_id, properties)
