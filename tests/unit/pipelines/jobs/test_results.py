"""The folder of results: marked, locked, and never somebody else's."""

import json

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")

import pyarrow as pa
from pyarrow import parquet

from weft.core.errors import Misuse
from weft.pipelines.jobs.results import Results, Sweep


def test_a_folder_is_made_and_marked(tmp_path):
    results = Results(tmp_path / "new")
    with results.writing():
        assert json.loads((tmp_path / "new" / "weft.json").read_text(encoding="utf-8")) == {"format": 1}
    results.check()


def test_somebody_elses_folder_is_not_touched(tmp_path):
    (tmp_path / "letter.txt").write_text("dear", encoding="utf-8")
    with pytest.raises(Misuse, match="holds something else than results"), Results(tmp_path).writing():
        pass


def test_a_name_that_spark_would_take_for_a_pattern_is_refused(tmp_path):
    with pytest.raises(Misuse, match="choose a name without them"):
        Results(tmp_path / "out[1]").check()


@pytest.mark.parametrize("content", ['{"format": 99}', "{}", "half a fi"])
def test_another_format_is_refused_in_one_line(tmp_path, content):
    (tmp_path / "weft.json").write_text(content, encoding="utf-8")
    with pytest.raises(Misuse, match="this weft writes 1; choose another folder with --out"):
        Results(tmp_path).check()


def test_one_writer_at_a_time(tmp_path):
    with (
        Results(tmp_path).writing(),
        pytest.raises(Misuse, match="somebody else is writing"),
        Results(tmp_path).writing(),
    ):
        pass
    with Results(tmp_path).writing():
        pass


def test_a_note_that_a_crash_has_cut_is_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr("weft.pipelines.jobs.results.version_of", lambda experiment: "v1")

    class Named:
        name = "coins"

    results = Results(tmp_path)
    ours = Sweep("coins", "v1", "r1", "small", "local[2]", 2, 10, 0, 1.5)
    results.note(ours)
    results.note(Sweep("coins", "v0", "r0", "small", "local[2]", 2, 10, 0, 1.5))
    results.note(Sweep("dice", "v1", "r2", "small", "local[2]", 2, 10, 0, 1.5))
    with (tmp_path / "sweeps.jsonl").open("a", encoding="utf-8") as lines:
        lines.write('{"experiment": "coi')
    assert results.sweeps(Named()) == [ours]
    results.note(ours)
    assert results.sweeps(Named()) == [ours, ours]


def test_what_a_sweep_has_made_is_counted_without_spark(tmp_path, monkeypatch):
    monkeypatch.setattr("weft.pipelines.jobs.results.version_of", lambda experiment: "v1")

    class Named:
        name = "coins"

    results = Results(tmp_path)
    assert results.made(Named(), "r1") == (0, 0)
    folder = results.folder(Named())
    (folder / "_temporary").mkdir(parents=True)
    rows = {"run_id": ["r1", "r1", "r0"], "error": [None, "ValueError", None], "key": ["a", "b", "c"]}
    for file in ("part-0.parquet", "part-1.parquet", "_temporary/part-2.parquet"):
        parquet.write_table(pa.table(rows), folder / file)
    assert results.made(Named(), "r1") == (2, 2)
