"""An exchange leaves the books right, whether it was kept or taken back."""

import numpy as np

from planning import case
from weft.pipelines.planner.kernels import JOURNAL, Draft, exchange, fill


def test_what_is_free_is_what_is_not_used():
    for seed in range(40):
        demands = case(seed, 60, 5, 0.3)
        chosen, free = np.zeros(60, bool), demands.room.copy()
        fill(np.arange(60), chosen, demands.needs, free)
        before = float(demands.value[chosen].sum())
        draft = Draft(chosen, free, np.zeros(JOURNAL, np.int64), np.zeros(1, np.int64))
        members = [np.flatnonzero(chosen[demands.topic] & (demands.switch == each)) for each in range(5)]
        listed = demands.topic[np.concatenate(members)].astype(np.int32)
        first = np.concatenate(([0], np.cumsum([each.size for each in members])))
        kept = exchange(np.arange(60), np.arange(60), demands.value, demands.needs, draft, first, listed)
        assert free.tolist() == (demands.room - demands.used(chosen)).tolist()
        assert (free >= 0).all()
        assert draft.written[0] == 0
        assert (float(demands.value[chosen].sum()) > before) == (kept > 0)
