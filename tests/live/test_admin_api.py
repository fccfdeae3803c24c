"""Every endpoint against a real broker: what it answers is what the OpenAPI document promises."""

import re
from urllib.parse import quote

import msgspec
import pytest

from live_admin import live
from weft.broker.reports import PublishOrder
from weft.broker.settings import BrokerSettings
from weft.runtime.admin.desk import LogLevel
from weft.runtime.admin.endpoints import TABLE, LogLevelReport
from weft.telemetry import counters, gauges, histograms

pytestmark = pytest.mark.live

STRANGE = "a/b c%2F?#ü\u200b$"


class Level:
    value = "info"

    def get(self):
        return self.value

    def put(self, level):
        self.value = level


async def reloaded():
    return ["users: 3 read"]


@pytest.fixture
def door():
    level = Level()
    options = {
        "reload": reloaded,
        "log_level": LogLevel(level.get, level.put),
        "gauges": lambda: {"weft_store_bytes": 7},
    }
    with live(desk_options=options) as running:
        yield running


@pytest.fixture
def busy(door):
    """Clients, subscriptions, retained messages."""

    def begin():
        bench = door.bench
        bench.pass_time(0)
        client = bench.connect(STRANGE, user="ünal", expiry_s=60)
        bench.subscribe(client, "x/#", "$share/g/x/1", qos=1)
        bench.leave(bench.connect("away", expiry_s=60))
        bench.publish(bench.connect("publisher", version=4), "x/1", b"payload", qos=1)
        bench.publish(client, "r/" + STRANGE.replace("#", ""), b"kept", retain=True)

    door.call(begin)
    return door


# A validator for what our schemas use of JSON Schema; what it does not know fails.
KNOWN = {
    "type", "properties", "required", "items", "$ref", "anyOf", "title", "description", "default", "enum", "minimum",
    "maximum", "exclusiveMinimum", "contentEncoding", "additionalProperties", "maxLength", "maxItems", "minItems",
    "prefixItems",
}  # fmt: skip
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def check(value, schema, components, where="$"):
    assert set(schema) <= KNOWN, f"{where}: {set(schema) - KNOWN}"
    if "$ref" in schema:
        check(value, components[schema["$ref"].rpartition("/")[2]], components, where)
        return
    if "anyOf" in schema:
        failures = []
        for option in schema["anyOf"]:
            try:
                check(value, option, components, where)
            except AssertionError as error:
                failures.append(error)
            else:
                return
        raise AssertionError(f"{where}: no option fits: {failures}")
    if "type" in schema:
        kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
        assert any(
            isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool)) for kind in kinds
        ), where
    assert "enum" not in schema or value in schema["enum"], where
    if isinstance(value, dict) and "properties" in schema:
        assert set(schema.get("required", ())) <= set(value), where
        assert set(value) <= set(schema["properties"]), (
            f"{where}: undocumented {set(value) - set(schema['properties'])}"
        )
        for name, inner in value.items():
            check(inner, schema["properties"][name], components, f"{where}.{name}")
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        for position, inner in enumerate(value):
            check(inner, schema["items"], components, f"{where}[{position}]")


def target(endpoint, strange):
    path = endpoint.path.replace("{id}", quote(strange, safe="")).replace(
        "{topic}", quote("r/" + strange.replace("#", ""), safe="")
    )
    return path + ("?topic=x/1" if endpoint.path.endswith("/routes") else "")


@pytest.mark.parametrize("endpoint", TABLE, ids=lambda endpoint: f"{endpoint.method} {endpoint.path}")
def test_each_answer_is_what_the_document_says(busy, endpoint):
    document = busy.get("/api/v1/openapi.json")[2]
    components = document["components"]["schemas"]
    operation = document["paths"][endpoint.path][endpoint.method.lower()]
    bodies = {PublishOrder: {"topic": "x/1", "payload": "1"}, LogLevelReport: {"level": "debug"}}
    body = bodies.get(endpoint.body)
    if body is not None:
        check(body, operation["requestBody"]["content"]["application/json"]["schema"], components)
    status, headers, answer = busy.ask(endpoint.method, target(endpoint, STRANGE), body)
    assert status == 200, answer
    content = operation["responses"]["200"]["content"]
    if endpoint.answer is None:
        assert headers["Content-Type"].startswith("text/plain")
        assert isinstance(answer, str)
    else:
        check(answer, content["application/json"]["schema"], components)
        msgspec.json.decode(msgspec.json.encode(answer), type=endpoint.answer)


@pytest.mark.parametrize(
    "endpoint", [one for one in TABLE if 404 in one.problems], ids=lambda one: f"{one.method} {one.path}"
)
def test_what_is_not_there_is_a_documented_problem(door, endpoint):
    document = door.get("/api/v1/openapi.json")[2]
    status, headers, answer = door.ask(endpoint.method, target(endpoint, "nobody"))
    assert (status, headers["Content-Type"]) == (404, "application/problem+json")
    operation = document["paths"][endpoint.path][endpoint.method.lower()]
    reference = operation["responses"]["404"]["$ref"].rpartition("/")[2]
    schema = document["components"]["responses"][reference]["content"]["application/problem+json"]["schema"]
    check(answer, schema, document["components"]["schemas"])


def test_the_document_is_sound(door):
    document = door.get("/api/v1/openapi.json")[2]
    operations = [operation for path in document["paths"].values() for operation in path.values()]
    names = [operation["operationId"] for operation in operations]
    assert len(names) == len(set(names)) == len(TABLE)
    for path, methods in document["paths"].items():
        for operation in methods.values():
            given = {one["name"] for one in operation.get("parameters", ()) if one["in"] == "path"}
            assert given == set(re.findall(r"\{(\w+)\}", path))
            assert all(one["required"] for one in operation.get("parameters", ()) if one["in"] == "path")
    references = set(re.findall(r"'#/components/(\w+)/(\w+)'", str(document)))
    assert references
    assert all(name in document["components"][kind] for kind, name in references)


def test_a_client_is_kicked_over_http(busy):
    path = f"/api/v1/clients/{quote(STRANGE, safe='')}"
    assert busy.ask("DELETE", path + "?reason=enough")[2] == {"client_id": STRANGE, "online": True}
    assert busy.get(path)[2]["client"] is None
    assert busy.ask("DELETE", path)[0] == 404
    assert busy.ask("DELETE", path.replace("clients", "sessions"))[0] == 200
    assert busy.get(path)[0] == 404


def test_commands_wake_the_driver():
    woken = []
    with live(desk_options={"wake": lambda: woken.append(1)}) as running:
        running.ask("POST", "/api/v1/publish", {"topic": "a"})
        running.get("/api/v1/status")
        assert woken == [1]


def test_a_topic_may_be_written_with_its_slashes(busy):
    busy.ask("POST", "/api/v1/publish", {"topic": "/a//b/", "payload": "1", "retain": True})
    assert busy.get("/api/v1/retained//a//b/")[2]["text"] == "1"
    assert busy.get("/api/v1/retained/%2Fa%2F%2Fb%2F")[2]["text"] == "1"
    assert busy.ask("DELETE", "/api/v1/retained//a//b/")[0] == 200
    assert busy.get("/api/v1/retained//a//b/")[0] == 404


def test_lists_in_pages_over_http(door):
    door.call(lambda: [door.bench.connect(f"c{number:04}") for number in range(250)])
    seen, cursor = [], ""
    while cursor is not None:
        page = door.get(f"/api/v1/clients?limit=100&cursor={cursor}")[2]
        seen += [client["client_id"] for client in page["items"]]
        cursor = page["cursor"]
    assert seen == [f"c{number:04}" for number in range(250)]


def test_readiness_follows_the_host():
    trouble = ["the store is broken: no space left"]
    with live(desk_options={"trouble": lambda: trouble[0]}) as running:
        status, headers, answer = running.get("/readyz")
        assert (status, headers["Retry-After"]) == (503, "5")
        assert "store" not in answer["detail"]
        assert running.get("/healthz")[0] == 200
        assert running.get("/api/v1/status")[2]["trouble"] == trouble[0]
        trouble[0] = None
        assert running.get("/readyz")[0] == 200


def test_metrics_have_every_table(busy):
    text = busy.get("/metrics")[2]
    for name in counters.Counters():
        assert f"\n{name} " in text
    assert "weft_store_bytes 7\n" in text
    assert "weft_connections 2\n" in text
    assert re.search(r"^process_open_fds [1-9]", text, re.MULTILINE)
    assert {name for name in histograms.TABLE if f"{name}_count" in text} == set(histograms.TABLE)
    said = set(re.findall(r"^# TYPE (\S+) (?:gauge|counter)", text, re.MULTILINE)) - set(counters.TABLE)
    assert {name.partition("{")[0] for name in said} == set(gauges.TABLE) - {"weft_out_buffer_bytes"}  # the host's


def test_metrics_as_openmetrics(busy):
    _, headers, text = busy.get("/metrics", Accept="application/openmetrics-text; version=1.0.0")
    assert headers["Content-Type"].startswith("application/openmetrics-text")
    assert text.endswith("# EOF\n")


def test_reload_says_what_changed_or_that_there_is_nothing_to_read(door):
    assert door.ask("POST", "/api/v1/reload")[2] == {"changes": ["users: 3 read"]}
    with live() as running:
        assert running.ask("POST", "/api/v1/reload")[0] == 501
        assert running.ask("PUT", "/api/v1/log-level", {"level": "debug"})[0] == 400


def test_the_log_level_is_one_of_four(door):
    assert door.ask("PUT", "/api/v1/log-level", {"level": "debug"})[2] == {"level": "debug"}
    assert door.get("/api/v1/log-level")[2] == {"level": "debug"}
    assert door.ask("PUT", "/api/v1/log-level", {"level": "loud"})[0] == 422


def test_a_mistake_of_ours_is_a_500_and_a_line_in_the_log(door):
    door.desk.admin.status = lambda *_: 1 / 0
    status, _, answer = door.get("/api/v1/status")
    assert (status, "ZeroDivision" in str(answer)) == (500, False)
    (notice,) = door.call(door.bench.broker.notices.take)
    assert (notice.level, notice.event) == ("error", "admin request failed")
    assert "ZeroDivisionError" in notice.fields["error"]
    assert door.bench.broker.counters["weft_admin_errors_total"] == 1


def test_a_slow_reload_is_given_up():
    async def never():
        import asyncio

        await asyncio.Event().wait()

    from weft.runtime.admin.wire import Bounds

    with live(Bounds(answer_s=0.2), desk_options={"reload": never}) as running:
        assert running.ask("POST", "/api/v1/reload")[0] == 504


def test_the_settings_in_force_are_shown():
    with live(settings=BrokerSettings(share_strategy="sticky")) as running:
        assert running.get("/api/v1/limits")[2]["settings"]["share_strategy"] == "sticky"
