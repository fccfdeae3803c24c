"""A mosquitto.conf as a weft.toml (``weft config import``).

mosquitto.conf is a list of directives, one per line, where ``listener`` begins a section: what follows belongs to it. What has
no counterpart here becomes a comment with its line number, so nothing is lost silently; so does what needs a hand. Password
files are taken as they are; rules have their own translation (``broker/access/mosquitto_acl``).
"""

from collections.abc import Callable
from typing import Any

from weft.core.errors import Misuse
from weft.node.toml import literal

LINES_MAX = 100_000

LIMITS = {
    "max_connections": "connections_total_max",
    "max_inflight_messages": "inflight_max",
    "max_queued_messages": "queue_messages_max",
    "max_queued_bytes": "queue_bytes_max",
    "max_packet_size": "packet_bytes_max",
    "max_keepalive": "keep_alive_max_s",
    "max_qos": "qos_max",
    "max_topic_alias": "topic_aliases_max",
}
"""Numbers, each a limit of ours under another name; -1 and 0 mean no bound there, and are left to our default."""

TLS = {"certfile": "cert", "keyfile": "key", "cafile": "ca", "crlfile": "crl", "ciphers": "ciphers"}

SILENT = {
    "persistence_file", "autosave_interval", "autosave_on_changes", "pid_file", "user", "log_dest", "log_timestamp",
    "log_timestamp_format", "connection_messages", "per_listener_settings", "set_tcp_nodelay", "sys_interval",
    "memory_limit", "socket_domain", "upgrade_outgoing_qos", "retain_expiry_interval",
}  # fmt: skip
"""Known, and of no use here."""

REASONS = {
    "acl_file": "'weft config import --acl FILE > rules.acl' makes rules of it; name them in [access] acl_file",
    "plugin": "see [[access.plugins]]",
    "auth_plugin": "see [[access.plugins]]",
    "psk_file": "TLS with pre-shared keys is not offered",
    "bridge_protocol_version": "bridges: see [[bridge]]",
    "connection": "bridges: see [[bridge]]",
    "include_dir": "put everything into one file",
    "pid_file": "a supervisor knows the process",
    "user": "systemd's User= does this",
}


class Translation:
    """Gathers sections. ``notes`` are the lines that could not be translated."""

    def __init__(self) -> None:
        self.top: dict[str, Any] = {}
        self.limits: dict[str, Any] = {}
        self.broker: dict[str, Any] = {}
        self.access: dict[str, Any] = {}
        self.log: dict[str, Any] = {}
        self.store: dict[str, Any] = {}
        self.listeners: list[dict[str, Any]] = []
        self.notes: list[str] = []
        self._default: dict[str, Any] = {"port": 1883, "host": "127.0.0.1"}
        self._has_default = False
        self._listener = self._default
        self._keeps = False

    def take(self, number: int, name: str, value: str) -> None:
        """One directive."""
        handler: Callable[[str], bool] | None = getattr(self, f"_on_{name}", None)
        if name in LIMITS:
            done = self._number(LIMITS[name], value)
        elif name in TLS:
            self._listener.setdefault("tls", {})[TLS[name]] = value
            done = True
        else:
            done = handler(value) if handler is not None else False
        if not done:
            because = REASONS.get(name, "of no use here" if name in SILENT else "no counterpart")
            self.notes.append(f"# line {number}: {name} {value}  ({because})")

    def _number(self, name: str, value: str) -> bool:
        if not value.lstrip("-").isdigit():
            return False
        if int(value) > 0 or name == "qos_max":
            self.limits[name] = int(value)
        return True

    def _on_listener(self, value: str) -> bool:
        port, _, host = value.partition(" ")
        if not port.isdigit():
            return False
        self._listener = {"port": int(port), "host": host.strip()}
        if self._listener["port"] == 0 and host.strip().startswith("/"):
            self._listener["path"] = host.strip()
        self.listeners.append(self._listener)
        return True

    def _on_port(self, value: str) -> bool:
        self._has_default = True
        return self._put(self._default, "port", value.isdigit() and int(value))

    def _on_bind_address(self, value: str) -> bool:
        self._has_default = True
        return self._put(self._default, "host", value)

    def _on_protocol(self, value: str) -> bool:
        return value in {"mqtt", "websockets"} and self._put(self._listener, "ws", value == "websockets" or None)

    def _on_mount_point(self, value: str) -> bool:
        return self._put(self._listener, "mount", value)

    def _on_allow_anonymous(self, value: str) -> bool:
        return value in {"true", "false"} and self._put(self.access, "anonymous", value == "true")

    def _on_password_file(self, value: str) -> bool:
        return self._put(self.access, "password_file", value)

    def _on_require_certificate(self, value: str) -> bool:
        tls = self._listener.setdefault("tls", {})
        return value == "false" or self._put(tls, "client_certificates", value == "true" and "required")

    def _on_use_identity_as_username(self, value: str) -> bool:
        return value == "false" or self._put(self.access, "certificate_user", value == "true" and "common-name")

    def _on_tls_version(self, value: str) -> bool:
        tls = self._listener.setdefault("tls", {})
        return self._put(tls, "version_min", {"tlsv1.2": "1.2", "tlsv1.3": "1.3"}.get(value, False))

    def _on_persistence(self, value: str) -> bool:
        self._keeps = value == "true"
        if self._keeps:
            self.top.setdefault("data_dir", "/var/lib/weft")
        return value in {"true", "false"}

    def _on_persistence_location(self, value: str) -> bool:
        return self._put(self.top, "data_dir", value)

    def _on_retain_available(self, value: str) -> bool:
        return value in {"true", "false"} and self._put(self.broker, "retain", value == "true")

    def _on_queue_qos0_messages(self, value: str) -> bool:
        return value in {"true", "false"} and self._put(self.broker, "queue_qos0", value == "true")

    def _on_persistent_client_expiration(self, value: str) -> bool:
        units = {"h": 3600, "d": 86_400, "w": 604_800, "m": 2_592_000, "y": 31_536_000}
        if value[:-1].isdigit() and value[-1:] in units:
            self.limits["session_expiry_max_s"] = float(int(value[:-1]) * units[value[-1]])
            return True
        return False

    def _on_log_type(self, value: str) -> bool:
        level = {"error": "error", "warning": "warning", "notice": "info", "information": "info"}
        if value in {"debug", "all"}:
            self.log["level"] = "debug"
        elif value in level and "level" not in self.log:
            self.log["level"] = level[value]
        return value in {"debug", "all", *level}

    @staticmethod
    def _put(table: dict[str, Any], name: str, value: Any) -> bool:
        """False if ``value`` is: it was not understood."""
        if value is False and name not in {"anonymous", "retain", "queue_qos0"}:
            return False
        if value is not None:
            table[name] = value
        return True

    def text(self, source: str) -> str:
        """The whole file."""
        if self._has_default or not self.listeners:
            self.listeners.insert(0, self._default)
        lines = [f"# translated from {source}"]
        lines += [f"{name} = {literal(value)}" for name, value in self.top.items()]
        sections = (("broker", self.broker), ("broker.limits", self.limits), ("access", self.access), ("log", self.log))
        for name, table in sections:
            if table:
                lines += ["", f"[{name}]", *(f"{key} = {literal(value)}" for key, value in table.items())]
        for listener in self.listeners:
            lines += ["", "[[listener]]", *_listener(listener)]
        if self.notes:
            lines += ["", "# Not translated:", *self.notes]
        return "\n".join(lines) + "\n"


def _listener(listener: dict[str, Any]) -> list[str]:
    tls = listener.get("tls", {})
    is_tls = "cert" in tls
    if "path" in listener:
        lines = [f"url = {literal('unix://' + listener['path'])}"]
    else:
        scheme = {(False, False): "mqtt", (False, True): "mqtts", (True, False): "ws", (True, True): "wss"}
        host = listener["host"]
        host = f"[{host}]" if ":" in host else host or "*"
        url = f"{scheme[bool(listener.get('ws')), is_tls]}://{host}:{listener['port']}"
        lines = [f"url = {literal(url)}"]
    if "mount" in listener:
        lines.append(f"mount = {literal(listener['mount'])}")
    if is_tls:
        if "ca" in tls and "client_certificates" not in tls:
            del tls["ca"]  # mosquitto wants it even where clients are not asked for certificates
        lines.append(f"tls = {literal(tls)}")
    elif tls:
        lines.append(f"# tls without certfile: {literal(tls)}")
    return lines


def translate(text: str, source: str) -> str:
    """``text`` is a mosquitto.conf; the answer a weft.toml."""
    found = Translation()
    lines = text.splitlines()
    if len(lines) > LINES_MAX:
        raise Misuse(f"{source}: more than {LINES_MAX} lines")
    for number, line in enumerate(lines, 1):
        name, _, value = line.strip().partition(" ")
        if name and not name.startswith("#"):
            found.take(number, name, value.strip())
    return found.text(source)
