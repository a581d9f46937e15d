"""What decodes beside the reads: it is named if steps wait longest for it."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_decoding import PARSE, SHARDS, SIDE_BY_SIDE, decoding_job
from tests.unit.findings.made_up_jobs import BATCH
from tfdarshan.findings import decode_bound
from tfdarshan.findings.measurement import measure
from tfdarshan.replay.edits import DecodeCalls
from tfdarshan.replay.promise import promise

GZIP = {"compression": "GZIP"}


@pytest.mark.parametrize(
    ("changes", "named"),
    [({}, True), ({"read_ms": 44.0}, False), ({"cpu_s": 0.2}, False)],
    ids=["decodes longer", "readers never rest", "processors rest"],
)
def test_decoding_is_named_if_steps_wait_longest_for_it(tmp_path, changes, named):
    # GIVEN readers that rest for more than half of the time, beside a processor that works for 40 of 50 ms
    found = decode_bound.find(measure(decoding_job(tmp_path, SIDE_BY_SIDE, PARSE, BATCH, **changes)))

    assert (found is not None) is named


def test_more_calls_of_a_map_behind_records_leave_unpacking_as_it_is(tmp_path):
    # GIVEN shards that are read one after the other, packed or plain, and what decodes in a map of its own
    packed, plain = (
        measure(
            decoding_job(tmp_path / shards["name"] / shards.get("compression", ""), shards, PARSE, BATCH)
        ).job
        for shards in (SHARDS | GZIP, SHARDS)
    )

    # THEN more is promised of those that are not packed
    assert promise(packed, DecodeCalls()).expected < promise(plain, DecodeCalls()).expected
