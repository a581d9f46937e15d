"""Totals stay exact and memory bounded, however many files and operations there are."""

import json

import pytest

from tests.perf.child import run_child

MIB = 1 << 20


def run_job(folder, files, operations, **options):
    """Runs the job of tests/perf/bounds_probe.py in a process of its own."""
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


def test_files_beyond_the_cap_share_a_row_and_totals_stay_exact(tmp_path):
    # WHEN a job opens more files than the smallest cap has room for
    found = run_job(tmp_path, 40_000, 200_000, memory_cap_mb=16, trace_memory_mb=1)

    # THEN
    assert_exact(found, 40_000, 200_000)
    assert 0 < found["counted"]["rows"] < 40_000
    assert found["counts"]["files_over_cap"] >= 40_000 - found["counted"]["rows"]
    assert said(found, "found no room for a row (memory_cap_mb = 16)")
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
