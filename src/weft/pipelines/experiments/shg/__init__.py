"""SHG: events and subscriptions over a hypercube cut into partitions, against Scribe.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.shg import fig4, fig5, structure

EXPERIMENTS: tuple[Experiment, ...] = (structure.EXPERIMENT, fig4.EXPERIMENT, fig5.EXPERIMENT)
