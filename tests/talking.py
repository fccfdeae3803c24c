"""A client on a real socket, in a test's own loop: ``async with talking(url) as talker``."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

from weft.mqtt.client.endpoint import parse
from weft.mqtt.client.events import Connected, Event, Message, Published, Subscribed
from weft.mqtt.client.machine import Client
from weft.mqtt.codec.packets import Connect, Request
from weft.runtime.client import Courier, Retry
from weft.runtime.clock import now

NUMBERS = count(1)


class Talker:
    """What it was told stands in ``events``."""

    def __init__(
        self, url: str, version: int = 5, client_id: str = "", clean: bool = True, retry: bool = False
    ) -> None:
        self.events: list[Event] = []
        self._changed = asyncio.Event()
        self.client = Client(Connect(version, client_id or f"talker-{next(NUMBERS)}", clean, 30))
        self.courier = Courier(
            self.client, parse(url).endpoint, self._on, Retry(0.05, 0.1) if retry else None, stubborn=retry
        )

    def _on(self, event: Event) -> None:
        self.events.append(event)
        self._changed.set()

    def of(self, kind: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    @property
    def payloads(self) -> list[bytes]:
        return [event.payload for event in self.events if isinstance(event, Message)]

    async def heard(self, kind: type, how_many: int = 1) -> list[Event]:
        """Wait for so many events of a kind."""
        while len(self.of(kind)) < how_many:
            self._changed.clear()
            await self._changed.wait()
        return self.of(kind)

    async def subscribe(self, *filters: str, qos: int = 0) -> None:
        answers = len(self.of(Subscribed))
        self.client.subscribe(now(), tuple(Request(each, qos) for each in filters))
        self.courier.flush()
        await self.heard(Subscribed, answers + 1)

    def say(self, topic: str, payload: bytes, qos: int = 0, retain: bool = False) -> None:
        self.client.publish(now(), topic, payload, qos, retain)
        self.courier.flush()

    async def publish(self, topic: str, payload: bytes, qos: int = 0, retain: bool = False) -> None:
        """Until it is acknowledged."""
        done = len(self.of(Published))
        self.say(topic, payload, qos, retain)
        await self.heard(Published, done + 1)


@asynccontextmanager
async def talking(url: str, version: int = 5, **options: object) -> AsyncIterator[Talker]:
    talker = Talker(url, version, **options)  # type: ignore[arg-type]
    running = asyncio.get_running_loop().create_task(talker.courier.run())
    try:
        await talker.heard(Connected)
        yield talker
    finally:
        talker.client.disconnect(now())
        talker.courier.stop()
        await running
