"""Each scenario in this folder runs, message by message, as its transcript says, and as it expects itself."""

from pathlib import Path

import pytest

from weft.sim.scenario.load import read
from weft.sim.scenario.runner import Runner

HERE = Path(__file__).parent
SCENARIOS = sorted(HERE.glob("*.toml"))


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
def test_transcript(path: Path, regenerate: bool) -> None:
    runner = Runner(read(path))
    outcome = runner.run()
    assert outcome.failures == []
    golden = path.with_suffix(".txt")
    lines = [f"-- {outcome.title}; trace hash {outcome.trace_hash}", *runner.transcript()]
    if regenerate:
        golden.write_text("\n".join(lines) + "\n", encoding="utf-8")
    assert lines == golden.read_text(encoding="utf-8").splitlines(), "see tests/scenario/conftest.py"


def test_there_are_scenarios_and_no_stray_transcripts() -> None:
    assert SCENARIOS
    assert {path.stem for path in HERE.glob("*.txt")} == {path.stem for path in SCENARIOS}
