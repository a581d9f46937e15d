"""What decodes beside the reads: it is named if steps wait longest for it."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_jobs import BATCH
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings import decode_bound
from tfdarshan.findings.measurement import measure
from tfdarshan.replay.edits import DecodeCalls
from tfdarshan.replay.promise import promise

SHARDS = {"name": "TFRecordDataset"}
GZIP = {"compression": "GZIP"}
PARSE = {"name": "map", "does": ["decodes"], "function": "parse"}
SIDE_BY_SIDE = SHARDS | {"calls": 4}
STEPS, READERS = 40, 4


def job(folder, *stages, read_ms=18.0, cpu_s=1.6):
    """Gives 40 steps of 50 ms, which wait for 45 of them, in each of which four readers read for so long."""
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


@pytest.mark.parametrize(
    ("changes", "named"),
    [({}, True), ({"read_ms": 44.0}, False), ({"cpu_s": 0.2}, False)],
    ids=["decodes longer", "readers never rest", "processors rest"],
)
def test_decoding_is_named_if_steps_wait_longest_for_it(tmp_path, changes, named):
    # GIVEN readers that rest for more than half of the time, beside a processor that works for 40 of 50 ms
    found = decode_bound.find(measure(job(tmp_path, SIDE_BY_SIDE, PARSE, BATCH, **changes)))

    assert (found is not None) is named


def test_more_calls_of_a_map_behind_records_leave_unpacking_as_it_is(tmp_path):
    # GIVEN shards that are read one after the other, packed or plain, and what decodes in a map of its own
    packed, plain = (
        measure(job(tmp_path / shards["name"] / shards.get("compression", ""), shards, PARSE, BATCH)).job
        for shards in (SHARDS | GZIP, SHARDS)
    )

    # THEN more is promised of those that are not packed
    assert promise(packed, DecodeCalls()).expected < promise(plain, DecodeCalls()).expected
