"""Files that are read from end to end: the one that takes longest bounds what more readers give."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.findings.test_cures_of_pipelines import BATCH, LOAD, PATHS, SHARDS
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.whatif import StorageChange, what_if

MIB = 1 << 20
FILES, READS, QUICK_MS = 8, 25, 4.0
PARALLEL = SHARDS | {"calls": 2}


def job(folder, *stages, slow_ms=QUICK_MS):
    """Gives a job that waits for two readers: one reads a file whose reads take so long, one all others."""
    calls = []
    for reader, files, took_ms in ((1, range(1), slow_ms), (2, range(1, FILES), QUICK_MS)):
        at = 0.0
        for file in files:
            for place in range(READS):
                calls.append((at, at + took_ms, reader, "pread", file, MIB, place * MIB))
                at += took_ms
    calls.sort()
    steps = epochs_of_steps(int(max(call[1] for call in calls) // 20), 20.0, 18.0)
    one = {"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": 1}
    meta = {
        "machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 0.1},
        "pipelines": {"found": [one], "left_out": 0},
    }
    # Each file in a folder of its own.
    paths = [f"/data/part-{n}/shard" for n in range(FILES)]
    return training(folder, calls, steps, paths=paths, sizes=[READS * MIB] * FILES, meta=meta)


def promised(session, threads=16):
    """Gives what `whatif` says of so many threads: lower bound, expected, upper bound."""
    gain = what_if(measure(session), StorageChange(threads=threads)).gain
    return (gain.speedup_range[0], gain.speedup, gain.speedup_range[1])


def test_more_readers_give_nothing_where_one_slow_file_takes_the_time(tmp_path):
    # GIVEN a file that takes 1 s of the reads, and seven others that take 0.1 s each beside it
    slow = job(tmp_path, PARALLEL, BATCH, slow_ms=40.0)

    # THEN at best that file is a bit quicker another time, and so is what is left of a step
    _, expected, high = promised(slow)
    assert expected < 1.1
    assert high < 1.7
    names = [one.name for one in diagnose(slow).problems]
    assert "read_parallelism" not in names
    assert "straggler" in names


@pytest.mark.parametrize(
    ("stages", "slow_ms"),
    [((PATHS, LOAD, BATCH), 40.0), ((PARALLEL, BATCH), QUICK_MS)],
    ids=["parts of a file by several calls", "files that are alike"],
)
def test_they_may_where_files_are_alike_or_read_in_parts(tmp_path, stages, slow_ms):
    assert promised(job(tmp_path, *stages, slow_ms=slow_ms))[2] > 2.0
