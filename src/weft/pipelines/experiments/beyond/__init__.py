"""Questions that the papers leave open.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.beyond import (
    anycast,
    churn,
    cluster_first,
    planner,
    rerename,
    scale,
    split,
    suspend_trace,
    wildcards,
)
from weft.pipelines.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    cluster_first.EXPERIMENT,
    split.EXPERIMENT,
    scale.EXPERIMENT,
    suspend_trace.EXPERIMENT,
    anycast.EXPERIMENT,
    rerename.EXPERIMENT,
    planner.EXPERIMENT,
    churn.EXPERIMENT,
    wildcards.EXPERIMENT,
)
