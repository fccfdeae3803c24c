"""gmqtt: asyncio, its own codec; TCP and TLS, 3.1.1 and 5."""

import asyncio
import contextlib
import ssl
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import gmqtt
from gmqtt.mqtt.constants import UNLIMITED_RECONNECTS
from gmqtt.mqtt.handler import MQTTConnectError

from stock import Link, LoopThread, Message, Refused, Where, Wish, cut

NAMES = {
    "response_topic": "response_topic",
    "correlation_data": "correlation_data",
    "content_type": "content_type",
    "payload_format_indicator": "payload_format_id",
    "message_expiry_interval": "message_expiry_interval",
    "topic_alias": "topic_alias",
    "will_delay_interval": "will_delay_interval",
    "user": "user_property",
    "ids": "subscription_identifier",
}
LISTS = ("user", "ids")
NEVER = -2  # 0 connects again once


def outward(values: dict[str, Any]) -> dict[str, Any]:
    return {NAMES[name]: value for name, value in values.items()}


def inward(topic: str, payload: bytes, qos: int, values: dict[str, Any]) -> Message:
    """gmqtt has a list for each property."""
    found = {
        ours: values[theirs] if ours in LISTS else values[theirs][0]
        for ours, theirs in NAMES.items()
        if theirs in values
    }
    return Message(topic, bytes(payload), qos, bool(values["retain"]), found)


class GmqttLink(Link):
    def __init__(self, loop: LoopThread, where: Where, wish: Wish) -> None:
        super().__init__()
        self._run = loop.run
        self._wish = wish
        self._answers: asyncio.Queue[int] = asyncio.Queue()
        self._run(self._open(where, wish))

    async def _open(self, where: Where, wish: Wish) -> None:
        will = wish.will
        last = will and gmqtt.Message(will.topic, will.payload, will.qos, will.retain, **outward(will.properties))
        asked: dict[str, Any] = {}
        if wish.version == 5:
            asked["session_expiry_interval"] = wish.expiry_s
            if wish.receive_maximum is not None:
                asked["receive_maximum"] = wish.receive_maximum
        self.client = gmqtt.Client(wish.client_id, clean_session=wish.clean, will_message=last, **asked)
        self.client.set_config(
            {"reconnect_retries": UNLIMITED_RECONNECTS if wish.again else NEVER, "reconnect_delay": 0.05}
        )
        if wish.user is not None:
            self.client.set_auth_credentials(wish.user, wish.password)
        self.client.on_connect = lambda _client, present, _code, _properties: self.present.put(bool(present))
        self.client.on_message = self._on_message
        self.client.on_disconnect = self._on_disconnect
        self.client.on_subscribe = lambda _client, _mid, granted, _properties: self._answers.put_nowait(granted[0])
        self.client.on_unsubscribe = lambda _client, _mid, _granted: self._answers.put_nowait(0)
        context: Any = where.context() if where.secure else False
        try:
            await self.client.connect("127.0.0.1", where.port, ssl=context, version=wish.version)
        except MQTTConnectError as error:
            await self.client._connection.close()
            raise Refused(error._code) from error

    def _on_message(self, _client: Any, topic: str, payload: bytes, qos: int, properties: dict[str, Any]) -> int:
        self.arrived.put(inward(topic, payload, qos, properties))
        return 0

    def _on_disconnect(self, _client: Any, packet: Any, _error: Any = None) -> None:
        self.ended.put(packet[0] if isinstance(packet, bytes) and packet else None)

    def subscribe(self, filter_: str, qos: int = 0, *, identifier: int = 0, no_local: bool = False) -> int:
        async def ask() -> int:
            options: dict[str, Any] = {"subscription_identifier": identifier} if identifier else {}
            self.client.subscribe(filter_, qos, no_local=no_local, **options)
            return await self._answers.get()

        return self._run(ask())

    def unsubscribe(self, filter_: str) -> None:
        async def ask() -> int:
            self.client.unsubscribe(filter_)
            return await self._answers.get()

        self._run(ask())

    def publish(self, message: Message) -> None:
        async def say() -> None:
            self.client.publish(
                message.topic, message.payload, message.qos, message.retain, **outward(message.properties)
            )
            await self.client._persistent_storage.wait_empty()  # what it has not been acknowledged

        self._run(say())

    def sever(self) -> None:
        cut(self.client._connection._transport.get_extra_info("socket").fileno())

    def close(self) -> None:
        async def leave() -> None:
            with contextlib.suppress(ssl.SSLError):  # what still came while it was closing
                await self.client.disconnect()

        self._run(leave())


class Gmqtt:
    name = "gmqtt"
    transports = ("tcp", "tls")
    versions = (4, 5)
    lacks: Mapping[str, str] = MappingProxyType({})

    def __init__(self) -> None:
        self._loop = LoopThread()

    def connect(self, where: Where, wish: Wish) -> Link:
        return GmqttLink(self._loop, where, wish)

    def close(self) -> None:
        self._loop.close()
