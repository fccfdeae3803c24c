"""``weft sub``: subscribe and print messages, as mosquitto_sub does."""

import asyncio
import sys
import time
from functools import partial
from typing import Annotated

import msgspec
import typer

from weft.cli.connecting import Options, Plan, Says, client_of, older, plan, refusal, shared, until_signal, valid
from weft.cli.exits import Failed
from weft.cli.formats import Format, Heard
from weft.core.errors import Misuse
from weft.core.rand import Rng
from weft.mqtt.client.events import Connected, Disconnected, Event, Message, Refused, Subscribed
from weft.mqtt.client.words import words
from weft.mqtt.codec.packets import V5, Request
from weft.mqtt.topics import check_filter, matches

Topics = Annotated[
    list[str], typer.Option("-t", "--topic", metavar="FILTER", help="What to subscribe to; may be repeated.")
]
Qos = Annotated[int, typer.Option("-q", "--qos", min=0, max=2, help="Highest quality of service.")]
Count = Annotated[int | None, typer.Option("-C", "--count", min=1, help="End after so many messages.")]
Timeout = Annotated[float | None, typer.Option("-W", "--timeout", min=0, metavar="SECONDS", help="End after SECONDS.")]
Pattern = Annotated[
    str | None, typer.Option("-F", "--format", help="%t %p %q … as mosquitto_sub; see docs/CLIENTS.md.")
]
Verbose = Annotated[bool, typer.Option("-v", "--verbose", help="Topic before payload.")]
NoNewline = Annotated[bool, typer.Option("-N", "--no-newline", help="No line end after a message.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON object for each message.")]
NoStale = Annotated[bool, typer.Option("-R", "--no-stale", help="Leave out messages that were retained before.")]
Leave = Annotated[
    list[str], typer.Option("-U", "--unsubscribe", metavar="FILTER", help="Unsubscribe; may be repeated.")
]
Out = Annotated[list[str], typer.Option("-T", "--filter-out", metavar="FILTER", help="Leave out these topics.")]
RetainedOnly = Annotated[bool, typer.Option("--retained-only", help="Only retained messages; end at the first other.")]
Remove = Annotated[bool, typer.Option("--remove-retained", help="Clear the retained messages that come.")]
Exit = Annotated[bool, typer.Option("-E", "--exit-subscribed", help="End once the broker has answered.")]
AsPublished = Annotated[
    bool, typer.Option("--retain-as-published", help="Keep the retain flag as it was published (5).")
]
NoLocal = Annotated[bool, typer.Option("--no-local", help="Not what this client id publishes itself (5).")]
Handling = Annotated[
    int, typer.Option("--retain-handling", min=0, max=2, help="Retained: 0 send, 1 if new, 2 never (5).")
]
Some = Annotated[float, typer.Option("--random-filter", min=0.1, max=100, help="Print only so many percent.")]


@shared
def sub(  # noqa: PLR0917  options, by name
    options: Options,
    topics: Topics = [],  # noqa: B006 - typer copies it
    qos: Qos = 0,
    count: Count = None,
    timeout: Timeout = None,
    pattern: Pattern = None,
    verbose: Verbose = False,
    no_newline: NoNewline = False,
    as_json: Json = False,
    no_stale: NoStale = False,
    leave: Leave = [],  # noqa: B006
    filter_out: Out = [],  # noqa: B006
    retained_only: RetainedOnly = False,
    remove_retained: Remove = False,
    exit_subscribed: Exit = False,
    as_published: AsPublished = False,
    no_local: NoLocal = False,
    retain_handling: Handling = 0,
    some: Some = 100.0,
) -> None:
    """Subscribe, and print what comes until Ctrl-C.

    Payloads are printed as they are, byte by byte. A lost connection is made again. Exit code 0 after -C, -E or Ctrl-C; 1 if
    there is no connection, every subscription was refused, or -W passed (mosquitto_sub: 27).

    Examples:

      weft sub -t 'home/#' -v

      weft sub -t 'home/+/temperature' -q 1 -c -i logger -F '%I %t %p'

      weft sub -t 'home/#' --json -C 10 -W 60
    """
    planned = plan(options)
    filters = [*topics, *([planned.topic] if planned.topic else [])]
    if not filters and not leave:
        raise Misuse("what to subscribe to? give -t FILTER, or --url with a topic at its end")
    if sum((pattern is not None, as_json, verbose)) > 1:
        raise Misuse("give one of -F, --json and -v")
    if no_stale and (retained_only or remove_retained):
        raise Misuse("-R leaves out what --retained-only and --remove-retained want")
    options5 = as_published or no_local or retain_handling
    if options5 and planned.falls_back:
        planned = msgspec.structs.replace(planned, falls_back=False)
    if options5 and planned.connect.version < V5:
        raise Misuse("--retain-as-published, --no-local and --retain-handling need MQTT 5 (-V 5)")
    for filter_ in (*filters, *leave, *filter_out):
        valid(check_filter, filter_)
    wishes = Wishes(
        requests=tuple(Request(f, qos, no_local, as_published, retain_handling) for f in dict.fromkeys(filters)),
        leave=tuple(leave),
        filter_out=tuple(filter_out),
        count=count,
        no_stale=no_stale,
        retained_only=retained_only,
        remove_retained=remove_retained,
        exit_subscribed=exit_subscribed,
        some=some / 100,
        format=Format("%j" if as_json else pattern or ("%t %p" if verbose else "%p")),
        end=b"" if no_newline else b"\n",
    )
    until = None if timeout is None else time.monotonic() + timeout
    while True:
        subscribing = Subscribing(planned, options, wishes)
        if until_signal(partial(subscribing.run, until=until)) or subscribing.instead is None:
            return
        planned = subscribing.instead


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
        from weft.runtime.client import Courier, Retry, Unreachable

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
        from weft.runtime.clock import now

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
        from weft.runtime.clock import now

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
            from weft.runtime.clock import now

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
