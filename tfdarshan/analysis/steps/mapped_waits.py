"""Who waited in page faults on mapped data files, when, and in what order pages were touched.

Single faults say that, as far as they were kept; what was not seen, or found no room, is taken to be like the
rest. Faults that only map a page of the page cache are no waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from tfdarshan.analysis.calls.intervals import Array, covered
from tfdarshan.analysis.calls.segments import Thread
from tfdarshan.analysis.files.input_files import program_files
from tfdarshan.analysis.files.mapped_reads import MappedFile, rows_of
from tfdarshan.analysis.steps.step_windows import StepWindows
from tfdarshan.sessions.process_data import ProcessData
from tfdarshan.thresholds import THRESHOLD

COLUMNS = ("start_ns", "end_ns", "tid", "file", "offset")
# A fault that took longer waited for storage, or for a read of it that was under way.
WAITED_NS = round(1e9 * THRESHOLD["page fault"])
# The next fault of a thread in a file that lies further away than this is out of order.
JUMP_BYTES = int(THRESHOLD["read ahead"])
PAGE_BYTES = 4096
# What one fault can map of pages that are there already: 64 KiB around it.
AROUND_PAGES = 16

# A row of the files table, and what it says.
Row = tuple[dict[str, Any], MappedFile]


@dataclass
class FileWaits:
    """A mapped data file, of all processes. Times in seconds, added up over threads.

    Attributes:
        path: Its name.
        mount_point, fs_type: Where it lies, "" if unknown.
        format: What it is, "" if unknown: see `recording.writing.file_format`.
        size_bytes: Its size, -1 if unknown.
        bytes_in: What came into the page cache; None if unknown.
        wait_s: In faults that waited, within the steps.
        waits: How many these are.
        quick: Faults within the steps that found their page in the page cache.
        jumps: Of `waits`, those that are out of order.
        touched_bytes: What was touched of it, at most, as far as faults show it, in the whole session.
    """

    path: str
    mount_point: str
    fs_type: str
    format: str
    size_bytes: int
    bytes_in: int | None
    wait_s: float = 0.0
    waits: float = 0.0
    quick: float = 0.0
    jumps: float = 0.0
    touched_bytes: float = 0.0


@dataclass
class MappedWaits:
    """All of a session's. Times are added up over threads, of the time within the steps.

    Attributes:
        files: The files, those that were waited for longest first.
        beside_s: What the pipeline's threads waited in faults, and the training loop's within its waits.
        within_s: What the training loop's own thread waited in faults outside of its waits.
        readers: Threads that wait in faults at a time; those that wait less count less.
        kept: Whether single faults are known.
    """

    files: list[FileWaits] = field(default_factory=list)
    beside_s: float = 0.0
    within_s: float = 0.0
    readers: float = 1.0
    kept: bool = False

    @property
    def wait_s(self) -> float:
        """All of it."""
        return self.beside_s + self.within_s

    @property
    def waits(self) -> float:
        """Faults that waited, within the steps."""
        return sum(one.waits for one in self.files)


@dataclass(frozen=True)
class _Faults:
    """A process's faults on data files in order of start; `scale` is what each stands for."""

    start_ns: Array
    end_ns: Array
    tid: Array
    file: Array
    offset: Array
    scale: float


def mapped_waits(
    processes: Sequence[ProcessData],
    windows: StepWindows | None,
    is_loop: Callable[[Thread], bool],
) -> MappedWaits:
    """Measure them.

    Args:
        processes: The session's.
        windows: The steps, None if there are none.
        is_loop: Says which thread runs the training loop.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    found, by_path = MappedWaits(), dict[str, FileWaits]()
    threads: list[float] = []
    times: list[tuple[Array, Array]] = []
    for process in processes:
        rows = list(rows_of(process))
        files = _data_files(process, rows, by_path)
        faults = _faults(process, files, rows)
        if faults is None:
            continue
        found.kept = True
        _add_touched(faults, files, rows)
        faults = _within_steps(faults, windows)
        _add_files(faults, files)
        waited = faults.end_ns - faults.start_ns > WAITED_NS
        times.append((faults.start_ns[waited], faults.end_ns[waited]))
        for tid in np.unique(faults.tid[waited]).tolist():
            chosen = waited & (faults.tid == tid)
            start, end = faults.start_ns[chosen], faults.end_ns[chosen]
            all_s = float((end - start).sum()) / 1e9 * faults.scale
            if is_loop(Thread(process.meta["host"], process.pid, tid, "")):
                own_s = float(_in_waits(start, end, windows).sum()) / 1e9 * faults.scale
                found.within_s += all_s - own_s
                threads.append(own_s)
            else:
                threads.append(all_s)
    waits_s = np.array(threads)
    found.beside_s = float(waits_s.sum())
    if found.beside_s > 0:
        alike = found.beside_s**2 / float((waits_s**2).sum())
        found.readers = max(1.0, min(alike, _at_a_time(times)))
    found.files = sorted(by_path.values(), key=lambda one: (-one.wait_s, one.path))
    return found


def _at_a_time(times: Sequence[tuple[Array, Array]]) -> float:
    """Return how many threads wait while any does: those of a pool may take turns."""
    start_ns, end_ns = (np.concatenate(part) for part in zip(*times, strict=True))
    union = covered(start_ns, end_ns)
    return float((end_ns - start_ns).sum() / (union.end_ns - union.start_ns).sum())


def _data_files(
    process: ProcessData, rows: Sequence[Row], by_path: dict[str, FileWaits]
) -> dict[int, FileWaits]:
    """Return the process's mapped files that are no program's, by their ids, and add them to `by_path`."""
    programs = program_files(pa.array([one.path for _, one in rows], pa.string()))
    formats = process.meta.get("mapping", {}).get("formats", {})
    files = {}
    for (row, one), program in zip(rows, programs.tolist(), strict=True):
        if program:
            continue
        mount_point, fs_type = str(row["mount_point"]), str(row["fs_type"])
        joined = by_path.setdefault(
            one.path, FileWaits(one.path, mount_point, fs_type, "", one.size_bytes, None)
        )
        joined.format = joined.format or formats.get(one.path, "")
        known = [value for value in (joined.bytes_in, one.bytes_in) if value is not None]
        joined.bytes_in = max(known, default=None)
        files[int(row["file"])] = joined
    return files


def _faults(process: ProcessData, files: dict[int, FileWaits], rows: Sequence[Row]) -> _Faults | None:
    """Read a process's faults on some files; None where none was kept."""
    if "faults" not in process.meta["tables"]:
        return None
    table = process.table("faults", COLUMNS)
    columns = {name: table[name].to_numpy() for name in COLUMNS}
    kept_s = float((columns["end_ns"] - columns["start_ns"]).sum()) / 1e9
    all_s = sum(one.wait_s or 0.0 for _, one in rows)
    scale = max(1.0, all_s / kept_s if kept_s > 0 else 1.0)
    chosen = np.isin(columns["file"], list(files))
    return _Faults(**{name: values[chosen] for name, values in columns.items()}, scale=scale)


def _within_steps(faults: _Faults, windows: StepWindows | None) -> _Faults:
    if windows is None:
        return faults
    first_ns, last_ns = windows.span_ns
    inside = (faults.start_ns >= first_ns) & (faults.start_ns < last_ns)
    columns = {name: getattr(faults, name)[inside] for name in COLUMNS}
    return _Faults(**columns, scale=faults.scale)


def _in_waits(start_ns: Array, end_ns: Array, windows: StepWindows | None) -> Array:
    """Return how long of each fault the training loop waited for input, in ns."""
    if windows is None or windows.wait_end_ns is None:
        return np.zeros(len(start_ns), np.int64)
    return covered(windows.start_ns, windows.wait_end_ns).within(start_ns, end_ns)


def _by_file(faults: _Faults, files: dict[int, FileWaits]) -> Iterator[tuple[FileWaits, Array]]:
    for file in np.unique(faults.file).tolist():
        if file in files:
            yield files[file], np.flatnonzero(faults.file == file)


def _add_files(faults: _Faults, files: dict[int, FileWaits]) -> None:
    for one, places in _by_file(faults, files):
        took_ns = faults.end_ns[places] - faults.start_ns[places]
        waited = took_ns > WAITED_NS
        jumps = waited & _is_jump(faults, places)
        one.waits += float(waited.sum()) * faults.scale
        one.quick += float((~waited).sum()) * faults.scale
        one.wait_s += float(took_ns[waited].sum()) / 1e9 * faults.scale
        one.jumps += float(jumps.sum()) * faults.scale


def _is_jump(faults: _Faults, places: Array) -> Array:
    """Return which faults of a file lie far from the one before of the same thread."""
    order = np.argsort(faults.tid[places], kind="stable")
    tid, offset = faults.tid[places][order], faults.offset[places][order]
    far = np.ones(len(order), bool)
    far[1:] = (np.diff(tid) != 0) | (np.abs(np.diff(offset)) > JUMP_BYTES)
    jumps = np.zeros(len(order), bool)
    jumps[order] = far
    return jumps


def _add_touched(faults: _Faults, files: dict[int, FileWaits], rows: Sequence[Row]) -> None:
    """Add what was touched at most; tables of before do not say it, but their faults do.

    The first fault after a jump maps one page; each that follows, up to 64 KiB of what is there already.
    """
    told = {int(row["file"]): one.bytes_touched for row, one in rows if one.bytes_touched is not None}
    for file, one in files.items():
        one.touched_bytes += told.get(file, 0.0)
    for one, places in _by_file(faults, {file: one for file, one in files.items() if file not in told}):
        jumps = int(_is_jump(faults, places).sum())
        pages = jumps + AROUND_PAGES * (len(places) - jumps)
        one.touched_bytes += pages * PAGE_BYTES * faults.scale
