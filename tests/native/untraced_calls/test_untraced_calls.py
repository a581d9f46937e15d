"""A session whose trace is full has the bandwidth of one with all segments of the same calls, exactly."""

import dataclasses
import subprocess

import numpy as np
import pytest

from tests.native.built_programs import BUILD, build
from tests.unit.sentences.made_up_spool import MARKER
from tfdarshan.analysis.calls.segments import load_segments
from tfdarshan.analysis.files.file_table import load_files
from tfdarshan.analysis.time.bandwidth import bandwidth
from tfdarshan.analysis.time.overview_times import overview_times
from tfdarshan.analysis.time.untraced import untraced_sums
from tfdarshan.recording.writing.writer import write_session
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.sessions.writing.time_bins import TimeBins


@pytest.fixture(scope="module")
def sessions(tmp_path_factory):
    """The session of all segments, and the one of none: a native program makes their calls."""
    build("plain")
    folder = tmp_path_factory.mktemp("spools")
    subprocess.run([BUILD / "plain/untraced_calls/main", folder, "spools"], check=True)
    found = []
    for name in ("whole", "summed"):
        (spool,) = (folder / name).glob("*.spool")
        marker = dataclasses.replace(MARKER, spool_directory=str(folder / name), pid=int(spool.stem))
        directory = folder / name / "session"
        directory.mkdir()
        write_session(directory, marker)
        found.append(SessionData.open(directory))
    return found


def moved_in(calls, edges):
    """Spread each call's bytes evenly over its duration: whole bytes until each edge."""
    moved = [0] * (len(edges) - 1)
    width = edges[1] - edges[0]
    for start, end, length in calls:
        before = 0
        for place in range(start // width, max(end - 1, start) // width + 1):
            until = min(end, edges[place + 1])
            reached = length * (until - start) // (end - start) if end > start else length
            moved[place] += reached - before
            before = reached
    return moved


def test_each_part_of_time_has_the_bytes_and_calls_of_the_full_trace(sessions):
    # GIVEN
    whole, summed = sessions
    assert whole.meta[0]["counts"]["segments"] == whole.meta[0]["counts"]["events"] == 20_000
    assert summed.meta[0]["counts"]["segments"] == 0
    table = summed.processes[0].table("untraced").to_pandas()
    events = whole.processes[0].table("events").to_pandas()

    # WHEN the bytes of the full trace's calls are spread over the same parts
    width = int(table["end_ns"].iloc[0])
    edges = [width * place for place in range(int(table["end_ns"].max()) // width + 1)]
    kinds = {operation["name"]: operation["io_class"] for operation in whole.processes[0].operations}
    calls = events[["start_ns", "end_ns", "length"]]

    # THEN they are those of the sums
    place = table["start_ns"] // width
    assert (table["end_ns"] - table["start_ns"] == width).all()
    for io_class, column in (("read", "bytes_read"), ("write", "bytes_written")):
        chosen = events["operation"].astype(str).map(kinds) == io_class
        moved = np.array(moved_in(calls[chosen].itertuples(index=False), edges))
        np.testing.assert_array_equal(moved[place], table[column])
        assert moved.sum() == table[column].sum() > 0
    begun = np.bincount(events["start_ns"] // width, minlength=len(edges) - 1)
    np.testing.assert_array_equal(begun[place], table["calls"])
    busy_ns = (events["end_ns"] - events["start_ns"]).sum()
    assert table["busy_ns"].sum() == busy_ns == summed.meta[0]["time"]["thread_ns"]


def test_the_drawn_bandwidth_is_that_of_the_full_trace(sessions):
    # GIVEN parts of time that are some of the sums' each
    whole, summed = sessions
    table = summed.processes[0].table("untraced").to_pandas()
    width, end_ns = int(table["end_ns"].iloc[0]), int(table["end_ns"].max())
    bins = TimeBins(0, 4 * width, -(-end_ns // (4 * width)))
    segments = load_segments(whole.processes, load_files(whole.processes).index)

    # WHEN
    expected = bandwidth(segments, bins)
    drawn = overview_times(summed.processes, 2000).bandwidth
    of_whole = overview_times(whole.processes, 2000).bandwidth

    # THEN to a byte for each edge that a call crosses
    sums = untraced_sums(summed.processes, bins)
    np.testing.assert_allclose(sums.bytes_read, expected["bytes_read"], atol=2)
    np.testing.assert_allclose(sums.bytes_written, expected["bytes_written"], atol=2)
    np.testing.assert_array_equal(sums.calls, expected["calls"])
    np.testing.assert_allclose(sums.busy_ns / bins.bin_ns, expected["depth"], atol=1e-6)
    for column in ("calls", "bytes_read", "bytes_written"):
        assert drawn[column].sum() == of_whole[column].sum() > 0
