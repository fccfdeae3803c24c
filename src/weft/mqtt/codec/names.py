"""What a Topic Name, a Topic Filter and a share may be (§4.7, §4.8.2). ``mqtt.topics`` is where the rest of weft finds these.

No regular expressions: a hostile filter costs no more than its length. Shares are known in every version: MQTT 3 has no word
for them, and its clients like them, too.
"""

from weft.mqtt.codec.primitives import BYTES_MAX
from weft.mqtt.codec.reasons import Reason, Refused

SHARE = "$share/"


def is_too_long(topic: str) -> bool:
    """More than 65,535 bytes of UTF-8 [MQTT-4.7.3-3], [MQTT-4.7.3-3 (3.1.1)]."""
    return 4 * len(topic) > BYTES_MAX and len(topic.encode("utf-8", "surrogatepass")) > BYTES_MAX


def check_name(name: str) -> None:
    """Refuses what is no Topic Name."""
    if not name:
        raise Refused(Reason.TOPIC_NAME_INVALID, "an empty topic name")  # [MQTT-4.7.3-1], [MQTT-4.7.3-1 (3.1.1)]
    if "+" in name or "#" in name:  # [MQTT-3.3.2-2], [MQTT-4.7.0-1], [MQTT-3.3.2-2 (3.1.1)], [MQTT-4.7.1-1 (3.1.1)]
        raise Refused(Reason.TOPIC_NAME_INVALID, "a topic name with wildcards")
    if "\0" in name:  # [MQTT-4.7.3-2], [MQTT-4.7.3-2 (3.1.1)]
        raise Refused(Reason.TOPIC_NAME_INVALID, "a topic name with U+0000")
    if is_too_long(name):
        raise Refused(Reason.TOPIC_NAME_INVALID, "a topic name of more than 65,535 bytes")


def check_filter(pattern: str) -> None:
    """Refuses what is no Topic Filter, with or without a share."""
    if is_too_long(pattern):
        raise Refused(Reason.TOPIC_FILTER_INVALID, "a topic filter of more than 65,535 bytes")
    if pattern.startswith(SHARE):
        pattern = split_share(pattern)[1]
    if not pattern:
        raise Refused(Reason.TOPIC_FILTER_INVALID, "an empty topic filter")  # [MQTT-4.7.3-1], [MQTT-4.7.3-1 (3.1.1)]
    if "\0" in pattern:  # [MQTT-4.7.3-2], [MQTT-4.7.3-2 (3.1.1)]
        raise Refused(Reason.TOPIC_FILTER_INVALID, "a topic filter with U+0000")
    hashes = pattern.count("#")
    if hashes and (hashes > 1 or pattern[-1] != "#" or pattern[-2:-1] not in ("", "/")):
        # [MQTT-4.7.1-1], [MQTT-4.7.1-2 (3.1.1)]
        raise Refused(Reason.TOPIC_FILTER_INVALID, "'#' that is not the whole of a filter's last level")
    if "+" in pattern and any(level != "+" and "+" in level for level in pattern.split("/")):
        # [MQTT-4.7.1-2], [MQTT-4.7.1-3 (3.1.1)]
        raise Refused(Reason.TOPIC_FILTER_INVALID, "'+' that is not the whole of a filter's level")


def has_wildcards(pattern: str) -> bool:
    return "+" in pattern or "#" in pattern


def split_share(pattern: str) -> tuple[str | None, str]:
    """``$share/<group>/<filter>`` taken apart (§4.8.2); None is the group of what is not shared."""
    if not pattern.startswith(SHARE):
        return None, pattern
    group, slash, rest = pattern[len(SHARE) :].partition("/")
    if not group:  # [MQTT-4.8.2-1]
        raise Refused(Reason.TOPIC_FILTER_INVALID, "a share without a name")
    if has_wildcards(group):  # [MQTT-4.8.2-2]
        raise Refused(Reason.TOPIC_FILTER_INVALID, "a share whose name has wildcards")
    if not slash or not rest:  # [MQTT-4.8.2-2]
        raise Refused(Reason.TOPIC_FILTER_INVALID, "a share without a topic filter")
    return group, rest
