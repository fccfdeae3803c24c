"""``weft sub``: subscribe and print messages, as mosquitto_sub does."""

import time
from functools import partial
from typing import Annotated

import msgspec
import typer

from weft.cli.connecting import Options, plan, shared, until_signal, valid
from weft.cli.formats import Format
from weft.core.errors import Misuse
from weft.mqtt.codec.packets import V5, Request
from weft.mqtt.topics import check_filter

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
    from weft.cli.subscribing import Subscribing, Wishes

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
