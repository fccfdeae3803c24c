"""Tasks that throw coins: executors know weft's experiments by name, and these only because they are sent by value."""

from pyspark.cloudpickle import register_pickle_by_value

import coins
from weft.pipelines.jobs.task import Work

FAIR = coins.made()
MIXED = coins.made(coins=("fair", "broken"))


class Fair(Work):
    def experiment(self):
        return FAIR


class Mixed(Work):
    def experiment(self):
        return MIXED


register_pickle_by_value(coins)
register_pickle_by_value(__import__(__name__))
