"""Time and bytes over time, of calls whose answers can be worked out by hand."""

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.made_up_session import job_of, write_session
from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.analysis.calls.file_names import FileNames
from tfdarshan.analysis.calls.queue_depth import queue_depth
from tfdarshan.analysis.calls.segments import load_segments
from tfdarshan.analysis.calls.some_segments import load_window, write_spans
from tfdarshan.analysis.calls.wall_clock import measure_wall_clock
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.files.read_passes import read_passes
from tfdarshan.analysis.steps.checkpoint_bursts import GAP_NS, LEAST_BYTES, checkpoint_bursts, load_bursts
from tfdarshan.analysis.steps.step_time import step_summary, step_times
from tfdarshan.analysis.steps.step_windows import step_windows
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.analysis.time.activity import activity_by_name, activity_of_overview, overview_bins
from tfdarshan.analysis.time.bandwidth import bandwidth
from tfdarshan.analysis.time.latency import latency
from tfdarshan.analysis.time.overview_times import overview_times
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.reports.text.summary_text import render
from tfdarshan.sessions import schema
from tfdarshan.sessions.writing.time_bins import TimeBins

MS = 1_000_000


@pytest.fixture
def loaded(tmp_path):
    """Return the files and segments of made-up jobs: (calls, paths, sizes) each."""

    def load(*jobs, **more):
        made = [job_of(*job, pid=100 + place, **more) for place, job in enumerate(jobs)]
        session = write_session(tmp_path, *made)
        files = load_files(session.processes)
        return session, files, load_segments(session.processes, files.index)

    return load


def test_a_long_read_is_spread_and_a_short_one_is_not(loaded):
    # GIVEN parts of 100 ns; a read of 1,000 bytes from 50 to 250, a write of 30 within the last part
    calls = [(50, 250, 7, "pread", 0, 1000), (310, 390, 7, "write", 0, 30)]
    _, _, segments = loaded((calls, ["/a"], [1000]))

    # WHEN
    table = bandwidth(segments, TimeBins(0, 100, 4))

    # THEN
    assert table["bytes_read"].tolist() == [250, 500, 250, 0]
    assert table["bytes_written"].tolist() == [0, 0, 0, 30]
    assert table["calls"].tolist() == [1, 0, 0, 1]
    assert table["read_bytes_per_s"].tolist() == [2.5e9, 5e9, 2.5e9, 0]


def test_a_window_has_only_the_bytes_that_fall_into_it(loaded):
    # GIVEN a read of 1,000 bytes from 0 to 1,000
    _, _, segments = loaded(([(0, 1000, 7, "pread", 0, 1000)], ["/a"], [1000]))

    # THEN
    assert bandwidth(segments, TimeBins(200, 100, 3))["bytes_read"].tolist() == [100, 100, 100]


def test_queue_depth_counts_calls_at_a_time(loaded):
    # GIVEN two calls that overlap from 50 to 100, one that begins when another ends, and one of no length
    calls = [(0, 100, 1, "pread", 0, 5), (50, 150, 2, "pread", 0, 5), (150, 200, 1, "pread", 0, 5),
             (150, 150, 3, "open", 0, 0)]  # fmt: skip
    _, _, segments = loaded((calls, ["/a"], [9]))

    # WHEN
    table = queue_depth(segments, TimeBins(0, 50, 5))

    # THEN
    assert table["mean"].tolist() == [1.0, 2.0, 1.0, 1.0, 0.0]
    assert table["most"].tolist() == [1, 2, 1, 2, 0]


def test_queue_depth_of_days_of_many_threads_does_not_overflow(loaded):
    # GIVEN 200 threads that each read for a day
    day_ns = 86_400 * 10**9
    _, _, segments = loaded(([(0, day_ns, tid, "pread", 0, 1) for tid in range(1, 201)], ["/a"], [1]))

    # THEN
    table = queue_depth(segments, TimeBins(0, day_ns // 4, 4))
    assert (table["mean"].tolist(), table["most"].tolist()) == ([200.0] * 4, [200] * 4)


def test_processes_are_one_session(loaded):
    # GIVEN two processes that read the same path at the same time
    calls = [(0, 100, 1, "pread", 0, 40)]
    session, files, segments = loaded((calls, ["/a"], [40]), (calls, ["/a"], [40]))

    # THEN
    assert files.rows["bytes_read"].to_dict() == {0: 0, 1: 80}
    assert segments.file.tolist() == [1, 1]
    assert [thread.pid for thread in segments.threads] == [100, 101]
    assert measure_wall_clock(session.processes).io_s == 100e-9


def random_calls(rng, count):
    starts = rng.integers(0, 100 * count, count)
    kinds = rng.choice(["pread", "write", "open"], count).tolist()
    return [
        (start, start + int(rng.integers(1, 300)), 7, kind, 0, 10)
        for start, kind in zip(starts.tolist(), kinds, strict=True)
    ]


def union_of(calls, *kinds):
    """Return how many ns have at least one call of some kinds, one by one."""
    return len({at for start, end, _, kind, *_ in calls if kind in kinds for at in range(start, end)})


def test_time_in_io_of_many_processes_is_their_union_however_many_calls_there_are(tmp_path, monkeypatch):
    # GIVEN three processes, one of which is idle, in tables of row groups of 64 calls
    monkeypatch.setattr(schema, "EVENTS_ROW_GROUP", 64)
    rng = np.random.default_rng(7)
    calls = [random_calls(rng, count) for count in (1000, 700, 1)]
    made = [job_of(of_one, ["/a"], [10], pid=100 + n) for n, of_one in enumerate(calls)]

    # WHEN
    session = write_session(tmp_path, *made)
    clock = measure_wall_clock(session.processes)

    # THEN
    everything = [call for of_one in calls for call in of_one]
    expected = [
        union_of(everything, *kinds)
        for kinds in (("pread", "write", "open"), ("pread",), ("write",), ("open",))
    ]
    assert [round(s * 1e9) for s in (clock.io_s, clock.read_s, clock.write_s, clock.meta_s)] == expected
    assert clock.exact
    assert pq.ParquetFile(session.processes[0].table_path("events")).num_row_groups == 16


def test_time_in_io_with_calls_that_have_no_segment_is_a_bound_within_the_session(tmp_path):
    # GIVEN three processes that read all the time, one of them without a segment for its second half
    whole = [(start, start + 100, 7, "pread", 0, 10) for start in range(0, 1000, 100)]
    made = [
        job_of(calls, ["/a"], [10], pid=100 + n, duration_ns=1000)
        for n, calls in enumerate((whole, whole, whole[:5]))
    ]
    session = write_session(tmp_path, *made)
    meta = session.processes[2].meta
    meta["counts"] |= {"events": 10, "events_dropped": 5}
    meta["time"] |= {"io_ns": 900, "read_ns": 900}

    # WHEN
    clock = measure_wall_clock(session.processes)

    # THEN no more than there is, and of writes none
    assert (clock.io_s, clock.write_s, clock.exact) == (1000e-9, 0, False)


def test_time_in_io_adds_only_what_has_no_segment(tmp_path):
    # GIVEN two processes that read at the same time for 100 ns of 1000, and 50 ns of one have no segment
    made = [
        job_of([(0, 100, 7, "pread", 0, 10)], ["/a"], [10], pid=100 + n, duration_ns=1000) for n in range(2)
    ]
    session = write_session(tmp_path, *made)
    session.processes[1].meta["counts"]["events"] = 2
    session.processes[1].meta["time"] |= {"io_ns": 150, "read_ns": 150}

    # WHEN
    clock = measure_wall_clock(session.processes)

    # THEN
    assert (clock.io_s, clock.read_s, clock.exact) == (150e-9, 150e-9, False)
    assert "at most" in render(summarize(session))
    assert "20 B, at least" in render(summarize(session))


def test_latency_percentiles_are_durations_that_were_seen(loaded):
    # GIVEN 100 reads of 1 to 100 ns, and a failed one that took long
    calls = [(1000 * n, 1000 * n + n, 1, "pread", 0, 4096) for n in range(1, 101)]
    _, _, segments = loaded(([*calls, (0, 500, 1, "open", 0, 0)], ["/a"], [4096]))

    # WHEN
    table = latency(segments).set_index("operation")

    # THEN
    read = table.loc["pread"]
    assert (read["size"], read["calls"], read["bytes"]) == ("1 - 10 KiB", 100, 409_600)
    assert (read["p50_ns"], read["p90_ns"], read["p99_ns"], read["p99_9_ns"], read["max_ns"]) == (
        50, 90, 99, 100, 100,
    )  # fmt: skip
    assert read["mean_ns"] == 50.5
    assert (table.loc["open", "size"], table.loc["open", "p50_ns"]) == ("", 500)


def test_sizes_at_darshans_limits(loaded):
    # GIVEN reads of nothing, of a limit and of one byte more
    calls = [(n, n + 1, 1, "pread", 0, size) for n, size in enumerate([0, 100, 101, 1024, 1025, 1 << 30])]
    _, _, segments = loaded((calls, ["/a"], [0]))

    assert latency(segments)["size"].tolist() == [
        "0 B", "1 - 100 B", "101 B - 1 KiB", "1 - 10 KiB", "100 MiB - 1 GiB",
    ]  # fmt: skip


def test_the_second_pass_over_a_file_is_told_from_the_first(loaded):
    # GIVEN a file of 100 bytes read in halves twice: 10 ns a read, then 2; and a probe of its end;
    # one of 30 bytes read once, and one of unknown size
    calls = [
        *[(at, at + 10, 1, "pread", 0, 50) for at in (0, 10)],
        (20, 21, 1, "pread", 0, 0),
        (30, 32, 1, "pread", 0, 50),
        (31, 33, 2, "pread", 0, 50),
        (40, 41, 1, "pread", 1, 7),
        (50, 60, 1, "pread", 2, 30),
    ]
    _, files, segments = loaded((calls, ["/a", "/size-unknown", "/c"], [100, -1, 30]))

    # WHEN
    table = read_passes(segments.blocks, files)

    # THEN
    assert table["bytes"].tolist() == [130, 100]
    assert table["thread_ns"].tolist() == [30, 4]
    assert table["bytes_per_s"].tolist() == pytest.approx([130 / 30e-9, 25e9])


def test_steps_split_into_wait_and_compute():
    # GIVEN I/O for 60 and for 10, and steps of 100 that wait for 40 and for nothing
    steps = pd.DataFrame(
        {
            "start_ns": [0, 100],
            "end_ns": [100, 200],
            "input_wait_ns": [40, 0],
            "io_ns": [60, 10],
            "bytes_read": [500, 100],
            "bytes_written": [100, 0],
            "operations": [1, 1],
        }
    )

    # WHEN
    table = step_times(steps)

    # THEN
    assert table["compute_ns"].tolist() == [60, 100]
    assert table["io_ns"].tolist() == [60, 10]
    assert table["exposed_io_ns"].tolist() == [40, 0]
    assert table["hidden_io_ns"].tolist() == [20, 10]
    assert table["bytes"].tolist() == [600, 100]
    assert table["operations"].tolist() == [1, 1]
    whole = step_summary(table)
    assert (whole.steps, whole.input_wait_share, whole.bytes_moved) == (2, 0.2, 700)


def test_steps_as_sessions_have_them():
    # GIVEN numbered steps of unknown input wait
    steps = pd.DataFrame(
        {
            "step": [7, 8],
            "start_ns": [0, 100],
            "end_ns": [100, 200],
            "input_wait_ns": [-1, -1],
            "io_ns": [60, 0],
            "bytes_read": [500, 0],
            "bytes_written": [100, 0],
            "operations": [1, 0],
        }
    )

    table = step_times(steps)

    assert table.index.tolist() == [7, 8]
    assert table["bytes"].tolist() == [600, 0]
    assert (table["compute_ns"].tolist(), table["input_wait_known"].any()) == ([100, 100], False)
    assert step_summary(table).input_wait_s is None


def test_what_is_between_two_steps_is_step_time():
    # GIVEN steps of 100 with 50 between them, which wait for 30
    steps = pd.DataFrame({"start_ns": [0, 150], "end_ns": [100, 250], "input_wait_ns": [30, 30]})

    whole = step_summary(step_times(steps))

    assert whole.step_s == pytest.approx(125e-9)
    assert whole.step_wait_s == pytest.approx(30e-9)
    assert whole.compute_s == pytest.approx(190e-9)
    assert whole.input_wait_share == pytest.approx(60 / 250)


def test_steps_of_unknown_wait_do_not_thin_out_those_that_say():
    # GIVEN two steps that say what they waited, and one after them that does not
    steps = pd.DataFrame(
        {"start_ns": [0, 100, 200], "end_ns": [100, 200, 300], "input_wait_ns": [40, 20, -1]}
    )

    whole = step_summary(step_times(steps))

    assert (whole.steps, whole.input_wait_share) == (2, pytest.approx(0.3))


def test_steps_are_those_of_the_gpu_where_its_clock_is_known():
    # GIVEN steps that wait for 40, of which the GPU is idle for 40, 10 and nothing, and one that does not say
    steps = pd.DataFrame(
        {
            "start_ns": [0, 100, 200, 300],
            "end_ns": [100, 200, 300, 400],
            "input_wait_ns": [40, 40, 40, 40],
            "exposed_wait_ns": [40, 10, 0, -1],
        }
    )

    # WHEN
    windows, whole = step_windows(steps), step_summary(step_times(steps))

    # THEN a step begins as the GPU becomes idle, or with its batch; the one before lasts until then
    assert windows.start_ns.tolist() == [0, 130, 240, 300]
    assert windows.end_ns.tolist() == [130, 240, 300, 400]
    assert windows.wait_end_ns.tolist() == [40, 140, 240, 340]
    assert (whole.input_wait_share, whole.cpu_wait_s) == (pytest.approx(90 / 400), pytest.approx(160e-9))
    assert step_times(steps)["input_wait_ns"].tolist() == [40, 40, 40, 40]
    assert step_summary(step_times(steps.drop(columns="exposed_wait_ns"))).cpu_wait_s is None


def test_no_steps_are_no_rows(loaded):
    session, _, _ = loaded(([(0, 60, 1, "pread", 0, 600)], ["/a"], [600]))

    assert len(step_times(session.steps)) == 0
    assert step_summary(step_times(session.steps)).input_wait_share is None


def test_writes_close_together_are_one_checkpoint(loaded):
    # GIVEN two saves 3 s apart, of a shard, an index and a sync each, and a small log between them
    mib = 1 << 20
    save: list[tuple[Any, ...]] = [
        (0, 100, 1, "fwrite", 0, 3 * mib), (90, 200, 2, "fwrite", 0, mib), (300, 310, 1, "write", 1, 99),
        (310, 350, 1, "fsync", 1, 0),
    ]  # fmt: skip
    later = [(start + 3000, end + 3000, *rest) for start, end, *rest in save]
    log: list[tuple[Any, ...]] = [(1500, 1501, 1, "write", 2, 500)]
    calls = [(start * MS, end * MS, *rest) for start, end, *rest in [*save, *log, *later]]
    paths = ["/ckpt/model-5.data-00000-of-00001", "/ckpt/model-5.index", "/logs/events"]
    _, files, segments = loaded((calls, paths, [4 * mib, 99, 500]))

    # WHEN
    bursts = checkpoint_bursts(segments, files)

    # THEN
    assert bursts["start_ns"].tolist() == [0, 3000 * MS]
    first = bursts.iloc[0]
    assert (first["directory"], first["name"]) == ("/ckpt", "model-5")
    assert (first["files"], first["writes"], first["stdio_writes"], first["syncs"]) == (2, 3, 2, 1)
    assert (first["bytes"], first["write_ns"], first["end_ns"]) == (4 * mib + 99, 250 * MS, 350 * MS)


@pytest.mark.parametrize("numbered", [True, False])
def test_saves_of_steps_close_together_are_as_many_checkpoints(tmp_path, numbered):
    # GIVEN 38 saves of 4 MiB, 41 ms each, one in each step of 100 ms: to files of their own, or over one file
    mib = 1 << 20
    calls = [
        (100 * n + 50 + 10 * part, 100 * n + 60 + 10 * part, LOOP, "write", n * numbered, mib, part * mib)
        for n in range(38)
        for part in range(4)
    ]
    paths = [f"/ckpt/model-{n}.npz" for n in range(38)] if numbered else ["/ckpt/model.npz"]
    session = training(
        tmp_path, calls, epochs_of_steps(38, 100, 10), paths=paths, sizes=[4 * mib] * len(paths)
    )

    # WHEN
    bursts = load_bursts(session.processes, FileNames())
    found = next(one for one in diagnose(session).findings if one.name == "checkpoint_stall")

    # THEN
    assert len(bursts) == 38
    assert set(bursts["bytes"]) == {4 * mib}
    assert "38 checkpoints of 4.2 MB took 1.5" in found.what
    assert any("less often" in entry.text or "every" in entry.text for entry in found.evidence)


def test_parts_of_one_save_are_one_checkpoint_though_steps_go_on(tmp_path):
    # GIVEN a thread that writes 20 numbered parts of one save without a pause, beside steps of 100 ms
    mib = 1 << 20
    calls = [(30 * n, 30 * n + 30, 7, "write", n, mib, 0) for n in range(20)]
    paths = [f"/ckpt/model-5/part-{n}.bin" for n in range(20)]
    session = training(tmp_path, calls, epochs_of_steps(6, 100, 10), paths=paths, sizes=[mib] * 20)

    assert len(load_bursts(session.processes, FileNames())) == 1


def test_a_checkpoint_of_tensorflow_has_its_name_and_not_its_temporary_files(loaded):
    # GIVEN a shard as TensorFlow writes it before it moves it
    path = "/ckpt/model-5_temp/part-00000-of-00001.data-00000-of-00001"
    _, files, segments = loaded(([(0, 100, 1, "fwrite", 0, 3 << 20)], [path], [3 << 20]))

    burst = checkpoint_bursts(segments, files).iloc[0]

    assert (burst["directory"], burst["name"]) == ("/ckpt", "model-5")


def tid_of(thread):
    return str(thread.tid)


def test_the_overview_tells_what_the_segments_tell(loaded):
    # GIVEN reads of 10 threads over 2,048 parts of 100 ns
    rng = np.random.default_rng(1)
    calls = [
        (int(at), int(at) + 150, int(at) % 10 + 1, "pread", 0, 100) for at in rng.integers(0, 204_000, 500)
    ]
    session, _, segments = loaded((calls, ["/a"], [100]), duration_ns=204_800)
    bins = overview_bins(session.processes, 64)

    # WHEN
    fast = activity_of_overview(session.processes, 64, named=tid_of)
    slow = activity_by_name(segments, tid_of, bins)

    # THEN
    assert fast.names == slow.names == list(map(str, range(1, 11)))
    np.testing.assert_allclose(fast.busy_ns, slow.busy_ns)
    np.testing.assert_array_equal(fast.calls, slow.calls)
    np.testing.assert_allclose(fast.bytes_moved, slow.bytes_moved, atol=1)
    table = overview_times(session.processes, 64).bandwidth
    np.testing.assert_allclose(table["bytes_read"], bandwidth(segments, bins)["bytes_read"], atol=11)
    assert table["bytes_read"].sum() == 50_000


def test_threads_beyond_the_busiest_are_added_up(loaded):
    calls = [(0, 10 * tid, tid, "pread", 0, tid) for tid in range(1, 6)]
    _, _, segments = loaded((calls, ["/a"], [9]))

    found = activity_by_name(segments, tid_of, TimeBins(0, 100, 1), most=2)

    assert found.names == ["4", "5", "others"]
    assert found.bytes_moved.ravel().tolist() == [4, 5, 6]
    assert found.calls.ravel().tolist() == [1, 1, 3]


def test_a_window_reads_only_calls_that_ran_in_it(loaded):
    # GIVEN a long call, one before the window, and one that starts at its end
    calls = [(0, 1000, 1, "pread", 0, 1), (10, 90, 1, "pread", 1, 2), (150, 160, 2, "pread", 2, 3),
             (200, 210, 2, "pread", 0, 4)]  # fmt: skip
    session, _, _ = loaded((calls, ["/a", "/b", "/c"], [1, 1, 1]))
    names = FileNames()

    # WHEN
    segments, _ = load_window(session.processes, (100, 200), names)

    # THEN these are there, with the paths of their files and of no others
    assert segments.length.tolist() == [1, 3]
    assert names.paths.take(pa.array(segments.file)).to_pylist() == ["/a", "/c"]
    assert names.paths.to_pylist() == ["(no file)", "/a", "/c"]


def test_a_window_over_processes_tells_their_files_apart(loaded):
    # GIVEN two processes whose first files have the same id
    calls = [(0, 100, 1, "pread", 0, 1)]
    session, _, _ = loaded((calls, ["/a"], [1]), ([*calls, (50, 60, 1, "pread", 1, 9)], ["/b", "/a"], [1, 1]))
    names = FileNames(str.upper)

    # WHEN
    segments, _ = load_window(session.processes, (0, 1000), names)

    # THEN
    assert sorted(names.paths.take(pa.array(segments.file)).to_pylist()) == ["/A", "/A", "/B"]


def test_bursts_of_large_sessions_are_those_of_all_segments(loaded, monkeypatch):
    # GIVEN two processes that write much at times, little at others, and one write that reaches over the end
    rng = np.random.default_rng(3)
    large = [(at * MS + i * 10 * MS, at * MS + i * 10 * MS + 9 * MS, 1, "fwrite", 0, 300_000)
             for at in (2_000, 9_000, 15_000) for i in range(10)]  # fmt: skip
    small = [(int(at), int(at) + MS, 2, "write", 1, 20) for at in rng.integers(0, 20_000 * MS, 12)]
    reads = [(int(at), int(at) + MS, 3, "pread", 2, 70_000) for at in rng.integers(0, 20_000 * MS, 500)]
    last = [(19_999 * MS, 25_000 * MS, 1, "fwrite", 0, 5 << 20)]
    paths, sizes = ["/ckpt/model-1.index", "/logs/a", "/data/x"], [9, 9, 9]
    monkeypatch.setattr(schema, "EVENTS_ROW_GROUP", 16)
    jobs = [([*large, *reads, *last], paths, sizes), ([*small, *reads], paths, sizes)]
    session, files, segments = loaded(*jobs, duration_ns=20_000 * MS)

    # WHEN
    bursts = load_bursts(session.processes, FileNames())
    spans = write_spans(session.processes, GAP_NS, LEAST_BYTES)

    # THEN
    pd.testing.assert_frame_equal(bursts, checkpoint_bursts(segments, files))
    assert len(bursts) == 4
    # ... which begin with their saves: a log's few bytes just before one are in the spans
    before_ns = (bursts["start_ns"] - spans["start_ns"]).to_numpy()
    assert (before_ns >= -20_000 * MS / 2048).all()
    assert (before_ns <= GAP_NS).all()
    # and are what views mark
    pd.testing.assert_frame_equal(overview_times(session.processes, 64).marks, spans)
