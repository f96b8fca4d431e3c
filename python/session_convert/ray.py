"""Converts units of a plan in batches of Ray Data.

units = ray.data.from_items([{"unit": unit} for unit in session_convert.plan(...)])
receipts = units.map_batches(convert_batch, batch_size=64)
"""

from __future__ import annotations

from typing import Any

import session_convert

__all__ = ["convert_batch"]


def convert_batch(batch: dict[str, Any], *options: str) -> dict[str, list[str]]:
    """Returns the receipts, in the column `receipt`, of the units in the column `unit`.

    Each batch is a worker in its process. `options` are options of `convert work`.
    """
    units = [str(unit) for unit in batch["unit"]]
    return {"receipt": list(session_convert.work(units, "--jobs", "1", *options))}
