"""What must hold whatever a session's calls are."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.made_up_session import HOST, job_of, write_session
from tests.unit.analysis.calls_at_once import TIMES, io_time_by_file
from tfdarshan.analysis.bandwidth import bandwidth_of_overview
from tfdarshan.analysis.segments import CLASSES, load_segments
from tfdarshan.analysis.session_analysis import analyse
from tfdarshan.native import _bridge

PATHS = ["/data/a/1", "/data/a/2", "/data/b/1", "/home/u/x", "/data/a"]
KINDS = ["open", "pread", "read", "write", "fsync", "fopen", "fread", "fwrite", "close", "stat"]
LENGTHS = st.one_of(st.just(0), st.integers(1, 300), st.integers(1, 1 << 31))


@st.composite
def calls(draw):
    """Gives calls of up to four threads; each thread makes one at a time, as threads do."""
    found = []
    for tid in range(1, draw(st.integers(1, 4)) + 1):
        at = draw(st.integers(0, 2_000))
        for _ in range(draw(st.integers(0, 12))):
            end = at + draw(st.integers(0, 5_000))
            kind = draw(st.sampled_from(KINDS))
            moves = kind in ("pread", "read", "write", "fread", "fwrite")
            length = draw(LENGTHS) if moves else 0
            found.append((at, end, tid, kind, draw(st.integers(0, len(PATHS) - 1)), length))
            at = end + draw(st.integers(0, 1_000))
    return found


SIZES = st.lists(st.integers(-1, 1 << 31), min_size=len(PATHS), max_size=len(PATHS))


@settings(max_examples=60)
@given(st.lists(calls(), min_size=1, max_size=3), SIZES)
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
        found = analyse(session)
        segments = load_segments(session.processes, found.files.index)
        by_file = io_time_by_file(segments, found.files)
        overview = bandwidth_of_overview(session.processes)
    reads = [call for call in every if call[3] in ("pread", "read", "fread")]
    writes = [call for call in every if call[3] in ("write", "fwrite")]
    read_bytes, write_bytes = sum(call[5] for call in reads), sum(call[5] for call in writes)

    # THEN I/O time is never above the wall clock, nor a class above all, nor a union above the sum
    clock = found.summary.wall_clock
    assert clock.io_s * 1e9 <= duration_ns + 0.5
    for table in (
        found.calls.by_thread,
        found.calls.by_process,
        found.calls.by_mount,
        found.calls.by_directory,
        by_file,
    ):
        assert (table["io_ns"] <= duration_ns).all()
        assert (table["io_ns"] <= table["thread_ns"]).all()
        for name in TIMES[1:]:
            assert (table[name] <= table["io_ns"]).all()
        # and the sums over files, folders, mounts, threads, processes are the totals
        assert table["calls"].sum() == len(every)
        assert (table["bytes_read"].sum(), table["bytes_written"].sum()) == (read_bytes, write_bytes)
        assert table["thread_ns"].sum() == sum(call[1] - call[0] for call in every)
    # and each union is that of the group's own calls
    kinds = {operation.name: operation.io_class for operation in _bridge.operations()}
    owned = [(100 + place, call) for place, process in enumerate(processes) for call in process]
    for table, group_of in (
        (found.calls.by_thread, lambda pid, call: (HOST, pid, call[2], "")),
        (found.calls.by_operation, lambda _pid, call: call[3]),
        (found.calls.by_process, lambda pid, _call: f"{HOST}:{pid}"),
    ):
        for group, row in table.iterrows():
            mine = [call for pid, call in owned if group_of(pid, call) == group]
            assert row["io_ns"] == merged_ns(mine)
            for name in CLASSES:
                assert row[f"{name}_ns"] == merged_ns([call for call in mine if kinds[call[3]] == name])
    rows = found.files.rows
    assert (rows["bytes_read"].sum(), rows["bytes_written"].sum()) == (read_bytes, write_bytes)
    assert (rows["reads"].sum(), rows["writes"].sum()) == (len(reads), len(writes))
    np.testing.assert_array_equal(rows["bytes_read"], by_file["bytes_read"])
    assert found.directories["bytes_read"].sum() == read_bytes

    # the histograms add up to the calls and the files
    posix_reads = sum(call[3] != "fread" for call in reads)
    assert sum(bucket.reads for bucket in found.summary.sizes) == posix_reads
    assert sum(bucket.writes for bucket in found.summary.sizes) == sum(call[3] == "write" for call in writes)
    assert found.file_sizes["files"].sum() == len(found.files) - 1
    assert found.calls.latency["calls"].sum() == len(every)
    assert found.calls.latency["bytes"].sum() == read_bytes + write_bytes

    # parts of time keep every byte, call and nanosecond
    for table in (found.calls.bandwidth, overview):
        assert (table["bytes_read"].sum(), table["bytes_written"].sum()) == (read_bytes, write_bytes)
        assert table["calls"].sum() == len(every)
        assert (table[["bytes_read", "bytes_written"]] >= 0).all().all()
    busy = found.calls.queue_depth["mean"].sum() * (
        found.calls.queue_depth["end_ns"] - found.calls.queue_depth["start_ns"]
    )
    assert round(busy.iloc[0]) == sum(call[1] - call[0] for call in every)
    assert found.calls.queue_depth["most"].max() <= max(len(every), 0)
    assert (found.calls.queue_depth["mean"] <= found.calls.queue_depth["most"] + 1e-9).all()
    np.testing.assert_allclose(found.calls.activity.bytes_moved.sum(), read_bytes + write_bytes)


def merged_ns(calls):
    """Gives the time in which at least one of the calls ran."""
    total = reached = 0
    for start, end, *_ in sorted(calls):
        total += max(end - max(start, reached), 0)
        reached = max(reached, end)
    return total
