"""What decodes beside the reads: it is named if steps wait longest for it."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from tests.unit.findings.made_up_decoding import PARSE, SHARDS, SIDE_BY_SIDE, decoding_job
from tests.unit.findings.made_up_jobs import BATCH
from tfdarshan.findings import decode_bound
from tfdarshan.findings.measurement import measure
from tfdarshan.frameworks.tensorflow.record_words import unpacked
from tfdarshan.frameworks.tensorflow.tf_data_pipeline import Stage
from tfdarshan.replay.edits import DecodeCalls, Uncompressed, edited
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


def test_unpacking_is_spared_by_records_that_are_not_packed(tmp_path):
    # GIVEN packed records that are read one after the other, and a map that has all processors
    pipeline = (SHARDS | GZIP, PARSE | {"calls": -1}, BATCH)

    # WHEN
    measures = measure(decoding_job(tmp_path, *pipeline))
    found = decode_bound.find(measures)

    # THEN the fix writes them again, once
    assert [type(edit) for edit in found.edits] == [Uncompressed]
    assert (found.work, found.fix) == ("convert", unpacked(Stage("TFRecordDataset", compression="GZIP")))


@pytest.mark.parametrize("name", ["TFRecordDataset", "interleave"])
def test_records_that_are_written_again_are_read_as_they_are(name):
    fix = unpacked(Stage(name, compression="GZIP", function="" if name == "TFRecordDataset" else "read"))

    once, reads = fix.line.rsplit("\n", 1)
    ast.parse(once)
    assert 'compression_type="GZIP"' in once
    assert 'compression_type="GZIP"' in fix.instead_of
    assert reads == fix.instead_of.replace(', compression_type="GZIP"', "")


def test_records_that_are_not_packed_are_more_bytes_and_no_unpacking(tmp_path):
    job = measure(decoding_job(tmp_path, SHARDS | GZIP, BATCH)).job

    plain = edited(job, Uncompressed()).model

    assert plain.transfer_s == pytest.approx(job.model.transfer_s * job.drawn["inflated_times"])
    unpacked_s = job.facts.tasks.size[:, None] * job.drawn["inflate_s_per_byte"]
    assert job.model.work_s - plain.work_s == pytest.approx(np.minimum(unpacked_s, job.model.work_s))
