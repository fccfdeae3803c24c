"""aiomqtt: an asyncio context manager; its own documentation has programs connect anew after an error."""

import asyncio
import contextlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import aiomqtt
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.subscribeoptions import SubscribeOptions

from stock import PATIENCE_S, Link, LoopThread, Message, Refused, Where, Wish, cut
from stock.with_paho import connecting, descriptor, inward, outward


class AiomqttLink(Link):
    def __init__(self, loop: LoopThread, where: Where, wish: Wish) -> None:
        super().__init__()
        self._run = loop.run
        self._five = wish.version == 5
        self._run(self._open(where, wish))

    async def _open(self, where: Where, wish: Wish) -> None:
        will = wish.will
        last: Any = None
        if will is not None:
            properties = outward(PacketTypes.WILLMESSAGE, will.properties)
            last = aiomqtt.Will(will.topic, will.payload, will.qos, will.retain, properties)
        self.client = aiomqtt.Client(
            "127.0.0.1",
            where.port,
            identifier=wish.client_id,
            username=wish.user,
            password=wish.password,
            protocol=aiomqtt.ProtocolVersion(wish.version),
            clean_session=None if self._five else wish.clean,
            clean_start=wish.clean if self._five else 3,  # 3: what paho calls FIRST_ONLY
            will=last,
            transport="websockets" if where.websocket else "tcp",
            properties=connecting(wish),
            tls_context=where.context() if where.secure else None,
            timeout=PATIENCE_S,
        )
        present: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        inner = self.client._on_connect  # aiomqtt does not show the session flag

        def on_connect(client: Any, data: Any, flags: Any, code: Any, properties: Any = None) -> None:
            present.set_result(flags.session_present)
            inner(client, data, flags, code, properties)

        self.client._client.on_connect = on_connect
        try:
            await self.client.__aenter__()
        except aiomqtt.MqttCodeError as error:
            raise Refused(error.rc.value if hasattr(error.rc, "value") else int(error.rc or 0)) from error
        self.present.put(await present)
        self._task = asyncio.get_running_loop().create_task(self._listen())

    async def _listen(self) -> None:
        try:
            async for message in self.client.messages:
                self.arrived.put(inward_of(message))
        except aiomqtt.MqttError as error:
            code = getattr(error.__cause__, "rc", None)
            self.ended.put(getattr(code, "value", None) if self._five else None)

    def subscribe(self, filter_: str, qos: int = 0, *, identifier: int = 0, no_local: bool = False) -> int:
        if self._five:
            properties = outward(PacketTypes.SUBSCRIBE, {"ids": identifier} if identifier else {})
            options = SubscribeOptions(qos, noLocal=no_local)
            granted = self._run(self.client.subscribe(filter_, options=options, properties=properties))
        else:
            granted = self._run(self.client.subscribe(filter_, qos))
        return getattr(granted[0], "value", granted[0])  # type: ignore[return-value]

    def unsubscribe(self, filter_: str) -> None:
        self._run(self.client.unsubscribe(filter_))

    def publish(self, message: Message) -> None:
        properties = outward(PacketTypes.PUBLISH, message.properties)
        self._run(self.client.publish(message.topic, message.payload, message.qos, message.retain, properties))

    def sever(self) -> None:
        cut(descriptor(self.client._client))

    def close(self) -> None:
        async def leave() -> None:
            self._task.cancel()
            with contextlib.suppress(aiomqtt.MqttError):
                await self.client.__aexit__(None, None, None)

        self._run(leave())


def inward_of(message: aiomqtt.Message) -> Message:
    """aiomqtt's message has paho's properties under the same names."""
    ours: Any = inward(message)  # type: ignore[arg-type]
    return Message(str(message.topic), ours.payload, ours.qos, ours.retain, ours.properties)


class Aiomqtt:
    name = "aiomqtt"
    transports = ("tcp", "tls", "ws", "wss")
    versions = (3, 4, 5)
    lacks: Mapping[str, str] = MappingProxyType(
        {"comes_back_by_itself": "aiomqtt leaves connecting again to the program"}
    )

    def __init__(self) -> None:
        self._loop = LoopThread()

    def connect(self, where: Where, wish: Wish) -> Link:
        return AiomqttLink(self._loop, where, wish)

    def close(self) -> None:
        self._loop.close()
