"""RELAY: strong relay-free overlays against Scribe, Bayeux and CAN-MC.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.relay import fig9, fig10, fig11, fig12_13, fig14, fig15, table1

EXPERIMENTS: tuple[Experiment, ...] = (
    fig9.EXPERIMENT,
    fig10.EXPERIMENT,
    fig11.EXPERIMENT,
    fig12_13.EXPERIMENT,
    fig14.EXPERIMENT,
    fig15.EXPERIMENT,
    table1.EXPERIMENT,
)
"""In the paper's order, but for table 1, which needs what the figures define."""
