"""mqtt.js: one node process that holds all the clients; lines of JSON in both directions (tests/live/mqttjs/driver.js)."""

import base64
import itertools
import json
import shutil
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any

from stock import PATIENCE_S, Link, Message, Refused, Where, Wish

ROOT = Path(__file__).parents[2]
INSTALLED = ROOT / "out" / "mqttjs" / "node_modules" / "mqtt" / "package.json"
DRIVER = ROOT / "tests" / "live" / "mqttjs" / "driver.js"
SCHEMES = {"tcp": "mqtt", "tls": "mqtts", "ws": "ws", "wss": "wss"}
NAMES = {
    "response_topic": "responseTopic",
    "correlation_data": "correlationData",
    "content_type": "contentType",
    "payload_format_indicator": "payloadFormatIndicator",
    "message_expiry_interval": "messageExpiryInterval",
    "topic_alias": "topicAlias",
    "will_delay_interval": "willDelayInterval",
    "user": "userProperties",
    "ids": "subscriptionIdentifier",
}


def missing() -> str | None:
    """Why it cannot be used here, if it cannot."""
    if shutil.which("node") is None:
        return "node is not installed (scripts/live-clients)"
    if not INSTALLED.exists():
        return "mqtt.js is not installed (scripts/live-clients)"
    return None


def outward(values: dict[str, Any]) -> dict[str, Any]:
    """mqtt.js keeps user properties in an object: pairs of one name side by side."""
    named: dict[str, Any] = {}
    for name, value in values.items():
        if name == "user":
            named["userProperties"] = {key: [v for k, v in value if k == key] for key, _ in value}
        elif isinstance(value, bytes):
            named[NAMES[name]] = base64.b64encode(value).decode()
        else:
            named[NAMES[name]] = bool(value) if name == "payload_format_indicator" else value
    return named


def inward(said: dict[str, Any]) -> Message:
    found: dict[str, Any] = {}
    for ours, theirs in NAMES.items():
        value = said["properties"].get(theirs)
        if value is None:
            continue
        if ours == "user":
            value = [(k, v) for k, each in value.items() for v in (each if isinstance(each, list) else [each])]
        elif ours == "ids" and not isinstance(value, list):
            value = [value]
        elif ours == "correlation_data":
            value = base64.b64decode(value)
        elif ours == "payload_format_indicator":
            value = int(value)
        found[ours] = value
    return Message(said["topic"], base64.b64decode(said["payload"]), said["qos"], said["retain"], found)


class MqttjsLink(Link):
    def __init__(self, stock: "Mqttjs", where: Where, wish: Wish) -> None:
        super().__init__()
        self._stock = stock
        self._number = stock.add(self)
        five = wish.version == 5
        options: dict[str, Any] = {
            "clientId": wish.client_id,
            "protocolVersion": wish.version,
            "protocolId": "MQIsdp" if wish.version == 3 else "MQTT",
            "clean": wish.clean,
            "reconnectPeriod": 50 if wish.again else 0,
            "username": wish.user,
            "password": wish.password,
        }
        if five:
            options["properties"] = {"sessionExpiryInterval": wish.expiry_s}
            if wish.receive_maximum is not None:
                options["properties"]["receiveMaximum"] = wish.receive_maximum
        will = wish.will
        if will is not None:
            options["will"] = {"topic": will.topic, "payload": will.payload.decode(), "qos": will.qos}
            options["will"]["retain"] = will.retain
            if five:
                options["will"]["properties"] = outward(will.properties)
        url = f"{SCHEMES[where.transport]}://127.0.0.1:{where.port}{'/mqtt' if where.websocket else ''}"
        said = self._ask("connect", url=url, ca=str(where.ca) if where.secure else None, options=options)
        if said["refused"] is not None:
            raise Refused(said["refused"])

    def _ask(self, verb: str, **what: Any) -> dict[str, Any]:
        return self._stock.ask(self._number, verb, what)

    def subscribe(self, filter_: str, qos: int = 0, *, identifier: int = 0, no_local: bool = False) -> int:
        options: dict[str, Any] = {"qos": qos, "nl": no_local}
        if identifier:
            options["properties"] = {"subscriptionIdentifier": identifier}
        return int(self._ask("subscribe", filter=filter_, options=options)["granted"])

    def unsubscribe(self, filter_: str) -> None:
        self._ask("unsubscribe", filter=filter_)

    def publish(self, message: Message) -> None:
        options: dict[str, Any] = {"qos": message.qos, "retain": message.retain}
        if message.properties:
            options["properties"] = outward(message.properties)
        payload = base64.b64encode(message.payload).decode()
        self._ask("publish", topic=message.topic, payload=payload, options=options)

    def sever(self) -> None:
        self._ask("sever")

    def close(self) -> None:
        self._ask("close")


class Mqttjs:
    name = "mqtt.js"
    transports = ("tcp", "tls", "ws", "wss")
    versions = (3, 4, 5)
    lacks: Mapping[str, str] = MappingProxyType({})

    def __init__(self) -> None:
        self._links: list[MqttjsLink] = []
        self._numbers = itertools.count()
        self._answers: dict[int, SimpleQueue[dict[str, Any]]] = {}
        self._process = subprocess.Popen(
            ["node", str(DRIVER), str(INSTALLED.parent)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def connect(self, where: Where, wish: Wish) -> Link:
        return MqttjsLink(self, where, wish)

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait(PATIENCE_S)
        self._thread.join(PATIENCE_S)
        self._process.stdout.close()

    def add(self, link: MqttjsLink) -> int:
        self._links.append(link)
        return len(self._links) - 1

    def ask(self, link: int, verb: str, what: dict[str, Any]) -> dict[str, Any]:
        """One command, and its answer."""
        number = next(self._numbers)
        self._answers[number] = answer = SimpleQueue()
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"link": link, "number": number, "verb": verb, **what}) + "\n")
        self._process.stdin.flush()
        said = answer.get(timeout=PATIENCE_S)
        assert "error" not in said, said["error"]
        return said

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            said = json.loads(line)
            if "number" in said:
                self._answers.pop(said["number"]).put(said)
                continue
            link = self._links[said["link"]]
            match said["event"]:
                case "connect":
                    link.present.put(said["present"])
                case "message":
                    link.arrived.put(inward(said))
                case "lost":
                    link.ended.put(said["reason"])
