"""Findings on writes and syncs, and on whether a session is to be trusted."""

import pytest

import tfdarshan
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tests.unit.findings.told import told
from tfdarshan.analysis.calls.trace_span import dropped_events
from tfdarshan.findings import fsync, small_writes
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.frameworks.tensorflow.checkpoint_words import BURST_BUFFER
from tfdarshan.options import Options
from tfdarshan.replay.loop_edits import BackgroundSaves

MB = 1 << 20
STEPS = 20
LOG, SAVED = "/out/log", "/out/ckpt-1.data-00000-of-00001"


def writing(logdir, calls, *outputs, step_ms=100):
    """Return 20 steps that wait for 1 ms; file 0 is input, files from 1 on are written."""
    paths = ["/data/a", *(outputs or (LOG,))]
    return training(logdir, sorted(calls), epochs_of_steps(STEPS, step_ms, 1), paths=paths)


def small_ones(thread):
    """Return 20 writes of 100 bytes a step, 1 ms each."""
    return [
        (100 * n + 10 + k, 100 * n + 11 + k, thread, "write", 1, 100) for n in range(STEPS) for k in range(20)
    ]


def synced_writes(sync_ms, *, size=1000, step_ms=100):
    """Return a write of 1 ms and a sync a step."""
    calls = []
    for at in range(0, STEPS * step_ms, step_ms):
        calls.append((at + 10, at + 11, LOOP, "write", 1, size))
        calls.append((at + 11, at + 11 + sync_ms, LOOP, "fsync", 1, 0))
    return calls


def test_small_writes_of_the_loop_stand_in_its_way(tmp_path):
    # GIVEN 20 ms of each 100
    one = told(writing(tmp_path, small_ones(LOOP)), small_writes)

    # THEN all of it is spared
    assert (one.kind, one.fix, one.files) == ("problem", small_writes.FIX, (LOG,))
    assert one.gain.speedup == pytest.approx(100 / 80, rel=0.01)
    assert one.cost_s == pytest.approx(0.020, rel=0.01)
    assert one.title == "the training loop makes 400 writes of 100 B, 1.0 ms each"


def test_small_writes_of_another_thread_cost_the_loop_nothing(tmp_path):
    assert small_writes.find(measure(writing(tmp_path, small_ones(5)))) is None


@pytest.mark.parametrize(
    ("files", "headers", "left"),
    [(1, False, 1), (10, False, 10), (20, False, None), (1, True, None)],
    ids=["one file", "two writes a file", "one write a file", "headers"],
)
def test_a_buffer_spares_what_goes_to_one_file_between_its_larger_writes(tmp_path, files, headers, left):
    # GIVEN 20 small writes of 10 ms each, to some files one after the other, or a large one behind each
    calls = []
    for number in range(20):
        at = 100.0 * number + 10
        calls.append((at, at + 10, LOOP, "write", 1 + number * files // 20, 100))
        if headers:
            calls.append((at + 20, at + 30, LOOP, "write", 1, MB))
    session = writing(tmp_path, calls, *(f"/out/log-{number}" for number in range(files)))

    found = small_writes.find(measure(session))

    # THEN one write of each file is left
    assert (found is not None) is (left is not None)
    assert found is None or f" in all. {left} write" in found.what


@pytest.mark.parametrize(("apart", "synced"), [(1, True), (4, False)])
def test_small_writes_that_are_each_synced_need_more_than_a_buffer(tmp_path, apart, synced):
    # GIVEN a write of 8 bytes that takes 10 ms in each step, and a quick sync after each or each fourth
    calls = [(100 * n + 10, 100.0 * n + 20, LOOP, "write", 1, 8) for n in range(STEPS)]
    calls += [(100 * n + 20, 100 * n + 20.1, LOOP, "fsync", 1, 0) for n in range(0, STEPS, apart)]

    one = told(writing(tmp_path, calls), small_writes)

    # THEN who flushes the file after each is told to flush it less often, and of no line that he has not
    assert one.fix == (small_writes.SYNCED_FIX if synced else small_writes.FIX)
    told_so = (
        "Collect small writes in a buffer: flush and sync the file once a second, or only at the end of the "
        "run."
    )
    assert (one.fix.what == told_so) is synced


def test_syncs_of_the_loop_stand_in_its_way(tmp_path):
    # GIVEN a write of 1 ms and a sync of 30 ms a step
    one = told(writing(tmp_path, synced_writes(30)), fsync)

    # THEN a thread makes the syncs, and the writes stay
    assert (one.kind, one.fix) == ("problem", fsync.FIX)
    assert one.gain.speedup == pytest.approx(100 / 70, rel=0.01)
    assert one.title == "the training loop waits 30.0 ms for each of 20 fsync calls"


def test_a_file_that_is_synced_and_then_renamed_is_not_renamed_before_its_sync(tmp_path):
    # GIVEN the same, and that the file takes another's place at last
    calls = [*synced_writes(30), (1999, 1999.5, LOOP, "rename", 1, 0)]

    # WHEN / THEN no line is printed that would sync it later
    one = told(writing(tmp_path, calls), fsync)
    assert (one.kind, one.fix) == ("problem", fsync.RENAMED_FIX)
    assert one.fix.what == (
        "Let another thread write, sync and then rename the file: a file that is renamed before it is synced "
        "may be empty after a crash."
    )
    assert one.gain.speedup == pytest.approx(100 / 70, rel=0.01)


def test_syncs_of_tensorflows_saves_go_behind_the_loop_with_these(tmp_path):
    found = fsync.find(measure(writing(tmp_path, synced_writes(30, size=MB), SAVED)))

    assert (found.fix, found.edits) == (BURST_BUFFER, (BackgroundSaves(fast_tier=True),))


def all_words(found):
    return " ".join(
        [found.verdict.sentence, *found.verdict.notes]
        + [f"{f.title} {f.what} {f.not_worth} {f.fix.what if f.fix else ''}" for f in found.findings]
        + [f"{u.why}" for u in found.unknown]
    )


@pytest.mark.parametrize("operation", ["write", "fsync"])
def test_no_finding_speaks_of_training_where_no_step_was_recorded(tmp_path, operation):
    # GIVEN small writes or syncs by the main thread, stats and reads by another, for half of the time
    calls = []
    for n in range(200):
        calls += [
            (20 * n + 10, 20 * n + 18, LOOP, operation, 1, 100 if operation == "write" else 0),
            (20 * n, 20 * n + 4, 5, "read", 0, 2 * MB, 2 * MB * n),
            *((20 * n + 5 + k, 20 * n + 6 + k, 5, "stat", 0, 0) for k in range(3)),
        ]
    session = training(tmp_path, sorted(calls), paths=["/data/a", "/out/log"], sizes=[400 * MB, -1])

    # WHEN
    found = diagnose(session)

    # THEN
    assert {"small_writes" if operation == "write" else "fsync", "stat_storm"} <= {
        f.name for f in found.findings
    }
    words = all_words(found)
    assert "training" not in words
    assert "the loop" not in words
    assert "stood still" not in words or "the main thread stood still" in words


def test_the_page_cache_is_noted_and_no_problem(tmp_path):
    # GIVEN 20 reads of 1 MB that take 0.1 ms, of which the kernel fetched nothing
    calls = [(100 * n, 100 * n + 0.1, 1, "pread", 0, 1_000_000) for n in range(STEPS)]
    kernel = {"rchar": 20_000_000, "read_bytes": 0}
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 1), sizes=[1_000_000], kernel=kernel)

    # WHEN
    found = diagnose(session)

    # THEN
    assert [(f.name, f.kind) for f in found.findings] == [("page_cache", "note")]
    assert found.verdict.state == "healthy"


def test_bytes_that_were_not_seen_come_first(tmp_path):
    # GIVEN 1 MB read in 10 ms a step, and four times as much charged by the kernel
    calls = [(100 * n, 100 * n + 10, 1, "pread", 0, 1_000_000) for n in range(STEPS)]
    kernel = {"rchar": 80_000_000, "read_bytes": 80_000_000}
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 10), kernel=kernel)

    # WHEN
    found = diagnose(session)

    # THEN
    first = found.findings[0]
    assert (first.name, first.kind) == ("low_coverage", "doubt")
    assert "The cause is not known, because 75.0 % of the bytes read were not recorded." in str(found.verdict)


@pytest.mark.parametrize(
    ("memory_bytes", "line"),
    [
        (64 << 30, "with tfdarshan.profile(logdir, memory_cap_mb=1280, trace_memory_mb=512):"),
        (2 << 30, ""),
        (None, ""),  # nobody knows whether there is as much
    ],
)
def test_a_trace_that_was_cut_short_comes_first(tmp_path, memory_bytes, line):
    # GIVEN a session whose trace has half of the calls
    calls = [(100 * n, 100 * n + 10, 1, "pread", 0, 1000) for n in range(STEPS)]
    counts = {
        "files": 1, "events": 40, "segments": 20, "events_dropped": 20, "files_over_cap": 0, "spool_bytes": 0,
        "spool_full": 0, "damaged": 0,
    }  # fmt: skip
    meta = {"counts": counts, "machine": {"cpus": 2.0, "memory_bytes": memory_bytes, "cpu_s": 1.0}}
    session = training(tmp_path, calls, epochs_of_steps(STEPS, 100, 10), meta=meta)

    # WHEN
    found = diagnose(session)

    # THEN
    assert (found.findings[0].name, found.findings[0].kind) == ("truncated_trace", "doubt")
    assert "50.0 %" in found.findings[0].title
    # THEN the fix is a pair of options that is accepted: of 256 MiB, a quarter of the cap, twice as much
    assert found.findings[0].fix.line == line
    assert Options(memory_cap_mb=1280, trace_memory_mb=512).trace_limit_mb == 512


@pytest.mark.parametrize(
    ("segments", "options", "line"),
    [
        (10, {"memory_cap_mb": 64, "trace_memory_mb": 1}, "memory_cap_mb=67, trace_memory_mb=4"),
        (39, {"memory_cap_mb": 64, "trace_memory_mb": 64}, "memory_cap_mb=128, trace_memory_mb=128"),
        (0, {"memory_cap_mb": 1 << 20}, ""),  # more than can be given
    ],
)
def test_the_fix_of_a_cut_trace_is_accepted(segments, options, line):
    counts = {"events": 40, "segments": segments, "events_dropped": 40 - segments}

    enough = dropped_events([{"counts": counts, "options": options}]).enough

    said = f"memory_cap_mb={enough.memory_cap_mb}, trace_memory_mb={enough.trace_memory_mb}" if enough else ""
    assert said == line


def test_a_trace_that_was_not_asked_for_is_not_cut_short(tmp_path):
    with tfdarshan.profile(
        tmp_path / "logs", spool_dir=tmp_path, trace=False, include=[f"{tmp_path}/"]
    ) as made:
        for number in range(100):
            (tmp_path / f"{number}").write_bytes(bytes(1000))

    found = diagnose(tfdarshan.open_session(made.path))

    assert [finding.name for finding in found.findings if finding.kind == "doubt"] == []
    assert any("there is no trace of single calls" in unknown.why for unknown in found.unknown)
