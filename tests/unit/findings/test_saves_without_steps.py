"""Checkpoints of a job that marks no steps: files named alike, of one size, beside input that is read."""

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tfdarshan.analysis.step_model import most_saved_s, noise_s
from tfdarshan.findings import checkpoint_stall
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.units import human_bytes

MB = 1 << 20


def job(logdir, names, *, save_ms=400.0, sizes=(16 * MB,) * 4, reads=True, apart_ms=1000.0, data="/data"):
    """Gives a job that saves after reading by threads and computing; times may be of each save."""
    at, calls = 0.0, []
    for save, size in enumerate(sizes):
        apart, lasts = (one[save] if isinstance(one, tuple) else one for one in (apart_ms, save_ms))
        if reads:
            calls += [(at + 10 * n, at + 10 * n + 5, 1, "pread", n, MB) for n in range(10)]
        calls.append((at + apart, at + apart + lasts, LOOP, "write", 10 + save, size))
        at += apart + lasts
    paths = [*(f"{data}/{n}" for n in range(10)), *names[: len(sizes)]]
    return training(logdir, sorted(calls), paths=paths, sizes=[MB] * 10 + list(sizes), duration_ms=at)


ALIKE = [f"/out/weights-{step}.npy" for step in (5, 10, 15, 20)]
TENSORFLOWS = [f"/out/ckpt-{number}.data-00000-of-00001" for number in (1, 2, 3, 4)]


def saves(session):
    return next(one for one in diagnose(session).findings if one.name == "checkpoint_stall")


def test_they_hold_up_the_thread_that_writes_them(tmp_path):
    session = job(tmp_path, ALIKE)

    # THEN a quarter of the time of the saves comes back for certain, and at most what they took, but for what
    # runs differ by, and the rest gets quicker
    one, verdict = saves(session), diagnose(session).verdict
    assert (one.kind, verdict.state, verdict.finding) == ("problem", "slow", "checkpoint_stall")
    assert one.title == "checkpoints hold the main thread up for 1.600 s in all"
    assert one.what == "67.1 MB in 4 files named alike took 1.600 s, in which the main thread stood still."
    low, high = one.gain.speedup_range
    assert low == pytest.approx(5.6 / (5.6 - 0.4 + noise_s(5.6, 0.4)), rel=0.02)
    assert high == pytest.approx(5.6 / (5.6 - most_saved_s(5.6, 1.6 + noise_s(5.6, 1.6))), rel=0.01)
    named = next(entry for entry in one.gain.assumptions if entry.claim == "these are checkpoints")
    assert named.support == "4 files named alike, of 16.8 MB each"
    assert named.refuted_by == "what is written is read soon after"


def test_saves_less_than_half_a_second_apart_are_as_many_as_there_are(tmp_path):
    # GIVEN four saves of 340 ms with 250 ms of reading and computing between
    session = job(tmp_path, ALIKE, apart_ms=250.0, save_ms=340.0)

    # THEN each is one, and they hold the main thread up
    one = saves(session)
    assert (one.kind, diagnose(session).verdict.finding) == ("problem", "checkpoint_stall")
    shown = {entry.label: entry.value for entry in one.evidence}
    assert (shown["bursts"], shown["held up"]) == (4, pytest.approx(1.36))


def test_a_burst_buffer_is_promised_nothing_of_saves_that_follow_closely(tmp_path):
    # GIVEN the same of TensorFlow's, which a burst buffer would write and read once more
    session = job(tmp_path, TENSORFLOWS, apart_ms=250.0, save_ms=340.0)

    assert (saves(session).kind, saves(session).gain) == ("note", None)
    assert saves(session).title == "the main thread writes 67.1 MB in 4 bursts, 1.360 s in all"


@pytest.mark.parametrize(
    ("names", "size", "apart_ms"),
    [
        (["/out/mean.npy", "/out/std.npy", "/out/labels.npy", "/out/ids.npy"], 16 * MB, 250.0),
        (ALIKE, MB // 2, 250.0),
        (ALIKE, 16 * MB, 40.0),
    ],
    ids=["other names", "small ones", "one after the other"],
)
def test_what_is_written_closely_is_one_burst_unless_it_is_a_save_by_itself(tmp_path, names, size, apart_ms):
    session = job(tmp_path, names, apart_ms=apart_ms, sizes=(size,) * 4, reads=apart_ms > 100)

    assert saves(session).title.startswith(f"the main thread writes {human_bytes(4 * size)} in 1 burst, ")


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
    # GIVEN saves of 0.6 s after each second, by TensorFlow and by NumPy
    burst = saves(job(tmp_path / "tensorflow", TENSORFLOWS, save_ms=600.0))
    thread = saves(job(tmp_path / "numpy", ALIKE, save_ms=600.0))

    # THEN a thread has written one before the next is due; of 6.4 s a burst buffer needs 4.8 on its own, and
    # as these do not fit beside the rest it is as likely as not that anything comes of it
    assert thread.gain.low_s > 0
    assert burst.gain.low_s == 0
    assert thread.gain.saved_s == pytest.approx(0.7 * 2.4, rel=0.02)
    assert burst.gain.saved_s == pytest.approx(0.5 * 0.7 * (6.4 - 4.8), rel=0.02)


def room_on_storage(one):
    """Gives what says that storage has the time for the copies, "" if nothing does."""
    claim = "storage has the time for what a burst buffer copies"
    named = next(entry for entry in one.gain.assumptions if entry.claim == claim)
    assert named.refuted_by == "reads or saves wait for the copies"
    return named.support


@pytest.mark.parametrize(
    ("data", "save_ms", "seen"),
    [
        ("/data", 450.0, "3.600 s of 4.000 s, at 37.3 MB/s"),
        ("/input", 450.0, ""),
        ("/input", 300.0, "3.150 s of 4.000 s, at 55.9 MB/s"),
    ],
    ids=["another mount", "too much for one", "one has room for both"],
)
def test_the_copies_take_turns_with_input_from_the_same_storage(tmp_path, data, save_ms, seen):
    # GIVEN 41.9 MB of input, and 67.1 MB of saves
    one = checkpoint_stall.find(measure(job(tmp_path, TENSORFLOWS, save_ms=save_ms, data=data)))

    # THEN writing and reading saves of 450 ms again takes 3.6 of the other 4 s, but input takes 1.1 as well
    assert room_on_storage(one) == seen
    assert (one.gain.low_s > 0) == bool(seen)


@pytest.mark.parametrize(("apart_ms", "seen"), [(2000.0, "6.587 s of 8.000 s, at 163.0 MB/s"), (1000.0, "")])
def test_saves_as_quick_as_memory_do_not_show_how_quick_storage_is(tmp_path, apart_ms, seen):
    # GIVEN saves of 134 MB to a server in 100 ms, without a sync
    sizes, names = (128 * MB,) * 4, [f"/data{name}" for name in TENSORFLOWS]
    session = job(tmp_path, names, save_ms=100.0, apart_ms=apart_ms, sizes=sizes, data="/input")
    one = checkpoint_stall.find(measure(session))

    # THEN a hard disk takes 1.6 s to write and read one of them: that is certain to fit into 2 s alone
    assert room_on_storage(one) == seen
    assert one.gain.supported == bool(seen)


def test_a_thread_that_writes_what_the_loop_wrote_reads_nothing_again(tmp_path):
    one = checkpoint_stall.find(measure(job(tmp_path, ALIKE, save_ms=100.0, sizes=(128 * MB,) * 4)))

    assert "burst buffer" not in " ".join(entry.claim for entry in one.gain.assumptions)


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

    assert (verdict.state, verdict.finding, verdict.cause) == (
        "unknown",
        "checkpoint_stall",
        "checkpoint_stall",
    )
    assert "of step time is lost because each checkpoint holds training up for" in verdict.sentence
    assert verdict.sentence.endswith("save less often, or give it a quicker fast tier.")


def test_saves_that_take_longer_than_all_else_are_written_beside_that_alone(tmp_path):
    # GIVEN saves of 2 s after each second: the next one is due before the last one is written
    one = saves(job(tmp_path, ALIKE, save_ms=2000.0))

    # THEN of 8 s that they take 4 go on beside the rest, at most, and nothing is certain; the upper bound is
    # without any of them
    assert one.gain.low_s == 0
    assert one.gain.saved_s == pytest.approx(0.7 * 4.0)
    assert one.gain.speedup_range[1] == pytest.approx(
        12 / (12 - most_saved_s(12, 8 + noise_s(12, 8))), rel=0.01
    )


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
