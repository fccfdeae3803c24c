"""One session for all of Spark's tests, as it takes six seconds to start; without Java they are left out, and say so."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def java():
    from weft.pipelines.jobs.session import NoJava, check_java

    try:
        check_java()
    except NoJava as error:
        pytest.skip(f"there is no {error}")


@pytest.fixture(scope="session")
def spark(java):
    from weft.pipelines.jobs.session import session

    made = session("local[2]", name="tests", ui=False)
    yield made
    made.stop()
