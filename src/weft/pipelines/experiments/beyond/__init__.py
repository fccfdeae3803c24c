"""Questions that the papers leave open.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.beyond.rerename import RERENAME
from weft.pipelines.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (RERENAME,)
