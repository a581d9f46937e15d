"""A job without steps whose batches are read one at a time, with pauses, has no batch prepared ahead."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from tests.unit.findings.made_up_jobs import BATCH, LOAD, PATHS
from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.steps.read_bursts import ReadBursts, read_bursts
from tfdarshan.findings import prefetch
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.native.input_sums import InputCalls

KB = 1_000
FILES, BATCHES = 8, 40
TF_DATA = [{"stages": [PATHS, LOAD, BATCH], "pool_threads": None, "datasets": 1, "iterators": 1}]
COMPUTES, HAS_MORE = "steps compute in the pauses", "storage has more to give while steps compute"


def job(
    logdir,
    *,
    by=7,
    read_ms=10.0,
    pause_ms=30.0,
    ahead=0,
    passes=2,
    busy=0.05,
    first_ms=None,
    sizes=None,
    lull_ms=0.0,
    labels=False,
    model_ms=None,
    writes_ms=0.0,
    started_by="run",
    pipelines=(),
):
    """Return batches of 8 files, each read in a burst, with pauses between them; nothing says what a step is.

    Args:
        logdir: Where.
        by: Who reads.
        read_ms: What a batch takes.
        pause_ms: What comes after it.
        ahead: Batches that are read at once after the first one.
        passes: How often the files are read.
        busy: How much of a processor is used throughout.
        first_ms: What the first batch takes, if it is something else.
        sizes: Files of each batch, if they are not alike.
        lull_ms: A rest within each batch, while a sample is decoded.
        labels: Whether it begins with a small file of labels, and a pause in which a model is made.
        model_ms: What that takes, if it is no pause like the others.
        writes_ms: What of each pause the loop writes to a file.
        started_by: Who started to record.
        pipelines: Those of tf.data.
    """
    at, calls, file = 0.0, [], 0
    files = FILES * BATCHES // passes
    if labels:
        calls += [(0.0, 0.1, LOOP, "open", files + 1, 0), (0.1, 0.2, LOOP, "read", files + 1, 8 * KB)]
        at = pause_ms if model_ms is None else model_ms
    for batch in range(BATCHES):
        count = FILES if sizes is None else sizes[batch % len(sizes)]
        each_ms = (first_ms if batch == 0 and first_ms is not None else read_ms) / count
        for place in range(count):
            at += lull_ms if place == count // 2 else 0.0
            calls += [
                (at, at + each_ms / 2, by, "open", file % files, 0),
                (at + each_ms / 2, at + each_ms, by, "read", file % files, 8 * KB),
            ]
            at, file = at + each_ms, file + 1
        if batch < ahead:
            continue
        if writes_ms:
            calls.append((at + 1, at + 1 + writes_ms, LOOP, "write", files, 100 * KB))
        at += pause_ms
    meta = {
        "machine": {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": busy * at / 1000},
        "pipelines": {"found": list(pipelines), "left_out": 0},
        "started_by": started_by,
    }
    paths = [f"/data/{n}" for n in range(files)] + ["/out/log", "/data/labels"]
    return training(
        logdir, calls, paths=paths, sizes=[8 * KB] * files + [-1, 8 * KB], duration_ms=at, meta=meta
    )


def prefetched(session):
    return next((one for one in diagnose(session).findings if one.name == "prefetch"), None)


@pytest.mark.parametrize(
    ("by", "who"), [(7, "the loop waits for each batch to be read"), (LOOP, "the loop reads")]
)
def test_batches_read_one_at_a_time_are_read_ahead_in_the_pauses(tmp_path, by, who):
    found = diagnose(job(tmp_path, by=by))
    one = next(one for one in found.findings if one.name == "prefetch")

    # THEN each burst but the first is hidden in the pause before it
    assert one.kind == "problem"
    assert found.verdict.finding == "prefetch"
    assert one.title == "each batch is read only when it is asked for"
    assert one.what == (
        "The job reads its input in 40 bursts of 8 files, 10.0 ms each, and reads nothing in the pauses of "
        "30.0 ms between bursts. The first burst is no larger than the others, so no batch is prepared ahead."
    )
    assert one.gain.saved_s == pytest.approx(39 * 0.010, rel=0.1)
    assert one.gain.unit == "session"
    assert {entry.label: entry.value for entry in one.evidence} == {
        "bursts of calls on input": 40,
        "a burst, median": pytest.approx(0.010),
        "a pause, median": pytest.approx(0.030),
    }
    assert one.fix.line == "for batch in read_ahead(batches):  # from tfdarshan.ahead"
    assert who in one.fix.what


@pytest.mark.parametrize(
    "changes",
    [
        # a buffer was filled
        {"ahead": 1},
        {"ahead": 4},
        # and labels were read before that, with a pause
        {"ahead": 4, "labels": True},
        # bursts of anything, as of a job that is no training
        {"sizes": (2, 14, 8)},
        # who began in the middle may have come when the buffer was full
        {"passes": 1, "started_by": "profile"},
        # tf.data says itself whether it prepares ahead
        {"pipelines": TF_DATA},
        # there is no pause to read in
        {"pause_ms": 0.0},
    ],
)
def test_what_may_be_prepared_ahead_is_not_said_to_be_read_on_demand(tmp_path, changes):
    assert prefetched(job(tmp_path, **changes)) is None


@pytest.mark.parametrize(
    ("changes", "bursts"),
    [({"passes": 1}, 40), ({"started_by": "profile"}, 40), ({"lull_ms": 5.0}, 40), ({"labels": True}, 41)],
)
def test_a_whole_run_or_a_second_epoch_shows_how_it_began(tmp_path, changes, bursts):
    one = prefetched(job(tmp_path, **changes))

    # THEN a rest while a sample is decoded parts no burst
    assert f"{bursts} bursts of 8 files" in one.what


@pytest.mark.parametrize("lull_ms", [0.0, 5.0])
def test_a_long_rest_before_training_is_no_usual_pause(tmp_path, lull_ms):
    # GIVEN labels that are read before modules are loaded, which takes longer than all steps
    one = prefetch.find(measure(job(tmp_path, labels=True, model_ms=2000.0, lull_ms=lull_ms)))

    # THEN bursts are parted as without that, each but that of the labels hidden in the pause before it
    assert "41 bursts of 8 files" in one.what


def test_a_long_rest_between_batches_leaves_the_bursts_that_it_parts(tmp_path):
    # GIVEN a buffer that is filled after such a rest
    assert prefetched(job(tmp_path, labels=True, model_ms=2000.0, ahead=4)) is None


def test_bursts_are_the_same_however_calls_come():
    # GIVEN 12 bursts of 3 calls, one of which is longer than all that begin after it in its burst
    starts = np.concatenate([np.array([0, 1, 2]) * 1_000_000 + 40_000_000 * n for n in range(12)])
    ends = starts + np.tile([9_000_000, 500_000, 500_000], 12)
    kind = np.tile([KIND["open"], KIND["read"], KIND["read"]], 12)
    calls = InputCalls(starts, ends, np.full(36, 100), np.zeros(36), np.zeros(36), kind)

    # WHEN they come in blocks of several sizes
    found = [
        read_bursts(calls.part(slice(at, at + size)) for at in range(0, 36, size)) for size in (1, 2, 5, 36)
    ]

    # THEN
    for one in found:
        for field in dataclasses.fields(one):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(found[0], field.name))
    assert found[0].brought.tolist() == [[1] * 12, [2] * 12, [200] * 12]
    assert found[0].pauses_s == pytest.approx(np.full(11, 0.031))
    assert read_bursts([]) is None


@pytest.mark.parametrize(("most", "batch"), [(11, ("files", 10, 11)), (12, None)])
def test_bursts_are_alike_up_to_a_tenth(most, batch):
    # GIVEN bursts of 10 files, every third of which brings more
    start_ns = np.arange(12) * 40_000_000
    brought = np.zeros((3, 12), np.int64)
    brought[0] = [10, 10, most] * 4

    assert ReadBursts(start_ns, start_ns + 9_000_000, brought).batch == batch
