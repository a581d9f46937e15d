"""Names of threads that tell what they are for: main, tf.data pool 2, worker 3; else the bare id.

Linux keeps 15 characters of a thread's name, and a thread without one of its own has that of its process.
TensorFlow's names of tf.data's threads are longer than that and are lost, so these threads are known by what
they do: in a process whose tf.data pipeline reads files they read, and write nothing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.overview_rows import overview_parts
from tfdarshan.analysis.calls.segments import READ, WRITE, Thread
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import SOURCES
from tfdarshan.sessions.process_data import ProcessData

MAIN, POOL, WORKER = "main", "tf.data pool", "worker"
# The overview's thread 0 gathers those beyond the busiest 255.
GATHERED, GATHERED_TID = "other threads", 0
# What Linux keeps of the names of pools: tf.data's, Python's executors (from 3.14 on), PyTorch's loaders.
POOL_NAMES = ("tf_data_", "tf_ForEach")
WORKER_NAMES = ("ThreadPoolExecu", "asyncio_", "Thread-", "pt_data_worker", "worker", "loky")
READING = ("reads", "python")
# A process's place, and the thread's id.
Key = tuple[int, int]
# The threads of a process that read bytes, and those that wrote some.
Moved = tuple[set[int], set[int]]


class ThreadNames:
    """The names of all threads of some processes.

    Args:
        processes: The processes.
        labels: What these are called.

    Raises:
        SessionDataError: A table is damaged or missing.
    """

    def __init__(self, processes: Sequence[ProcessData], labels: Sequence[str]) -> None:
        self._labels = labels if len(processes) > 1 else None
        self._imported = [bool(process.meta.get("darshan")) for process in processes]
        self._names: dict[Key, str] = {}
        for place, moved in enumerate(_moved(processes)):
            self._add(place, processes[place].meta, moved)

    def of(self, thread: Thread) -> str:
        """Name a thread; with several processes, what its process is called comes first."""
        name = self.within_process(thread)
        if self._labels is None:
            return name
        # Ranks of an imported log share a table.
        label = str(thread.pid) if self._imported[thread.process] else self._labels[thread.process]
        return f"{label}/{name}"

    def within_process(self, thread: Thread) -> str:
        """Name a thread beside the others of its process."""
        return self._names.get((thread.process, thread.tid), str(thread.tid))

    def _add(self, place: int, meta: dict[str, Any], moved: Moved) -> None:
        if meta.get("darshan"):  # an imported log has ids alone
            return
        recorded = {int(thread["tid"]): str(thread["name"]) for thread in meta.get("threads", ())}
        tids = sorted(set(recorded) | moved[0] | moved[1])
        kinds = _kinds(meta, {tid: recorded.get(tid, "") for tid in tids}, moved)
        for tid, name in _numbered(kinds).items():
            self._names[place, tid] = name


def _kinds(meta: dict[str, Any], recorded: dict[int, str], moved: Moved) -> dict[int, str]:
    """Describe what each thread is for, "" if nothing tells."""
    main = int(meta["pid"])
    inherited = recorded.get(main) or _unnamed(recorded.values())
    pool = _readers(meta, moved)

    def kind(tid: int) -> str:
        own = "" if recorded[tid] == inherited else recorded[tid]
        if tid == main:
            return MAIN
        if tid == GATHERED_TID:
            return GATHERED
        if own.startswith(POOL_NAMES) or (not own and tid in pool):
            return POOL
        return WORKER if own.startswith(WORKER_NAMES) else own

    return {tid: kind(tid) for tid in recorded}


def _readers(meta: dict[str, Any], moved: Moved) -> set[int]:
    """Return the threads that read and wrote nothing, if a tf.data pipeline of the process reads files."""
    pipelines = meta.get("pipelines") or {}
    stages = (stage for pipeline in pipelines.get("found", ()) for stage in pipeline["stages"])
    reads = any(stage["name"] in SOURCES or set(READING) & set(stage.get("does", ())) for stage in stages)
    return moved[0] - moved[1] if reads else set()


def _moved(processes: Sequence[ProcessData]) -> list[Moved]:
    """Return, of each process, the threads that read bytes and those that wrote some."""
    found = []
    for part in overview_parts(processes):
        sets = [part.tid[(part.io_class == io_class) & (part.bytes_moved > 0)] for io_class in (READ, WRITE)]
        read, written = (set(np.unique(tids).tolist()) for tids in sets)
        found.append((read, written))
    return found


def _unnamed(names: Iterable[str]) -> str:
    """Return what threads without a name of their own are called if the main one made no calls."""
    usual = Counter(name for name in names if not name.startswith(POOL_NAMES + WORKER_NAMES))
    return next((name for name, _ in usual.most_common(1)), "")


def _numbered(kinds: dict[int, str]) -> dict[int, str]:
    """Numbers threads of one kind by their ids, which are given in order; one alone has no number."""
    count, seen = Counter(kinds.values()), Counter[str]()
    names = {}
    for tid, kind in kinds.items():
        seen[kind] += 1
        names[tid] = str(tid) if not kind else kind if count[kind] == 1 else f"{kind} {seen[kind]}"
    return names
