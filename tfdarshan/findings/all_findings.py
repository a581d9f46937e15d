"""All findings, in the order in which they claim the seconds that are lost.

First what need not be done at all, then what could be done at the same time, then what could be done
elsewhere. A finding costs what no one before it claims, so the costs add up to no more than what is lost.
They are shown by their seconds.
"""

from __future__ import annotations

from collections.abc import Callable

from tfdarshan.findings import (
    checkpoint_stall,
    decode_bound,
    eof_probes,
    fits_in_memory,
    fsync,
    full_storage,
    input_bound,
    low_coverage,
    mapped_cached,
    mapped_random,
    mapped_wait,
    mapped_window,
    page_cache,
    prefetch,
    random_access,
    read_parallelism,
    reopening,
    shard_imbalance,
    shuffle_buffer,
    slow_node,
    slow_rank,
    small_files,
    small_reads,
    small_writes,
    staging,
    stat_storm,
    straggler,
    too_many_threads,
    truncated_trace,
    unsharded_input,
    validation,
)
from tfdarshan.findings.finding import Finding, Unknown
from tfdarshan.findings.measures import Measures

Rule = Callable[[Measures], Finding | Unknown | None]

FINDINGS: tuple[tuple[str, Rule], ...] = (
    (low_coverage.NAME, low_coverage.find),
    (truncated_trace.NAME, truncated_trace.find),
    (unsharded_input.NAME, unsharded_input.find),
    (shard_imbalance.NAME, shard_imbalance.find),
    (slow_node.NAME, slow_node.find),
    (slow_rank.NAME, slow_rank.find),
    (straggler.NAME, straggler.find),
    (stat_storm.NAME, stat_storm.find),
    (eof_probes.NAME, eof_probes.find),
    (reopening.NAME, reopening.find),
    (random_access.NAME, random_access.find),
    (mapped_random.NAME, mapped_random.find),
    (too_many_threads.NAME, too_many_threads.find),
    (small_reads.NAME, small_reads.find),
    (shuffle_buffer.NAME, shuffle_buffer.find),
    (validation.NAME, validation.find),
    (mapped_wait.NAME, mapped_wait.find),
    (mapped_window.NAME, mapped_window.find),
    (mapped_cached.NAME, mapped_cached.find),
    (prefetch.NAME, prefetch.find),
    (fits_in_memory.NAME, fits_in_memory.find),
    (read_parallelism.NAME, read_parallelism.find),
    (small_files.NAME, small_files.find),
    (staging.NAME, staging.find),
    (decode_bound.NAME, decode_bound.find),
    (fsync.NAME, fsync.find),
    (small_writes.NAME, small_writes.find),
    (checkpoint_stall.NAME, checkpoint_stall.find),
    (full_storage.NAME, full_storage.find),
    (input_bound.NAME, input_bound.find),
    (page_cache.NAME, page_cache.find),
)
NAMES = tuple(name for name, _ in FINDINGS)
