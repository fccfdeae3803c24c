"""Any pure function over a list of items, one item to a task: how ``weft sim campaign --spark`` runs its chunks on a cluster.

Answers are msgspec structs; they must be small, as all of them come back to the driver.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import msgspec
import pyarrow as pa

from weft.pipelines.jobs.progress import Told, watched
from weft.pipelines.jobs.session import reachable, session

R = TypeVar("R", bound=msgspec.Struct)


def spread(
    master: str,
    work: Callable[..., R],
    answer: type[R],
    items: Sequence[Any],
    rest: tuple[Any, ...],
    tell: Callable[[Told], None],
) -> list[R]:
    """``work(item, *rest)`` for each item, in their order."""

    def run(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for which in batch.column(0).to_pylist():
                said = msgspec.msgpack.encode(work(items[which], *rest))
                yield pa.RecordBatch.from_pydict({"item": [which], "answer": [said]})

    reachable(master)
    spark = session(master, name="weft", ui=False)
    try:
        numbers = spark.createDataFrame([(which,) for which in range(len(items))], "item int")
        answers = numbers.repartitionById(len(items), "item").mapInArrow(run, "item long, answer binary")
        with watched(spark, work.__name__, len(items), len(items), tell):
            rows = sorted(answers.collect())
    finally:
        spark.stop()
    return [msgspec.msgpack.decode(row.answer, type=answer, dec_hook=_made) for row in rows]


def _made(kind: Callable[[Any], Any], value: Any) -> Any:
    """What msgspec knows no form for, such as a Counter, from what it came as."""
    return kind(value)
