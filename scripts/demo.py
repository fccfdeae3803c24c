"""What `make demo` shows first: a broker on a free port, a subscriber, two messages. It ends by itself, in seconds.

Every line that begins with $ is a command as one would type it; the port is the only thing that is filled in.
"""

import json
import shlex
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

WEFT = str(Path(sys.executable).with_name("weft"))
PATIENCE_S = 20
FORMAT = "%t: %p  (QoS %q, retained %r, user properties: %P)"


def show(text: str) -> None:
    print(text, flush=True)


def start(*words: str) -> subprocess.Popen[str]:
    """A command that goes on; its output can be read line by line."""
    show(f"$ weft {shlex.join(words)} &")
    return subprocess.Popen([WEFT, *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)


def run(*words: str) -> None:
    show(f"$ weft {shlex.join(words)}")
    subprocess.run([WEFT, *words], check=True, timeout=PATIENCE_S)


def heard(program: subprocess.Popen[str]) -> str:
    """The next line that it says."""
    assert program.stdout is not None
    line = program.stdout.readline().strip()
    if not line:
        raise SystemExit("demo: the program ended without a word")
    return line


def main() -> None:
    show("A broker; port 0 is any free one.\n")
    broker = start("broker", "--listen", "mqtt://127.0.0.1:0", "--json")
    try:
        url = json.loads(heard(broker))["listeners"][0]
        port = str(urlsplit(url).port)
        show(
            f"  it listens on {url}\n\nA message at QoS 1, with a property of MQTT 5, that the broker retains for later.\n"
        )
        run(
            "pub",
            "-p",
            port,
            "-t",
            "demo/greeting",
            "-m",
            "hello",
            "-q",
            "1",
            "-r",
            "-D",
            "publish",
            "user-property",
            "from",
            "weft",
        )
        show("\nSomebody who subscribes afterwards gets it all the same.\n")
        with start(
            "sub", "-p", port, "-t", "demo/#", "-q", "1", "-C", "2", "-W", str(PATIENCE_S), "-F", FORMAT
        ) as subscriber:
            show(f"  {heard(subscriber)}\n\nAnd what is published from now on comes as it happens.\n")
            run("pub", "-p", port, "-t", "demo/light", "-m", "on", "-q", "1")
            show(f"  {heard(subscriber)}\n")
            if subscriber.wait(PATIENCE_S):
                raise SystemExit("demo: the subscriber did not end well")
    finally:
        broker.terminate()
        ended = broker.wait(PATIENCE_S)
    if ended:
        raise SystemExit(f"demo: the broker ended with {ended}")
    show("The broker was told to stop, and ended with 0.\n")


main()
