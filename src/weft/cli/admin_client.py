"""A client of a broker's admin interface: one request, one answer, one line when there is none.

Imported only when a command asks something, because ``http.client`` is slow to load.
"""

import http.client
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from weft.cli.exits import Failed
from weft.core.errors import Misuse

API = "/api/v1"
PORT = 9883
TIMEOUT_S = 60.0
ANSWER_BYTES_MAX = 64 * 1024 * 1024
PAGE = 1_000
UNAUTHORIZED = 401


class AdminClient:
    """In: questions. Out: what the interface answers, as Python values; ``Failed`` in one line otherwise."""

    def __init__(self, url: str, token_file: Path | None = None, ca: Path | None = None) -> None:
        try:
            parts = urlsplit(url if "://" in url else f"http://{url}")
            port = parts.port or PORT
        except ValueError as error:
            raise Misuse(f"--admin {url}: {error}") from error
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.path.strip("/") or parts.query:
            raise Misuse(f"--admin {url}: expected http://HOST:PORT or https://HOST:PORT")
        self.url = f"{parts.scheme}://{parts.netloc}"
        self._headers = {"Accept": "application/json"}
        if token_file is not None:
            self._headers["Authorization"] = f"Bearer {_read_token(token_file)}"
        if parts.scheme == "https":
            self._connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.hostname, port, timeout=TIMEOUT_S, context=_context(ca)
            )
        else:
            self._connection = http.client.HTTPConnection(parts.hostname, port, timeout=TIMEOUT_S)

    def get(self, path: str, **query: Any) -> Any:
        return self.ask("GET", path, query)

    def pages(self, path: str, count: int, **query: Any) -> Iterator[dict[str, Any]]:
        """The first ``count`` items of a list, all of them if 0."""
        cursor, left = "", count
        while True:
            limit = min(left, PAGE) if count else PAGE
            page = self.get(path, limit=limit, cursor=cursor or None, **query)
            yield from page["items"]
            left -= len(page["items"])
            cursor = page["cursor"]
            if not cursor or (count and left <= 0):
                return

    def ask(self, method: str, path: str, query: dict[str, Any] | None = None, body: Any = None) -> Any:
        """``path`` is below /api/v1, its parts quoted by ``part``; None in ``query`` is left out."""
        given = {name: _text(value) for name, value in (query or {}).items() if value is not None}
        target = f"{API}/{path}" + (f"?{urlencode(given)}" if given else "")
        headers = dict(self._headers)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers["Content-Type"] = "application/json"
        try:
            self._connection.request(method, target, data, headers)
            response = self._connection.getresponse()
            content = response.read(ANSWER_BYTES_MAX)
        except (OSError, http.client.HTTPException) as error:
            raise Failed(self._unreachable(error)) from error
        finally:
            self._connection.close()  # the next request opens it again
        return self._read(response, content)

    def _read(self, response: http.client.HTTPResponse, content: bytes) -> Any:
        try:
            answer = json.loads(content)
        except ValueError:
            answer = None
        if response.status < http.client.BAD_REQUEST and answer is not None:
            return answer
        if not isinstance(answer, dict) or "detail" not in answer:
            raise Failed(f"{self.url} is not the admin interface of a weft broker (it answered {response.status})")
        if response.status == UNAUTHORIZED:
            raise Failed(f"{self.url}: {answer['detail']}; give it with --token-file FILE")
        raise Failed(f"{self.url}: {answer['detail']}")

    def _unreachable(self, error: Exception) -> str:
        said = getattr(error, "strerror", None) or str(error) or type(error).__name__
        return (
            f"no broker answers at {self.url} ({said[0].lower()}{said[1:]}): start one with `weft broker`, "
            "or say where it is with --admin URL or WEFT_ADMIN"
        )


def part(text: str) -> str:
    """A client id or a topic as a part of a path."""
    return quote(text, safe="")


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _read_token(path: Path) -> str:
    try:
        lines = path.read_text(encoding="ascii").splitlines()
    except OSError as error:
        raise Failed(f"{path}: the token cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise Failed(f"{path}: a token is ASCII text") from error
    token = lines[0].strip() if lines else ""
    if not token or not token.isprintable():
        raise Failed(f"{path}: there is no token in the first line")
    return token


def _context(ca: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca is None else str(ca))
    except OSError as error:  # an SSLError is one
        raise Failed(f"{ca}: no certificates in PEM: {error.strerror or error}") from error
