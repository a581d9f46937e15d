"""A buffer of samples that each epoch fills first is named, with what else could be shuffled."""

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.test_cures_of_pipelines import BATCH, LOAD, PATHS, PREFETCH, SHARDS
from tfdarshan.analysis.step_model import most_saved_s, noise_s
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.workloads.laboratory.applied import apply_lines

KB = 1_000
SHUFFLE = {"name": "shuffle", "size": 320}


def job(
    logdir, *stages, fill_ms=800.0, epochs=3, steps=20, beside=False, write_ms=0.0, synced=False, cpu_s=None
):
    """Gives a session whose epochs begin with reading everything, and then compute 30 ms a step.

    With `beside`, half of that time is read, too. For `write_ms` of each step's 30 ms, if not 0, the loop's
    thread writes, in two writes, or a write and a sync. Of two processors all that the job took was `cpu_s`.
    """
    at, calls, made = 0.0, [], []
    for _ in range(epochs):
        reads = int(fill_ms // 5)
        calls += [
            (at + 5 * n, at + 5 * n + 4.9, 1, "pread", n % 40, 100 * KB, n // 40 * 100 * KB)
            for n in range(reads)
        ]
        for step in range(steps):
            wait = fill_ms if step == 0 else 0.2
            made.append((at, at + wait + 30, wait))
            if beside:
                calls += [
                    (at + wait + 5 * n, at + wait + 5 * n + 4.9, 1, "pread", n, 100 * KB, 0) for n in range(3)
                ]
            at += wait + 30
            if write_ms > 0:
                half = at - write_ms / 2
                calls += [
                    (at - write_ms, half, LOOP, "write", 40, 20, 0),
                    (half, at, LOOP, "fsync", 40, 0, -1) if synced else (half, at, LOOP, "write", 40, 20, 20),
                ]
    one = {"stages": list(stages), "pool_threads": None, "datasets": 1, "iterators": epochs}
    return training(
        logdir,
        calls,
        made,
        paths=[*(f"/data/{n}" for n in range(40)), "/out/log"],
        sizes=[10**9] * 40 + [-1],
        meta={
            "pipelines": {"found": [one], "left_out": 0},
            **({} if cpu_s is None else {"machine": {"cpus": 2, "memory_bytes": 1 << 34, "cpu_s": cpu_s}}),
        },
    )


def found(session):
    return next((one for one in diagnose(session).findings if one.name == "shuffle_buffer"), None)


def test_a_buffer_that_each_epoch_fills_is_a_problem(tmp_path):
    # GIVEN 600 ms of computing an epoch, beside which 800 ms of reading could go on
    first = found(job(tmp_path, PATHS, LOAD, SHUFFLE, BATCH, PREFETCH))

    # THEN no more than 600 of 1,404 ms are expected to go, and at most the rest gets quicker
    assert 1.15 < first.gain.speedup_range[0] < first.gain.speedup < 1400 / 790
    assert first.gain.speedup_range[1] < 1400 / (1400 - most_saved_s(1400, 620))


def test_at_most_a_part_of_filling_a_large_buffer_is_spared_as_well(tmp_path):
    # GIVEN epochs of 600 ms of computing, which waits of 400 ms fit beside, and of 1,600 ms do not
    fits, longer = (
        found(job(tmp_path / str(fill_ms), PATHS, LOAD, SHUFFLE, BATCH, PREFETCH, fill_ms=fill_ms)).gain
        for fill_ms in (400.0, 1600.0)
    )
    steps = 60

    # THEN of 4 of 5 samples, beyond what the steps compute, a tenth of that, and what runs differ by, and the
    # rest gets quicker
    for gain, whole_s, spared_s in (
        (longer, 3 * 2.2, 3 * 0.8 * (0.6 + 0.16)),
        (fits, 3 * 1.0, 3 * 0.8 * 0.44),
    ):
        most_s = most_saved_s(whole_s, spared_s + noise_s(whole_s, spared_s))
        assert gain.high_s * steps == pytest.approx(most_s, rel=0.03)
    # ... and never more is expected than was waited for
    assert fits.saved_s < 3 * 0.4 / steps
    assert fits.saved_s < fits.high_s < most_saved_s(3 * 1.0, 3 * 0.45) / steps


def test_the_first_steps_wait_fills_the_buffer_as_those_of_later_epochs_do(tmp_path):
    # GIVEN one epoch: its first step is the session's, and waits 800 ms of 2,000
    one, three = (
        found(job(tmp_path / str(epochs), PATHS, LOAD, SHUFFLE, BATCH, PREFETCH, epochs=epochs, steps=40))
        for epochs in (1, 3)
    )

    # THEN as much of it is promised as of each of three, but for the samples that are kept
    assert one.gain.low_s == pytest.approx(three.gain.low_s, rel=0.05)
    assert one.gain.saved_s * 40 == pytest.approx(0.8 * 0.9 * 0.8, rel=0.05)


@pytest.mark.parametrize(("stages", "problem"), [((SHUFFLE,), True), ((), False)])
def test_what_fills_the_buffer_is_waited_for_in_each_epoch_and_not_once(tmp_path, stages, problem):
    # GIVEN one epoch whose first step waits 1.6 s until all is read, and the others for nothing
    session = job(tmp_path, PATHS, LOAD, *stages, BATCH, PREFETCH, fill_ms=1600.0, epochs=1, steps=8)

    # WHEN
    diagnosis = diagnose(session)

    # THEN a buffer waits as long in the next epoch, and another device helps; without one it is but a start
    assert [one.name for one in diagnosis.problems] == (["staging"] if problem else [])
    verdict = diagnosis.verdict
    assert (verdict.gain is not None and verdict.gain.speedup_range[0] > 2) is problem
    # ... which is said, and not that runs of one job differ by as much as takes most of this one
    once = "Most of that is the wait for the first batch, which a run has once, however long it is."
    assert (once in verdict.sentence) is not problem
    assert "A cure gives little" not in verdict.sentence


@pytest.mark.parametrize(
    "stages",
    [
        (PATHS, SHUFFLE, LOAD, BATCH, PREFETCH),
        (PATHS, LOAD, BATCH, SHUFFLE, PREFETCH),
        (PATHS, LOAD, {"name": "shuffle", "size": 32}, BATCH, PREFETCH),
    ],
    ids=["paths", "batches", "two batches"],
)
def test_buffers_that_hold_little_of_what_was_read_are_not(tmp_path, stages):
    assert found(job(tmp_path, *stages)) is None


def test_waits_that_do_not_stand_out_fill_no_buffer(tmp_path):
    assert found(job(tmp_path, PATHS, LOAD, SHUFFLE, BATCH, PREFETCH, fill_ms=0.5)) is None


def test_paths_are_shuffled_instead_where_there_are_any(tmp_path):
    cure = found(job(tmp_path, PATHS, LOAD, SHUFFLE, BATCH)).cure
    program = (
        "import tensorflow as tf\n\npaths = []\n\ndef read_image(path):\n    return path\n\n"
        "data = tf.data.Dataset.from_tensor_slices(paths)\ndata = data.map(read_image)\n"
        "data = data.shuffle(320)\ndata = data.batch(16)\n"
    )
    typed = apply_lines(program, cure.line, cure.instead_of, {})
    assert "data = data.shuffle(320).map(read_image)\ndata = data.shuffle(64)\n" in typed
    assert "data = data.batch(16).prefetch(tf.data.AUTOTUNE)" in typed


def test_of_records_few_are_kept(tmp_path):
    cure = found(job(tmp_path, SHARDS, SHUFFLE, BATCH, PREFETCH)).cure
    assert cure.instead_of == "dataset = dataset.shuffle(320)"
    assert cure.line == "dataset = dataset.shuffle(64)"


def test_what_goes_on_beside_steps_already_leaves_less_room(tmp_path):
    # GIVEN an epoch that reads for half of its compute, too
    rests, works = (
        job(tmp_path / str(beside), PATHS, LOAD, SHUFFLE, BATCH, PREFETCH, beside=beside)
        for beside in (False, True)
    )
    one, other = found(rests).gain, found(works).gain

    # THEN the other half is all that can be read beside the steps
    assert measure(works).model.overlap == pytest.approx(0.5, abs=0.05)
    assert other.saved_s == pytest.approx(0.5 * one.saved_s, rel=0.1)


def gain_of(folder, **more):
    return found(job(folder, PATHS, LOAD, SHUFFLE, BATCH, PREFETCH, fill_ms=500.0, **more)).gain


@pytest.mark.parametrize("synced", [False, True], ids=["writes", "syncs"])
def test_writes_that_take_little_of_the_steps_leave_storage_to_reads(tmp_path, synced):
    # GIVEN two calls in each step, for 1 % of what it computes
    seldom = gain_of(tmp_path / "none")
    often = gain_of(tmp_path / "some", write_ms=0.3, synced=synced)

    # THEN as much is promised as without them: storage is not busy with so little
    assert often.speedup_range[0] == pytest.approx(seldom.speedup_range[0], rel=0.01)
    assert often.speedup == pytest.approx(seldom.speedup, rel=0.01)
    seen = [one.support for one in often.assumptions if one.claim == "reads are as quick beside the steps"]
    assert seen == ["120 writes in all steps, for 1.0 % of what they compute"]


def test_of_steps_that_write_for_certain_the_rest_is_left_to_reads(tmp_path):
    # GIVEN 600 ms of computing an epoch, of which 240 are writes, and 500 ms of reading
    gain = gain_of(tmp_path, write_ms=12.0)

    # THEN half of 360 ms at the least, but for the samples that are kept; all of the reading is expected
    sure_s = 3 * 0.5 * 0.36 * 0.8 / 60
    assert gain.low_s == pytest.approx(sure_s - noise_s(gain.before_s, sure_s), rel=0.02)
    assert gain.saved_s * 60 == pytest.approx(3 * 0.9 * 0.5 * 0.8, rel=0.02)


def test_writes_that_take_most_of_the_steps_leave_open_how_long_reads_take(tmp_path):
    # GIVEN 60 % of what steps compute in writes
    seldom, mostly = gain_of(tmp_path / "none"), gain_of(tmp_path / "most", write_ms=18.0)

    # THEN nothing is certain, and half is expected
    assert mostly.speedup_range[0] == 1.0
    assert mostly.saved_s == pytest.approx(0.5 * seldom.saved_s, rel=0.02)


def test_where_steps_fill_the_processors_nothing_is_certain(tmp_path):
    # GIVEN 3.3 s of filling and of steps, that keep one processor of two busy, or both
    folders = {cpu_s: tmp_path / str(cpu_s) for cpu_s in (3.3, 6.4)}
    one, both = (gain_of(folder, cpu_s=cpu_s) for cpu_s, folder in folders.items())

    # THEN what is read beside the steps may take as much longer as it has less of them
    assert one.speedup_range[0] > 1.0 == both.speedup_range[0]
    assert both.saved_s == pytest.approx(0.5 * one.saved_s, rel=0.02)
