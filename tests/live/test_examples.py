"""The configurations in examples/: `weft config check` takes each, with the files beside it that their headers speak of."""

import shutil
from pathlib import Path

import pytest

from broker_process import weft
from certificates import Authority

pytestmark = pytest.mark.live

EXAMPLES = Path(__file__).parents[2] / "examples"
FILES = [*sorted((EXAMPLES / "broker").glob("*.toml")), EXAMPLES / "bridge.toml"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy, with certificates, users and a token."""
    folder = tmp_path_factory.mktemp("examples")
    for file in [*FILES, EXAMPLES / "broker" / "rules.acl"]:
        shutil.copy(file, folder)
    authority = Authority(folder, "devices ca")
    pem = authority.sign("broker.example.org", file="server.pem").read_text()
    (folder / "server.key").write_text(pem[pem.index("-----BEGIN PRIVATE KEY") :])
    (folder / "admin.token").write_text("0123456789abcdef0123456789abcdef\n")
    assert weft("passwd", "--password-stdin", str(folder / "users.pw"), "alice", given="secret\n").returncode == 0
    return folder


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_a_broker_would_start_with_it(folder: Path, file: Path) -> None:
    said = weft("config", "check", str(folder / file.name))
    assert (said.returncode, said.stderr) == (0, "")


def test_there_are_some() -> None:
    assert len(FILES) >= 3
