"""Seeds: addresses, names with all their addresses, a file that is read anew; what is wrong is said and harms nobody."""

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from weft.core.errors import Misuse
from weft.runtime.peers import seeds as module
from weft.runtime.peers.seeds import FILE_BYTES_MAX, SEEDS_MAX, Seeds, seed_of

TWO = ("10.0.0.1", 7883), ("10.0.0.2", 7883)


def found(seeds: Seeds, names: dict[str, list[str]] | None = None) -> list[tuple[str, int]]:
    """What ``seeds`` finds where ``names`` is what the name server says."""

    async def scene() -> list[tuple[str, int]]:
        loop = asyncio.get_running_loop()
        if names is not None:

            async def getaddrinfo(host: str, port: int, **_: Any) -> list[Any]:
                if host not in names:
                    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
                return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, port)) for each in names[host]]

            loop.getaddrinfo = getaddrinfo  # type: ignore[method-assign]
        return await seeds.find()

    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        return runner.run(scene())


def test_an_address_is_itself() -> None:
    assert found(Seeds(("127.0.0.1:7883", "[::1]:7883", "127.0.0.1:7883"))) == [("127.0.0.1", 7883), ("::1", 7883)]


def test_a_name_is_all_its_addresses_as_of_now() -> None:
    seeds, names = Seeds(("brokers.example:7883",)), {"brokers.example": ["10.0.0.1"]}
    assert found(seeds, names) == [TWO[0]]
    names["brokers.example"] = ["10.0.0.1", "10.0.0.2"]
    assert found(seeds, names) == list(TWO)


def test_a_name_that_nobody_knows_leaves_the_others_alone() -> None:
    seeds = Seeds(("nowhere.example:1", "brokers.example:7883"))
    assert found(seeds, {"brokers.example": ["10.0.0.1"]}) == [TWO[0]]
    assert seeds.wrong == ["nowhere.example:1: no address: Name or service not known"]
    assert found(seeds, {"nowhere.example": [], "brokers.example": ["10.0.0.1"]}) == [TWO[0]]
    assert seeds.wrong == []


def test_a_name_server_that_does_not_answer_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "RESOLVE_S", 0.001)

    async def scene() -> None:
        loop = asyncio.get_running_loop()

        async def getaddrinfo(*_: Any, **__: Any) -> list[Any]:
            await loop.create_future()
            return []

        loop.getaddrinfo = getaddrinfo  # type: ignore[method-assign]
        seeds = Seeds(("brokers.example:7883",))
        assert await seeds.find() == []
        assert seeds.wrong == ["brokers.example:7883: no address: TimeoutError"]

    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        runner.run(scene())


def test_a_file_is_read_anew_and_may_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    seeds = Seeds(("10.0.0.1:7883",), file)
    assert found(seeds) == [TWO[0]]
    assert seeds.wrong == []
    file.write_text("# who is there\n\n  10.0.0.2:7883  # the new one\n10.0.0.3\n", encoding="utf-8")
    assert found(seeds) == list(TWO)
    assert seeds.wrong == [f"{file}:4: '10.0.0.3': the port is missing"]


@pytest.mark.parametrize(
    ("content", "why"), [(b"\xff\xfe", "it is not UTF-8"), (b"#" * (FILE_BYTES_MAX + 1), "longer than")]
)
def test_a_file_that_is_none_is_said(content: bytes, why: str, tmp_path: Path) -> None:
    file = tmp_path / "seeds"
    file.write_bytes(content)
    seeds = Seeds(("10.0.0.1:7883",), file)
    assert found(seeds) == [TWO[0]]
    assert why in seeds.wrong[0]


def test_there_are_not_more_than_can_be_dialled() -> None:
    seeds = Seeds(("brokers.example:7883",))
    many = [f"10.0.{number // 256}.{number % 256}" for number in range(SEEDS_MAX + 1)]
    assert len(found(seeds, {"brokers.example": many})) == SEEDS_MAX
    assert "more than" in seeds.wrong[0]


@pytest.mark.parametrize("text", ["", "host", "host:", ":7883", "host:port", "host:99999", "a/b:1", "host:0"])
def test_what_is_no_seed_is_said_at_the_start(text: str) -> None:
    with pytest.raises(Misuse):
        Seeds((text,))


def test_a_seed_is_host_and_port() -> None:
    assert seed_of("[::1]:7883") == ("::1", 7883)
