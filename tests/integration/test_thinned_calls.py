"""After a trace is full, the timeline goes on with all long calls and a sample of the short ones."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest

import tfdarshan
from tests.integration.thinned_time import estimate, thinned_of
from tfdarshan.analysis.time.thinned_activity import thinned_parts
from tfdarshan.commands import main
from tfdarshan.reports.views.timeline_view import Window, timeline_view
from tfdarshan.reports.views.view_source import Source
from tfdarshan.sessions import schema
from tfdarshan.sessions.session_data import SessionData

SHORT, LONG, LONG_BYTES = 240_000, 24, 16 << 20
SENTENCE = (
    r"From [\d.]+ m?s on, calls shorter than ([\d.]+ .?s) are a sample: one for each \1 that they took\."
)
EXACT = r"From [\d.]+ m?s on, ([a-z ]+ are) exact sums over all calls\."
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


def moved_bytes(session, direction):
    return session.files[[f"{module}_BYTES_{direction}" for module in ("POSIX", "STDIO")]].to_numpy().sum()


def test_bandwidth_and_queue_depth_are_exact_for_the_whole_time(session):
    # WHEN
    process, table = process_of(session), Source(session).bandwidth
    untraced = process.table("untraced").to_pandas()

    # THEN
    counts, lasted_ns = process.meta["counts"], table["end_ns"] - table["start_ns"]
    assert untraced["calls"].sum() == counts["events_dropped"] > 0
    assert len(untraced) > 500
    assert table["calls"].sum() == counts["events"]
    assert table["bytes_read"].sum() == moved_bytes(session, "READ") >= SHORT + LONG * LONG_BYTES
    assert table["bytes_written"].sum() == moved_bytes(session, "WRITTEN")
    busy_ns = (table["depth"] * lasted_ns).sum()
    assert busy_ns == pytest.approx(process.meta["time"]["thread_ns"], abs=counts["segments"] + 2000)

    # THEN each long read, of which every one is a thinned call or has a segment, is where it ran
    for name in ("thinned", "events"):
        calls = process.table(name, ["start_ns", "end_ns", "length"]).to_pandas()
        for call in calls[calls["length"] == LONG_BYTES].itertuples():
            from_ns, until_ns = call.start_ns - lasted_ns.iloc[0], call.end_ns + lasted_ns.iloc[0]
            around = table[(table["end_ns"] > from_ns) & (table["start_ns"] < until_ns)]
            assert around["bytes_read"].sum() >= LONG_BYTES


def test_the_timeline_spans_the_session_and_says_what_is_a_sample(session):
    # GIVEN
    source = Source(session)
    end_ns = session.meta[0]["duration_ns"]
    thinned = thinned_of(process_of(session))

    # WHEN
    calls, busy = (timeline_view(source, Window("operation", measure)) for measure in ("operations", "busy"))
    by_process = timeline_view(source, Window("process", "depth"))
    late = timeline_view(source, Window("operation", "operations", (end_ns // 2, end_ns)))

    # THEN
    assert re.search(EXACT, calls[0].note)[1] == "bytes and calls are"
    assert calls[0].note.endswith('The row "not told apart" has them.')
    assert re.search(SENTENCE, busy[0].note)
    assert "not told apart" not in busy[0].figure["data"][0]["y"]
    assert re.search(EXACT, by_process[0].note)[1] == "values are"
    assert [re.search(EXACT, panel.note)[1] for panel in late[1:]] == [
        "bytes per second are",
        "calls at a time are",
    ]
    assert thinned["start_ns"].max() > 0.9 * session.meta[0]["time"]["last_event_ns"]
    # THEN rows over time add up to all calls and bytes
    moved = moved_bytes(session, "READ") + moved_bytes(session, "WRITTEN")
    for by in ("operation", "thread", "process"):
        drawn = source.activity(by)
        assert drawn.calls.sum() == session.meta[0]["counts"]["events"]
        assert drawn.bytes_moved.sum() == moved
    # THEN time does so, too: of processes exactly, of others by the sample
    thread_ns, deviation_ns = session.meta[0]["time"]["thread_ns"], estimate(process_of(session))[1]
    assert drawn.busy_ns.sum() == pytest.approx(thread_ns, abs=SHORT)
    sampled_ns = source.activity("operation").busy_ns.sum()
    assert sampled_ns == pytest.approx(thread_ns, abs=4 * deviation_ns + SHORT)


@pytest.mark.parametrize("by", ["thread", "process", "directory", "operation"])
def test_a_window_counts_all_calls(session, by):
    # GIVEN a window of many calls, from where the trace is full on
    end_ns = session.meta[0]["duration_ns"]
    from_ns = session.meta[0]["time"]["first_dropped_ns"] // 2
    process = process_of(session)
    untraced = process.table("untraced", ["calls"])["calls"].to_numpy().sum()
    ended_ns = process.table("events", ["end_ns"])["end_ns"].to_numpy()

    # WHEN
    chart, moved, _ = timeline_view(Source(session), Window(by, "operations", (from_ns, end_ns)))

    # THEN
    (heat,) = chart.figure["data"]
    part_s = (end_ns - from_ns) / 400e9
    drawn = np.array(heat["z"], float).sum() * part_s
    assert drawn == pytest.approx((ended_ns >= from_ns).sum() + untraced, rel=0.001)
    assert ("not told apart" in heat["y"]) == (by != "process")
    assert re.search(EXACT, moved.note)


def test_a_session_without_sums_says_what_is_not_known(session):
    # GIVEN a session of a version that had none
    (process,) = session.processes
    tables = {name: about for name, about in process.meta["tables"].items() if name != "untraced"}
    older = SessionData(session.path, [replace(process, meta=process.meta | {"tables": tables})], [])
    source = Source(older)

    # WHEN
    chart, depth = timeline_view(source, Window("thread", "bandwidth"))

    # THEN lines end where calls are missing
    from_ns = process.meta["start_ns"] + process.meta["time"]["first_dropped_ns"]
    assert 0 < source.bandwidth["end_ns"].max() <= from_ns
    assert max(depth.figure["data"][0]["x"]) < from_ns / 1e9
    for note, what in ((chart.note, "bytes and calls are"), (depth.note, "calls at a time are")):
        assert re.search(rf"on, {what} not known\. Record with a larger trace_memory_mb\.", note)


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

    # THEN its counters have all bytes
    assert re.search(EXACT, written["otherData"]["sample"])[1] == "bandwidth counters are"
    counters = [event for event in written["traceEvents"] if event["ph"] == "C"]
    part_s = (counters[1]["ts"] - counters[0]["ts"]) / 1e6
    moved = sum(event["args"]["read B/s"] for event in counters) * part_s
    assert moved == pytest.approx(moved_bytes(session, "READ"), rel=0.001)


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


def test_the_first_open_of_each_file_is_kept_and_stands_for_itself(tmp_path):
    # GIVEN files that are opened again and again after the trace is full
    paths = [tmp_path / f"{number}.small" for number in range(60)]
    for path in (*paths, tmp_path / "data.bin"):
        path.write_bytes(bytes(4096))
    handle = os.open(tmp_path / "data.bin", os.O_RDONLY)
    with tfdarshan.profile(tmp_path / "logs", memory_cap_mb=64, trace_memory_mb=1) as done:
        for number in range(100_000):
            os.pread(handle, 1, number % 4096)
        for path in paths * 30:
            os.close(os.open(path, os.O_RDONLY))
        for number in range(100_000):
            os.pread(handle, 1, number % 4096)
    os.close(handle)

    # WHEN
    session = done.session
    process, files = process_of(session), session.files
    thinned = process.table("thinned").to_pandas()
    first = thinned[thinned["flags"] & schema.FIRST_OPEN > 0]

    # THEN
    opened = set(files.loc[files["path"].str.endswith(".small"), "file"])
    assert len(opened) == 60
    assert opened <= set(first["file"])
    assert first["file"].is_unique
    assert set(first["operation"]) == {"open"}
    resolution_ns = process.meta["thinned"]["resolution_ns"]
    assert (first["end_ns"] - first["start_ns"]).median() < resolution_ns

    # THEN views draw its own time, and that of the sample for the others
    taken_ns = thinned["end_ns"] - thinned["start_ns"]
    stands_for_ns = np.where(thinned.index.isin(first.index), taken_ns, np.maximum(taken_ns, resolution_ns))
    source = Source(session)
    drawn_ns = sum(int((block.end_ns - block.start_ns).sum()) for block in source.sample_blocks())
    assert drawn_ns == stands_for_ns.sum()
    ((_, part),) = thinned_parts(source.processes)
    assert part.busy_ns.sum() == pytest.approx(stands_for_ns.sum(), rel=0.01)


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
    counts = process.meta["counts"]
    assert found_ns == pytest.approx(
        process.meta["time"]["thread_ns"], abs=4 * deviation_ns + counts["events"]
    )
    untraced = process.table("untraced", ["calls"])["calls"].to_numpy()
    assert untraced.sum() == counts["events_dropped"] > 0
