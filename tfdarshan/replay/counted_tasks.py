"""Tasks made up from counters: those of a file are alike, and any part of the run reads of all files."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.replay.job_model import CALLS, OPEN, PROBE, READ, STAT, TINY_S
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.read_tasks import ReadTasks


@dataclass(frozen=True)
class CountedFiles:
    """What was done with each file of the input; one entry per file.

    Attributes:
        row: Its row of the file table.
        calls: Calls by `job_model.CALLS`, shape (kinds, files).
        first_opens: Opens that are a process's first of it.
        call_s: Their durations, likewise.
        bytes: Bytes read.
        size: Its size, bytes read if that is unknown.
    """

    row: Array
    calls: Array
    first_opens: Array
    call_s: Array
    bytes: Array
    size: Array

    @property
    def epochs(self) -> int:
        """How often the input was read, at least 1."""
        return max(1, round(float(self.bytes.sum()) / max(float(self.size.sum()), 1.0)))

    def tasks(self, batches: int) -> Array:
        """Return how many tasks each file's calls are: its opens, or its reads if it stays open."""
        opened = float(self.calls[OPEN].sum()) >= batches
        return np.maximum(self.calls[OPEN if opened else READ], 1).astype(int)


def counted_files(files: FileTable, is_input: Array) -> CountedFiles:
    """Return what was done with the files of the input.

    Args:
        files: What was done with each file.
        is_input: Which of them are input, bool.
    """
    table = files.rows
    row = np.flatnonzero(is_input & (table["bytes_read"] + table["opens"] > 0).to_numpy(bool))
    opens, reads, empty, stats, moved, size, read_s, meta_s = (
        table[name].to_numpy(float)[row]
        for name in ("opens", "reads", "zero_reads", "stats", "bytes_read", "size_bytes", "read_s", "meta_s")
    )
    calls, call_s = np.zeros((len(CALLS), len(row))), np.zeros((len(CALLS), len(row)))
    calls[[OPEN, STAT, READ, PROBE]] = opens, stats, reads - empty, empty
    probed, asked = empty / np.maximum(reads, 1), stats / np.maximum(stats + opens, 1)
    call_s[[OPEN, STAT, READ, PROBE]] = (
        meta_s * (1 - asked), meta_s * asked, read_s * (1 - probed), read_s * probed,
    )  # fmt: skip
    openers = table["openers"].to_numpy(float)[row]
    first_opens = np.minimum(np.maximum(openers, 1), opens)
    return CountedFiles(row, calls, first_opens, call_s, moved, np.where(size > 0, size, moved))


def counted_tasks(counted: CountedFiles, weight: Array, begin_s: Array) -> tuple[ReadTasks, Array]:
    """Return the tasks of some batches, and which of these needs each: all take what the counters say.

    Args:
        counted: The input.
        weight: How many batches each batch stands for; 0: it is left out.
        begin_s: When each batch begins.
    """
    tasks, kept = counted.tasks(len(weight)), np.flatnonzero(weight)
    count = int(tasks.sum())
    first = np.ceil(np.arange(len(weight) + 1) * count / len(weight)).astype(int)
    number = np.concatenate([np.arange(first[one], first[one + 1]) for one in kept])
    batch = np.repeat(np.arange(len(kept)), first[kept + 1] - first[kept])
    # Of very many tasks one stands for several that follow each other.
    every = max(math.ceil(len(number) / (2 * SETTING["most_tasks"])), 1)
    number, batch = number[::every], batch[::every]
    of = np.searchsorted(np.cumsum(tasks), (number + 1 / 2) * SETTING["spread"] % 1.0 * count, side="right")

    def each(values: Array) -> Array:
        """Of each task; of all that they stand for, as much as was counted."""
        found = values[of] / tasks[of]
        return found * float(values.sum()) / max(float(weight[kept][batch] @ found), TINY_S)

    calls, call_s = (np.array([each(one) for one in table]) for table in (counted.calls, counted.call_s))
    return ReadTasks(
        begin_s=begin_s[kept][batch], epoch=number * counted.epochs // max(count, 1), file=counted.row[of],
        calls=calls, first_opens=each(counted.first_opens), call_s=call_s, turn_s=call_s.sum(0),
        quick_s=call_s.sum(0), size=each(counted.bytes), stored_s=call_s[READ], requests=calls[READ],
        jumps=np.minimum(calls[READ], 1.0), places=np.minimum(calls[READ], 1.0),
        asked_reads=calls[READ], work_s=np.zeros(len(of)), rest_s=np.full(len(of), np.inf),
    ), batch  # fmt: skip
