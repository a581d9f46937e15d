"""Measures the machine while a job runs: processors, memory, and the processor time that the job takes."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tfdarshan.recording.open_accelerators import open_accelerators

# Where control groups are, and which are this process's.
GROUPS, OWN_GROUPS = "/sys/fs/cgroup", "/proc/self/cgroup"
# Files of a group with its limits, of version 1 and 2.
CPU_LIMITS = (("cpu.cfs_quota_us", "cpu.cfs_period_us"), ("cpu.max",))
MEMORY_LIMITS = (("memory.limit_in_bytes",), ("memory.max",))
PROCESSOR_TIMES = "/proc/stat"
PROCESSES = "/proc"
# Running children that are asked for their time: each takes some 30 us.
MOST_CHILDREN = 256
# Its lines of processors come first: no more is read of it.
MOST_BYTES = 1 << 16
# Of a processor's line user, nice, system, irq, softirq and steal; idle and iowait are no work.
BUSY_FIELDS = (0, 1, 2, 5, 6, 7)
# The kernel counts in hundredths of a second: what lasts less long is not known.
LEAST_S = 0.1


@dataclass(frozen=True)
class UsedProcessors:
    """Processor time so far, in seconds.

    Attributes:
        at_s: When that was, by a clock that goes on.
        own_s: Of this process, and of its children.
        all_s: Of all programs on the processors that this process may run on; None where nobody says.
        running_s: What of `own_s` is of children that still run.
    """

    at_s: float
    own_s: float
    all_s: float | None
    running_s: float = 0.0

    def by_others(self, before: UsedProcessors) -> float | None:
        """Return how many processors others took since then, mean; None where that is not known."""
        lasted_s = self.at_s - before.at_s
        if self.all_s is None or before.all_s is None or lasted_s < LEAST_S:
            return None
        return max(0.0, self.all_s - before.all_s - (self.own_s - before.own_s)) / lasted_s


def used_processors() -> UsedProcessors:
    """Return it by now."""
    running_s = _running_seconds()
    return UsedProcessors(time.monotonic(), cpu_seconds() + running_s, _busy_seconds(), running_s)


def cpu_seconds() -> float:
    """Return the processor time of this process and of the children it waited for, so far."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _running_seconds() -> float:
    """Return the processor time of children that run, such as workers that outlive a session.

    Source: proc_pid_stat(5), fields utime, stime, cutime and cstime in clock ticks.
    """
    return sum(map(_ticks, _running_children())) / os.sysconf("SC_CLK_TCK")


def _running_children() -> Iterator[str]:
    """Yield the process ids of children, of their children, and so on, so many at most."""
    found = ["self"]
    for pid in found:
        for task in _tasks(pid):
            found += _read(f"{PROCESSES}/{pid}/task/{task}/children").split()
        if len(found) > MOST_CHILDREN:
            break
    yield from found[1 : MOST_CHILDREN + 1]


def _tasks(pid: str) -> list[str]:
    """Return the threads of a process; none if it has ended, or if this one can open nothing any more."""
    try:
        return os.listdir(f"{PROCESSES}/{pid}/task")  # noqa: PTH208
    except OSError:
        return []


def _ticks(pid: str) -> int:
    # The program's name may have blanks and brackets.
    words = _read(f"{PROCESSES}/{pid}/stat").rpartition(")")[2].split()
    return sum(map(int, words[11:15]))


def machine_block(cpu_s: float, others_cpus: float | None = None) -> dict[str, Any]:
    """Return what the metadata says of this machine.

    Args:
        cpu_s: Processor time that the job took.
        others_cpus: Processors that others took of those that it may run on. Where a quota lets it use a part
            of them, the rest is the others'.
    """
    cpus = _cpus()
    block: dict[str, Any] = {"cpus": cpus, "memory_bytes": _memory_bytes(), "cpu_s": cpu_s}
    if accelerators := open_accelerators():
        block["accelerators"] = accelerators
    if others_cpus is None:
        return block
    rest = len(os.sched_getaffinity(0)) - cpus
    return block | {"others_cpus": round(max(0.0, others_cpus - rest), 3)}


def _busy_seconds() -> float | None:
    """Add up what the processors did that this process may run on.

    Source: proc_stat(5), lines "cpu<number>" in clock ticks.
    """
    allowed = {f"cpu{number}" for number in os.sched_getaffinity(0)}
    try:
        with Path(PROCESSOR_TIMES).open("rb") as file:
            rows = [line.split() for line in file.read(MOST_BYTES).decode("ascii").splitlines()]
        found = [[int(row[1 + field]) for field in BUSY_FIELDS] for row in rows if row and row[0] in allowed]
    except (OSError, ValueError, IndexError):
        return None
    if len(found) < len(allowed):
        return None
    return sum(map(sum, found)) / os.sysconf("SC_CLK_TCK")


def _cpus() -> float:
    """Count the processors; a quota of a control group may allow a part of them.

    Source: sched_getaffinity(2); "quota period" in microseconds, cgroup-v2.rst and sched-bwc.rst.
    """
    allowed = float(len(os.sched_getaffinity(0)))
    for words in _limits("cpu", CPU_LIMITS):
        if len(words) == 2 and words[0].isdecimal() and words[1].isdecimal() and int(words[1]):
            allowed = min(allowed, int(words[0]) / int(words[1]))
    return allowed


def _memory_bytes() -> int:
    """Return the machine's memory, or what the job's control groups may have of it."""
    limit = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for words in _limits("memory", MEMORY_LIMITS):
        if len(words) == 1 and words[0].isdecimal():
            limit = min(limit, int(words[0]))
    return limit


def _limits(controller: str, names: tuple[tuple[str, ...], tuple[str, ...]]) -> Iterator[list[str]]:
    """Yield the words in the limits of this process's groups, and of those around each, up to the root.

    Source: cgroups(7), "hierarchy:controllers:group". In a container the root is its own group.
    """
    for line in _read(OWN_GROUPS).splitlines():
        controllers, _, group = line.partition(":")[2].partition(":")
        if controllers and controller not in controllers.split(","):
            continue
        top, files = (f"{GROUPS}/{controller}", names[0]) if controllers else (GROUPS, names[1])
        own = PurePosixPath(group.lstrip("/"))
        for folder in (own, *own.parents):
            yield " ".join(_read(f"{top}/{folder}/{file}") for file in files).split()


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
