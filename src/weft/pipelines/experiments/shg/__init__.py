"""SHG: events and subscriptions over a hypercube cut into partitions, against Scribe.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.shg.fig4 import FIG4
from weft.pipelines.experiments.shg.fig5 import FIG5
from weft.pipelines.experiments.shg.structure import STRUCTURE

EXPERIMENTS: tuple[Experiment, ...] = (STRUCTURE, FIG4, FIG5)
