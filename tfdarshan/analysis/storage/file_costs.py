"""What the calls on input cost file by file, and what of it storage served."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.file_table import FileTable
from tfdarshan.analysis.files.reading_times import NEVER_NS, ReadingTimes
from tfdarshan.analysis.storage.storage_passes import (
    CACHED_CALL_S,
    CACHED_S_PER_BYTE,
    from_storage,
    storage_passes,
)
from tfdarshan.native import input_sums
from tfdarshan.native.input_sums import InputCalls

# Columns of the sums of each file.
COUNTED = {"opens": input_sums.OPENS, "reads": input_sums.READS, "read_bytes": input_sums.READ_BYTES}
TIMED = {
    "read_s": input_sums.READ_NS, "other_s": input_sums.OTHER_NS, "open_s": input_sums.OPEN_NS,
    "stat_s": input_sums.STAT_NS,
}  # fmt: skip


@dataclass(frozen=True)
class FileCosts:
    """Arrays have one entry per row of the file table; times are calls' durations added up.

    Attributes:
        opens: Opens.
        reads: Reads with data.
        read_bytes: Bytes read.
        read_s: Time in reads with data.
        other_s: Time in opens, closes, stats, seeks and reads of nothing.
        open_s: Of it, opens and closes.
        slow_s: Of `read_s`, the passes that storage served (`storage_passes`).
        slow_bytes: The bytes of these passes.
        stat_s: Of `other_s`, stats by name. Of calls without segments, the share of those beyond one an open:
            that one is an fstat of the open file, as a rule.
        slow_read_s: Of `read_s`, the reads each of which took longer than memory does. None where calls have
            no segments.
        slow_read_bytes: What these read; None likewise.
    """

    opens: Array
    reads: Array
    read_bytes: Array
    read_s: Array
    other_s: Array
    open_s: Array
    slow_s: Array
    slow_bytes: Array
    stat_s: Array
    slow_read_s: Array | None = None
    slow_read_bytes: Array | None = None

    @property
    def call_s(self) -> Array:
        """Time in all calls."""
        return np.add(self.read_s, self.other_s)

    @property
    def storage_share(self) -> float:
        """Share of the bytes read that storage served, the page cache the rest; 0 if nothing was read."""
        read = float(self.read_bytes.sum())
        return float(self.slow_bytes.sum()) / read if read else 0.0

    def passes(self, size_bytes: Array) -> Array:
        """Return how often each file was read whole; how often it was opened where its size is unknown."""
        whole = self.read_bytes / np.maximum(size_bytes, 1)
        return np.where(size_bytes > 0, whole, self.opens)

    def fetched(
        self,
        stored_bytes: int | None,
        size_bytes: Array,
        program_bytes: float = 0.0,
        *,
        memory_keeps: bool = False,
    ) -> FileCosts:
        """Return the costs with as many bytes from storage as the kernel fetched; None leaves them.

        The kernel's figure is exact where passes' times are a guess: of more slow passes than were fetched,
        memory served a part, the quick reads first, or it was slow for another reason; with fewer, storage
        was as quick as memory in some.

        Args:
            stored_bytes: What the kernel fetched.
            size_bytes: The files' sizes, not above 0 where that is unknown.
            program_bytes: What was read of files that are no input, such as modules: as much of what was
                fetched may be theirs.
            memory_keeps: Whether memory has room for all files once they were read: then storage served each
                once where the kernel's figure may be the program's.
        """
        read, seen = float(self.read_bytes.sum()), float(self.slow_bytes.sum())
        if stored_bytes is None or read <= 0:
            return self
        least = min(max(stored_bytes - program_bytes, 0.0), float(stored_bytes))
        likely = seen
        if least <= seen <= stored_bytes and program_bytes > 0 and memory_keeps:
            likely = float(_once(self.read_bytes, size_bytes).sum())
        taken = min(max(likely, least), float(stored_bytes))
        if taken == seen:
            return self
        return self._with_fewer(taken) if taken < seen else self._with_more(taken - seen, size_bytes)

    def _with_fewer(self, stored_bytes: float) -> FileCosts:
        """Return the costs with fewer bytes from storage: those of reads slower than memory, then others."""
        slow_s, slow_bytes = self.slow_s, self.slow_bytes
        if self.slow_read_s is None or self.slow_read_bytes is None:
            sure_s, sure_bytes = np.zeros_like(slow_s), np.zeros_like(slow_bytes)
        else:
            sure_s = np.minimum(self.slow_read_s, slow_s)
            sure_bytes = np.minimum(self.slow_read_bytes, slow_bytes)
        sure, rest = float(sure_bytes.sum()), float((slow_bytes - sure_bytes).sum())
        of_sure = min(1.0, stored_bytes / max(sure, 1e-9))
        of_rest = max(0.0, stored_bytes - sure) / max(rest, 1e-9)
        return dataclasses.replace(
            self,
            slow_s=of_sure * sure_s + of_rest * (slow_s - sure_s),
            slow_bytes=of_sure * sure_bytes + of_rest * (slow_bytes - sure_bytes),
        )

    def _with_more(self, more_bytes: float, size_bytes: Array) -> FileCosts:
        """Return the costs with more bytes from storage.

        Memory has nothing of a file before storage served it once, so these are bytes of first passes before
        they are of any other. Reads that took longer than memory does are storage's first.
        """
        quick_bytes, quick_s = self.read_bytes - self.slow_bytes, self.read_s - self.slow_s
        once = _once(self.read_bytes, size_bytes)
        first = np.clip(once - self.slow_bytes, 0, quick_bytes)
        of_first = min(1.0, more_bytes / max(float(first.sum()), 1e-9))
        rest = quick_bytes - first
        of_rest = min(1.0, max(0.0, more_bytes - float(first.sum())) / max(float(rest.sum()), 1e-9))
        added = of_first * first + of_rest * rest
        part = added / np.maximum(quick_bytes, 1e-9)
        slow_read_s = self.slow_s if self.slow_read_s is None else self.slow_read_s
        sure_s = np.where(added > 0, np.clip(slow_read_s - self.slow_s, 0, quick_s), 0)
        added_s = sure_s + part * (quick_s - sure_s)
        return dataclasses.replace(self, slow_s=self.slow_s + added_s, slow_bytes=self.slow_bytes + added)


def _once(read_bytes: Array, size_bytes: Array) -> Array:
    """Return what each file's first pass read."""
    return np.where(size_bytes > 0, np.minimum(size_bytes, read_bytes), read_bytes)


def add_costs(parts: Sequence[FileCosts], places: Sequence[Array], chosen: Array) -> FileCosts:
    """Add up the costs of several sessions.

    Args:
        parts: Each session's.
        places: Where the rows of its file table are in the one of all sessions.
        chosen: Which rows of that one count, bool.
    """
    if len(parts) == 1 and len(places[0]) == len(chosen):
        return parts[0]
    sums: dict[str, Any] = {}
    for field in dataclasses.fields(FileCosts):
        if any(getattr(costs, field.name) is None for costs in parts):
            sums[field.name] = None
            continue
        whole = np.zeros(len(chosen))
        for costs, place in zip(parts, places, strict=True):
            whole[place] += getattr(costs, field.name)
        sums[field.name] = np.where(chosen, whole, 0.0)
    return FileCosts(**sums)


class CostSums:
    """Adds up calls on input file by file, block by block.

    Args:
        size_bytes: The files' sizes, -1 if unknown: one entry per row of the file table.
    """

    def __init__(self, size_bytes: Array) -> None:
        self._sums = np.zeros((len(size_bytes), input_sums.FILE_COSTS), np.int64)
        self._passes = storage_passes(size_bytes)
        self._slow_read_ns, self._slow_read_bytes = np.zeros((2, len(size_bytes)))
        self._made = False

    def add(self, calls: InputCalls) -> None:
        """Add calls in order of start."""
        self._made = self._made or len(calls) > 0
        input_sums.add_file_costs(calls, self._sums)
        self._passes.add(calls)
        slow = input_sums.chosen_stored(calls, CACHED_CALL_S, CACHED_S_PER_BYTE)
        slow = slow[calls.kind[slow] == KIND["read"]]
        np.add.at(self._slow_read_ns, calls.file[slow], (calls.end_ns - calls.start_ns)[slow])
        np.add.at(self._slow_read_bytes, calls.file[slow], calls.length[slow])

    def reading(self) -> ReadingTimes | None:
        """Return when files were read, None if none was."""
        read = self._sums[:, input_sums.READS] > 0
        if not read.any():
            return None
        first_ns = np.where(read, self._sums[:, input_sums.FIRST_READ_NS], NEVER_NS)
        return ReadingTimes(first_ns, self._sums[:, input_sums.LAST_READ_NS].copy())

    def costs(self) -> FileCosts:
        """Return the costs; nothing is added any more."""
        self._passes.end()
        slow_s, slow_bytes = self._passes.stored_ns / 1e9, self._passes.stored_bytes.astype(np.float64)
        if not self._made:
            # One array of zeros takes no memory, however many files there are.
            return FileCosts(*[np.zeros(len(slow_s))] * len(dataclasses.fields(FileCosts)))
        counts = {name: self._sums[:, place].astype(np.float64) for name, place in COUNTED.items()}
        times = {name: self._sums[:, place] / 1e9 for name, place in TIMED.items()}
        return FileCosts(
            **counts, **times, slow_s=slow_s, slow_bytes=slow_bytes,
            slow_read_s=self._slow_read_ns / 1e9, slow_read_bytes=self._slow_read_bytes,
        )  # fmt: skip


def counted_costs(files: FileTable, is_input: Array, traced: FileCosts | None = None) -> FileCosts:
    """Return what the counters say where some calls, or all, are not traced; opens and stats are one.

    Args:
        files: The files.
        is_input: Which are input.
        traced: What is known of the calls that were traced: what storage served of a file is as in these;
            of a file without such calls its mean read says it.
    """
    opens, reads, read_bytes, read_s, meta_s, stats = (
        _chosen(files.rows[name].to_numpy(), is_input)
        for name in ("opens", "reads", "bytes_read", "read_s", "meta_s", "stats")
    )
    slow = from_storage(reads, read_bytes, read_s)
    slow_s, slow_bytes = (values if slow.all() else values * slow for values in (read_s, read_bytes))
    if traced is not None:
        known = traced.read_bytes > 0
        share_s = traced.slow_s / np.maximum(traced.read_s, 1e-9)
        share_bytes = traced.slow_bytes / np.maximum(traced.read_bytes, 1)
        slow_s = np.where(known, read_s * share_s, slow_s)
        slow_bytes = np.where(known, read_bytes * share_bytes, slow_bytes)
    # Zeros that take no memory, however many files there are.
    stat_s: Array = np.broadcast_to(np.zeros(1), len(files))
    if stats.any():
        stat_s = meta_s * np.maximum(stats - opens, 0) / np.maximum(stats + opens, 1)
    if traced is not None:
        asked = traced.other_s > 0
        stat_s = np.where(asked, meta_s * traced.stat_s / np.maximum(traced.other_s, 1e-9), stat_s)
    opens = np.maximum(opens, read_bytes > 0)
    return FileCosts(opens, reads, read_bytes, read_s, meta_s, meta_s, slow_s, slow_bytes, stat_s)


def _chosen(values: Array, is_input: Array) -> Array:
    """Return a column with 0 for other files than input; ten million rows are not copied for nothing."""
    return values if is_input.all() else np.where(is_input, values, 0)
