"""More calls than a trace viewer can show: the longest are in the trace, all are in the session."""

from __future__ import annotations

import tfdarshan
from tests.integration.tensorflow.xplane import IO_PLANE, io_calls, plane_of, read_space, traces

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
