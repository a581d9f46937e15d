"""Storage that gives so much in each interval and then holds calls back is full, whatever its depth shows."""

import itertools
import random
from dataclasses import replace

import pytest

from tests.closed_readers import Budget, Delay, Stalls, calls_of
from tests.unit.findings.found_limits import limit_of
from tests.unit.findings.made_up_jobs import names, rests
from tests.unit.findings.made_up_jobs import readers_job as job
from tests.unit.findings.made_up_training import training
from tfdarshan.findings import straggler
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure

COUNT = 600


def session_of(logdir, storage, *, readers=1, rest_ms=1.0, resting=None):
    return job(logdir, calls_of(storage, readers=readers, rest_ms=resting or rests(rest_ms), count=COUNT))


@pytest.mark.parametrize(
    ("readers", "rest_ms"),
    [(1, 1.0), (2, 1.0), (1, 3.0)],
    ids=["one", "two", "one, held as long as disks wait"],
)
def test_a_limit_of_an_interval_is_full_for_any_number_of_readers(tmp_path, readers, rest_ms):
    # GIVEN 20 calls in each 100 ms, of readers that rest between them
    session = session_of(tmp_path, Budget(20), readers=readers, rest_ms=rest_ms)

    found = limit_of(measure(session))
    assert found is not None
    assert found.interval_s == pytest.approx(0.1, rel=0.05)

    # THEN that storage is full is said, with the interval
    said = {finding.name: finding for finding in diagnose(session).findings}
    assert said["full_storage"].what.endswith(
        f" A rate limit holds further calls back until the next {1e3 * found.interval_s:.1f} ms begin, as "
        "limits of a cgroup, a cloud disk or a quota do. More readers would not help."
    )


@pytest.mark.parametrize(
    "storage",
    [lambda: Delay(50), lambda: Delay(15), lambda: Stalls(), lambda: Stalls(each=9), lambda: Budget(1000)],
    ids=[
        "all calls wait as long",
        "all calls wait as long as a disk's",
        "at no fixed time",
        "for as long each",
        "a limit that is not reached",
    ],
)
def test_other_slow_storage_has_no_such_limit(tmp_path, storage):
    session = session_of(tmp_path, storage())

    assert limit_of(measure(session)) is None
    assert limit_of(measure(session)) is None
    assert "full_storage" not in names(session)


def test_calls_that_pass_are_quick_beside_those_that_are_held(tmp_path):
    # GIVEN reads that take 2 ms if they pass. Most that are held begin as the interval does, and wait for all
    # of it; that others wait the less the later they begin shows where steps compute for most of an interval
    held_back = Budget(4, call_ms=2.0)

    class LetGoLate:
        def end(self, at_ms, size, noise):
            end = held_back.end(at_ms, size, noise)
            return end + (3 * noise.random() if end - at_ms > 3 else 0)

    steps = itertools.cycle([0.2] * 15 + [80.0])
    session = session_of(tmp_path, LetGoLate(), resting=lambda noise: next(steps) + 0.1 * noise.random())

    found = limit_of(measure(session))
    assert found is not None
    assert found.interval_s == pytest.approx(0.1, rel=0.05)


@pytest.mark.parametrize(("each_ms", "shown"), [(100.0, True), (88.0, False)])
def test_readers_that_use_an_interval_up_at_once_show_a_limit_by_the_kernels_intervals(
    tmp_path, each_ms, shown
):
    # GIVEN two readers that read 15 MB in an interval's first 15 ms, and wait for its end, from where one of
    # both takes up to 8 ms more; or storage whose intervals are nobody's
    noise, calls = random.Random(1), []
    for interval in range(40):
        begins, ends = each_ms * interval, each_ms * (interval + 1)
        for n in range(7):
            calls += [(begins + 9 + n, begins + 9.9 + n, reader, 1_000_000) for reader in (0, 1)]
        calls += [(begins + 16 + noise.random(), ends + 0.2 * noise.random(), 0, 500_000)]
        calls += [(begins + 16 + noise.random(), ends + 8 * noise.random(), 1, 500_000)]

    found = limit_of(measure(job(tmp_path, sorted(calls))))

    assert (found is not None) is shown
    assert found is None or found.interval_s == pytest.approx(0.1, rel=0.03)


def test_an_interval_that_was_not_used_up_lets_nobody_go(tmp_path):
    # GIVEN a reader that rests for longer than an interval now and then, so that some pass without a release
    session = session_of(
        tmp_path, Budget(20), resting=lambda noise: 110 if noise.random() < 0.02 else rests(1)(noise)
    )

    # THEN twice as far apart is as regular
    found = limit_of(measure(session))
    assert found is not None
    assert found.interval_s == pytest.approx(0.1, rel=0.05)


def held_in(logdir, *, folder_of, writes=0.0):
    """Return a session of a limit whose reads are of 16 files, where the job may write while one is held.

    Args:
        logdir: Where.
        folder_of: Gives the folder of a file by its number; files 0 to 7 are those of held reads.
        writes: For what share of a held read.
    """
    made, in_turn = [], {held: itertools.cycle(range(8)) for held in (False, True)}
    for start, end, _, length in calls_of(Budget(20), readers=1, rest_ms=rests(1), count=COUNT):
        held = end - start > 30
        made.append((start, end, 1, "pread", next(in_turn[held]) + 8 * (not held), length, 0))
        if held and writes:
            made.append((start, start + writes * (end - start), 100, "write", 16, 4_000_000, 0))
    paths = [f"/data/{folder_of(place)}/{place}" for place in range(16)]
    return training(logdir, made, paths=[*paths, "/out/a"], sizes=[10**9] * 17)


def test_a_folder_that_is_slow_is_not_a_limit(tmp_path):
    assert limit_of(measure(held_in(tmp_path / "any", folder_of=lambda place: 0))) is not None
    assert limit_of(measure(held_in(tmp_path / "one", folder_of=lambda place: place // 8))) is None


@pytest.mark.parametrize(("writes", "shown"), [(1.0, False), (0.6, False), (0.3, True)])
def test_reads_that_wait_for_what_the_job_writes_show_no_limit(tmp_path, writes, shown):
    # GIVEN writes beside each held read: for most of it, or for a part, as beside all that lasts
    measures = measure(held_in(tmp_path, folder_of=lambda place: 0, writes=writes))

    assert (limit_of(measures) is not None) is shown


def test_files_that_a_limit_held_up_are_not_slow_themselves(tmp_path):
    # GIVEN 180 files, each read once, of which a limit of 12 reads in each 100 ms held up 14
    calls = calls_of(Budget(12), readers=1, rest_ms=rests(1), count=180)
    made = [(start, end, 1, "pread", place, size, 0) for place, (start, end, _, size) in enumerate(calls)]
    steps = [(50.0 * n, 50.0 * n + 50, 45) for n in range(int(calls[-1][1] // 50))]
    paths = [f"/data/{place % 5}/{place}" for place in range(180)]
    measures = measure(training(tmp_path, made, steps, paths=paths, sizes=[100_000] * 180))
    assert limit_of(measures) is not None

    assert straggler.find(measures) is None
    # ... and without what tells the limit they are said to be slow, in one read each
    unlimited = replace(measures.job.facts.storage, limit_s=None)
    not_held = replace(measures)
    vars(not_held)["job"] = replace(measures.job, facts=replace(measures.job.facts, storage=unlimited))
    assert straggler.find(not_held).title.startswith("14 files take ")
    assert straggler.find(not_held).kind == "note"
