"""Reads that go on beside what decodes: if that takes as long, a copy gives nothing, and none is promised."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.findings.test_cures_of_pipelines import BATCH
from tfdarshan.findings import decode_bound
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.staging import find
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.whole_input import stage_all

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


def test_a_copy_is_no_certain_gain_where_decoding_may_be_what_takes_the_time(tmp_path):
    # GIVEN readers that rest for more than half of the time, beside a processor that works for 40 of 50 ms
    session = job(tmp_path, SIDE_BY_SIDE, PARSE, BATCH)

    # WHEN
    measured = measure(session)
    gain = find(measured).gain

    # THEN nothing is promised for certain, and why; half of what reading takes is expected
    assert gain.low_s == 0
    assert [one.claim for one in gain.doubts] == [
        "batches wait for these reads, not for what decodes beside them"
    ]
    assert gain.saved_s == pytest.approx(0.5 * 0.018, rel=0.15)
    # ... by `advise` and `whatif`, too
    assert stage_all(*measured.use_and_facts, LOCAL_SSD).expected.low_s == 0
    # ... and what decodes is named
    assert diagnose(session).verdict.finding == "decode_bound"


@pytest.mark.parametrize(
    ("packed", "decoder", "halved"),
    [({}, PARSE, False), (GZIP, PARSE, True), (GZIP | {"does": ["decodes"]}, None, False)],
)
def test_what_unpacking_takes_is_not_shared_by_more_calls_of_a_map(tmp_path, packed, decoder, halved):
    # GIVEN shards that are read one after the other, packed or not, and what decodes in a map of its own
    session = job(tmp_path, SHARDS | packed, *([decoder] if decoder else []), BATCH)
    plain = job(tmp_path / "plain", SHARDS, PARSE, BATCH)

    # WHEN
    gain, usual = (decode_bound.find(measure(one)).gain for one in (session, plain))

    # THEN half is expected of more calls, for which of both takes the time is not seen
    assert gain.saved_s == pytest.approx((0.5 if halved else 1.0) * usual.saved_s, rel=0.01)
    doubts = {one.claim: one.refuted_by for one in gain.doubts}
    unpacks = "records that are not packed are as much quicker" if halved else None
    assert doubts.get("what decodes takes this time, not unpacking records") == unpacks


@pytest.mark.parametrize(
    ("stages", "changes"),
    [
        ((SHARDS, PARSE, BATCH), {}),
        ((SIDE_BY_SIDE, BATCH), {}),
        ((SIDE_BY_SIDE, PARSE, BATCH), {"read_ms": 44.0}),
        ((SIDE_BY_SIDE, PARSE, BATCH), {"cpu_s": 0.2}),
    ],
    ids=["one after the other", "nothing decodes", "readers never rest", "processors rest"],
)
def test_it_is_certain_where_reads_are_what_takes_the_time(tmp_path, stages, changes):
    measured = measure(job(tmp_path, *stages, **changes))

    assert find(measured).gain.low_s > 0
    assert not measured.use_and_facts[1].may_wait_for_decoding
