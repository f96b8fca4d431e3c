"""Converts units of a plan as a DataFrame, with Spark, Spark Connect or Sail.

    units = spark.createDataFrame([(unit,) for unit in session_convert.plan(...)], "unit string")
    receipts = convert_df(units.repartition(64))

Uses `mapInArrow` instead of `rdd.pipe`, because Spark Connect has no RDDs.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

import session_convert

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import DataFrame

__all__ = ["convert_df"]

# The number of receipts in a batch for the engine.
BATCH = 64


def convert_df(units: DataFrame, *options: str) -> DataFrame:
    """Returns the receipts, in the column `receipt`, of the units in the column `unit`.

    Each partition is a worker in its process. `options` are options of `convert work`.
    """

    def work(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
        import pyarrow

        units = [unit for batch in batches for unit in batch.column("unit").to_pylist()]
        receipts = session_convert.work(units, "--jobs", "1", *options)
        while some := list(islice(receipts, BATCH)):
            yield pyarrow.RecordBatch.from_pydict({"receipt": some})

    return units.mapInArrow(work, "receipt string")
