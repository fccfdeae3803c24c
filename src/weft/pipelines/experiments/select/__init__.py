"""SELECT: choosing dataflow components by aggregated values.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.select import fig9, fig10, fig11, fig12, table3, table4

EXPERIMENTS: tuple[Experiment, ...] = (
    fig9.EXPERIMENT,
    fig10.EXPERIMENT,
    fig11.EXPERIMENT,
    fig12.EXPERIMENT,
    table3.EXPERIMENT,
    table4.EXPERIMENT,
)
