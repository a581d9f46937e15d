"""What the input pipeline's calls cost file by file."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.cached_reads import CACHED_CALL_S, CACHED_S_PER_BYTE, from_cache
from tfdarshan.analysis.call_kinds import KIND
from tfdarshan.analysis.file_table import FileTable
from tfdarshan.analysis.input_pipeline import InputPipeline
from tfdarshan.analysis.intervals import Array
from tfdarshan.analysis.segments import Segments


@dataclass(frozen=True)
class FileCosts:
    """Arrays have one entry per row of the file table, float64; times are calls' durations added up.

    Attributes:
        opens: Opens.
        reads: Reads with data.
        read_bytes: Bytes read.
        read_s: Time in reads with data.
        other_s: Time in opens, closes, stats, seeks and reads of nothing.
        open_s: Of it, opens and closes.
        slow_s: Of `read_s`, what the page cache cannot have served so slowly.
        slow_bytes: The bytes of these reads.
    """

    opens: Array
    reads: Array
    read_bytes: Array
    read_s: Array
    other_s: Array
    open_s: Array
    slow_s: Array
    slow_bytes: Array

    @property
    def call_s(self) -> Array:
        """Time in all calls."""
        return np.add(self.read_s, self.other_s)

    def passes(self, size_bytes: Array) -> Array:
        """Gives how often each file was read whole; how often it was opened where its size is unknown."""
        whole = self.read_bytes / np.maximum(size_bytes, 1)
        found: Array = np.where(size_bytes > 0, whole, self.opens)
        return found


def traced_costs(segments: Segments, pipeline: InputPipeline, files: int) -> FileCosts:
    """Adds up the pipeline's calls by file."""
    kind, chosen = pipeline.kind, pipeline.chosen
    file = segments.file[chosen]
    duration = segments.end_ns[chosen] - segments.start_ns[chosen]

    def added(mask: Array, weight: Array | None = None) -> Array:
        places = np.flatnonzero(mask)
        weights = None if weight is None else weight[places]
        return np.bincount(file[places], weights, minlength=files).astype(np.float64)

    reads = kind == KIND["read"]
    opening = (kind == KIND["open"]) | (kind == KIND["close"])
    length = segments.length[chosen]
    slow = reads & ~from_cache(duration, length)
    return FileCosts(
        opens=added(kind == KIND["open"]),
        reads=added(reads),
        read_bytes=added(reads, length),
        read_s=added(reads, duration) / 1e9,
        other_s=added(~reads, duration) / 1e9,
        open_s=added(opening, duration) / 1e9,
        slow_s=added(slow, duration) / 1e9,
        slow_bytes=added(slow, length),
    )


def counted_costs(files: FileTable, is_input: Array) -> FileCosts:
    """Gives what the counters say, where there is no trace; opens and stats are not told apart."""
    rows = files.rows
    columns = {
        name: np.where(is_input, rows[name].to_numpy(), 0).astype(np.float64)
        for name in ("opens", "reads", "bytes_read", "read_s", "meta_s")
    }
    slow = columns["read_s"] > columns["reads"] * CACHED_CALL_S + columns["bytes_read"] * CACHED_S_PER_BYTE
    return FileCosts(
        opens=columns["opens"],
        reads=columns["reads"],
        read_bytes=columns["bytes_read"],
        read_s=columns["read_s"],
        other_s=columns["meta_s"],
        open_s=columns["meta_s"],
        slow_s=columns["read_s"] * slow,
        slow_bytes=columns["bytes_read"] * slow,
    )
