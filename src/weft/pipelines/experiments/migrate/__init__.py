"""MIGRATE: how members move from the overlay to the switches, and what publishes cost meanwhile; simulated counterparts.

In: points and seeds.
Out: rows; claims about them.
Never: Spark; a word about real time that the simulation cannot know.
"""

from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.migrate import fig5, fig8, fig9

EXPERIMENTS: tuple[Experiment, ...] = (fig5.EXPERIMENT, fig8.EXPERIMENT, fig9.EXPERIMENT)
