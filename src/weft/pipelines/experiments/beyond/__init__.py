"""Questions that the papers leave open.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.beyond import scale, suspend_trace
from weft.pipelines.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    scale.EXPERIMENT,
    suspend_trace.EXPERIMENT,
)
