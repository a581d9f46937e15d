"""Jobs that decode beside their reads."""

from __future__ import annotations

from tests.unit.findings.made_up_training import epochs_of_steps, training

SHARDS = {"name": "TFRecordDataset"}
PARSE = {"name": "map", "does": ["decodes"], "function": "parse"}
SIDE_BY_SIDE = SHARDS | {"calls": 4}
STEPS, READERS = 40, 4


def decoding_job(folder, *stages, read_ms=18.0, cpu_s=1.6):
    """Return 40 steps of 50 ms, which wait for 45 of them, in each of which four readers read for so long."""
    calls = [
        (50 * step, 50 * step + read_ms, reader + 1, "pread", reader, 1_000_000, step * 1_000_000)
        for step in range(STEPS)
        for reader in range(READERS)
    ]
    one = {"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": 1}
    meta = {
        "machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": cpu_s},
        "pipelines": {"found": [one], "left_out": 0},
    }
    steps, paths = epochs_of_steps(STEPS, 50.0, 45.0), [f"/data/{reader}" for reader in range(READERS)]
    return training(folder, calls, steps, paths=paths, sizes=[STEPS * 1_000_000] * READERS, meta=meta)
