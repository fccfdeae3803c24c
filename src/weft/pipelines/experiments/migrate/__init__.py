"""MIGRATE: how members move from the overlay to the switches, and what publishes cost meanwhile; simulated counterparts.

In: points and seeds.
Out: rows; claims about them.
Never: Spark; a word about real time that the simulation cannot know.
"""

from weft.pipelines.experiments.experiment import Experiment
from weft.pipelines.experiments.migrate.fig5 import FIG5
from weft.pipelines.experiments.migrate.fig8 import FIG8
from weft.pipelines.experiments.migrate.fig9 import FIG9

EXPERIMENTS: tuple[Experiment, ...] = (FIG5, FIG8, FIG9)
