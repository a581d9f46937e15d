"""What is read of a session while its threads record, fold and thin: each look is one that adds up."""

import os
import threading

import pytest

import tfdarshan
from tfdarshan.recording.live_snapshot import live_snapshot
from tfdarshan.session import open_session

LOOKS = 6


@pytest.fixture
def reading(tmp_path):
    """Read bytes one by one in two threads, from the time that a session's trace is full."""
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(4096))
    handle, over, full = os.open(path, os.O_RDONLY), threading.Event(), threading.Barrier(3)

    def read():
        for number in range(60_000):
            os.pread(handle, 1, number % 4096)
        full.wait()
        while not over.is_set():
            os.pread(handle, 1, 7)

    recorder = tfdarshan.profile(tmp_path / "logs", memory_cap_mb=64, trace_memory_mb=1).start()
    threads = [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    full.wait()
    yield recorder
    over.set()
    for thread in threads:
        thread.join()
    recorder.stop()
    os.close(handle)


def test_each_look_at_a_session_that_records_adds_up(reading):
    before = 0
    for _ in range(LOOKS):
        # WHEN
        session = live_snapshot(reading._recording, open_session)

        # THEN no call is counted twice or half, in totals, the trace and sums over time
        (process,) = session.processes
        counts, files = process.meta["counts"], session.files
        (row,) = files[files["path"].str.endswith("data.bin")].to_dict("records")
        assert not counts["damaged"]
        assert row["POSIX_READS"] == row["POSIX_BYTES_READ"] > before
        assert counts["events"] >= row["POSIX_READS"] + row["POSIX_OPENS"]
        assert counts["segments"] == len(session.events)
        summed = process.table("untraced", ["calls"])["calls"].to_numpy().sum()
        assert summed == counts["events_dropped"] == counts["events"] - counts["segments"]
        assert sum(thread["events"] for thread in process.meta["threads"]) == counts["events"]
        thinned = process.table("thinned").to_pandas()
        assert len(thinned) > 100
        assert not thinned.duplicated(["tid", "start_ns"]).any()
        before = row["POSIX_READS"]
