"""Totals stay exact and memory bounded, however many files and operations there are."""

import json
import os
import re
import threading
import time

import numpy as np
import pytest

import tfdarshan
from tests.perf.child import run_child
from tfdarshan.analysis.summary_data import summarize

MIB = 1 << 20


def run_job(folder, files, operations, **options):
    """Run the job of tests/perf/bounds_probe.py in a process of its own."""
    return run_child("bounds_probe", folder, folder / "logs", files, operations, json.dumps(options))


def assert_exact(found, files, operations):
    done, counted, counts = found["done"], found["counted"], found["counts"]
    assert done["opens"] == files + 1
    assert done["reads"] == operations - 2 * (files + 1)
    assert {name: counted[name] for name in done} == done
    assert counts["segments"] + counts["events_dropped"] == counts["events"]
    assert counts["events"] >= operations


def said(found, words):
    return any(words in sentence for sentence in found["bounds"])


def memory_growth_mib(found, until):
    return (found["memory"][until] - found["memory"]["before"]) / MIB


def test_dropped_segments_are_said_and_totals_stay_exact(tmp_path):
    # WHEN a job makes ten times the calls that the trace has room for
    found = run_job(tmp_path, 2_000, 500_000, memory_cap_mb=64, trace_memory_mb=1)

    # THEN
    assert_exact(found, 2_000, 500_000)
    dropped = found["counts"]["events_dropped"]
    assert 400_000 < dropped < 500_000
    assert said(found, f"{dropped:,} of {found['counts']['events']:,} segments were dropped")
    assert found["counted"]["rows"] == 2_000
    assert memory_growth_mib(found, "recording") < 64


def test_a_cut_trace_has_all_calls_until_the_moment_that_it_names(tmp_path):
    # GIVEN a file that three threads read a byte at a time, each from an offset of its own
    path, each = tmp_path / "data.bin", 60_000
    path.write_bytes(bytes(4 * each))

    asked, answered = np.zeros(3 * each, np.int64), np.zeros(3 * each, np.int64)

    def read_bytes(first):
        handle = os.open(path, os.O_RDONLY)
        for offset in range(first, first + each):
            asked[offset] = time.monotonic_ns()
            os.pread(handle, 1, offset)
            answered[offset] = time.monotonic_ns()
        os.close(handle)

    # WHEN their calls are three times what the trace has room for, and one thread begins when it is full
    with tfdarshan.profile(tmp_path / "logs", memory_cap_mb=64, trace_memory_mb=1) as session:
        for threads in ((0, 1), (2,)):
            readers = [threading.Thread(target=read_bytes, args=(place * each,)) for place in threads]
            for reader in readers:
                reader.start()
            for reader in readers:
                reader.join()

    # THEN by the job's own clock the first call that is missing began then
    meta, events = session.meta[0], session.events
    reads = events[(events["path"] == str(path)) & (events["operation"] == "pread")]
    kept = reads["offset"].to_numpy()
    missing = np.setdiff1d(np.arange(3 * each), kept)
    assert 0 < len(missing) < 3 * each
    session_start_ns = (asked[kept] - reads["start_ns"].to_numpy()).max()
    first = missing[np.argmin(asked[missing])]
    assert meta["folding"]["thread_ns"] or meta["folding"]["by_callers"]
    until_ns = meta["time"]["first_dropped_ns"]
    apart_ns = 1_000_000  # two clocks
    assert asked[first] - session_start_ns - apart_ns <= until_ns
    assert until_ns <= answered[missing].min() - session_start_ns + apart_ns
    assert until_ns < meta["duration_ns"]
    span = summarize(session.session).trace_span
    assert span.until_s == pytest.approx(until_ns / 1e9)
    assert span.dropped_calls == meta["counts"]["events_dropped"]


def test_files_beyond_the_cap_share_a_row_and_totals_stay_exact(tmp_path):
    # WHEN a job opens more files than the smallest cap has room for
    found = run_job(tmp_path, 40_000, 200_000, memory_cap_mb=16, trace_memory_mb=1)

    # THEN
    assert_exact(found, 40_000, 200_000)
    assert 0 < found["counted"]["rows"] < 40_000
    assert found["counts"]["files_over_cap"] >= 40_000 - found["counted"]["rows"]
    assert said(found, "found no room for a row (memory_cap_mb = 16)")
    assert re.search(
        r"^Opened +at least [\d,]+ files, ", tfdarshan.open_session(tmp_path / "logs").summary(), re.M
    )
    # THEN the cap holds the recording; the index of names is the process's own
    assert found["counts"]["spool_bytes"] <= 16 * MIB
    assert memory_growth_mib(found, "recording") < 16 + 2


@pytest.mark.long
def test_a_million_files_and_twenty_million_operations(tmp_path, monkeypatch):
    # GIVEN the default bounds, and the default spool folder
    monkeypatch.delenv("TFDARSHAN_SPOOL_DIR")
    files, operations = 1_000_000, 20_000_000

    # WHEN
    found = run_job(tmp_path, files, operations)

    # THEN
    assert_exact(found, files, operations)
    assert found["counted"]["rows"] == files
    assert found["counts"]["files_over_cap"] == 0
    dropped = found["counts"]["events_dropped"]
    assert dropped > 0
    assert said(found, f"{dropped:,} of {found['counts']['events']:,} segments were dropped")
    cap_mib = found["options"]["memory_cap_mb"]
    assert found["counts"]["spool_bytes"] <= cap_mib * MIB
    assert memory_growth_mib(found, "recording") < cap_mib
    assert memory_growth_mib(found, "stopping") < cap_mib
