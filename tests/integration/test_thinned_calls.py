"""After a trace is full, the timeline goes on with all long calls and a sample of the short ones."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

import tfdarshan
from tests.integration.thinned_time import estimate, thinned_of
from tfdarshan.commands import main
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source

SHORT, LONG, LONG_BYTES = 240_000, 24, 16 << 20
SENTENCE = (
    r"From [\d.]+ m?s on, calls shorter than ([\d.]+ .?s) are a sample: one for each \1 that they took\."
)
JOB = """
import os, sys, tfdarshan
session = tfdarshan.profile("logs", memory_cap_mb=64, trace_memory_mb=1)
session.start()
handle = os.open("data.bin", os.O_RDONLY)
for number in range(100_000):
    os.pread(handle, 1, number % 4096)
print("full", flush=True)
while True:
    os.pread(handle, 1, 7)
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory):
    """A job that makes ten times the calls that its trace has room for, long ones at equal distances."""
    folder = tmp_path_factory.mktemp("thinned")
    path = folder / "data.bin"
    path.write_bytes(bytes(LONG_BYTES))
    handle = os.open(path, os.O_RDONLY)
    with tfdarshan.profile(folder / "logs", memory_cap_mb=64, trace_memory_mb=1) as done:
        for number in range(SHORT):
            os.pread(handle, 1, number % 4096)
            if number % (SHORT // LONG) == 0:
                os.pread(handle, LONG_BYTES, 0)
    os.close(handle)
    return done.session


def process_of(session):
    (process,) = session.processes
    return process


def test_what_is_kept_stands_for_the_time_of_all_calls(session):
    process = process_of(session)
    found_ns, deviation_ns = estimate(process)
    assert deviation_ns < 0.05 * found_ns
    assert found_ns == pytest.approx(process.meta["time"]["thread_ns"], abs=4 * deviation_ns + SHORT)


def test_every_long_call_is_kept(session):
    process = process_of(session)
    thinned, kept = thinned_of(process), process.table("events", ["length"])["length"].to_numpy()
    assert (thinned["length"] == LONG_BYTES).sum() + (kept == LONG_BYTES).sum() == LONG


def test_totals_are_exact_and_the_sample_is_no_segment(session):
    counts = session.meta[0]["counts"]
    files = session.files
    (reads,) = files.loc[files["path"].str.endswith("data.bin"), "POSIX_READS"]
    assert reads == SHORT + LONG
    assert len(session.events) == counts["segments"]
    assert counts["segments"] + counts["events_dropped"] == counts["events"]
    rows = session.meta[0]["tables"]["thinned"]["rows"]
    assert 1_000 < rows < counts["events_dropped"] / 10


def test_the_timeline_spans_the_session_and_says_what_is_a_sample(session):
    # GIVEN
    source = Source(session)
    end_ns = session.meta[0]["duration_ns"]
    thinned = thinned_of(process_of(session))

    # WHEN
    whole = timeline_view(source, Window("operation", "operations"))
    late = timeline_view(source, Window("operation", "operations", (end_ns // 2, end_ns)))

    # THEN
    assert re.search(SENTENCE, whole[0].note)
    assert re.search(SENTENCE, late[0].note)
    assert thinned["start_ns"].max() > 0.9 * session.meta[0]["time"]["last_event_ns"]
    # THEN the calls over time add up to about all calls
    drawn = source.activity("operation")
    assert drawn.calls.sum() == pytest.approx(session.meta[0]["counts"]["events"], rel=0.2)
    by_part = drawn.calls.sum(axis=0)
    half = len(by_part) // 2
    assert by_part[half:].sum() > 0.1 * by_part.sum()
    moved = drawn.bytes_moved.sum()
    assert moved == pytest.approx(LONG * LONG_BYTES, rel=0.05)


def test_a_window_without_many_calls_shows_each(session):
    source, thinned = Source(session), thinned_of(process_of(session))
    last_ns = int(thinned["start_ns"][-100])
    (panel, *_) = timeline_view(source, Window("thread", "bandwidth", (last_ns, last_ns + 10**12)))
    assert panel.title.startswith("100 calls in")
    assert re.search(SENTENCE, panel.note)


def test_the_chrome_trace_has_them_and_says_so(session, tmp_path, capsys):
    # WHEN
    code = main(["export", str(session.path), "--trace", str(tmp_path / "trace.json")])

    # THEN
    said = capsys.readouterr().out
    written = json.loads((tmp_path / "trace.json").read_text())
    calls = [event for event in written["traceEvents"] if event["ph"] == "X"]
    tables = session.meta[0]["tables"]
    assert code == 0
    assert re.search(SENTENCE, said)
    assert re.search(SENTENCE, written["otherData"]["sample"])
    assert len(calls) == tables["events"]["rows"] + tables["thinned"]["rows"]


def test_all_calls_are_there_while_there_is_room(tmp_path):
    # GIVEN more calls than the trace has room for, and fewer than it and the thinned calls have
    path = tmp_path / "data.bin"
    path.write_bytes(bytes(8))
    handle = os.open(path, os.O_RDONLY)
    with tfdarshan.profile(tmp_path / "logs", memory_cap_mb=64, trace_memory_mb=1) as done:
        for _ in range(40_000):
            os.pread(handle, 1, 0)
    os.close(handle)

    # THEN
    meta = done.meta[0]
    assert meta["thinned"]["resolution_ns"] == 0
    assert meta["tables"]["thinned"]["rows"] == meta["counts"]["events_dropped"] > 0
    assert "sample" not in timeline_view(Source(done.session))[0].note


@pytest.mark.parametrize("moment_s", [0.0, 0.05, 0.21])
def test_a_killed_job_has_kept_them(tmp_path, moment_s):
    # GIVEN
    (tmp_path / "data.bin").write_bytes(bytes(4096))
    with subprocess.Popen([sys.executable, "-c", JOB], cwd=tmp_path, stdout=subprocess.PIPE) as job:
        assert job.stdout.readline() == b"full\n"
        time.sleep(moment_s)
        job.send_signal(signal.SIGKILL)

    # WHEN
    code = main(["recover", str(tmp_path / "logs")])

    # THEN
    process = process_of(tfdarshan.open_session(tmp_path / "logs"))
    found_ns, deviation_ns = estimate(process)
    assert code == 0
    assert process.meta["counts"]["damaged"] == 0
    assert found_ns == pytest.approx(
        process.meta["time"]["thread_ns"], abs=4 * deviation_ns + process.meta["counts"]["events"]
    )
