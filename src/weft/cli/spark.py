"""What commands that need Spark say when it is not there, or gives up."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from weft.cli.exits import Failed, Lacking

NEEDED = ("pyspark", "pandas", "pyarrow", "matplotlib")


@contextmanager
def explained() -> Iterator[None]:
    """What the pipeline raises, as exit codes."""
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise Lacking(", ".join(missing), "pip install 'weft[spark]'")
    from weft.pipelines.jobs.memory import TooLarge
    from weft.pipelines.jobs.session import NoJava
    from weft.pipelines.jobs.sweep import ERRORS, Aborted, said

    try:
        yield
    except NoJava as error:
        raise Lacking(str(error), "apt-get install openjdk-17-jre-headless") from error
    except (Aborted, TooLarge) as error:
        raise Failed(str(error)) from error
    except ERRORS as error:
        raise Failed(f"Spark gave up ({said(error)})") from error
