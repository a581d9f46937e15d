"""A session's input, measured once: what findings, tab, report, what-if and the staging advice all go by.

Which files are input, how often they were read, what of it storage served, how many readers there are, what
steps waited for: each has its one rule below this module, and is asked here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from tfdarshan.analysis.calls.call_kinds import CallGroup
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.reader_count import untraced_readers
from tfdarshan.analysis.calls.segments import Thread
from tfdarshan.analysis.calls.wall_clock import WallClock
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.rereads import Rereads, epochs_of, rereads
from tfdarshan.analysis.steps.input_pipeline import InputPipeline
from tfdarshan.analysis.steps.step_model import StepModel
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.analysis.storage.file_costs import FileCosts, counted_costs
from tfdarshan.analysis.storage.storage_share import fetched_bytes, fetched_in_steps
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import pipelines_of
from tfdarshan.sessions.machine_facts import machine_of
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.sessions.step_table import marked_columns

PAGE_BYTES = 4096
# Memory is for other things, too: the page cache keeps what takes half of it.
KEPT_PART = 0.5
# The kernel counts what is fetched for these only.
BLOCK_FILE_SYSTEMS = frozenset(("ext2", "ext3", "ext4", "xfs", "btrfs", "f2fs"))


@dataclass(frozen=True)
class InputFigures:
    """What is known of a session's input. Sums are over all units of `model`.

    Attributes:
        files: One row per path.
        is_input: Which of its rows are input, bool.
        windows: The steps, None if there are none.
        pipeline: The calls on input files within the steps.
        calls: These by kind. Where the trace was cut short they are scaled up to all calls; where there is
            none, they are what the counters say: all reads as "read", and opens, closes, stats as "other".
        costs: What they cost file by file; where some calls have no segment, what the counters say.
        model: The time model.
        stored_bytes: What the kernel fetched from storage; None where it does not count the input's file
            systems, or does not say, or storage was emulated.
        pass_bytes: What a pass over each file moves, by row, 0 where that is unknown; None: unknown of all.
    """

    files: FileTable
    is_input: Array
    windows: StepWindows | None
    pipeline: InputPipeline
    calls: dict[str, CallGroup]
    costs: FileCosts
    model: StepModel
    stored_bytes: int | None
    pass_bytes: Array | None = None

    @cached_property
    def rereads(self) -> Rereads:
        """How often the input was read: by the counters, which have all calls, and by where reads lie."""
        return rereads(self.files, self.is_input, self.pass_bytes)

    @cached_property
    def epochs(self) -> float:
        """How many epochs the job read its input for."""
        return epochs_of(self.files, self.is_input)


def measure_input(
    processes: Sequence[ProcessData],
    files: FileTable,
    is_input: Array,
    pipeline: InputPipeline,
    windows: StepWindows | None,
    clock: WallClock,
    pass_bytes: Array | None = None,
) -> InputFigures:
    """Measure the input.

    Args:
        processes: The session's processes, the owner first.
        files: Their files.
        is_input: Which of its rows are input.
        pipeline: What one look at their calls gave.
        windows: The steps, None if there are none.
        clock: The session's times.
        pass_bytes: What a pass over each file moves, by row, 0 where that is unknown; None: unknown of all.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    metas = [process.meta for process in processes]
    made, kept = (sum(int(meta["counts"][name]) for meta in metas) for name in ("events", "segments"))
    imported = "darshan" in metas[0]
    calls, costs = pipeline.calls, pipeline.costs
    if imported or (kept == 0 and made):
        calls = _counted(files.rows[is_input])
    elif kept < made:
        calls = {name: group.scaled(made / kept) for name, group in calls.items()}
    if kept == 0:
        costs = counted_costs(files, is_input)
    elif kept < made and not imported:
        costs = counted_costs(files, is_input, pipeline.costs)
    if kept == 0:
        readers = dataclasses.replace(pipeline.readers, readers=untraced_readers(processes))
        pipeline = dataclasses.replace(pipeline, readers=readers)
    stored = _stored_bytes(processes, files, costs)
    machine = machine_of(metas[0])
    busy = None if machine.cpu_s is None else machine.cpu_s / max(machine.span_s, 1e-9)
    handed_s = windows.handed_s if windows is not None and pipelines_of(metas[0]) else 0.0
    model = _model(clock, windows, pipeline, calls, busy, handed_s)
    if 0 < kept < made and not imported and windows is not None and windows.wait_s is not None:
        # The readers were as busy in the calls that the trace lacks.
        model = dataclasses.replace(model, busy_share=min(1.0, model.busy_share * made / kept))
    size = files.rows["size_bytes"].to_numpy()
    memory_bytes = machine.memory_bytes or 0
    keeps = float(np.maximum(size, 0)[is_input].sum()) <= KEPT_PART * memory_bytes
    costs = costs.fetched(stored, size, _program_bytes(processes), memory_keeps=keeps)
    return InputFigures(files, is_input, windows, pipeline, calls, costs, model, stored, pass_bytes)


def loop_thread(owner: ProcessData) -> Callable[[Thread], bool]:
    """Return what says of a thread whether it is the owner's main one, whose id is its process's.

    Training loops run there. A Darshan log says of no thread whether it is the main one: those that it does
    not tell apart all have the process's number.
    """
    if "darshan" in owner.meta:
        return lambda _: False
    host, pid = owner.meta["host"], owner.pid
    return lambda thread: thread.tid == thread.pid == pid and thread.host == host


def _stored_bytes(processes: Sequence[ProcessData], files: FileTable, costs: FileCosts) -> int | None:
    metas = [process.meta for process in processes]
    kinds = files.rows["fs_type"].cat
    used = np.unique(kinds.codes.to_numpy()[costs.read_bytes > 0])
    counts = {str(kinds.categories[code]) for code in used.tolist()} <= BLOCK_FILE_SYSTEMS
    fetched = fetched_bytes(metas) if counts else None
    if fetched is None or len(metas) > 1:
        return fetched
    size = files.rows["size_bytes"].to_numpy()[(costs.read_bytes > 0)]
    size = size[size > 0].astype(np.float64)
    pages = float((np.ceil(size / PAGE_BYTES) * PAGE_BYTES).sum())
    in_steps = fetched_in_steps(marked_columns(processes[0]), pages / max(float(size.sum()), 1.0))
    return fetched if in_steps is None else min(fetched, in_steps)


def _program_bytes(processes: Sequence[ProcessData]) -> float:
    """Return what was read of files that the recording leaves out, outside of steps: modules, mostly.

    Steps' own figures of what storage was asked for leave the start out.
    """
    for process in processes:
        steps = marked_columns(process)
        if ((steps["rchar"] >= 0) & (steps["read_bytes"] >= 0)).any():
            return 0.0
    metas = (process.meta for process in processes)
    return float(sum(meta.get("other", {}).get("excluded", {}).get("bytes_read", 0) for meta in metas))


def _counted(rows: pd.DataFrame) -> dict[str, CallGroup]:
    """Return calls by the counters alone: times are summed over files."""
    sums = {name: float(rows[name].sum()) for name in ("reads", "bytes_read", "read_s", "meta_s")}
    others = float((rows["opens"] + rows["stats"]).sum())
    return {
        "read": CallGroup(sums["reads"], sums["bytes_read"], sums["read_s"], 0.0),
        "other": CallGroup(others, 0.0, sums["meta_s"], 0.0),
    }


def _model(
    clock: WallClock,
    windows: StepWindows | None,
    pipeline: InputPipeline,
    calls: dict[str, CallGroup],
    busy: float | None,
    handed_s: float,
) -> StepModel:
    beside_s = sum(group.beside_s for group in calls.values())
    within_s = sum(group.within_s for group in calls.values())
    readers = pipeline.readers
    if windows is None:
        whole_s = max(clock.duration_s, 1e-9)
        union_s = pipeline.union_s if pipeline.made else (clock.read_s or beside_s)
        most_s = min(max(union_s - within_s, 0.0), whole_s)
        # What the loop's own thread does in calls is not the pipeline's.
        return StepModel(
            unit="session", units=1, unit_s=whole_s, wait_s=None, most_wait_s=most_s, overlap=0.0,
            storage_s=min(beside_s / readers.readers, whole_s), readers=readers.readers,
            busy_share=min(1.0, (beside_s + within_s) / readers.readers / whole_s),
        )  # fmt: skip
    count = len(windows.start_ns)
    unit_s = max(windows.step_s, 1e-9)
    wait_s = None if windows.wait_s is None else windows.wait_s / count
    most_s = wait_s if wait_s is not None else min(unit_s, pipeline.union_s / count)
    return StepModel(
        unit="step", units=count, unit_s=unit_s, wait_s=wait_s, most_wait_s=most_s,
        overlap=pipeline.overlap, storage_s=min(beside_s / readers.readers / count, unit_s),
        readers=readers.readers,
        busy_share=min(1.0, (beside_s + within_s) / readers.readers / count / unit_s)
        if wait_s is None else readers.busy_share,
        cpu_s=None if busy is None else busy * unit_s, handed_s=handed_s,
    )  # fmt: skip
