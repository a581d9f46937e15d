"""All scenarios, in the order of the table in docs/findings.md."""

from __future__ import annotations

from workloads.scenarios import (
    checkpoints,
    cut_trace,
    decoding,
    empty_reads,
    fits_in_memory,
    full_speed,
    healthy,
    many_small_files,
    no_prefetch,
    one_reader,
    opened_again,
    random_records,
    slow_mount,
    slow_storage,
    small_writes,
    stat_storm,
    synced_writes,
    too_many_threads,
    unseen_reads,
    warm_cache,
)
from workloads.scenarios.scenario import Scenario

SCENARIOS: tuple[Scenario, ...] = (
    one_reader.SCENARIO,
    no_prefetch.SCENARIO,
    many_small_files.SCENARIO,
    empty_reads.SCENARIO,
    opened_again.SCENARIO,
    random_records.SCENARIO,
    stat_storm.SCENARIO,
    fits_in_memory.SCENARIO,
    slow_storage.SCENARIO,
    slow_mount.SCENARIO,
    too_many_threads.SCENARIO,
    decoding.SCENARIO,
    small_writes.SCENARIO,
    synced_writes.SCENARIO,
    checkpoints.STALL,
    full_speed.SCENARIO,
    warm_cache.SCENARIO,
    unseen_reads.SCENARIO,
    cut_trace.SCENARIO,
    healthy.LOCAL,
    healthy.HIDDEN,
    healthy.SHARDS,
    checkpoints.HEALTHY,
)
