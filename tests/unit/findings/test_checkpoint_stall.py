"""Saves that hold up training: which bursts of writes these are, and what writing them beside it gives."""

import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.told import told
from tfdarshan.findings import checkpoint_stall
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.finding import Unknown
from tfdarshan.findings.measurement import measure
from tfdarshan.frameworks.tensorflow.checkpoint_words import BURST_BUFFER

MB = 1 << 20
STEPS = 20
NAMES = ["/data/a", "/data/out/ckpt-1.data-00000-of-00001"]
ALIKE = [f"/out/weights-{step}.npy" for step in (5, 10, 15, 20)]
OTHERS = ["/out/mean.npy", "/out/std.npy", "/out/labels.npy", "/out/ids.npy"]
TENSORFLOWS = [f"/out/ckpt-{number}.data-00000-of-00001" for number in (1, 2, 3, 4)]


def saving(thread, *, held_up):
    """Return 4 checkpoints of 32 MB in 200 ms, after every fifth step of 100 ms, and the steps."""
    calls, steps, at = [], [], 0
    for n in range(STEPS):
        steps.append((at, at + 100, 0))
        at += 100
        if n % 5 == 4:
            calls += [
                (at + 50 * k, at + 50 * k + 50, thread, "write", 1, 8 * MB, 8 * MB * k) for k in range(4)
            ]
            at += 200 if held_up else 0
    return calls, [*steps, (at, at + 100, 0)]


@pytest.mark.parametrize("thread", [LOOP, 7])
def test_checkpoints_between_steps_hold_training_up(tmp_path, thread):
    # GIVEN 800 ms of 2900 in which steps stand still, whichever thread writes
    calls, steps = saving(thread, held_up=True)
    one = told(training(tmp_path, calls, steps, paths=NAMES), checkpoint_stall)

    # THEN
    assert (one.kind, one.fix) == ("problem", BURST_BUFFER)
    assert one.title == "each checkpoint holds training up for 200.0 ms"
    assert one.files == ("/data/out/ckpt-1",)
    # ... saving more and less often would cost: 200 ms for each 500, 200, 1200, 2500 ms
    assert one.evidence[-1].text == (
        "every 5 steps costs 28.6 % of run time; every 2, 50.0 %; every 12, 14.3 %; every 25, 7.4 %"
    )


def test_checkpoints_behind_the_loops_back_cost_nothing(tmp_path):
    calls, steps = saving(7, held_up=False)

    assert checkpoint_stall.find(measure(training(tmp_path, calls, steps, paths=NAMES))) is None


@pytest.mark.parametrize(("longer_ms", "beside"), [(60, True), (400, False)])
def test_a_save_that_goes_on_beside_steps_is_not_to_be_put_behind_them(tmp_path, longer_ms, beside):
    # GIVEN 40 steps of 100 ms, and four saves of 400 ms by another thread: the step in which each begins
    # takes longer, and the others go on, or that one takes as long as the save
    calls, steps, at = [], [], 0
    for n in range(40):
        took = 100 + (longer_ms if n % 10 == 5 else 0)
        if n % 10 == 5:
            calls += [
                (at + 10 + 100 * k, at + 110 + 100 * k, 7, "write", 1, 8 * MB, 8 * MB * k) for k in range(4)
            ]
        steps.append((at, at + took, 0))
        at += took
    found = checkpoint_stall.find(measure(training(tmp_path, calls, steps, paths=NAMES)))

    assert (found.kind == "note", found.edits == ()) == (beside, beside)
    assert (found.fix == checkpoint_stall.BESIDE_FIX) is beside


def test_a_checkpoint_within_a_step_is_what_the_step_took_longer(tmp_path):
    # GIVEN 20 steps of 100 ms, of which the tenth takes 400 with a checkpoint of 300 ms in another thread
    steps = [(100 * n, 100 * n + 100, 0) for n in range(10)] + [(1000, 1400, 0)]
    steps += [(1400 + 100 * n, 1500 + 100 * n, 0) for n in range(9)]
    calls = [(1050, 1350, 7, "write", 1, 64 * MB)]

    one = told(training(tmp_path, calls, steps, paths=["/data/a", "/out/model"]), checkpoint_stall)

    # THEN a copy in memory of 64 MiB, at 1 to 4 GB/s, is left of it
    assert one.what == "1 checkpoint of 67.1 MB took 300.0 ms, during which steps stood still."
    assert 0.3 - 0.068 < one.gain.saved_s * 20 < 0.3 - 0.016


def saved_in_steps(*, every, longer_each=None, write_ms=7.0, folder="/data/out"):
    """Return 60 steps of 80 ms, 40 ms longer where they save in 7 ms of writes, or now and then."""
    calls, steps, at, saves = [], [], 0.0, 0
    for n in range(60):
        saved = n % every == every - 1
        took = 120 if saved or (longer_each and n % longer_each == 0) else 80
        if saved:
            saves += 1
            calls.append((at + 60, at + 60 + write_ms, LOOP, "write", saves, 16 * MB, 0))
        steps.append((at, at + took, 0))
        at += took
    return calls, steps, ["/data/a", *(f"{folder}/ckpt-{n}.data-00000-of-00001" for n in range(1, saves + 1))]


@pytest.mark.parametrize(
    ("every", "longer_each", "held"),
    [(3, None, "40.0 ms"), (20, None, "7.0 ms"), (3, 7, "7.0 ms")],
    ids=["steps that save", "three saves", "other steps as well"],
)
def test_a_save_takes_what_steps_with_one_take_longer_if_only_these_do(tmp_path, every, longer_each, held):
    calls, steps, names = saved_in_steps(every=every, longer_each=longer_each)

    found = checkpoint_stall.find(measure(training(tmp_path, calls, steps, paths=names)))

    assert found.title == f"each checkpoint holds training up for {held}"


@pytest.mark.parametrize(
    ("folder", "write_ms", "kept"),
    [("/out", 7.0, True), ("/data/out", 7.0, False), ("/out", 40.0, False)],
    ids=["memory takes it", "a server", "a device"],
)
def test_no_burst_buffer_is_named_where_memory_takes_saves(tmp_path, folder, write_ms, kept):
    # GIVEN saves of TensorFlow's of 16 MB, each in a write of so long, to ext4 or to a server
    calls, steps, names = saved_in_steps(every=3, folder=folder, write_ms=write_ms)

    found = checkpoint_stall.find(measure(training(tmp_path, calls, steps, paths=names)))

    # THEN a burst buffer would wait for the device, which nothing does now
    assert (found.edits == (), found.fix is None, found.kind == "note") == (kept, kept, kept)
    assert found.what.endswith(checkpoint_stall.IN_MEMORY) is kept


@pytest.mark.parametrize(
    ("path", "reader", "is_save"),
    [
        ("/job/cache-0.npy", LOOP, False),
        ("/job/cache-0.npy", 7, True),  # a burst buffer copies it
        ("/job/ckpt-1.data-00000-of-00001", LOOP, True),
    ],
)
def test_what_steps_read_back_as_input_is_no_checkpoint(tmp_path, path, reader, is_save):
    # GIVEN that the loop writes 64 MB between two steps, and reads them, or another thread does
    saves, steps = saving(LOOP, held_up=True)
    calls = [call for call in saves if call[0] < 1000]
    calls += [(1500, 1550, reader, "read", 1, 64 * MB)]

    found = checkpoint_stall.find(measure(training(tmp_path, calls, steps, paths=[NAMES[0], path])))

    assert (found is not None) is is_save


def job(logdir, names, *, save_ms=400.0, sizes=(16 * MB,) * 4, reads=True, apart_ms=1000.0, load=False):
    """Return a job without steps that saves after reading by threads and computing; it may load its saves."""
    at, calls = 0.0, []
    for save, size in enumerate(sizes):
        if reads:
            calls += [(at + 10 * n, at + 10 * n + 5, 1, "pread", n, MB) for n in range(10)]
        calls.append((at + apart_ms, at + apart_ms + save_ms, LOOP, "write", 10 + save, size))
        at += apart_ms + save_ms
    if load:
        calls += [(at + 10 * n, at + 10 * n + 10, LOOP, "read", 10 + n, size) for n, size in enumerate(sizes)]
    paths = [*(f"/data/{n}" for n in range(10)), *names[: len(sizes)]]
    return training(logdir, sorted(calls), paths=paths, sizes=[MB] * 10 + list(sizes), duration_ms=at + 100)


def test_saves_of_one_state_hold_up_the_thread_that_writes_them_though_no_step_was_marked(tmp_path):
    found = checkpoint_stall.find(measure(job(tmp_path, ALIKE)))

    # THEN a thread of the job's own is to write them
    assert (found.kind, len(found.edits)) == ("problem", 1)
    assert found.title == "checkpoints hold the main thread up for 1.600 s in all"
    assert (
        found.what == "67.1 MB in 4 files named alike took 1.600 s, during which the main thread stood still."
    )
    assert found.fix.instead_of == "np.save(path, array)"


def test_saves_less_than_half_a_second_apart_are_as_many_as_there_are(tmp_path):
    # GIVEN four saves of 340 ms with 250 ms of reading and computing between
    found = checkpoint_stall.find(measure(job(tmp_path, ALIKE, apart_ms=250.0, save_ms=340.0)))

    shown = {entry.label: entry.value for entry in found.evidence}
    assert (shown["bursts"], shown["held up"]) == (4, pytest.approx(1.36))


@pytest.mark.parametrize(
    ("names", "size", "apart_ms"),
    [(OTHERS, 16 * MB, 250.0), (ALIKE, MB // 2, 250.0), (ALIKE, 16 * MB, 40.0)],
    ids=["other names", "small ones", "one after the other"],
)
def test_what_is_written_closely_is_one_burst_unless_it_is_a_save_by_itself(tmp_path, names, size, apart_ms):
    session = job(tmp_path, names, apart_ms=apart_ms, sizes=(size,) * 4, reads=apart_ms > 100)

    found = checkpoint_stall.find(measure(session))

    assert found.why == "whether 1 burst of writes held anything up: no step was marked"


@pytest.mark.parametrize(
    "changes",
    [
        {"names": OTHERS},
        {"sizes": (16 * MB, 2 * MB, 40 * MB, 16 * MB)},
        {"sizes": (16 * MB,)},
        {"reads": False},
    ],
    ids=["other names", "other sizes", "one", "no input"],
)
def test_what_may_be_no_state_is_not_known_to_hold_anything_up(tmp_path, changes):
    found = checkpoint_stall.find(measure(job(tmp_path, **({"names": ALIKE} | changes))))

    assert isinstance(found, Unknown)
    assert found.why.endswith(" of writes held anything up: no step was marked")


def test_files_that_the_job_reads_back_are_no_checkpoints(tmp_path):
    assert not isinstance(checkpoint_stall.find(measure(job(tmp_path, ALIKE))), Unknown)
    assert checkpoint_stall.find(measure(job(tmp_path / "loaded", ALIKE, load=True))) is None


def test_a_job_with_a_burst_buffer_is_not_offered_one(tmp_path):
    # GIVEN saves of TensorFlow's into a folder in which a burst buffer keeps its ledger
    names = [*TENSORFLOWS, "/out/.tfdarshan-burst/ledger.jsonl"]

    found = checkpoint_stall.find(measure(job(tmp_path, names, sizes=(*(16 * MB,) * 4, 100))))

    assert (found.kind, found.edits, found.fix) == ("note", (), checkpoint_stall.BUFFERED_FIX)


def test_a_job_whose_saves_hold_it_up_is_slow_because_of_them(tmp_path):
    # GIVEN steps that find their batch ready, every fifth of which saves for 100 ms
    steps = [(150 * n, 150 * n + 150, 0.1) for n in range(20)]
    calls = [(150 * n + 40, 150 * n + 140, LOOP, "write", 1 + n // 5, 16 * MB) for n in range(0, 20, 5)]
    paths = ["/data/a", *(f"/out/weights-{n}.npy" for n in range(4))]

    verdict = diagnose(training(tmp_path, calls, steps, paths=paths)).verdict

    assert (verdict.state, verdict.finding) == ("slow", "checkpoint_stall")
    assert "can be saved. Each checkpoint holds training up for 100.0 ms." in verdict.sentence


@pytest.mark.parametrize(
    ("wait_ms", "said"), [(6, "The training loop's own file calls take 93.8 %"), (93, "Training waits")]
)
def test_of_what_no_fix_is_known_for_the_larger_part_is_told(tmp_path, wait_ms, said):
    # GIVEN steps that wait 6 or 93 ms for no file, and write 8 MB each to storage that is always busy
    calls, steps, at = [], [], 0
    for n in range(STEPS):
        steps.append((at, at + 96, wait_ms))
        calls.append((at + wait_ms, at + 96, LOOP, "write", n % 2, 8 * MB, 8 * MB * n))
        at += 96
    verdict = diagnose(training(tmp_path, calls, steps, paths=["/out/a.npy", "/out/b.npy"])).verdict

    # THEN
    assert verdict.state == "unknown"
    assert verdict.sentence.startswith(said)
