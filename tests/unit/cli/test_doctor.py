"""The doctor's findings, on machines that are described here."""

import json

import pytest

from weft.cli import doctor
from weft.cli.doctor import Finding

FINDINGS = [
    Finding("python", True, True, "CPython 3.11.7", "weft", "Python 3.11 or newer"),
    Finding("java", False, False, "missing: java", "Spark", "apt-get install openjdk-17-jre-headless"),
]


@pytest.mark.parametrize(
    ("effective", "able"),
    [("000001ffffffffff", True), ("0000000000201000", True), ("0000000000001000", False), ("0000000000000000", False)],
)
def test_capabilities_are_read_from_proc(effective, able):
    assert doctor.has_capabilities(f"Name:\tweft\nCapPrm:\t000001ffffffffff\nCapEff:\t{effective}\n") is able


def test_a_status_without_capabilities_grants_none():
    assert doctor.has_capabilities("Name:\tweft\n") is False
    assert doctor.namespaces(lambda: "Name:\tweft\n").ok is False


def test_a_missing_distribution_has_no_version():
    assert doctor.version_of("no-such-distribution") is None
    assert doctor.version_of("msgspec") is not None


def test_a_program_is_found_only_if_it_is_there(tmp_path, monkeypatch):
    program = tmp_path / "weft-test-program"
    monkeypatch.setenv("PATH", str(tmp_path))
    assert doctor.which(program.name) is None
    program.touch(mode=0o755)
    assert doctor.which(program.name) == str(program)


def test_an_extra_is_there_only_as_a_whole(monkeypatch):
    monkeypatch.setattr(doctor, "EXTRAS", {"sdn": (("msgspec", "no-such-distribution"), "the controller")})
    (finding,) = doctor.extras()
    assert not finding.ok
    assert not finding.required
    assert finding.detail == "missing: no-such-distribution"


def test_text_has_one_line_for_each_finding():
    lines = doctor.as_text(FINDINGS).splitlines()
    assert len(lines) == 1 + len(FINDINGS)
    assert lines[1] == "  ok  python  CPython 3.11.7"
    assert lines[2] == "  --  java    missing: java; left out: Spark (apt-get install openjdk-17-jre-headless)"


def test_optional_things_do_not_spoil_the_verdict():
    assert json.loads(doctor.as_json(FINDINGS))["ok"] is True
    spoiled = [Finding("numpy", False, True, "missing", "weft", "pip install numpy")]
    assert json.loads(doctor.as_json(spoiled))["ok"] is False
