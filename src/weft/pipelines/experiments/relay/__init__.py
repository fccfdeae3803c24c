"""RELAY: strong relay-free overlays against Scribe, Bayeux and CAN-MC.

In: points and seeds.
Out: rows; claims about them.
Never: Spark.
"""

from weft.pipelines.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = ()
