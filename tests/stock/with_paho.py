"""paho-mqtt: its own network thread. The properties' translation serves aiomqtt too, which is built on it."""

from collections.abc import Callable, Mapping
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any

import paho.mqtt.client as paho
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.subscribeoptions import SubscribeOptions

from stock import PATIENCE_S, Link, Message, Refused, Where, Wish, cut

NAMES = {
    "response_topic": "ResponseTopic",
    "correlation_data": "CorrelationData",
    "content_type": "ContentType",
    "payload_format_indicator": "PayloadFormatIndicator",
    "message_expiry_interval": "MessageExpiryInterval",
    "topic_alias": "TopicAlias",
    "will_delay_interval": "WillDelayInterval",
    "user": "UserProperty",
    "ids": "SubscriptionIdentifier",
}


def outward(kind: int, values: dict[str, Any]) -> Properties | None:
    """Ours to paho's."""
    if not values:
        return None
    properties = Properties(kind)
    for name, value in values.items():
        for each in value if name == "user" else [value]:
            setattr(properties, NAMES[name], each)
    return properties


def inward(message: paho.MQTTMessage) -> Message:
    """paho's to ours."""
    values = getattr(message, "properties", None)
    found = {ours: getattr(values, theirs) for ours, theirs in NAMES.items() if hasattr(values, theirs)}
    return Message(message.topic, bytes(message.payload), message.qos, message.retain, found)


def connecting(wish: Wish) -> Properties | None:
    """Properties of the CONNECT."""
    if wish.version < 5:
        return None
    properties = Properties(PacketTypes.CONNECT)
    properties.SessionExpiryInterval = wish.expiry_s
    if wish.receive_maximum is not None:
        properties.ReceiveMaximum = wish.receive_maximum
    return properties


def descriptor(client: paho.Client) -> int:
    sock: Any = client.socket()
    return int(sock.fileno())


class PahoLink(Link):
    def __init__(self, where: Where, wish: Wish) -> None:
        super().__init__()
        self._wish = wish
        self._answers: SimpleQueue[int] = SimpleQueue()
        self._connacks: SimpleQueue[int] = SimpleQueue()
        five = wish.version == 5
        self.client = paho.Client(
            paho.CallbackAPIVersion.VERSION2,
            wish.client_id,
            clean_session=None if five else wish.clean,
            protocol=paho.MQTTProtocolVersion(wish.version),
            transport="websockets" if where.websocket else "tcp",
            reconnect_on_failure=wish.again,
            manual_ack=wish.receive_maximum is not None,
        )
        self.client.reconnect_delay_set(0.05, 1)  # type: ignore[arg-type]
        if where.secure:
            self.client.tls_set_context(where.context())
        if wish.user is not None:
            self.client.username_pw_set(wish.user, wish.password)
        if wish.will is not None:
            will = wish.will
            properties = outward(PacketTypes.WILLMESSAGE, will.properties)
            self.client.will_set(will.topic, will.payload, will.qos, will.retain, properties)
        self.client.on_connect = self._on_connect
        self.client.on_disconnect = self._on_disconnect
        self.client.on_message = self._on_message
        self.client.on_subscribe = lambda _c, _u, _m, codes, _p: self._answers.put(codes[0].value)
        self.client.on_unsubscribe = lambda _c, _u, _m, _codes, _p: self._answers.put(0)
        self.waiting: SimpleQueue[Callable[[], None]] = SimpleQueue()  # acknowledgements that the test gives by hand
        self.client.connect(
            "127.0.0.1",
            where.port,
            clean_start=wish.clean if five else paho.MQTT_CLEAN_START_FIRST_ONLY,
            properties=connecting(wish),
        )
        self.client.loop_start()
        if code := self._connacks.get(timeout=PATIENCE_S):
            self.close()
            raise Refused(code)

    def _on_connect(self, _client: Any, _data: Any, flags: Any, code: Any, _properties: Any) -> None:
        self._connacks.put(code.value)
        self.present.put(flags.session_present)

    def _on_disconnect(self, _client: Any, _data: Any, flags: Any, code: Any, _properties: Any) -> None:
        self.ended.put(code.value if flags.is_disconnect_packet_from_server else None)

    def _on_message(self, client: Any, _data: Any, message: paho.MQTTMessage) -> None:
        self.arrived.put(inward(message))
        if self._wish.receive_maximum is not None:
            self.waiting.put(lambda: client.ack(message.mid, message.qos))

    def subscribe(self, filter_: str, qos: int = 0, *, identifier: int = 0, no_local: bool = False) -> int:
        if self._wish.version < 5:
            self.client.subscribe(filter_, qos)
        else:
            properties = outward(PacketTypes.SUBSCRIBE, {"ids": identifier} if identifier else {})
            self.client.subscribe(filter_, options=SubscribeOptions(qos, noLocal=no_local), properties=properties)
        return self._answers.get(timeout=PATIENCE_S)

    def unsubscribe(self, filter_: str) -> None:
        self.client.unsubscribe(filter_)
        self._answers.get(timeout=PATIENCE_S)

    def publish(self, message: Message) -> None:
        properties = outward(PacketTypes.PUBLISH, message.properties)
        self.client.publish(message.topic, message.payload, message.qos, message.retain, properties).wait_for_publish(
            PATIENCE_S
        )

    def sever(self) -> None:
        cut(descriptor(self.client))

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()


class Paho:
    name = "paho"
    transports = ("tcp", "tls", "ws", "wss")
    versions = (3, 4, 5)
    lacks: Mapping[str, str] = MappingProxyType({})

    def connect(self, where: Where, wish: Wish) -> Link:
        return PahoLink(where, wish)

    def close(self) -> None:
        """Nothing is shared."""
