"""The table of training steps: where each began and ended, what it waited for, and what its I/O was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdarshan.errors import SessionDataError
from tfdarshan.native.spool_reader import Array
from tfdarshan.sessions import schema
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.schema import UNKNOWN

if TYPE_CHECKING:
    import pandas as pd

    from tfdarshan.sessions.traces.batch_waits import BatchWaits

FROM_TRACE = "TensorFlow's trace"
MARKED = tuple(column.name for column in schema.MARK_COLUMNS)


def steps_frame(processes: Sequence[ProcessData]) -> pd.DataFrame:
    """Return one row per step: `schema.STEP_COLUMNS`.

    Steps that the job or Keras marked come first; where there are none, TensorFlow's trace says when the job
    asked for its batches. A step of the trace lasts from one such wait to the next, so the last one, whose
    end is not known, is left out. Of several ranks, steps and their calls are the first process's rank's.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    processes = [process for process in processes if process.rank == processes[0].rank]
    frame = step_marks(processes)
    start_ns, end_ns = frame["start_ns"].to_numpy(), frame["end_ns"].to_numpy()
    known = end_ns <= _traced_until_ns(processes)
    for name, values in _io(processes, start_ns, end_ns).items():
        frame[name] = np.where(known, values, UNKNOWN)
    frame["fault_ns"] = _fault_ns(processes, start_ns, end_ns)
    return frame[[column.name for column in schema.STEP_COLUMNS]]


def step_marks(processes: Sequence[ProcessData]) -> pd.DataFrame:
    """Return the steps without their I/O, for which all calls would be read.

    Returns:
        One row per step: `step`, `epoch`, `start_ns`, `end_ns`, `input_wait_ns`, `exposed_wait_ns`, `rchar`,
        `read_bytes` and `source` as `schema.STEP_COLUMNS`, and `iterator_ns`: when the iterator that gave
        the step's batch was asked first, UNKNOWN if the trace does not say.
    """
    import pandas as pd

    columns = step_columns(processes)
    return pd.DataFrame(columns | {"source": pd.Categorical(columns["source"])})


def step_columns(processes: Sequence[ProcessData]) -> dict[str, Any]:
    """Return the columns of `step_marks`, which takes far less time where there are many ranks.

    Returns:
        Arrays of int64 by name; `source` has texts.
    """
    owner = processes[0]
    waits = _waits(owner)
    columns = marked_columns(owner)
    iterator_ns = np.full(len(columns["step"]), UNKNOWN, np.int64)
    if not len(columns["step"]) and waits is not None:
        columns, iterator_ns = _columns(_traced(waits)), waits.first_ns[:-1][~waits.between[:-1]]
    start_ns, end_ns = columns["start_ns"], columns["end_ns"]
    wait_ns, epoch = columns["input_wait_ns"], columns["epoch"]
    if waits is not None:
        epoch = np.where(epoch == UNKNOWN, waits.epochs_by(end_ns), epoch)
        within = _covered_between(waits.start_ns, waits.end_ns, start_ns, end_ns)
        traced = _traced_steps(owner, start_ns, end_ns)
        wait_ns = np.where((wait_ns == UNKNOWN) & traced, within, wait_ns)
    return columns | {"input_wait_ns": wait_ns, "epoch": epoch, "iterator_ns": iterator_ns}


def marked_columns(owner: ProcessData) -> dict[str, Any]:
    """Return the columns of the steps that a session's owner recorded, as `step_columns` does.

    Sessions of earlier versions have them in their metadata, or a table that lacks columns.

    Raises:
        SessionDataError: The table is damaged or missing.
    """
    if "steps" not in owner.meta["tables"]:
        return _columns(_in_metadata(owner))
    table = owner.table("steps").unify_dictionaries()
    source = table["source"].combine_chunks()
    columns = {name: _numbers(table, name) for name in MARKED if name != "source"}
    texts = np.array(source.dictionary.to_pylist(), object)
    return columns | {"source": texts[source.indices.to_numpy()]}


def _numbers(table: Any, name: str) -> Array:
    """Return a column of numbers, UNKNOWN where the table does not say."""
    if name not in table.column_names:
        return np.full(len(table), UNKNOWN, np.int64)
    values: Array = table[name].fill_null(UNKNOWN).to_numpy()
    return values


def _columns(rows: list[tuple[Any, ...]]) -> dict[str, Any]:
    """Return the columns of some rows, which are in the order of MARKED."""
    arrays = list(zip(*rows, strict=True)) or [()] * len(MARKED)
    dtypes = [object if name == "source" else np.int64 for name in MARKED]
    return {name: np.array(*of) for name, *of in zip(MARKED, arrays, dtypes, strict=True)}


def covered_ns(start_ns: Array, end_ns: Array, at_ns: Array) -> Array:
    """Return how much of the time before each of `at_ns` lies in intervals.

    Args:
        start_ns: Where the intervals begin; they may overlap and come in any order.
        end_ns: Where they end.
        at_ns: Times.
    """
    if len(start_ns) == 0:
        return np.zeros(len(at_ns), np.int64)
    order = np.argsort(start_ns, kind="stable")
    start_ns, end_ns = start_ns[order], np.maximum.accumulate(end_ns[order])
    begins = np.maximum(start_ns, np.concatenate([start_ns[:1], end_ns[:-1]]))
    lengths = np.maximum(end_ns - begins, 0)
    before = np.concatenate([[0], np.cumsum(lengths)])
    index = np.searchsorted(begins, at_ns, side="right")
    last = np.maximum(index - 1, 0)
    unfinished = np.maximum(end_ns[last] - np.maximum(at_ns, begins[last]), 0)
    unfinished = np.minimum(unfinished, lengths[last])
    covered: Array = np.where(index > 0, before[index] - unfinished, 0)
    return covered


def _covered_between(start_ns: Array, end_ns: Array, from_ns: Array, to_ns: Array) -> Array:
    difference: Array = covered_ns(start_ns, end_ns, to_ns) - covered_ns(start_ns, end_ns, from_ns)
    return difference


def _traced_steps(owner: ProcessData, start_ns: Array, end_ns: Array) -> Array:
    """Return which steps lie within the time that TensorFlow's trace shows: it may end before the session."""
    about = owner.meta["tensorflow"]
    shown: Array = start_ns >= int(about["start_ns"])
    if about.get("end_ns"):
        shown &= end_ns <= int(about["end_ns"])
    return shown


def _in_metadata(owner: ProcessData) -> list[tuple[Any, ...]]:
    origin_ns = int(owner.meta.get("origin_realtime_ns") or 0)
    return [
        (
            row[0],
            _epoch_of(row),
            row[1] - origin_ns,
            row[2] - origin_ns,
            row[3],
            UNKNOWN,
            *_kernel_figures(row),
            row[4],
        )
        for row in (owner.meta.get("steps") or {}).get("rows", [])
    ]


def _kernel_figures(row: list[Any]) -> list[int]:
    """Return `rchar` and `read_bytes` of a step; sessions of earlier versions have none."""
    return row[5:7] if len(row) > 6 else [UNKNOWN, UNKNOWN]


def _epoch_of(row: list[Any]) -> int:
    """Return what Keras said; sessions of earlier versions have nothing."""
    return row[7] if len(row) > 7 else UNKNOWN


def _traced(waits: BatchWaits) -> list[tuple[Any, ...]]:
    return [
        (number, epoch, start_ns, end_ns, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, FROM_TRACE)
        for number, (start_ns, end_ns, epoch) in enumerate(waits.steps)
    ]


def _waits(owner: ProcessData) -> BatchWaits | None:
    from tfdarshan.sessions.traces.tf_steps import input_waits, trace_beside

    found = trace_beside(owner)
    try:
        waits = None if found is None else input_waits(*found)
    except SessionDataError:  # moved or deleted: what was marked is known all the same
        return None
    # A job that asks for batches by other means, such as NumPy's arrays, may wait for them all the same.
    return waits if waits is not None and len(waits.start_ns) else None


def _traced_until_ns(processes: Sequence[ProcessData]) -> float:
    """Return until when each call has a segment, of all processes; infinite if none lacks one.

    A session made of TensorFlow's trace has the longest calls of all of its time, and says no such moment.
    """
    cut = [meta for meta in (process.meta for process in processes) if _lacks_segments(meta["counts"])]
    return min(map(_first_untraced_ns, cut), default=math.inf)


def _lacks_segments(counts: dict[str, Any]) -> bool:
    return int(counts["segments"]) < int(counts["events"])


def _first_untraced_ns(meta: dict[str, Any]) -> float:
    first_ns = meta["time"].get("first_dropped_ns")
    if first_ns is not None and first_ns >= 0:
        return float(meta["start_ns"] + first_ns)
    return math.inf if meta["counts"]["segments"] else -math.inf


def _io(processes: Sequence[ProcessData], start_ns: Array, end_ns: Array) -> dict[str, Array]:
    """Return the steps' I/O: a call belongs to the step it began in, its time to all that it reaches into."""
    if len(start_ns) == 0:
        return dict.fromkeys(("io_ns", "bytes_read", "bytes_written", "operations"), start_ns)
    tables = [_calls(process) for process in processes]
    begins, ends, read, written = (np.concatenate(arrays) for arrays in zip(*tables, strict=True))
    order = np.argsort(begins, kind="stable")
    first, last = (np.searchsorted(begins[order], at) for at in (start_ns, end_ns))
    sums = {
        name: np.concatenate([[0], np.cumsum(values[order])])
        for name, values in (("bytes_read", read), ("bytes_written", written))
    }
    return {
        "io_ns": _covered_between(begins, ends, start_ns, end_ns),
        **{name: values[last] - values[first] for name, values in sums.items()},
        "operations": last - first,
    }


def _fault_ns(processes: Sequence[ProcessData], start_ns: Array, end_ns: Array) -> Array:
    """Return the time of each step in which a thread was in a page fault on a mapped file."""
    begins, ends = fault_times(processes)
    if not len(begins):
        return np.full(len(start_ns), 0 if _had_no_fault(processes) else UNKNOWN, np.int64)
    return _covered_between(begins, ends, start_ns, end_ns)


def fault_times(processes: Sequence[ProcessData]) -> tuple[Array, Array]:
    """Return when page faults on mapped files began and ended, in ns, as far as they were kept one by one.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    kept = [process for process in processes if "faults" in process.meta["tables"]]
    tables = [process.table("faults", ["start_ns", "end_ns"]) for process in kept]
    begins, ends = (
        np.concatenate([np.zeros(0, np.int64), *(table[name].to_numpy() for table in tables)])
        for name in ("start_ns", "end_ns")
    )
    return begins, ends


def _had_no_fault(processes: Sequence[ProcessData]) -> bool:
    """Return whether mapped files were watched, and there was no page fault on any; no table has one."""
    asked = any(process.meta.get("options", {}).get("mapped") is True for process in processes)
    blocks = [process.meta["mapping"] for process in processes if process.meta.get("mapping")]
    return (asked or bool(blocks)) and all(
        block["watch"] == "watched" and block.get("faults_left_out") == 0 for block in blocks
    )


def _calls(process: ProcessData) -> tuple[Array, Array, Array, Array]:
    columns = ["start_ns", "end_ns", "operation", "length"]
    table = process.table("events", columns).unify_dictionaries()
    classes = {operation["name"]: operation["io_class"] for operation in process.operations}
    operation = table["operation"].combine_chunks()
    known = np.array([classes[name] for name in operation.dictionary.to_pylist()] or ["meta"])
    io_class = known[operation.indices.to_numpy()]
    length = table["length"].to_numpy()
    read, written = (np.where(io_class == name, length, 0) for name in ("read", "write"))
    return table["start_ns"].to_numpy(), table["end_ns"].to_numpy(), read, written
