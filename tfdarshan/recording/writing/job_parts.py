"""The parts of a session: one, or one for each rank of a job that one process records.

A rank has a folder with metadata of its own, as if it had recorded itself. A process that only starts ranks
is in the first one's.
"""

from __future__ import annotations

import resource
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from tfdarshan.durable.durable_file import sync_folder
from tfdarshan.frameworks.batch_rows import ProcessRows
from tfdarshan.frameworks.noted import training_processes
from tfdarshan.recording.clock_sample import clock_sample
from tfdarshan.recording.job_identity import JobIdentity
from tfdarshan.recording.writing.children import Child
from tfdarshan.sessions.rank_folder import rank_folder
from tfdarshan.sessions.session_directory import Marker

# Who started the ranks of a session that one process recorded.
LAUNCHER = "processes"


@dataclass(frozen=True)
class Part:
    """What is written into one folder.

    Attributes:
        directory: Where it goes.
        marker: What the metadata is made of.
        trainer: The process that it is about; None if that is the recorder.
        children: The other processes that go there, but for the recorder.
        rows: What that process noted of steps and batches; None if it noted nothing.
        share: What of the job's processor time is its.
        has_launcher: The recorder goes there, too, and only started ranks.
    """

    directory: Path
    marker: Marker
    trainer: Child | None
    children: list[Child]
    rows: ProcessRows | None = None
    share: float = 1.0
    has_launcher: bool = False

    @property
    def pid(self) -> int:
        """The number of the process that it is about."""
        known = self.trainer.identity if self.trainer is not None else None
        return self.marker.pid if known is None else known.pid


def parts_of_job(
    directory: Path, marker: Marker, children: Sequence[Child], processes: Sequence[ProcessRows]
) -> list[Part]:
    """Return the parts of a session, the first rank's first.

    Args:
        directory: The session directory to write into.
        marker: What the marker says.
        children: The processes beside the recorder.
        processes: What they noted of their steps and batches.
    """
    # What the recorder became by exec has its number.
    by_pid = {pid: child for child in children if (pid := _pid(child)) not in (-1, marker.pid)}
    rows = {one.pid: one for one in processes}
    trainers = [
        pid
        for pid in training_processes(processes, marker.pid)
        if pid == marker.pid or (pid in by_pid and by_pid[pid].can_be_read)
    ] or [marker.pid]
    if marker.job is not None:
        # This folder is one rank's of a job that others record, too.
        trainers = [marker.pid] if marker.pid in trainers else trainers[:1]
    with_recorder = marker.pid if marker.pid in trainers else trainers[0]
    whose = _owners(by_pid, set(trainers))
    parts = []
    for pid in trainers:
        trainer = by_pid.get(pid)
        mine = [one for one in children if whose.get(_pid(one), with_recorder) == pid and one is not trainer]
        starts = pid == with_recorder != marker.pid
        parts.append(Part(directory, marker, trainer, mine, rows.get(pid), 1 / len(trainers), starts))
    return parts if len(parts) == 1 else _ranks(parts)


def _pid(child: Child) -> int:
    return -1 if child.identity is None else child.identity.pid


def _owners(by_pid: Mapping[int, Child], trainers: set[int]) -> dict[int, int]:
    """Return which of some processes has started each, itself or by others."""
    found: dict[int, int] = {}
    for pid in by_pid:
        passed: list[int] = []
        at = pid
        while at in by_pid and at not in trainers and at not in passed:
            passed.append(at)
            identity = by_pid[at].identity
            at = 0 if identity is None else identity.parent_pid
        if at in trainers:
            found[pid] = at
    return found


def _ranks(parts: list[Part]) -> list[Part]:
    """Return the parts as ranks of a job, by what they have been told, else in the order of their start."""
    directory, marker = parts[0].directory, parts[0].marker
    told = [part.rows.rank if part.rows is not None else {} for part in parts]
    numbers = [one.get("rank") for one in told]
    if None in numbers or len(set(numbers)) < len(numbers):
        told = [{"rank": number} for number in range(len(parts))]
    clock = clock_sample(directory)
    return [
        replace(
            part,
            directory=rank_folder(directory, one["rank"]),
            marker=replace(marker, job=_job(marker.session, one, len(parts), clock)),
        )
        for part, one in zip(parts, told, strict=True)
    ]


def _job(session: str, told: Mapping[str, Any], ranks: int, clock: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the metadata says of a rank."""
    size = max(told.get("world_size") or 0, ranks)
    identity = JobIdentity(
        LAUNCHER, session, told["rank"], size, told.get("local_rank", told["rank"]), local_size=ranks
    )
    return {**asdict(identity), "number": 1, "clock": dict(clock)}


@contextmanager
def drafts(parts: list[Part]) -> Iterator[list[Part]]:
    """Yield the parts as they are to be written: ranks into folders that get their names once all are.

    Raises:
        OSError: A folder cannot be made or named.
    """
    if parts[0].marker.job is None or len(parts) == 1:
        yield parts
        return
    begun = [part.directory.with_name(f".{part.directory.name}") for part in parts]
    for folder in begun:
        folder.mkdir(exist_ok=True)
    yield [replace(part, directory=folder) for part, folder in zip(parts, begun, strict=True)]
    for part, folder in zip(parts, begun, strict=True):
        sync_folder(folder)
        # What an earlier attempt has left that was killed.
        shutil.rmtree(part.directory, ignore_errors=True)
        folder.rename(part.directory)


def entries_of_rank(part: Part, extra: Mapping[str, Any], began_ns: int, session_s: float) -> dict[str, Any]:
    """Return what of the recorder's entries is a rank's, too.

    Ranks take equal shares of the job's processor time, and to each of them the others are other programs.

    Args:
        part: The rank's part of the session.
        extra: The entries.
        began_ns: When the rank's process began to record, in ns since the epoch.
        session_s: How long the session lasted.
    """
    entries = {name: extra[name] for name in ("attach", "emulation", "stopped") if name in extra}
    if "machine" not in extra or part.rows is None or not len(part.rows.rows):
        return entries
    usage = resource.getrusage(resource.RUSAGE_SELF)
    block, own_s = extra["machine"], extra["machine"]["cpu_s"] * part.share
    start = {
        "start_s": max(int(part.rows.rows["begin_ns"].min()) - began_ns, 0) / 1e9,
        # What the recorder took itself is no training either.
        "start_cpu_s": part.rows.rank.get("start_cpu_s", 0.0)
        + (usage.ru_utime + usage.ru_stime) * part.share,
    }
    if "others_cpus" in block:
        start["others_cpus"] = block["others_cpus"] + (block["cpu_s"] - own_s) / max(session_s, 1e-9)
    return entries | {"machine": {**block, "cpu_s": own_s, **start}}
