"""The table of endpoints, and a handler for each: it decodes nothing and decides nothing, it asks ``broker.admin``.

What is documented, in OpenAPI and for people, is this table. A handler answers at once, or with a coroutine if it must wait.
"""

from functools import cache
from typing import Annotated, Any, TypeVar

import msgspec

from weft.broker.pages import ITEMS_MAX
from weft.broker.reports import (
    ClientDetail,
    ClientPage,
    Deleted,
    Ended,
    FilterPage,
    LimitsInForce,
    Published,
    PublishOrder,
    RetainedDetail,
    RetainedPage,
    RouteReport,
    SessionPage,
    Status,
    SubscriptionPage,
)
from weft.runtime.admin import process
from weft.runtime.admin.desk import Desk, Level
from weft.runtime.admin.exchange import TEXT, Problem, Reply, json_reply
from weft.runtime.admin.openapi import document
from weft.runtime.admin.router import Asked, Endpoint
from weft.telemetry import exposition
from weft.telemetry.gauges import Gauges

Limit = Annotated[int, msgspec.Meta(ge=1, le=ITEMS_MAX, description="Items of a page; it may have fewer")]
Cursor = Annotated[str, msgspec.Meta(max_length=64, description="From the page before; a list begins without one")]
Contains = Annotated[str, msgspec.Meta(max_length=1_024, description="Only those whose name contains this")]
Text = Annotated[str, msgspec.Meta(max_length=1_024)]
LIMIT = 100
T = TypeVar("T")


class Empty(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """No parameters."""


class ClientQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cursor: Cursor = ""
    limit: Limit = LIMIT
    contains: Contains = ""
    user: Text | None = None


class SessionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cursor: Cursor = ""
    limit: Limit = LIMIT
    contains: Contains = ""
    online: bool | None = None


class SubscriptionQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cursor: Cursor = ""
    limit: Limit = LIMIT
    client: Text | None = None
    filter: Annotated[str, msgspec.Meta(description="Exactly this filter")] | None = None


class TopicQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cursor: Cursor = ""
    limit: Limit = LIMIT
    contains: Contains = ""


class RouteQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    topic: Annotated[str, msgspec.Meta(description="A topic name, without wildcards")]


class RetainedQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    cursor: Cursor = ""
    limit: Limit = LIMIT
    filter: Annotated[str, msgspec.Meta(description="A topic filter")] = "#"


class ReasonQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    reason: Annotated[str, msgspec.Meta(max_length=1_024, description="What the client is told (MQTT 5)")] = ""


class Reloaded(msgspec.Struct, frozen=True):
    """What is different now, a line each; empty if nothing is."""

    changes: list[str]


class LogLevelReport(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    level: Level


def healthz(desk: Desk, asked: Asked) -> Reply:
    """The process answers, so it lives."""
    return Reply(200, b"ok\n", TEXT)


def readyz(desk: Desk, asked: Asked) -> Reply:
    """Why not is for those who may look at the status."""
    if desk.trouble() is not None:
        raise Problem(503, "not ready", (("Retry-After", "5"),))
    return Reply(200, b"ready\n", TEXT)


def metrics(desk: Desk, asked: Asked) -> Reply:
    gauges = Gauges()
    desk.admin.measure(desk.clock(), gauges)
    gauges.say("weft_ready", desk.trouble() is None)
    process.measure(gauges)
    desk.measure(gauges)
    is_open = exposition.wants_openmetrics(asked.headers.get("accept", ""))
    text = exposition.render(desk.broker.counters, gauges, desk.histograms, is_open)
    return Reply(200, text.encode(), exposition.OPENMETRICS if is_open else exposition.PROMETHEUS)


def openapi(desk: Desk, asked: Asked) -> Reply:
    return described()


@cache
def described() -> Reply:
    """The document never changes while we run."""
    return json_reply(document(TABLE))


def status(desk: Desk, asked: Asked) -> Reply:
    return json_reply(desk.admin.status(desk.clock(), desk.trouble()))


def limits(desk: Desk, asked: Asked) -> Reply:
    return json_reply(desk.admin.limits())


def list_clients(desk: Desk, asked: Asked) -> Reply:
    query: ClientQuery = asked.query
    return json_reply(desk.admin.clients(desk.clock(), query.cursor, query.limit, query.contains, query.user))


def get_client(desk: Desk, asked: Asked) -> Reply:
    return json_reply(_found(desk.admin.client(asked.path["id"]), "there is no session of this client"))


def get_session(desk: Desk, asked: Asked) -> Reply:
    return get_client(desk, asked)


def kick_client(desk: Desk, asked: Asked) -> Reply:
    ended = desk.admin.kick(desk.clock(), asked.path["id"], asked.query.reason)
    desk.wake()
    return json_reply(_found(ended, "this client is not connected"))


def list_sessions(desk: Desk, asked: Asked) -> Reply:
    query: SessionQuery = asked.query
    return json_reply(desk.admin.sessions(desk.clock(), query.cursor, query.limit, query.contains, query.online))


def discard_session(desk: Desk, asked: Asked) -> Reply:
    ended = desk.admin.discard(desk.clock(), asked.path["id"], asked.query.reason)
    desk.wake()
    return json_reply(_found(ended, "there is no session of this client"))


def list_subscriptions(desk: Desk, asked: Asked) -> Reply:
    query: SubscriptionQuery = asked.query
    return json_reply(desk.admin.subscriptions(desk.clock(), query.cursor, query.limit, query.client, query.filter))


def list_topics(desk: Desk, asked: Asked) -> Reply:
    query: TopicQuery = asked.query
    return json_reply(desk.admin.filters(desk.clock(), query.cursor, query.limit, query.contains))


def get_route(desk: Desk, asked: Asked) -> Reply:
    return json_reply(desk.admin.route(asked.query.topic))


def list_retained(desk: Desk, asked: Asked) -> Reply:
    query: RetainedQuery = asked.query
    return json_reply(desk.admin.retained(desk.clock(), query.cursor, query.limit, query.filter))


def get_retained(desk: Desk, asked: Asked) -> Reply:
    return json_reply(_found(desk.admin.retained_at(desk.clock(), asked.path["topic"]), "this topic retains nothing"))


def delete_retained(desk: Desk, asked: Asked) -> Reply:
    deleted = desk.admin.forget_retained(asked.path["topic"])
    desk.wake()
    return json_reply(_found(deleted, "this topic retains nothing"))


def publish(desk: Desk, asked: Asked) -> Reply:
    published = desk.admin.publish(desk.clock(), asked.body)
    desk.wake()
    return json_reply(published)


async def reload(desk: Desk, asked: Asked) -> Reply:
    if desk.reload is None:
        raise Problem(501, "this broker was started without a configuration that could be read again")
    return json_reply(Reloaded(await desk.reload()))


def get_log_level(desk: Desk, asked: Asked) -> Reply:
    return json_reply(LogLevelReport(desk.log_level.get()))


def set_log_level(desk: Desk, asked: Asked) -> Reply:
    desk.log_level.set(asked.body.level)
    return json_reply(LogLevelReport(desk.log_level.get()))


def _found(value: T | None, what: str) -> T:
    if value is None:
        raise Problem(404, what)
    return value


API = "/api/v1"
ABSENT = (404,)
TABLE = (
    Endpoint("GET", "/healthz", "The process lives", healthz, is_open=True),
    Endpoint("GET", "/readyz", "Clients may come; 503 while draining or if the store is broken", readyz, is_open=True),
    Endpoint("GET", "/metrics", "Counters, gauges and histograms, for Prometheus or as OpenMetrics", metrics),
    Endpoint("GET", f"{API}/openapi.json", "This interface, described", openapi, dict[str, Any]),
    Endpoint("GET", f"{API}/status", "The broker in a few numbers", status, Status),
    Endpoint("GET", f"{API}/limits", "Settings and limits in force", limits, LimitsInForce),
    Endpoint("GET", f"{API}/clients", "Clients that are connected", list_clients, ClientPage, ClientQuery),
    Endpoint("GET", f"{API}/clients/{{id}}", "A client and its session", get_client, ClientDetail, problems=ABSENT),
    Endpoint("DELETE", f"{API}/clients/{{id}}", "Disconnect a client", kick_client, Ended, ReasonQuery, problems=ABSENT),
    Endpoint("GET", f"{API}/sessions", "Sessions, their clients here or away", list_sessions, SessionPage, SessionQuery),
    Endpoint("GET", f"{API}/sessions/{{id}}", "The same as clients/{id}", get_session, ClientDetail, problems=ABSENT),
    Endpoint(
        "DELETE", f"{API}/sessions/{{id}}", "End a session and forget what was kept for it",
        discard_session, Ended, ReasonQuery, problems=ABSENT,
    ),
    Endpoint("GET", f"{API}/subscriptions", "Subscriptions", list_subscriptions, SubscriptionPage, SubscriptionQuery),
    Endpoint("GET", f"{API}/topics", "Filters that are subscribed to", list_topics, FilterPage, TopicQuery),
    Endpoint("GET", f"{API}/routes", "Who would get a message of this topic", get_route, RouteReport, RouteQuery),
    Endpoint("GET", f"{API}/retained", "Retained messages", list_retained, RetainedPage, RetainedQuery),
    Endpoint("GET", f"{API}/retained/{{topic}}", "What a topic retains", get_retained, RetainedDetail, problems=ABSENT),
    Endpoint("DELETE", f"{API}/retained/{{topic}}", "Delete what a topic retains", delete_retained, Deleted, problems=ABSENT),
    Endpoint("POST", f"{API}/publish", "Publish a message on behalf of nobody", publish, Published, body=PublishOrder),
    Endpoint(
        "POST", f"{API}/reload", "Read configuration, users, rules and certificates again",
        reload, Reloaded, problems=(501,),
    ),
    Endpoint("GET", f"{API}/log-level", "The log's level", get_log_level, LogLevelReport),
    Endpoint(
        "PUT", f"{API}/log-level", "Change the log's level until the next start",
        set_log_level, LogLevelReport, body=LogLevelReport,
    ),
)  # fmt: skip
