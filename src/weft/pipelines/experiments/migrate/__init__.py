"""MIGRATE: moving members between the two kinds of multicast, in the simulator.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
