"""What it costs to open a file for each sample: with what is asked about it, and what is read anew."""

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.analysis.step_model import noise_s
from tfdarshan.findings import reopening
from tfdarshan.findings.measurement import measure

KB = 1_000
SAMPLES, OPEN_MS, ASK_MS, READ_MS, COMPUTE_MS = 200, 5.0, 2.5, 0.05, 1.0


def job(
    logdir, *, files=4, asked=True, by_name=False, read_ms=READ_MS, open_ms=(OPEN_MS,), kb=8, first_ms=None
):
    """Gives a loop that opens a file for each sample, and asks about it while it is open; 3 epochs.

    Opens take as long as `open_ms` says, in turn; the first read of each file `first_ms`, if that is given.
    """
    at, steps = 0.0, []
    calls: list[tuple] = []
    for sample in range(SAMPLES):
        file, begin = sample % files, at
        if by_name:
            calls.append((at, at + ASK_MS, LOOP, "stat", file, 0))
            at += ASK_MS
        opened_at = at + open_ms[sample % len(open_ms)]
        calls.append((at, opened_at, LOOP, "open", file, 0))
        at = opened_at
        if asked:
            calls.append((at, at + ASK_MS, LOOP, "fstat", file, 0))
            at += ASK_MS
        offset = sample // files % (SAMPLES // files // 2) * kb * KB
        takes_ms = read_ms if first_ms is None or sample >= files else first_ms
        calls.append((at, at + takes_ms, LOOP, "pread", file, kb * KB, offset))
        at += takes_ms
        steps.append((begin, at + COMPUTE_MS, at - begin))
        at += COMPUTE_MS
    return training(logdir, calls, steps, paths=[f"/data/{n}" for n in range(files)],
                    sizes=[SAMPLES // files // 2 * kb * KB] * files)  # fmt: skip


def gain(session):
    found = reopening.find(measure(session))
    return found, found.gain


@pytest.mark.parametrize(("asked", "each_ms"), [(True, OPEN_MS + ASK_MS), (False, OPEN_MS)])
def test_what_is_asked_about_a_file_when_it_is_opened_is_spared_with_the_open(tmp_path, asked, each_ms):
    # GIVEN 200 opens of four files
    found, promise = gain(job(tmp_path, asked=asked))

    # THEN
    assert promise.saved_s == pytest.approx(0.98 * each_ms / 1000 * 196 / 200, rel=0.02)
    assert "opening and closing again, with what is asked meanwhile, takes" in found.what


def test_what_the_job_asks_by_name_is_not(tmp_path):
    with_stats, without = (
        gain(job(tmp_path / str(one), asked=False, by_name=one))[1] for one in (True, False)
    )

    assert with_stats.saved_s == pytest.approx(without.saved_s, rel=0.02)


@pytest.mark.parametrize(("files", "least"), [(1, 0.93), (2, 0.93), (20, 0.588), (100, 0.5)])
def test_the_first_of_many_opens_is_a_small_part(tmp_path, files, least):
    # GIVEN files that are opened 200, 100, 10 and 2 times each
    promise = gain(job(tmp_path, files=files))[1]

    # THEN the first open may take eight times as long; of few it may be half of the time, and of many some is
    # waited for elsewhere
    again_s = (OPEN_MS + ASK_MS) / 1000 * (1 - files / SAMPLES)
    sure_s = least * again_s
    assert promise.low_s == pytest.approx(sure_s - noise_s(promise.before_s, sure_s), rel=0.02)


def test_reads_that_storage_serves_after_each_open_may_be_spared_too(tmp_path):
    # GIVEN reads of 0.05 ms from memory, and of 3 ms from storage
    cached, stored = (gain(job(tmp_path / str(ms), read_ms=ms))[1] for ms in (READ_MS, 3.0))

    # THEN at most
    assert stored.saved_s == pytest.approx(cached.saved_s, rel=0.02)
    assert stored.high_s - cached.high_s == pytest.approx(3e-3 * 196 / 200, rel=0.05)


@pytest.mark.parametrize(
    ("open_ms", "sure", "likely"),
    [
        # Quick ones: 0.05 ms of 0.125 is what they take as a rule.
        ((0.05, 0.05, 0.05, 0.05, 0.425), 0.4, 0.7),
        ((0.125,), 1.0, 1.0),
        # As long as storage waits: it is what takes long.
        ((5.0, 5.0, 5.0, 5.0, 42.5), 1.0, 1.0),
        ((0.5, 0.5, 0.5, 0.5, 4.25), 1.0, 1.0),
    ],
)
def test_what_quick_opens_take_beyond_the_usual_may_be_waited_for_elsewhere(tmp_path, open_ms, sure, likely):
    # GIVEN two files that are opened 100 times each, some of these for longer than the others
    promise = gain(job(tmp_path, files=2, asked=False, open_ms=open_ms))[1]

    # THEN that is not promised for certain of calls that no storage holds up, and half is expected
    again_s = sum(open_ms) / len(open_ms) / 1000 * 198 / 200
    sure_s = sure * 0.93 * again_s
    assert promise.low_s == pytest.approx(sure_s - noise_s(promise.before_s, sure_s), rel=0.05)
    assert promise.saved_s == pytest.approx(likely * 0.99 * again_s, rel=0.03)


@pytest.mark.parametrize(
    ("open_ms", "first_ms", "read_ahead_s"),
    [
        # 19 parts of 131 kB are read of each file, and a read waited for one of them.
        ((2.5, 5.0, 5.0, 5.0, 5.0), 2.5, 4 * 18.07 * 2.5e-3),
        # One open in five takes 0.5 ms longer: nothing else can have waited for other reads.
        ((4.5, 4.5, 4.5, 4.5, 5.0), 2.5, 200 / 5 * 0.5e-3),
        ((4.5,), 2.5, 0.0),
        # The files were in memory.
        ((2.5, 5.0, 5.0, 5.0, 5.0), None, 0.0),
    ],
)
def test_reads_that_stand_before_opens_are_waited_for_without_them(tmp_path, open_ms, first_ms, read_ahead_s):
    # GIVEN reads of 100 kB in order, of which the first of each file waits for storage, and opens that take
    # longer where the kernel reads ahead before them
    promise = gain(job(tmp_path, asked=False, open_ms=open_ms, kb=100, first_ms=first_ms))[1]

    # THEN so much less is certain, and half of it is not expected
    needless_s = sum(open_ms) / len(open_ms) / 1000 * 196 / SAMPLES
    behind_s = read_ahead_s * 196 / SAMPLES / SAMPLES
    sure_s = 50 / 57 * needless_s - behind_s
    assert promise.low_s == pytest.approx(sure_s - noise_s(promise.before_s, sure_s), rel=0.02)
    assert promise.saved_s == pytest.approx(50 / 51 * needless_s - behind_s / 2, rel=0.01)
