"""More calls than a trace viewer can show: the longest are in the trace, all are in the session."""

from __future__ import annotations

import re
from itertools import pairwise

import tfdarshan
from tests.integration.tensorflow.xplane import IO_PLANE, io_calls, plane_of, read_space, stats_of, traces
from tfdarshan.sessions.schema import FIRST_OPEN

LIMIT = 200_000
READS = 230_000

JOB = f"""
    handle = os.open(paths[0], os.O_RDONLY)
    tf.profiler.experimental.start("logs")
    for number in range({READS}):
        os.pread(handle, 1, number % 1000)
    tf.profiler.experimental.stop()
"""


def test_the_longest_calls_are_drawn_and_the_others_said(job):
    # WHEN
    job.run(JOB, before="tfdarshan.enable()")

    # THEN the trace has the longest of all calls that the session has
    (trace,) = traces(job.logdir)
    session = tfdarshan.open_session(job.logdir)
    part = session.meta[0]["tensorflow"]
    events = session.events
    within = events[(events["start_ns"] >= part["start_ns"]) & (events["start_ns"] < part["end_ns"])]
    assert len(within) >= READS
    plane = plane_of(read_space(trace), IO_PLANE)
    drawn = sorted(call[3] - call[2] for call in io_calls(plane))
    durations = (within["end_ns"] - within["start_ns"]).sort_values()
    assert drawn == durations.tolist()[-LIMIT:]

    # THEN it says how many are missing, where people look and where programs do
    assert (part["events"], part["left_out"]) == (LIMIT, len(within) - LIMIT)
    (note,) = [line for line in plane.lines if line.name == "I/O note"]
    (sentence,) = [plane.event_metadata[event.metadata_id].name for event in note.events]
    assert sentence.startswith(f"the {LIMIT} longest of {len(within)} operations are drawn, ")
    assert f"{len(within) - LIMIT} are left out" in sentence


def test_a_full_trace_goes_on_with_a_sample(job):
    # WHEN
    job.run(JOB, before="tfdarshan.enable(memory_cap_mb=64, trace_memory_mb=1)")

    # THEN calls are drawn up to the end, and those of the sample say what they stand for
    (trace,) = traces(job.logdir)
    meta = tfdarshan.open_session(job.logdir).meta[0]
    plane = plane_of(read_space(trace), IO_PLANE)
    (note,) = [line for line in plane.lines if line.name == "I/O note"]
    (sentence,) = [plane.event_metadata[event.metadata_id].name for event in note.events]
    assert re.fullmatch(
        r"From [\d.]+ m?s of the recording on, calls shorter than ([\d.]+ .?s) are a sample: one for each \1 "
        r"that they took\. The counters count all calls\.",
        sentence,
    )
    # THEN the counters have all bytes
    rates = [
        (event.offset_ps / 1e12, stats_of(plane, event.stats)["MB/s"])
        for line in plane.lines
        if line.name == "_counters_"
        for event in line.events
        if plane.event_metadata[event.metadata_id].name == "read MB/s"
    ]
    moved = sum(rate * 1e6 * (until_s - from_s) for (from_s, rate), (until_s, _) in pairwise(rates))
    files = tfdarshan.open_session(job.logdir).files
    read = files[["POSIX_BYTES_READ", "STDIO_BYTES_READ"]].to_numpy().sum()
    assert 0.99 * READS < moved < 1.01 * read
    drawn = io_calls(plane)
    assert meta["tables"]["thinned"]["rows"] < len(drawn) < READS / 2
    assert max(call[2] for call in drawn) > 0.9 * meta["time"]["last_event_ns"]
    sampled = [
        stats["stands for ns"]
        for line in plane.lines
        for event in line.events
        if "stands for ns" in (stats := stats_of(plane, event.stats))
    ]
    process = tfdarshan.open_session(job.logdir).processes[0]
    flags = process.table("thinned", ["flags"])["flags"].to_numpy()
    assert len(sampled) == (flags & FIRST_OPEN == 0).sum()
    assert min(sampled) == meta["thinned"]["resolution_ns"]
