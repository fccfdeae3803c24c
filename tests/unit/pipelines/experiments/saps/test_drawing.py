"""Panels, curves and the one legend."""

from matplotlib.figure import Figure

from weft.pipelines.experiments.saps.drawing import costs, curves, finish, finish_costs, legend, panels, published
from weft.pipelines.experiments.table import Table

ENDS = ("", "_low", "_high")
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


def test_traffic_and_delay_stand_side_by_side():
    table = Table(
        {"n": [10, 100], "method": ["a", "a"], **{f"{y}{end}": [1, 2] for y in ("traffic", "delay") for end in ENDS}}
    )
    figure = Figure()
    left, right = costs(figure, table, "n", ("a",), ())
    finish_costs(figure, "n", "links", log_y=True)
    assert (len(left.lines), len(right.lines)) == (1, 0)
    assert right.get_ylabel() == "largest delay [links between clusters]"
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["a"]
