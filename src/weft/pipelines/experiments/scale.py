"""How large an experiment is run. Alone here, as the command line wants it without the weight of the rest."""

from enum import StrEnum


class Scale(StrEnum):
    SMALL = "small"
    """Seconds: what a test or a demo shows."""
    PAPER = "paper"
    """The papers' sizes and repetitions."""
    HUGE = "huge"
    """As far as memory goes."""
