"""Copies and conversions: of what memory serves in later epochs, and of what is in shards already."""

import dataclasses

import pyarrow as pa
import pytest

from tests.unit.findings.made_up_jobs import BATCH, INTERLEAVE, KB, LOAD, PATHS, SHARDS
from tests.unit.findings.made_up_training import training
from tfdarshan.findings import staging
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.record_files import in_shards_already
from tfdarshan.findings.verdict import make_verdict


def found(session):
    return {one.name: one for one in diagnose(session).findings}


def small(
    logdir, *, name="/data/{}.jpg", stages=(PATHS, LOAD, BATCH), epochs=1, later_ms=None, read_ms=None,
    first_read_ms=None, iterators=None, memory_bytes=1 << 34, size=KB, marked=True,
):  # fmt: skip
    """Return epochs of 64 files, each of which takes 5 ms to open, later as given, and a fifth of it to read.

    Reads of the first and of later epochs may take another time.
    """
    at, steps = 0.0, []
    calls: list[tuple] = []
    for epoch in range(epochs):
        for file in range(64):
            taken = 5.0 if not epoch or later_ms is None else later_ms
            reads = read_ms if epoch else first_read_ms
            end = at + taken + (taken / 5 if reads is None else reads)
            calls += [(at, at + taken, 1, "open", file, 0), (at + taken, end, 1, "pread", file, size, 0)]
            steps.append((at, end + 1, end - at))
            at = end + 1
    one = {"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": iterators or epochs}
    return training(
        logdir, calls, steps if marked else (), paths=[name.format(n) for n in range(64)], sizes=[size] * 64,
        meta={
            "machine": {"cpus": 4, "memory_bytes": memory_bytes},
            "pipelines": {"found": [one], "left_out": 0},
        },
    )  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({}, True),
        ({"name": "/data/{}.tfrecord"}, False),
        ({"name": "/data/train-{:05}-of-00064"}, False),
        ({"stages": (SHARDS, BATCH)}, False),
        ({"stages": (PATHS, INTERLEAVE, BATCH)}, False),
        ({"stages": (PATHS, INTERLEAVE | {"function": "read_them"}, BATCH)}, True),
    ],
    ids=["images", "records", "parts of a data set", "TFRecordDataset", "an interleave of it", "another one"],
)
def test_what_is_in_shards_is_not_to_be_put_into_shards(tmp_path, changes, named):
    assert ("small_files" in found(small(tmp_path, **changes))) is named


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("/a/x.tfrecord", True),
        ("/a/x.TFRecords.gz", True),
        ("/a/t-00001-of-00010", True),
        ("/a/t-1-of-2.gz", True),
        ("/a/x.tar", True),
        ("/a/x.jpg", False),
        ("/a/x.tfrecord/1.png", False),
        ("/a/t-1-of-2/x.bin", False),
        ("/a/tar", False),
    ],
)
def test_names_tell_files_of_many_records(name, told):
    assert in_shards_already(pa.array([name])).tolist() == [told]


@pytest.mark.parametrize(("later_ms", "kind"), [(None, "problem"), (0.02, "note")])
def test_who_is_asked_at_each_open_is_asked_in_later_epochs(tmp_path, later_ms, kind):
    # GIVEN three epochs, whose later reads memory serves; opens take 5 ms each time, or no longer
    session = small(tmp_path, epochs=3, later_ms=later_ms, read_ms=0.01)

    # THEN a copy spares the former in each epoch
    copy = staging.find(measure(session))
    assert copy.kind == kind
    assert ("they pay off from the second run on." in copy.what) == (kind == "note")


def test_files_are_converted_once_for_all_runs(tmp_path):
    # GIVEN three epochs whose files take 6 ms each, and 24 us in later epochs
    verdict = diagnose(small(tmp_path, epochs=3, later_ms=0.02)).verdict

    # THEN that is the fix, and the verdict says that a short run gains by it
    assert (verdict.state, verdict.finding) == ("slow", "small_files")
    assert "A longer run gains less, because only epoch 1 waits." in verdict.notes


@pytest.mark.parametrize(("first_read_ms", "kind"), [(30.0, "problem"), (600.0, "note")])
def test_a_copy_is_won_back_by_what_later_epochs_ask_of_a_server(tmp_path, first_read_ms, kind):
    # GIVEN three epochs of opens that take 5 ms, and later reads from memory
    session = small(tmp_path, epochs=3, read_ms=0.01, first_read_ms=first_read_ms)

    # THEN a copy is for several runs if what it spares of later epochs is worth no word
    copy = staging.find(measure(session))
    assert copy.kind == kind
    assert ("they pay off from the second run on." in copy.what) == (kind == "note")


@pytest.mark.parametrize(("later_ms", "lasts"), [(None, True), (0.02, False)])
def test_without_steps_too_a_copy_for_the_first_epoch_is_no_fix(tmp_path, later_ms, lasts):
    # GIVEN three epochs without steps, whose later opens take as long as the first, or memory serves them
    session = small(tmp_path, epochs=3, later_ms=later_ms, read_ms=0.01, marked=False)

    # WHEN a copy is what helps most
    copy = dataclasses.replace(found(session)["staging"], kind="note")
    verdict = make_verdict(measure(session), [copy], [])

    # THEN it is named if it helps a longer run as well
    assert copy.lasts is lasts
    assert ("Copy " in verdict.sentence) is lasts
    assert ("only pays off if several runs use it." in verdict.sentence) is not lasts


@pytest.mark.parametrize(
    ("first_read_ms", "title"),
    [
        (0.01, "calls that read nothing, such as open() and stat(), take "),
        (30.0, "reads reach only "),
    ],
)
def test_what_takes_longer_of_the_files_is_named(tmp_path, first_read_ms, title):
    # GIVEN three epochs whose opens take 5 ms each, and whose reads take less or more than these
    session = small(tmp_path, epochs=3, read_ms=0.01, first_read_ms=first_read_ms)

    # THEN
    assert staging.find(measure(session)).title.startswith(title)
