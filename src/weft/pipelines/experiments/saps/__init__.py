"""SAPS: application-layer multicast against OpenFlow multicast.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
