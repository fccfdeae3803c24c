"""``weft ctl``: look at a running broker and tell it what to do, through its admin interface.

weft ctl status                 the broker in a few numbers
weft ctl clients|sessions|subscriptions|topics|retained
weft ctl client ID|topic NAME   one of them
weft ctl kick|discard ID, publish TOPIC MESSAGE, reload, limits, log-level
weft ctl store …                a stopped broker's store (see ``store``)
"""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli import store
from weft.cli.exits import Failed
from weft.core.errors import Misuse

if TYPE_CHECKING:
    from weft.cli.admin_client import AdminClient

app = typer.Typer(help="Look at a running broker and tell it what to do.", rich_markup_mode=None, no_args_is_help=True)

app.add_typer(store.app, name="store")

DEFAULT = "http://127.0.0.1:9883"

Admin = Annotated[
    str, typer.Option("--admin", metavar="URL", envvar="WEFT_ADMIN", help="The broker's admin interface.")
]
Token = Annotated[
    Path | None,
    typer.Option("--token-file", metavar="FILE", envvar="WEFT_ADMIN_TOKEN_FILE", help="Its token is in FILE."),
]
Ca = Annotated[Path | None, typer.Option("--ca", metavar="FILE", help="Authorities to trust with https, in PEM.")]
Json = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]
Limit = Annotated[int, typer.Option("--limit", "-n", min=0, metavar="N", help="Show N at most; 0: all.")]
Contains = Annotated[str, typer.Option("--contains", metavar="TEXT", help="Only those whose name contains TEXT.")]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="What the client is told (MQTT 5).")]
Id = Annotated[str, typer.Argument(help="A client id.", show_default=False)]


@app.callback()
def group() -> None:
    """Look at a running broker and tell it what to do, through its admin interface."""


def _client(admin: str, token: Path | None, ca: Path | None) -> "AdminClient":
    from weft.cli.admin_client import AdminClient

    return AdminClient(admin, token, ca)


def _print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def _list(
    asked: "AdminClient", path: str, limit: int, as_json: bool, columns: Any, nothing: str, /, **query: Any
) -> None:
    """A list, as far as ``limit`` says."""
    wanted = limit + 1 if limit else 0  # one more tells whether there are more
    rows = list(asked.pages(path, wanted, **query))
    more = bool(limit) and len(rows) > limit
    rows = rows[:limit] if limit else rows
    if as_json:
        _print_json({"items": rows, "more": more})
        return
    from weft.cli.admin_tables import show_line, show_rows

    show_rows(rows, columns, nothing)
    if more:
        show_line(f"… and more; --limit 0 shows all, --limit N the first N (now {limit})")


@app.command()
def status(admin: Admin = DEFAULT, token: Token = None, ca: Ca = None, as_json: Json = False) -> None:
    """The broker in a few numbers.

    Example: weft ctl status --admin http://127.0.0.1:9883
    """
    found = _client(admin, token, ca).get("status")
    if as_json:
        _print_json(found)
        return
    from weft.cli.admin_tables import count, duration, plain, show_fields, size

    numbers = ("connections", "sessions", "sessions_online", "subscriptions", "retained", "queued", "inflight")
    traffic = ("messages_received", "messages_delivered")
    show_fields(
        {**found, "ready": found["trouble"] or "yes"},
        {
            "version": plain,
            "uptime_s": duration,
            "ready": plain,
            **dict.fromkeys(numbers, count),
            "retained_bytes": size,
            "queued_bytes": size,
            **dict.fromkeys(traffic, count),
            "bytes_received": size,
            "bytes_sent": size,
        },
    )


@app.command()
def clients(
    contains: Contains = "",
    user: Annotated[str | None, typer.Option("--user", metavar="NAME", help="Only those of this user.")] = None,
    limit: Limit = 100,
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """Clients that are connected.

    Example: weft ctl clients --contains sensor --limit 20
    """
    from weft.cli.admin_tables import duration, moment, plain, size, version

    columns = {
        "client_id": plain,
        "user": plain,
        "version": version,
        "address": plain,
        "transport": plain,
        "connected_at": moment,
        "keep_alive_s": duration,
        "out_buffer_bytes": size,
    }
    client = _client(admin, token, ca)
    _list(client, "clients", limit, as_json, columns, "no client is connected", contains=contains, user=user)


@app.command()
def client(id: Id, admin: Admin = DEFAULT, token: Token = None, ca: Ca = None, as_json: Json = False) -> None:  # noqa: A002
    """One client: its connection, session, subscriptions, and what is under way to it.

    Example: weft ctl client sensor-17
    """
    from weft.cli.admin_client import part

    found = _client(admin, token, ca).get(f"clients/{part(id)}")
    if as_json:
        _print_json(found)
        return
    from weft.cli.admin_tables import (
        count,
        duration,
        moment,
        plain,
        show_fields,
        show_heading,
        show_rows,
        size,
        version,
    )

    if found["client"] is not None:
        names = ("address", "port", "listener", "transport", "reading")
        show_fields(
            found["client"],
            {"client_id": plain, "user": plain, "version": version, **dict.fromkeys(names, plain),
             "keep_alive_s": duration, "connected_at": moment, "heard_at": moment, "out_buffer_bytes": size},
        )  # fmt: skip
    show_heading("session")
    numbers = ("subscriptions", "inflight", "queued")
    show_fields(
        found["session"],
        {"client_id": plain, "online": plain, "expiry_s": duration, "ends_at": moment,
         **dict.fromkeys(numbers, count), "queued_bytes": size},
    )  # fmt: skip
    for name in ("subscriptions", "inflight", "queue"):
        rows = found[name]
        if rows:
            show_heading(name)
            show_rows(rows, dict.fromkeys([key for key in rows[0] if key != "client_id"], plain), "none")


@app.command()
def kick(
    id: Id,  # noqa: A002 - the name that people see
    reason: Reason = "",
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """Disconnect a client. Its session stays, and so may it: it can connect again.

    Example: weft ctl kick sensor-17 --reason "firmware too old"
    """
    _end("clients", id, reason, admin, token, ca, as_json, "disconnected")


@app.command()
def discard(
    id: Id,  # noqa: A002 - the name that people see
    reason: Reason = "",
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """End a session: subscriptions, queue and will are forgotten, its client is disconnected.

    Example: weft ctl discard sensor-17
    """
    _end("sessions", id, reason, admin, token, ca, as_json, "discarded")


def _end(
    what: str, name: str, reason: str, admin: str, token: Path | None, ca: Path | None, as_json: bool, done: str
) -> None:
    from weft.cli.admin_client import part

    ended = _client(admin, token, ca).ask("DELETE", f"{what}/{part(name)}", {"reason": reason or None})
    if as_json:
        _print_json(ended)
        return
    from weft.cli.admin_tables import plain, show_line

    show_line(f"{plain(name)}: {done}")


@app.command()
def sessions(
    contains: Contains = "",
    online: Annotated[
        bool | None, typer.Option("--online/--offline", help="Only those whose client is here, or away.")
    ] = None,
    limit: Limit = 100,
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """Sessions, whether or not their clients are here.

    Example: weft ctl sessions --offline
    """
    from weft.cli.admin_tables import count, duration, moment, plain, size

    columns = {
        "client_id": plain,
        "user": plain,
        "online": plain,
        "expiry_s": duration,
        "ends_at": moment,
        "subscriptions": count,
        "inflight": count,
        "queued": count,
        "queued_bytes": size,
    }
    asked = _client(admin, token, ca)
    _list(asked, "sessions", limit, as_json, columns, "there is no session", contains=contains, online=online)


@app.command()
def subscriptions(
    client: Annotated[str | None, typer.Option("--client", metavar="ID", help="Only those of this client.")] = None,
    pattern: Annotated[
        str | None, typer.Option("--filter", metavar="FILTER", help="Only those with this filter.")
    ] = None,
    limit: Limit = 100,
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """Who has subscribed to what.

    Example: weft ctl subscriptions --filter 'home/+/temperature'
    """
    from weft.cli.admin_tables import plain

    names = ("client_id", "filter", "qos", "group", "no_local", "retain_as_published", "identifier")
    asked = _client(admin, token, ca)
    columns = dict.fromkeys(names, plain)
    _list(asked, "subscriptions", limit, as_json, columns, "nobody has subscribed", client=client, filter=pattern)


@app.command()
def topics(
    contains: Contains = "",
    limit: Limit = 100,
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """Filters that are subscribed to, and by how many.

    Example: weft ctl topics --contains temperature
    """
    from weft.cli.admin_tables import count, plain

    columns = {"filter": plain, "subscribers": count}
    asked = _client(admin, token, ca)
    _list(asked, "topics", limit, as_json, columns, "nobody has subscribed", contains=contains)


@app.command()
def topic(
    name: Annotated[str, typer.Argument(help="A topic name, without wildcards.", show_default=False)],
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """Who would get a message published to a topic now.

    Example: weft ctl topic home/kitchen/temperature
    """
    found = _client(admin, token, ca).get("routes", topic=name)
    if as_json:
        _print_json(found)
        return
    from weft.cli.admin_tables import plain, show_heading, show_line, show_rows

    columns = {"client_id": plain, "online": plain, "qos": plain, "no_local": plain, "identifiers": plain}
    show_rows(found["receivers"], columns, "no session has subscribed to it by itself")
    if found["total"] > len(found["receivers"]):
        show_line(f"… and {found['total'] - len(found['receivers']):,} more")
    for shared in found["shared"]:
        show_heading(f"one of the {shared['total']:,} that share {shared['filter']} as {shared['group']}")
        show_rows(shared["members"], columns, "nobody")


@app.command()
def retained(
    filter: Annotated[str, typer.Argument(help="A topic filter.")] = "#",  # noqa: A002
    show: Annotated[bool, typer.Option("--show", help="The message of this one topic, with its payload.")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="Delete every retained message that matches.")] = False,
    limit: Limit = 100,
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """Retained messages: list, show, delete.

    Examples:

      weft ctl retained 'home/#'

      weft ctl retained home/kitchen/temperature --show

      weft ctl retained 'test/#' --delete
    """
    from weft.cli.admin_client import part
    from weft.cli.admin_tables import moment, plain, show_fields, show_line, size

    asked = _client(admin, token, ca)
    if show and delete:
        raise Misuse("--show and --delete do not go together")
    columns = {
        "topic": plain,
        "payload_bytes": size,
        "qos": plain,
        "publisher": plain,
        "user": plain,
        "expires_at": moment,
    }
    if delete:
        if filter == "#":
            raise Misuse("--delete wants a filter; to delete all, say '+/#'")
        deleted = _delete(asked, filter)
        _print_json({"deleted": deleted}) if as_json else show_line(f"{deleted:,} deleted")
    elif show:
        found = asked.get(f"retained/{part(filter)}")
        if as_json:
            _print_json(found)
            return
        shown = {**found["message"], "content_type": found["content_type"]}
        text = found["text"]
        shown["payload"] = f"base64 {found['payload']}" if text is None else text
        show_fields(shown, {**columns, "content_type": plain, "payload": plain})
    else:
        _list(asked, "retained", limit, as_json, columns, "nothing is retained", filter=filter)


def _delete(asked: "AdminClient", filter_: str) -> int:
    """One by one, from a list that is read first: deleting changes it."""
    from weft.cli.admin_client import part

    topics = [row["topic"] for row in asked.pages("retained", 0, filter=filter_)]
    deleted = 0
    for name in topics:
        try:
            asked.ask("DELETE", f"retained/{part(name)}")
            deleted += 1
        except Failed as error:
            if "retains nothing" not in str(error):  # somebody else was quicker
                raise
    return deleted


@app.command()
def publish(
    topic: Annotated[str, typer.Argument(help="A topic name.", show_default=False)],
    message: Annotated[str | None, typer.Argument(help="The payload, as text.", show_default=False)] = None,
    *,
    file: Annotated[Path | None, typer.Option("--file", "-f", metavar="FILE", help="The payload is in FILE.")] = None,
    qos: Annotated[int, typer.Option("--qos", "-q", min=0, max=2)] = 0,
    retain: Annotated[bool, typer.Option("--retain", "-r", help="Retain it.")] = False,
    expiry: Annotated[float | None, typer.Option("--expiry", metavar="SECONDS", help="It expires.")] = None,
    content_type: Annotated[str | None, typer.Option("--content-type", metavar="TYPE")] = None,
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """Publish a message on behalf of nobody; access rules do not apply.

    Example: weft ctl publish home/kitchen/light on --retain
    """
    order: dict[str, Any] = {"topic": topic, "qos": qos, "retain": retain}
    if file is not None:
        from base64 import b64encode

        if message is not None:
            raise Misuse("give a message or --file, not both")
        try:
            order["payload_base64"] = b64encode(file.read_bytes()).decode()
        except OSError as error:
            raise Failed(f"{file}: cannot be read: {error.strerror}") from error
    elif message is not None:
        order["payload"] = message
    order |= {"expiry_s": expiry} if expiry is not None else {}
    order |= {"content_type": content_type} if content_type is not None else {}
    published = _client(admin, token, ca).ask("POST", "publish", body=order)
    if as_json:
        _print_json(published)
        return
    from weft.cli.admin_tables import show_line

    sessions = published["sessions"]
    show_line(f"published; {sessions:,} {'session' if sessions == 1 else 'sessions'} subscribed")


@app.command()
def reload(admin: Admin = DEFAULT, token: Token = None, ca: Ca = None, as_json: Json = False) -> None:
    """Let the broker read its configuration, users, rules and certificates again.

    Example: weft ctl reload
    """
    found = _client(admin, token, ca).ask("POST", "reload")
    if as_json:
        _print_json(found)
        return
    from weft.cli.admin_tables import show_line

    show_line("\n".join(found["changes"]) or "nothing has changed")


@app.command()
def limits(admin: Admin = DEFAULT, token: Token = None, ca: Ca = None, as_json: Json = False) -> None:
    """Settings and limits in force.

    Example: weft ctl limits
    """
    found = _client(admin, token, ca).get("limits")["settings"]
    if as_json:
        _print_json(found)
        return
    from weft.cli.admin_tables import plain, show_fields, show_heading

    numbers = found.pop("limits")
    show_fields(found, dict.fromkeys(found, plain), exact=True)
    show_heading("limits")
    show_fields(numbers, dict.fromkeys(numbers, plain), exact=True)


@app.command("log-level")
def log_level(
    level: Annotated[str | None, typer.Argument(help="debug, info, warning or error; without it: what it is.")] = None,
    admin: Admin = DEFAULT,
    token: Token = None,
    ca: Ca = None,
    as_json: Json = False,
) -> None:
    """The level of the broker's log, or another one until its next start.

    Example: weft ctl log-level debug
    """
    asked = _client(admin, token, ca)
    found = asked.get("log-level") if level is None else asked.ask("PUT", "log-level", body={"level": level})
    _print_json(found) if as_json else typer.echo(found["level"])
