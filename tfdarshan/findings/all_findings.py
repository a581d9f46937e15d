"""All findings. Their order decides only between fixes that are worth as much."""

from __future__ import annotations

from typing import Protocol

from tfdarshan.findings import (
    batch_transport,
    checkpoint_stall,
    decode_bound,
    eof_probes,
    few_shards,
    fits_in_memory,
    fsync,
    full_storage,
    head_of_line,
    input_bound,
    low_coverage,
    mapped_cached,
    mapped_wait,
    page_cache,
    prefetch,
    random_access,
    read_parallelism,
    reopening,
    shard_imbalance,
    shuffle_buffer,
    slow_node,
    slow_rank,
    slow_worker,
    small_files,
    small_reads,
    small_writes,
    staging,
    stat_storm,
    straggler,
    too_many_threads,
    too_many_workers,
    truncated_trace,
    unsharded_input,
    validation,
    worker_starts,
)
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Finding, Unknown
from tfdarshan.findings.measures import Measures


class Cause(Protocol):
    """A module that finds one cause, and explains it."""

    NAME: str
    ABOUT: About

    def find(self, measures: Measures, /) -> Finding | Unknown | None:
        """Return what is to be said of a session, if anything."""


CAUSES: tuple[Cause, ...] = (
    low_coverage,
    truncated_trace,
    unsharded_input,
    shard_imbalance,
    slow_node,
    slow_rank,
    straggler,
    stat_storm,
    eof_probes,
    reopening,
    random_access,
    too_many_threads,
    small_reads,
    shuffle_buffer,
    validation,
    mapped_wait,
    mapped_cached,
    prefetch,
    # Found only if decoding is what steps wait for longest: then a cache spares that rather than reads.
    decode_bound,
    fits_in_memory,
    read_parallelism,
    worker_starts,
    few_shards,
    too_many_workers,
    slow_worker,
    head_of_line,
    batch_transport,
    small_files,
    staging,
    fsync,
    small_writes,
    checkpoint_stall,
    full_storage,
    input_bound,
    page_cache,
)
NAMES = tuple(cause.NAME for cause in CAUSES)
# What a fix is called among others: names of findings are for programs.
FIX_NAMES = {cause.NAME: cause.ABOUT.fix for cause in CAUSES if cause.ABOUT.fix}
