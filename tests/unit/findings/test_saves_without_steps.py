"""Checkpoints of a job that marks no steps: files named alike, of one size, beside input that is read."""

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.analysis.step_model import most_saved_s
from tfdarshan.findings.diagnosis import diagnose

MB = 1 << 20


def job(logdir, names, *, save_ms=400.0, sizes=(16 * MB,) * 4, reads=True, apart_ms=1000.0):
    """Gives a job that saves after reading by threads and computing; times may be of each save."""
    at, calls = 0.0, []
    for save, size in enumerate(sizes):
        apart, lasts = (one[save] if isinstance(one, tuple) else one for one in (apart_ms, save_ms))
        if reads:
            calls += [(at + 10 * n, at + 10 * n + 5, 1, "pread", n, MB) for n in range(10)]
        calls.append((at + apart, at + apart + lasts, LOOP, "write", 10 + save, size))
        at += apart + lasts
    paths = [*(f"/data/{n}" for n in range(10)), *names[: len(sizes)]]
    return training(logdir, sorted(calls), paths=paths, sizes=[MB] * 10 + list(sizes), duration_ms=at)


ALIKE = [f"/out/weights-{step}.npy" for step in (5, 10, 15, 20)]


def saves(session):
    return next(one for one in diagnose(session).findings if one.name == "checkpoint_stall")


def test_they_hold_up_the_thread_that_writes_them(tmp_path):
    session = job(tmp_path, ALIKE)

    # THEN a quarter of the time of the saves comes back for certain; what they took at most, with 1 % for
    # noise, and the rest gets quicker
    one, verdict = saves(session), diagnose(session).verdict
    assert (one.kind, verdict.state, verdict.finding) == ("problem", "slow", "checkpoint_stall")
    assert one.title == "checkpoints hold the main thread up for 1.600 s in all"
    assert one.what == "67.1 MB in 4 files named alike took 1.600 s, in which the main thread stood still."
    low, high = one.gain.speedup_range
    assert low == pytest.approx(5.6 / (5.6 - 0.25 * 1.6), rel=0.02)
    assert high == pytest.approx(5.6 / (5.6 - most_saved_s(5.6, 1.6 + 0.056)), rel=0.01)
    named = next(entry for entry in one.gain.assumptions if entry.claim == "these are checkpoints")
    assert named.support == "4 files named alike, of 16.8 MB each"
    assert named.refuted_by == "what is written is read soon after"


@pytest.mark.parametrize(
    "changes",
    [
        {"names": ["/out/mean.npy", "/out/std.npy", "/out/labels.npy", "/out/ids.npy"]},
        {"sizes": (16 * MB, 2 * MB, 40 * MB, 16 * MB)},
        {"sizes": (16 * MB,)},
        {"reads": False},
    ],
    ids=["other names", "other sizes", "one", "no input"],
)
def test_other_files_are_a_note(tmp_path, changes):
    one = saves(job(tmp_path, **({"names": ALIKE} | changes)))

    assert (one.kind, one.gain, one.cure) == ("note", None, None)


def test_a_burst_buffer_that_reads_what_it_wrote_again_needs_the_time_for_both(tmp_path):
    # GIVEN saves of 0.7 s after each second, by TensorFlow and by NumPy
    names = [f"/out/ckpt-{number}.data-00000-of-00001" for number in (1, 2, 3, 4)]
    burst = saves(job(tmp_path / "tensorflow", names, save_ms=700.0))
    thread = saves(job(tmp_path / "numpy", ALIKE, save_ms=700.0))

    # THEN a thread has written one before the next is due; of 6.8 s a burst buffer needs 5.6 on its own
    assert thread.gain.low_s > 0
    assert burst.gain.low_s == 0
    assert thread.gain.expected_s == pytest.approx(0.7 * 2.8, rel=0.02)
    assert burst.gain.expected_s == pytest.approx(0.7 * (6.8 - 5.6), rel=0.02)


def test_a_job_with_a_burst_buffer_is_not_offered_one(tmp_path):
    # GIVEN saves of TensorFlow's into a folder in which a burst buffer keeps its ledger
    names = [f"/fast/ckpt-{number}.data-00000-of-00001" for number in (1, 2, 3, 4)]
    names.append("/fast/.tfdarshan-burst/ledger.jsonl")

    one = saves(job(tmp_path, names, sizes=(*(16 * MB,) * 4, 100)))

    assert (one.kind, one.gain, one.cure.line) == ("note", None, "")
    assert (
        one.cure.what == "A burst buffer is in use already: save less often, or give it a quicker fast tier."
    )


def test_a_job_that_a_burst_buffer_holds_up_is_not_called_healthy(tmp_path):
    # GIVEN steps that find their batch ready, every fifth of which saves for 100 ms
    steps = [(150 * n, 150 * n + 150, 0.1) for n in range(20)]
    calls = [(150 * n + 40, 150 * n + 140, LOOP, "write", 1 + n // 5, 16 * MB) for n in range(0, 20, 5)]
    calls.append((2_990, 2_991, LOOP, "write", 0, 100))
    paths = ["/fast/.tfdarshan-burst/ledger.jsonl", *(f"/fast/ckpt-{n}.index" for n in range(4))]
    verdict = diagnose(training(tmp_path, calls, steps, paths=paths)).verdict

    assert (verdict.state, verdict.finding, verdict.cause) == ("unknown", "", "checkpoint_stall")
    assert "of step time is lost because each checkpoint holds training up for" in verdict.sentence
    assert verdict.sentence.endswith("save less often, or give it a quicker fast tier.")


def test_saves_that_take_longer_than_all_else_are_written_beside_that_alone(tmp_path):
    # GIVEN saves of 2 s after each second: the next one is due before the last one is written
    one = saves(job(tmp_path, ALIKE, save_ms=2000.0))

    # THEN of 8 s that they take 4 go on beside the rest, at most, and nothing is certain; the upper bound is
    # without any of them
    assert one.gain.low_s == 0
    assert one.gain.expected_s == pytest.approx(0.7 * 4.0)
    assert one.gain.speedup_range[1] == pytest.approx(12 / (12 - most_saved_s(12, 8 + 0.12)), rel=0.01)


@pytest.mark.parametrize(
    ("save_ms", "in_time"),
    [
        ((1000.0,) * 4, True),
        ((1010.0,) * 4, True),
        ((3500.0, 500.0, 500.0, 500.0), False),
        ((1300.0,) * 4, False),
    ],
    ids=["just in time", "hardly late", "one holds up those after it", "more late each time"],
)
def test_saves_are_in_time_if_they_hardly_wait_for_those_before_them(tmp_path, save_ms, in_time):
    # GIVEN a second from each to the next
    one = saves(job(tmp_path, ALIKE, save_ms=save_ms))

    written = next(entry for entry in one.gain.assumptions if entry.claim.startswith("a checkpoint can be"))
    assert bool(written.support) is in_time
    assert (one.gain.low_s > 0) is in_time


def test_a_few_saves_that_took_longer_where_there_was_as_much_time_are_no_doubt(tmp_path):
    # GIVEN saves of 1.5 s in an epoch that takes long itself, and of 0.4 s each half second in later ones
    names = [f"/out/weights-{step}.npy" for step in range(8)]
    save_ms, apart_ms = (*[1500.0] * 2, *[400.0] * 6), (*[1600.0] * 3, *[500.0] * 5)
    one = saves(job(tmp_path, names, save_ms=save_ms, apart_ms=apart_ms, sizes=(16 * MB,) * 8))

    written = next(entry for entry in one.gain.assumptions if entry.claim.startswith("a checkpoint can be"))
    assert written.support == "8 checkpoints of 400.0 ms, 500.0 ms from one to the next"
