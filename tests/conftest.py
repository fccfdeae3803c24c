"""What all tests share: the Hypothesis profiles.

``ci`` (the default) is derandomised: a clean checkout passes or fails for the same reason each time. ``dev`` looks for
new examples on every run: ``HYPOTHESIS_PROFILE=dev``.
"""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "ci",
    derandomize=True,
    deadline=None,
    database=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],  # a machine of CI may be slow; pytest-timeout ends what hangs
)
settings.register_profile("dev", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))
