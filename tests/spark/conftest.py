"""One session for all of Spark's tests: it takes six seconds to start."""

import pytest

pytest.importorskip("pyspark", reason="weft[spark] is not installed")

from weft.pipelines.jobs.session import NoJava, session


@pytest.fixture(scope="session")
def spark():
    try:
        made = session("local[2]", name="tests", ui=False)
    except NoJava as error:
        pytest.skip(f"no {error}")
    yield made
    made.stop()
