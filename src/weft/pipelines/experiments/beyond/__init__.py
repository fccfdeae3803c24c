"""Questions that the papers leave open.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.beyond import (
    anycast,
    cluster_first,
    split,
)
from weft.pipelines.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    cluster_first.EXPERIMENT,
    split.EXPERIMENT,
    anycast.EXPERIMENT,
)
