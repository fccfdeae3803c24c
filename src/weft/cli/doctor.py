"""What this machine has and lacks: looked up, never guessed, and without importing what is looked for.

A finding names one thing, whether it is there, a detail (a version, a path), what is left out without it, and how to
get it. Only Python and the core dependencies are required; everything else narrows what weft can do here.
"""

import importlib.metadata
import json
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from weft import __version__

PYTHON_LEAST = (3, 11)
CORE = ("cryptography", "msgspec", "numba", "numpy", "rich", "structlog", "typer")
EXTRAS = {
    "spark": (("pyspark", "pandas", "pyarrow", "matplotlib"), "pipelines and experiments on Spark"),
    "sdn": (("os-ken", "netaddr", "oslo.config", "aiohttp"), "the OpenFlow controller"),
    "console": (("aiohttp",), "the admin API and the web console"),
}
TOOLS = (
    ("java", ("java",), "openjdk-17-jre-headless", "Spark"),
    ("open vswitch", ("ovs-vsctl", "ovs-vswitchd"), "openvswitch-switch", "the lab's OpenFlow switches"),
    ("iproute2", ("ip", "tc"), "iproute2", "network namespaces, hence the lab"),
    ("ethtool", ("ethtool",), "ethtool", "checksum settings of the lab's links"),
    ("nftables", ("nft",), "nftables", "the lab's cuts and losses"),
    ("mosquitto clients", ("mosquitto_pub", "mosquitto_sub"), "mosquitto-clients", "tests against foreign clients"),
)
CAP_NET_ADMIN = 12
CAP_SYS_ADMIN = 21


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that this machine has or lacks."""

    name: str
    ok: bool
    required: bool
    detail: str
    without: str
    install: str


def examine() -> list[Finding]:
    """Look at everything; the order is the order of the report."""
    return [python(), *core_dependencies(), uvloop(), *extras(), *tools(), root(), namespaces()]


def python() -> Finding:
    """The interpreter."""
    return Finding(
        name="python",
        ok=sys.version_info >= PYTHON_LEAST,
        required=True,
        detail=f"{platform.python_implementation()} {platform.python_version()} on {platform.platform(terse=True)}",
        without="weft",
        install="Python 3.11 or newer",
    )


def version_of(distribution: str) -> str | None:
    """The version installed, or None."""
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def core_dependencies() -> Iterator[Finding]:
    """What weft cannot do without."""
    for name in CORE:
        found = version_of(name)
        yield Finding(name, found is not None, True, found or "missing", "weft", f"pip install {name}")


def uvloop() -> Finding:
    """A quicker event loop; asyncio's own is used where it cannot be had."""
    found = version_of("uvloop")
    return Finding("uvloop", found is not None, False, found or "missing", "some speed", "pip install uvloop")


def extras() -> Iterator[Finding]:
    """The optional halves of weft."""
    for extra, (distributions, purpose) in EXTRAS.items():
        found = {name: version_of(name) for name in distributions}
        missing = [name for name, version in found.items() if version is None]
        detail = f"missing: {', '.join(missing)}" if missing else ", ".join(f"{n} {v}" for n, v in found.items())
        yield Finding(f"weft[{extra}]", not missing, False, detail, purpose, f"pip install 'weft[{extra}]'")


def tools() -> Iterator[Finding]:
    """Programs of the operating system."""
    for name, programs, package, purpose in TOOLS:
        paths = {program: which(program) for program in programs}
        missing = [program for program, path in paths.items() if path is None]
        detail = f"missing: {', '.join(missing)}" if missing else ", ".join(path for path in paths.values() if path)
        yield Finding(name, not missing, False, detail, purpose, f"apt-get install {package}")


def which(program: str) -> str | None:
    """Like a shell, but also where Debian puts the programs of root."""
    path = os.environ.get("PATH", os.defpath)
    return shutil.which(program, path=os.pathsep.join([path, "/usr/local/sbin", "/usr/sbin", "/sbin"]))


def root() -> Finding:
    """Whether this process is root, or could become it."""
    if os.geteuid() == 0:
        return Finding("root", True, False, "running as root", "the lab", "sudo")
    sudo = which("sudo")
    return Finding("root", sudo is not None, False, sudo or "neither root nor sudo", "the lab", "apt-get install sudo")


def namespaces(status: Callable[[], str] = lambda: Path("/proc/self/status").read_text(encoding="utf-8")) -> Finding:
    """Whether this process may make network namespaces: the kernel has them and the capabilities are there."""
    kernel = Path("/proc/self/ns/net").exists()
    capable = kernel and has_capabilities(status())
    if capable:
        detail = "may be made"
    elif kernel:
        detail = "the capabilities net_admin and sys_admin are missing"
    else:
        detail = "the kernel has none"
    return Finding("network namespaces", capable, False, detail, "the lab", "run as root, outside a container")


def has_capabilities(status: str) -> bool:
    """Read the effective capabilities out of a ``/proc/<pid>/status``."""
    wanted = 1 << CAP_NET_ADMIN | 1 << CAP_SYS_ADMIN
    for line in status.splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16) & wanted == wanted
    return False


def as_json(findings: list[Finding]) -> str:
    """The report for scripts."""
    document = {
        "version": __version__,
        "ok": all(finding.ok for finding in findings if finding.required),
        "findings": [asdict(finding) for finding in findings],
    }
    return json.dumps(document, indent=2)


def as_text(findings: list[Finding]) -> str:
    """The report for people: one line for each finding."""
    width = max(len(finding.name) for finding in findings)
    lines = [f"weft {__version__}"]
    for finding in findings:
        if finding.ok:
            lines.append(f"  ok  {finding.name:<{width}}  {finding.detail}")
        else:
            lines.append(
                f"  --  {finding.name:<{width}}  {finding.detail}; left out: {finding.without} ({finding.install})"
            )
    return "\n".join(lines)
