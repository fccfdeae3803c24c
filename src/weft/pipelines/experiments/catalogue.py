"""All experiments, in the order of the papers; the one place that knows their packages."""

from weft.core.errors import Misuse
from weft.pipelines.experiments import beyond, migrate, relay, saps, select, shg
from weft.pipelines.experiments.experiment import Experiment

EXPERIMENTS: tuple[Experiment, ...] = (
    *saps.EXPERIMENTS,
    *relay.EXPERIMENTS,
    *migrate.EXPERIMENTS,
    *select.EXPERIMENTS,
    *shg.EXPERIMENTS,
    *beyond.EXPERIMENTS,
)


def named(name: str) -> Experiment:
    """The experiment of that name."""
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    raise Misuse(f"unknown experiment {name}; `weft experiments list` names them all")
