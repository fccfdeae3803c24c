"""Plots as files: the same bytes for the same data, and none where there is nothing to draw."""

import pytest

pytest.importorskip("matplotlib", reason="weft[spark] is not installed")

from dice import CAPTION, NOTHING, judged
from weft.pipelines.report.drawing import draw


def test_each_plot_is_an_svg_and_a_png_named_by_its_number(tmp_path):
    assert draw(judged(), tmp_path) == [(CAPTION, "dice-1")]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["dice-1.png", "dice-1.svg"]
    assert (tmp_path / "dice-1.png").read_bytes().startswith(b"\x89PNG")


def test_the_same_data_give_the_same_bytes(tmp_path):
    (tmp_path / "again").mkdir()
    draw(judged(), tmp_path)
    draw(judged(), tmp_path / "again")
    for name in ("dice-1.svg", "dice-1.png"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_what_has_no_data_because_runs_are_missing_is_left_out(tmp_path):
    assert draw(judged(NOTHING, runs=3), tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_drawn_of_whole_results_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="zero-size"):
        draw(judged(NOTHING), tmp_path)
