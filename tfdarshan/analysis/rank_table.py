"""The ranks of a joint session, a row each: what each read, how long that took, what its steps waited."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from tfdarshan.analysis.file_table import FileTable, load_files
from tfdarshan.analysis.input_files import input_files
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.step_windows import step_windows
from tfdarshan.analysis.wall_clock import measure_wall_clock
from tfdarshan.sessions.joint_session import Rank
from tfdarshan.sessions.step_table import step_marks

if TYPE_CHECKING:
    from tfdarshan.sessions.session_data import SessionData

# A file counts as read whole so many times if the bytes read are within this of that.
WHOLE = 0.05
# Of a rank's files, one of so many may stall without the rank being slow.
SLOWEST_OF = 20
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
        steady_s: The same without the files that took longest, one of SLOWEST_OF.
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


def rank_table(session: SessionData) -> RankTable | None:
    """Measures each rank; None for a session that has none.

    Raises:
        SessionDataError: A table is damaged or missing.
    """
    joint = session.joint
    if joint is None:
        return None
    figures, inputs = [], []
    for rank in joint.ranks:
        files = load_files(rank.processes)
        chosen = files.rows[input_files(files) & (files.rows["bytes_read"] > 0).to_numpy(bool)]
        figures.append(_figures(rank, files, chosen))
        inputs.append(_inputs(rank, chosen))
    return RankTable(tuple(figures), joint.leading.rank, joint.world_size, _shared(inputs))


def _figures(rank: Rank, files: FileTable, chosen: pd.DataFrame) -> RankFigures:
    clock = measure_wall_clock(rank.processes)
    windows = step_windows(step_marks(rank.processes))
    wait_s = None if windows is None else windows.wait_s
    steps = 0 if windows is None else len(windows.start_ns)
    return RankFigures(
        rank=rank.rank,
        host=rank.host,
        processes=len(rank.processes),
        duration_s=clock.duration_s,
        files=len(chosen),
        bytes_read=int(files.rows["bytes_read"].sum()),
        bytes_written=int(files.rows["bytes_written"].sum()),
        input_bytes=int(chosen["bytes_read"].sum()),
        input_calls=int(chosen["reads"].sum() + chosen["opens"].sum()),
        input_s=float(chosen["time_s"].sum()),
        io_s=clock.io_s,
        steps=steps,
        step_s=None if windows is None else windows.span_s / steps,
        wait_s=None if wait_s is None else wait_s / steps,
        clock=rank.method,
        clock_error_s=None if rank.error_ns is None else rank.error_ns / 1e9,
        mounts=tuple(_mounts(chosen)),
        clock_offset_s=rank.offset_ns / 1e9,
        steady_s=_steady_s(chosen["time_s"].to_numpy(float)),
    )


def _steady_s(times_s: Array) -> float:
    kept = len(times_s) - len(times_s) // SLOWEST_OF
    return float(np.sort(times_s)[:kept].sum())


def _mounts(chosen: pd.DataFrame) -> Iterator[MountFigures]:
    for point, rows in chosen.groupby("mount_point", observed=True, sort=True):
        if point:
            calls = int(rows["reads"].sum() + rows["opens"].sum())
            yield MountFigures(str(point), calls, int(rows["bytes_read"].sum()), float(rows["time_s"].sum()))


def _inputs(rank: Rank, chosen: pd.DataFrame) -> pd.DataFrame:
    """Gives what a rank read of each input file; one of a host's own disk is no other host's."""
    kinds = chosen["fs_type"].astype(str)
    own = ~kinds.str.startswith(SHARED).to_numpy(bool)
    place = np.where(own, rank.boot_id, "")
    return pd.DataFrame(
        {
            "rank": rank.rank,
            "file": chosen["path"].astype(object).to_numpy(),
            "place": place,
            "bytes": chosen["bytes_read"].to_numpy(),
            "size": chosen["size_bytes"].to_numpy(),
        }
    )


def _shared(inputs: list[pd.DataFrame]) -> SharedReads | None:
    """Finds ranks that each read all of the input, every file of it equally often.

    Ranks with a part each, and others in each epoch, come to read all of it too, but not equally often.
    """
    rows = pd.concat(inputs, ignore_index=True)
    rows = rows[rows["size"] > 0]
    if rows.empty:
        return None
    sizes = rows.groupby(["place", "file"], sort=False)["size"].max()
    whole = int(sizes.sum())
    passes: dict[int, int] = {}
    for rank, own in rows.groupby("rank", sort=True):
        times = (own["bytes"] / own["size"]).to_numpy()
        count = round(float(np.median(times)))
        even = np.abs(times - count) <= WHOLE
        if count >= 1 and int(own["size"].to_numpy()[even].sum()) >= (1 - WHOLE) * whole:
            passes[int(rank)] = count
    usual = max(set(passes.values()), key=list(passes.values()).count, default=0)
    same = tuple(rank for rank, count in passes.items() if count == usual)
    if len(same) < 2:
        return None
    read = int(rows["bytes"][rows["rank"].isin(same)].sum())
    return SharedReads(same, whole, read, usual)


def without_names(table: RankTable, folder: Callable[[str], str]) -> RankTable:
    """Gives the table with numbers in place of the hosts' names.

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
