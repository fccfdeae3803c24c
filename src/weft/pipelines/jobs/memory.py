"""Does a scale fit into this machine? Asked before anything is started, as experiments say what a run needs."""

from pathlib import Path

from weft.pipelines.experiments.experiment import Experiment, Scale

JVM_MB = 1_500
"""A driver with its gigabyte, and Spark's own Python."""


class TooLarge(Exception):
    """The runs need more memory than there is."""


def needed_mb(experiment: Experiment, scale: Scale, cores: int) -> float:
    """What ``cores`` of the largest runs need together, and Spark."""
    largest = sorted((experiment.memory_mb(point) for point in experiment.grid(scale)), reverse=True)
    runs = [need for need in largest for _ in range(experiment.repeats[scale])][:cores]
    return JVM_MB + sum(runs)


def check(experiment: Experiment, scale: Scale, cores: int) -> None:
    """Raise ``TooLarge``, with what to do about it, before anything is started."""
    free = available_mb()
    need = needed_mb(experiment, scale, cores)
    if not free or need <= free:
        return
    fitting = next((fewer for fewer in range(cores - 1, 0, -1) if needed_mb(experiment, scale, fewer) <= free), 0)
    raise TooLarge(
        f"{experiment.name} at scale {scale.value} needs {need / 1000:.1f} GB with {cores} runs at once, "
        f"{free / 1000:.1f} GB are free; "
        + (f"--master local[{fitting}] would fit" if fitting else "choose a smaller --scale")
    )


def available_mb() -> float:
    """Memory that is free for us; 0: not known."""
    path = Path("/proc/meminfo")
    for line in path.read_text(encoding="ascii").splitlines() if path.exists() else ():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) / 1024
    return 0.0
