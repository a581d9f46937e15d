"""What came from storage and what from the page cache: read_bytes against rchar of /proc/self/io."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.coverage import Coverage, not_the_jobs

STEPS_TOGETHER = 8


@dataclass(frozen=True)
class StorageShare:
    """Bytes of one session, None where the kernel's figures are missing.

    Attributes:
        asked_bytes: What read calls returned (rchar).
        storage_bytes: What storage was asked for meanwhile (read_bytes): whole pages, with read-ahead and
            page faults, so it may be more.
        cached_bytes: What the page cache must have given at least: `asked_bytes` - `storage_bytes`, or 0.
    """

    asked_bytes: int | None
    storage_bytes: int | None
    cached_bytes: int | None

    @property
    def storage_ratio(self) -> float | None:
        """Bytes from storage per byte read, above 1 with read-ahead that served nobody; None if unknown."""
        if not self.asked_bytes or self.storage_bytes is None:
            return None
        return self.storage_bytes / self.asked_bytes


def storage_share(coverage: Coverage) -> StorageShare:
    """Return the split of a session.

    Source: proc_pid_io(5). read_bytes is charged to the process that caused a page to be fetched.
    """
    asked, storage = coverage.read.kernel, coverage.read.storage
    if asked is None or storage is None:
        return StorageShare(None, None, None)
    return StorageShare(asked, storage, max(asked - storage, 0))


def fetched_bytes(metas: Sequence[dict[str, Any]]) -> int | None:
    """Return what storage was asked for in a session, read_bytes; None if unknown or emulated.

    A child that was waited for is in its parent's figure.

    Args:
        metas: The processes' metadata, the owner's first.
    """
    owner, children = metas[0], metas[1:]
    if owner.get("options", {}).get("as_if") is not None:
        # Emulated storage serves every byte, whatever the page cache holds.
        return None
    sources = [owner, *(meta for meta in children if meta["kernel"].get("counted") == "own")]
    if not all(meta["kernel"]["valid"] for meta in sources):
        return None
    fetched = sum(int(meta["kernel"]["read_bytes"]) for meta in sources)
    return max(fetched - not_the_jobs(metas, "read_bytes"), 0)


def fetched_in_steps(steps: Mapping[str, Array], page_rounding: float) -> int | None:
    """Return what storage was asked for by reads within a process's steps, without what mapped files took.

    A library that is loaded fetches pages that no read returned: of a few steps together no more counts than
    their reads returned.

    Args:
        steps: The process's steps, as `step_table.marked_columns` returns them.
        page_rounding: Bytes of the pages that hold the input, for each byte of it.

    Returns:
        None where a step does not say, or there are none.
    """
    figures = np.column_stack([steps["rchar"], steps["read_bytes"]]).astype(np.float64)
    if not len(figures) or (figures < 0).any():
        return None
    # A page that was read ahead in one step is returned in a later one.
    sums = np.add.reduceat(figures, np.arange(0, len(figures), STEPS_TOGETHER))
    return int(np.minimum(sums[:, 0], sums[:, 1] / max(page_rounding, 1.0)).sum())


def storage_by_step(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the split of each step with the kernel's `rchar` and `read_bytes`, in bytes, -1 if unknown.

    Returns:
        The index of `steps`; `asked_bytes`, `storage_bytes`, `cached_bytes` as in `StorageShare` (int64).
        Empty where steps have no such columns.
    """
    if not {"rchar", "read_bytes"} <= set(steps.columns):
        return pd.DataFrame(
            {n: pd.Series(dtype="int64") for n in ("asked_bytes", "storage_bytes", "cached_bytes")}
        )
    known = steps[["rchar", "read_bytes"]].dropna().astype("int64")
    known = known[(known >= 0).all(axis=1)]
    return pd.DataFrame(
        {
            "asked_bytes": known["rchar"],
            "storage_bytes": known["read_bytes"],
            "cached_bytes": (known["rchar"] - known["read_bytes"]).clip(lower=0),
        }
    )
