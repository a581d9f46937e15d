"""Files and steps as people read them: few columns, units in their names, numbers of four digits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdarshan.sessions.process_data import ProcessData

if TYPE_CHECKING:
    import pandas as pd

DIGITS = 4
MB, MS = 1e6, 1e6  # bytes in a MB, nanoseconds in a ms
FILES_BRIEF = (
    "path", "time_s", "reads", "read_MB", "read_MB_per_s", "writes", "written_MB", "written_MB_per_s",
    "open_stat_s", "opens", "stats", "size_MB", "fs_type",
)  # fmt: skip
STEPS_BRIEF = (
    "step", "start_s", "duration_ms", "input_wait_ms", "input_wait_percent", "exposed_wait_ms", "io_ms",
    "read_MB", "written_MB", "calls", "source",
)  # fmt: skip


def brief_files(processes: Sequence[ProcessData]) -> pd.DataFrame:
    """Return one row per path, over all processes and modules, the one that took most time first.

    Returns:
        FILES_BRIEF: `path`; `time_s`, seconds in all calls on it; `reads`, `writes`, `opens`, `stats`, calls;
        `read_MB`, `written_MB`, megabytes (10^6 bytes) and `..._per_s`, those a second within such calls, NaN
        if there were none; `open_stat_s`, seconds of opens, stats and closes; `size_MB`, NaN if not known;
        `fs_type`. Numbers with a fraction have four digits.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    import pandas as pd

    from tfdarshan.analysis.files.file_table import load_files

    rows = load_files(processes).rows
    # Row 0 is "(no file)", which only some sessions have.
    used = rows[(rows.index > 0) | rows[["opens", "reads", "writes", "stats"]].any(axis=1).to_numpy()]
    used = used.sort_values("time_s", ascending=False, kind="stable", ignore_index=True)
    frame = pd.DataFrame(
        {
            "path": used["path"].astype(object),
            "time_s": used["time_s"],
            "open_stat_s": used["meta_s"],
            "read_MB": used["bytes_read"] / MB,
            "written_MB": used["bytes_written"] / MB,
            "read_MB_per_s": _rate(used["bytes_read"], used["read_s"]),
            "written_MB_per_s": _rate(used["bytes_written"], used["write_s"]),
            "size_MB": (used["size_bytes"] / MB).where(used["size_bytes"] >= 0),
            **{name: used[name] for name in ("reads", "writes", "opens", "stats", "fs_type")},
        }
    )
    return _readable(frame[list(FILES_BRIEF)])


def brief_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the table of training steps with times that can be read.

    Args:
        steps: `session.steps`.

    Returns:
        STEPS_BRIEF, one row per step: `step`; `start_s`, seconds since the session's start; `duration_ms`,
        `input_wait_ms`, `exposed_wait_ms`, in which the GPU was idle, and `io_ms`, milliseconds;
        `input_wait_percent`, of the duration; `read_MB`, `written_MB`, megabytes (10^6 bytes); `calls`;
        `source`. What is not known is NaN. Numbers with a fraction have four digits.
    """
    import pandas as pd

    duration_ns = steps["end_ns"] - steps["start_ns"]
    wait_ns = _known(steps["input_wait_ns"])
    frame = pd.DataFrame(
        {
            "step": steps["step"],
            "start_s": steps["start_ns"] / 1e9,
            "duration_ms": duration_ns / MS,
            "input_wait_ms": wait_ns / MS,
            "input_wait_percent": 100 * wait_ns / duration_ns.where(duration_ns > 0),
            "exposed_wait_ms": _known(steps["exposed_wait_ns"]) / MS,
            "io_ms": _known(steps["io_ns"]) / MS,
            "read_MB": _known(steps["bytes_read"]) / MB,
            "written_MB": _known(steps["bytes_written"]) / MB,
            "calls": _known(steps["operations"]),
            "source": steps["source"],
        }
    )
    return _readable(frame[list(STEPS_BRIEF)])


def _known(values: Any) -> Any:
    return values.where(values >= 0)


def _rate(moved: Any, seconds: Any) -> Any:
    """Return MB a second; NaN where no such call moved a byte or took time."""
    return moved / MB / seconds.where((seconds > 0) & (moved > 0))


def _readable(frame: pd.DataFrame) -> pd.DataFrame:
    """Round numbers with a fraction to DIGITS digits; those of more whole digits keep these."""
    for name in frame.select_dtypes("float"):
        values = frame[name].to_numpy()
        known = np.isfinite(values) & (values != 0)
        whole = np.ceil(np.log10(np.abs(values), where=known, out=np.zeros(len(values))))
        scale = 10.0 ** np.clip(DIGITS - whole, 0, None)
        frame[name] = np.round(values * scale) / scale
    return frame
