"""Panels, curves and the one legend."""

from matplotlib.figure import Figure

from weft.pipelines.experiments.saps.drawing import curves, finish, legend, panels, published
from weft.pipelines.experiments.table import Table

TABLE = Table(
    {"x": [8, 4, 4], "name": ["a", "a", "b"], "y": [2.0, 1.0, 3.0], "y_low": [1.5, 0.5, 3.0], "y_high": [2.5, 1.5, 3.0]}
)


def test_each_name_has_its_colour_and_its_place_in_the_legend_once():
    figure = Figure()
    left, right = panels(figure)
    for axes in (left, right):
        curves(axes, TABLE, "x", "y", "name", ("c", "b", "a"))
        finish(axes, "x", "y", base=2)
    published(right, 4, 1, "paper")
    legend(figure)
    assert [line.get_color() for line in left.lines] == ["C1", "C2"]
    assert left.lines[1].get_xdata().tolist() == [4, 8]
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["b", "a", "paper"]
    assert left.get_ylim()[0] == 0


def test_a_logarithmic_panel():
    figure = Figure()
    (axes,) = panels(figure, 1)
    curves(axes, TABLE, "x", "y", "name", ("a",))
    finish(axes, "x", "y", log_y=True)
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
