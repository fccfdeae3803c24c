"""SAPS: application-layer multicast against OpenFlow multicast.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.saps import fig8, fig9, fig10, fig12, fig13

EXPERIMENTS: tuple[Experiment, ...] = (
    fig8.EXPERIMENT,
    fig9.EXPERIMENT,
    fig10.EXPERIMENT,
    fig12.EXPERIMENT,
    fig13.EXPERIMENT,
)
