"""``weft pub``: publish messages, as mosquitto_pub does."""

import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from weft.cli.connecting import Options, plan, shared, until_signal, valid
from weft.core.errors import Misuse
from weft.mqtt.topics import check_name

PAYLOAD_BYTES_MAX = 268_435_455

Topic = Annotated[str | None, typer.Option("-t", "--topic", help="Topic to publish to.")]
Text = Annotated[str | None, typer.Option("-m", "--message", help="The message.")]
File = Annotated[Path | None, typer.Option("-f", "--file", metavar="FILE", help="The message is what FILE holds.")]
Lines = Annotated[bool, typer.Option("-l", "--stdin-line", help="One message for each line of stdin.")]
Whole = Annotated[bool, typer.Option("-s", "--stdin-file", help="The message is all of stdin.")]
Null = Annotated[
    bool, typer.Option("-n", "--null-message", help="An empty message; with -r it clears what is retained.")
]
Qos = Annotated[int, typer.Option("-q", "--qos", min=0, max=2, help="Quality of service.")]
Retain = Annotated[bool, typer.Option("-r", "--retain", help="The broker keeps it for those who subscribe later.")]
Repeat = Annotated[int, typer.Option("--repeat", min=1, help="Publish it so many times.")]
Delay = Annotated[float, typer.Option("--repeat-delay", min=0, help="Seconds between them.")]
Inflight = Annotated[
    int, typer.Option("-M", "--max-inflight", min=1, max=65535, help="QoS 1 and 2: so many under way.")
]


@shared
def pub(  # noqa: PLR0917  options, by name
    options: Options,
    topic: Topic = None,
    message: Text = None,
    file: File = None,
    lines: Lines = False,
    whole: Whole = False,
    null: Null = False,
    qos: Qos = 0,
    retain: Retain = False,
    repeat: Repeat = 1,
    delay: Delay = 0.0,
    inflight: Inflight = 20,
) -> None:
    """Publish a message, or many.

    Ends when the broker has acknowledged everything. Exit code 1 if there is no connection or a message was refused, 2 for
    options that do not fit together.

    Examples:

      weft pub -t home/lamp -m on -q 1 -r

      weft pub -L mqtts://me@broker.example/home/log --password-file secret -l < log.txt

      weft pub -t home/doc -f page.html -V 5 -D publish content-type text/html -D publish user-property author me
    """
    from weft.cli.publishing import Publishing

    planned = plan(options)
    topic = topic or planned.topic
    if not topic:
        raise Misuse("which topic? give -t TOPIC, or --url with a topic at its end")
    valid(check_name, topic)
    if sum((message is not None, file is not None, lines, whole, null)) != 1:
        raise Misuse("give exactly one of -m MESSAGE, -f FILE, -l, -s and -n")
    if lines and (repeat > 1 or delay):
        raise Misuse("--repeat goes with one message, not with -l")
    payload: bytes | None = None
    if message is not None:
        payload = message.encode("utf-8", "surrogateescape")
    elif null:
        payload = b""
    elif file is not None:
        payload = file.read_bytes()
    elif whole:
        payload = sys.stdin.buffer.read(PAYLOAD_BYTES_MAX + 1)
    if payload is not None and len(payload) > PAYLOAD_BYTES_MAX:
        raise Misuse(f"MQTT carries {PAYLOAD_BYTES_MAX} bytes at most in one message")
    while True:
        publishing = Publishing(planned, options, topic, qos, retain, inflight)
        if (
            until_signal(partial(publishing.run, payload=payload, repeat=repeat, delay=delay))
            and not publishing.is_done
        ):
            raise KeyboardInterrupt
        if publishing.instead is None:
            return
        planned = publishing.instead
