"""What must hold whatever a session's calls are."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_up_session import job_of, write_session
from tests.unit.analysis.drawn_calls import PATHS, drawn_calls, merged_ns
from tfdarshan.analysis.calls.queue_depth import queue_depth
from tfdarshan.analysis.calls.segments import CLASSES, READ, load_segments
from tfdarshan.analysis.files.access_sizes import file_sizes
from tfdarshan.analysis.files.directory import directory_totals, folders_of
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.summary_data import summarize
from tfdarshan.analysis.time.activity import activity_by_name, overview_bins
from tfdarshan.analysis.time.bandwidth import bandwidth
from tfdarshan.analysis.time.latency import latency_by_windows
from tfdarshan.analysis.time.overview_times import overview_times
from tfdarshan.native import _bridge

PARTS = 512
SIZES = st.lists(st.integers(-1, 1 << 31), min_size=len(PATHS), max_size=len(PATHS))


@settings(max_examples=60)
@given(st.lists(drawn_calls(), min_size=1, max_size=3), SIZES)
def test_every_answer_agrees_with_the_calls(processes, sizes):
    # GIVEN a session in the real format
    every = [call for process in processes for call in process]
    duration_ns = max((call[1] for call in every), default=0) + 1
    jobs = [
        job_of(process, PATHS, sizes, pid=100 + place, duration_ns=duration_ns)
        for place, process in enumerate(processes)
    ]
    with tempfile.TemporaryDirectory() as folder:
        session = write_session(Path(folder), *jobs)

        # WHEN
        summary, files = summarize(session), load_files(session.processes)
        segments = load_segments(session.processes, files.index)
        latency = latency_by_windows(session.processes)
        overview = overview_times(session.processes, PARTS).bandwidth
        bins = overview_bins(session.processes, PARTS)
    reads = [call for call in every if call[3] in ("pread", "read", "fread")]
    writes = [call for call in every if call[3] in ("write", "fwrite")]
    read_bytes, write_bytes = sum(call[5] for call in reads), sum(call[5] for call in writes)

    # THEN I/O time is never above the wall clock, and is that of the calls, in all and by class
    clock = summary.wall_clock
    assert clock.io_s * 1e9 <= duration_ns + 0.5
    kinds = {operation.name: operation.io_class for operation in _bridge.operations()}
    assert round(clock.io_s * 1e9) == merged_ns(every)
    for name in CLASSES:
        of_class = [call for call in every if kinds[call[3]] == name]
        assert round(getattr(clock, f"{name}_s") * 1e9) == merged_ns(of_class)
    rows = files.rows
    assert (rows["bytes_read"].sum(), rows["bytes_written"].sum()) == (read_bytes, write_bytes)
    assert (rows["reads"].sum(), rows["writes"].sum()) == (len(reads), len(writes))
    by_file = np.bincount(segments.file, np.where(segments.io_class == READ, segments.length, 0), len(files))
    np.testing.assert_array_equal(rows["bytes_read"], by_file)
    assert directory_totals(files, folders_of(files.paths))["bytes_read"].sum() == read_bytes

    # the histograms add up to the calls and the files
    posix_reads = sum(call[3] != "fread" for call in reads)
    assert sum(bucket.reads for bucket in summary.sizes) == posix_reads
    assert sum(bucket.writes for bucket in summary.sizes) == sum(call[3] == "write" for call in writes)
    assert file_sizes(files)["files"].sum() == len(files) - 1
    assert latency["calls"].sum() == len(every)
    assert latency["bytes"].sum() == read_bytes + write_bytes

    # parts of time keep every byte, call and nanosecond
    for table in (bandwidth(segments, bins), overview):
        assert (table["bytes_read"].sum(), table["bytes_written"].sum()) == (read_bytes, write_bytes)
        assert table["calls"].sum() == len(every)
        assert (table[["bytes_read", "bytes_written"]] >= 0).all().all()
    depth = queue_depth(segments, bins)
    busy = depth["mean"].sum() * (depth["end_ns"] - depth["start_ns"])
    assert round(busy.iloc[0]) == sum(call[1] - call[0] for call in every)
    assert depth["most"].max() <= max(len(every), 0)
    assert (depth["mean"] <= depth["most"] + 1e-9).all()
    shown = activity_by_name(segments, lambda thread: str(thread.tid), bins)
    np.testing.assert_allclose(shown.bytes_moved.sum(), read_bytes + write_bytes)
