"""One run of ``weft sub``: connect, subscribe, print, and connect again, until it is enough."""

import asyncio
import sys
import time

import msgspec

from weft.cli.connecting import Options, Plan, Says, client_of, older, refusal
from weft.cli.exits import Failed
from weft.cli.formats import Format, Heard
from weft.core.rand import Rng
from weft.mqtt.client.events import Connected, Disconnected, Event, Message, Refused, Subscribed
from weft.mqtt.client.words import words
from weft.mqtt.codec.packets import Request
from weft.mqtt.topics import matches
from weft.runtime.client import Courier, Retry, Unreachable
from weft.runtime.clock import now


class Wishes(msgspec.Struct, frozen=True):
    """What the options want of each message."""

    requests: tuple[Request, ...]
    leave: tuple[str, ...]
    filter_out: tuple[str, ...]
    count: int | None
    no_stale: bool
    retained_only: bool
    remove_retained: bool
    exit_subscribed: bool
    some: float
    format: Format
    end: bytes


class Subscribing:
    """One client from CONNECT to DISCONNECT."""

    def __init__(self, planned: Plan, options: Options, wishes: Wishes) -> None:
        self.planned = planned
        self.instead: Plan | None = None
        self._says = Says(options)
        self._client = client_of(planned, options)
        self._wishes = wishes
        self._has_asked = False
        self._heard = 0
        self._is_over = False
        self._ready: list[bytes] = []
        self._rng = Rng(time.time_ns())

    async def run(self, asked: asyncio.Event, until: float | None) -> None:
        self._courier = Courier(self._client, self.planned.endpoint, self._on, Retry(), debug=self._says.debug)
        running = asyncio.get_running_loop().create_task(self._courier.run())
        stopped = asyncio.get_running_loop().create_task(asked.wait())
        left = None if until is None else max(0.0, until - time.monotonic())
        try:
            done, _ = await asyncio.wait({running, stopped}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
            if running not in done:
                self._leave()
                await running
            else:
                running.result()
        except Unreachable as error:
            raise Failed(str(error)) from None
        finally:
            stopped.cancel()
            self._print()
        if not done:
            raise Failed("-W: the time is over")
        if not asked.is_set() and not self._is_over and self.instead is None:
            raise Failed(f"{self.planned.endpoint} ended the connection")

    def _leave(self) -> None:
        """DISCONNECT, after what is still to be said."""
        self._is_over = True
        self._client.is_deaf = True
        self._client.disconnect(now(), expiry_s=self.planned.of("disconnect").session_expiry_s)
        self._courier.stop()

    def _on(self, event: Event) -> None:
        match event:
            case Message():
                self._on_message(event)
            case Connected():
                self._says.debug(
                    f"connected as {event.client_id}" + (", session present" if event.session_present else "")
                )
                if not self._has_asked:
                    self._ask()
            case Subscribed():
                self._on_subscribed(event)
            case Refused():
                self.instead = older(self.planned, event)
                if self.instead is None:
                    raise refusal(self.planned, event)
                self._says.debug(f"{event.text}; trying 3.1.1")
                self._courier.stop()
            case Disconnected():
                self._says.debug(f"disconnected: {event.text}")
                if not event.again:
                    raise Failed(f"{self.planned.endpoint}: {event.text}")
            case _:
                self._says.debug(f"{type(event).__name__.lower()}")
        if self._is_over and self._client.is_idle:
            self._leave()

    def _ask(self) -> None:
        self._has_asked = True
        identifiers = self.planned.of("subscribe").subscription_ids
        if self._wishes.leave:
            self._client.unsubscribe(now(), self._wishes.leave)
        if self._wishes.requests:
            self._client.subscribe(now(), self._wishes.requests, identifiers[0] if identifiers else 0)

    def _on_subscribed(self, event: Subscribed) -> None:
        refused = [
            f"{request.filter}: {words(code)}"
            for request, code in zip(event.requests, event.codes, strict=True)
            if code >= 0x80
        ]
        why = f" ({event.text})" if event.text else ""
        if len(refused) == len(event.requests):
            raise Failed(f"every subscription was refused: {'; '.join(refused)}{why}")
        for line in refused:
            self._says.warn(f"subscription refused: {line}{why}")
        self._says.debug("subscribed")
        if self._wishes.exit_subscribed:
            self._leave()

    def _on_message(self, message: Message) -> None:
        wishes = self._wishes
        if self._is_over:
            return
        if message.retain:
            if wishes.no_stale:
                return
        elif wishes.retained_only:
            self._finish()
            return
        if any(matches(filter_, message.topic) for filter_ in wishes.filter_out):
            return
        if wishes.remove_retained and message.retain and self._client.room:
            self._client.publish(now(), message.topic, b"", min(1, message.qos), True)
        if wishes.some >= 1 or self._rng.random() < wishes.some:
            if not self._ready:
                asyncio.get_running_loop().call_soon(self._print_soon)
            self._ready.append(wishes.format.render(Heard(message, time.time_ns())) + wishes.end)
        self._heard += 1
        if self._heard == wishes.count:
            self._finish()

    def _finish(self) -> None:
        """Enough. What was asked for, or is being cleared, is waited for."""
        self._is_over = True
        self._client.is_deaf = True
        if self._client.is_idle:
            self._leave()

    def _print_soon(self) -> None:
        try:
            self._print()
        except OSError as error:
            self._courier.fail(error)

    def _print(self) -> None:
        if not self._ready:
            return
        data, self._ready = b"".join(self._ready), []
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
