"""The ranks of a joint session, a row each: what each read, how long that took, what its steps waited."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.wall_clock import measure_wall_clock
from tfdarshan.analysis.files.file_table import NO_FILE, GroupedFiles
from tfdarshan.analysis.files.input_files import never_input
from tfdarshan.analysis.steps.step_windows import step_windows
from tfdarshan.sessions.joint_session import Rank
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.step_table import step_columns
from tfdarshan.thresholds import THRESHOLD

# A file counts as read whole so many times if the bytes read are within this of that.
WHOLE = THRESHOLD["rarely"]
# Of a rank's files, so many may stall without the rank being slow.
STALL = THRESHOLD["hardly"]
# Of such file systems all hosts see the same files.
SHARED = ("nfs", "lustre", "gpfs", "beegfs", "ceph", "fuse", "cifs", "smb", "9p", "afs", "pvfs", "orangefs")


@dataclass(frozen=True)
class MountFigures:
    """What a rank did with input files on one mount.

    Attributes:
        point: The mount point.
        calls: Reads and opens.
        bytes_read: Bytes.
        call_s: Seconds in these, added up over the files.
    """

    point: str
    calls: int
    bytes_read: int
    call_s: float


@dataclass(frozen=True)
class RankFigures:
    """One rank. Seconds are of its own clock, so that no other's has to agree with it.

    Attributes:
        rank: Its number.
        host: Where it ran.
        processes: Its processes with data.
        duration_s: How long it recorded.
        files: Input files that it read.
        bytes_read: Bytes that it read of all files.
        bytes_written: Bytes that it wrote.
        input_bytes: Bytes that it read of input files.
        input_calls: Reads and opens of these.
        input_s: Seconds in calls on these, added up over its files.
        steady_s: The same without the files that took longest, STALL of all.
        io_s: Seconds in which at least one of its calls was running, None if unknown.
        steps: How many steps it marked.
        step_s: A step of it, mean; None without steps.
        wait_s: What a step of it waited for input, mean; None if unknown.
        clock: How its clock was put on that of the first rank.
        clock_error_s: By how much that may be off, None if nobody knows.
        clock_offset_s: What is added to its times to put them on the first rank's clock.
        mounts: What it did with input files on each mount.
    """

    rank: int
    host: str
    processes: int
    duration_s: float
    files: int
    bytes_read: int
    bytes_written: int
    input_bytes: int
    input_calls: int
    input_s: float
    io_s: float | None
    steps: int
    step_s: float | None
    wait_s: float | None
    clock: str
    clock_error_s: float | None
    mounts: tuple[MountFigures, ...] = ()
    clock_offset_s: float = 0.0
    steady_s: float = 0.0

    @property
    def units(self) -> int:
        """Its steps, 1 without any: what its sums are divided by to be compared with another rank's."""
        return max(self.steps, 1)


@dataclass(frozen=True)
class SharedReads:
    """Whether ranks read the same input.

    Attributes:
        ranks: Ranks of which each read all of the input as often as the others, file by file.
        bytes_once: Bytes of that input, each byte once.
        bytes_read: Bytes that these ranks read of it.
        passes: How often each of these ranks read each file.
    """

    ranks: tuple[int, ...]
    bytes_once: int
    bytes_read: int
    passes: int


@dataclass(frozen=True)
class RankTable:
    """All ranks that have written, by number; `leading` is the one that findings are of."""

    ranks: tuple[RankFigures, ...]
    leading: int
    world_size: int | None
    shared: SharedReads | None

    @property
    def leader(self) -> RankFigures:
        """The leading rank's row."""
        return next(row for row in self.ranks if row.rank == self.leading)

    @property
    def others(self) -> tuple[RankFigures, ...]:
        """The rest."""
        return tuple(row for row in self.ranks if row.rank != self.leading)


def rank_table(session: SessionData, files: GroupedFiles | None) -> RankTable | None:
    """Measure each rank; None for a session that has none.

    Args:
        session: The session.
        files: Its files tables, a group each rank, the leading one first: `SessionFiles.grouped`.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    joint = session.joint
    if joint is None or files is None:
        return None
    ranks = joint.leading_first
    inputs = files.chosen(_is_read_input(files))
    figures = [_figures(rank, place, files, inputs) for place, rank in enumerate(ranks)]
    by_number = tuple(sorted(figures, key=lambda row: row.rank))
    return RankTable(by_number, joint.leading.rank, joint.world_size, _shared(ranks, inputs))


def _is_read_input(files: GroupedFiles) -> Array:
    """Return which rows are input, as `input_files` does of one table, that was read."""
    columns = files.columns
    written = (columns["bytes_written"] != 0) | (columns["writes"] != 0)
    others = never_input(files.paths)[files.path]
    return (columns["bytes_read"] > 0) & ~others & (~written | (files.path == NO_FILE))


def _figures(rank: Rank, place: int, files: GroupedFiles, inputs: GroupedFiles) -> RankFigures:
    clock = measure_wall_clock(rank.processes)
    windows = step_windows(step_columns(rank.processes))
    wait_s = None if windows is None else windows.wait_s
    steps = 0 if windows is None else len(windows.start_ns)
    rows, chosen = files.rows_of(place), inputs.rows_of(place)
    return RankFigures(
        rank=rank.rank,
        host=rank.host,
        processes=len(rank.processes),
        duration_s=clock.duration_s,
        files=chosen.stop - chosen.start,
        bytes_read=int(files.columns["bytes_read"][rows].sum()),
        bytes_written=int(files.columns["bytes_written"][rows].sum()),
        input_bytes=int(inputs.columns["bytes_read"][chosen].sum()),
        input_calls=int(inputs.columns["reads"][chosen].sum() + inputs.columns["opens"][chosen].sum()),
        input_s=float(inputs.columns["time_s"][chosen].sum()),
        io_s=clock.io_s,
        steps=steps,
        step_s=None if windows is None else windows.span_s / steps,
        wait_s=None if wait_s is None else wait_s / steps,
        clock=rank.method,
        clock_error_s=None if rank.error_ns is None else rank.error_ns / 1e9,
        mounts=_mounts(inputs, chosen),
        clock_offset_s=rank.offset_ns / 1e9,
        steady_s=_steady_s(inputs.columns["time_s"][chosen]),
    )


def _steady_s(times_s: Array) -> float:
    kept = len(times_s) - int(STALL * len(times_s))
    return float(np.sort(times_s)[:kept].sum())


def _mounts(inputs: GroupedFiles, chosen: slice) -> tuple[MountFigures, ...]:
    points = inputs.columns["mount_point"]
    columns = {name: inputs.columns[name][chosen] for name in ("reads", "opens", "bytes_read", "time_s")}
    calls, read, call_s = columns["reads"] + columns["opens"], columns["bytes_read"], columns["time_s"]
    place = points.codes[chosen]
    found = []
    for code in np.unique(place).tolist():
        on_it = place == code
        moved = int(calls[on_it].sum()), int(read[on_it].sum()), float(call_s[on_it].sum())
        found.append(MountFigures(str(points.categories[code]), *moved))
    return tuple(sorted((mount for mount in found if mount.point), key=lambda mount: mount.point))


def _shared(ranks: Sequence[Rank], inputs: GroupedFiles) -> SharedReads | None:
    """Find ranks that each read all of the input, every file of it equally often.

    Ranks with a part each, and others in each epoch, come to read all of it too, but not equally often.
    """
    rows = inputs.chosen(inputs.columns["size_bytes"] > 0)
    read, size = rows.columns["bytes_read"], rows.columns["size_bytes"]
    if len(size) == 0:
        return None
    whole = _bytes_once(ranks, rows)
    passes: dict[int, int] = {}
    for place in np.flatnonzero(np.diff(rows.bounds)).tolist():
        own = rows.rows_of(place)
        times = read[own] / size[own]
        count = round(float(np.median(times)))
        even = np.abs(times - count) <= WHOLE
        if count >= 1 and int(size[own][even].sum()) >= (1 - WHOLE) * whole:
            passes[place] = count
    counts = list(passes.values())
    usual = max(set(counts), key=counts.count, default=0)
    same = [place for place, count in passes.items() if count == usual]
    if len(same) < 2:
        return None
    numbers = tuple(sorted(ranks[place].rank for place in same))
    return SharedReads(numbers, whole, sum(int(read[rows.rows_of(place)].sum()) for place in same), usual)


def _bytes_once(ranks: Sequence[Rank], rows: GroupedFiles) -> int:
    """Add up the sizes of the files, each once; one of a host's own disk is no other host's."""
    kinds = rows.columns["fs_type"]
    seen_by_all = np.array([kind.startswith(SHARED) for kind in kinds.categories])[kinds.codes]
    hosts = {rank.boot_id: number for number, rank in enumerate(ranks, 1)}
    host = np.repeat([hosts[rank.boot_id] for rank in ranks], np.diff(rows.bounds))
    keys = np.where(seen_by_all, 0, host) * len(rows.paths) + rows.path
    _, file = np.unique(keys, return_inverse=True)
    size = np.zeros(file.max() + 1, np.int64)
    np.maximum.at(size, file, rows.columns["size_bytes"])
    return int(size.sum())


def without_names(table: RankTable, folder: Callable[[str], str]) -> RankTable:
    """Return the table with numbers in place of the hosts' names.

    Args:
        table: The ranks.
        folder: Gives what stands in place of a mount point.
    """

    def hidden(mounts: tuple[MountFigures, ...]) -> tuple[MountFigures, ...]:
        return tuple(dataclasses.replace(mount, point=folder(mount.point)) for mount in mounts)

    hosts = list(dict.fromkeys(row.host for row in table.ranks))
    rows = tuple(
        dataclasses.replace(row, host=f"host {hosts.index(row.host) + 1}", mounts=hidden(row.mounts))
        for row in table.ranks
    )
    return dataclasses.replace(table, ranks=rows)
