"""An admin interface on a real socket, in a loop of its own, beside a broker whose clients are bytes."""

import asyncio
import http.client
import json
import socket
import threading
from contextlib import contextmanager

from admin_bench import Bench
from weft.runtime.admin.desk import Desk
from weft.runtime.admin.server import AdminServer
from weft.runtime.admin.wire import Bounds

TIMEOUT_S = 20


class Live:
    """``bench`` belongs to the loop's thread once this runs: ``call`` does things there."""

    def __init__(self, loop, bench, desk, server):
        self.loop, self.bench, self.desk, self.server = loop, bench, desk, server
        self.host, self.port = server.addresses[0]
        self.failures = []
        loop.set_exception_handler(lambda _, context: self.failures.append(context))

    def call(self, function, *args):
        async def inner():
            return function(*args)

        return asyncio.run_coroutine_threadsafe(inner(), self.loop).result(TIMEOUT_S)

    def raw(self):
        """A connected socket."""
        return socket.create_connection((self.host, self.port), TIMEOUT_S)

    def send(self, data):
        """Everything that comes back until the other side closes; ours stays open."""
        with self.raw() as sock:
            sock.sendall(data)
            return read_all(sock)

    def ask(self, method, path, body=None, headers=None):
        """(status, headers, parsed body) of one request."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=TIMEOUT_S)
        try:
            headers = dict(headers or {})
            if body is not None and not isinstance(body, bytes):
                body = json.dumps(body).encode()
                headers.setdefault("Content-Type", "application/json")
            connection.request(method, path, body, headers)
            response = connection.getresponse()
            data = response.read()
            kind = response.headers["Content-Type"]
            return response.status, response.headers, json.loads(data) if "json" in kind and data else data.decode()
        finally:
            connection.close()

    def get(self, path, **headers):
        return self.ask("GET", path, None, headers)


def read_all(sock):
    parts = []
    while True:
        try:
            data = sock.recv(65_536)
        except ConnectionResetError:
            break
        if not data:
            break
        parts.append(data)
    return b"".join(parts)


@contextmanager
def live(bounds=None, settings=None, new_loop=asyncio.new_event_loop, desk_options=None, **options):
    """Runs until the block ends; then nothing may have failed unseen."""
    loop = new_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    async def start():
        bench = Bench(settings)
        desk = Desk(bench.broker, lambda: bench.now, **(desk_options or {}))
        server = AdminServer(desk, bounds=bounds or Bounds(), **{"port": 0, **options})
        await server.start()
        return Live(loop, bench, desk, server)

    running = None
    try:
        running = asyncio.run_coroutine_threadsafe(start(), loop).result(TIMEOUT_S)
        yield running
        assert running.failures == []
    finally:
        if running is not None:
            asyncio.run_coroutine_threadsafe(running.server.stop(), loop).result(TIMEOUT_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(TIMEOUT_S)
        loop.close()
