"""The defaults are the papers' where a paper has one, and fit each other."""

import pytest

from weft.overlay.settings import Settings

DEFAULT = Settings()


def test_the_papers_numbers():
    assert DEFAULT.update_interval_s == 60.0, "PIAX's default T (SELECT §3.3)"
    assert DEFAULT.join_tries == 10


def test_the_times_fit_each_other():
    assert DEFAULT.ping_tries * DEFAULT.ping_timeout_s > DEFAULT.ping_interval_s, (
        "one lost ping is no reason to suspect"
    )
    assert DEFAULT.shun_s > DEFAULT.hop_tries * DEFAULT.hop_timeout_s, "who failed is still shunned at the next try"
    assert DEFAULT.query_timeout_s > DEFAULT.hop_tries * DEFAULT.hop_timeout_s


def test_settings_are_a_value():
    assert Settings(shun_s=1.0) == Settings(shun_s=1.0) != DEFAULT
    with pytest.raises(AttributeError):
        DEFAULT.shun_s = 1.0  # type: ignore[misc]
