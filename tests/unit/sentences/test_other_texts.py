"""Sentences of probes, comparisons, checks and cut traces, where they are true and where they are false."""

from __future__ import annotations

import dataclasses
import json

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.sentences.made_up_advice import SHORT_PROBE
from tests.unit.sentences.sessions import KB, SESSIONS
from tfdarshan.analysis.calls.trace_span import trace_span
from tfdarshan.checkpoint.burst_status import TierStatus
from tfdarshan.commands import main
from tfdarshan.comparison.change import compare, judge
from tfdarshan.comparison.condition import parse_condition
from tfdarshan.comparison.measured_run import Side
from tfdarshan.reports.text.comparison_text import render, render_failure
from tfdarshan.reports.text.probe_text import probe_text
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import Session
from tfdarshan.storage_probe.slow_places import SlowPlaces


@pytest.mark.parametrize(
    ("places", "said"),
    [
        (SlowPlaces(24), "none of 24 files is slower than the others, and moments are too few to tell."),
        (SlowPlaces(24, (), 9), "none of 24 files is slower than the others, and no moment was."),
        (
            SlowPlaces(24, (("/data/a", 9.0),)),
            "1 of 24 files is slow whenever read, most of all /data/a, 9 times",
        ),
        (SlowPlaces(24, (("/data/a", 9.0), ("/data/b", 8.0))), "2 of 24 files are slow whenever read"),
        (SlowPlaces(24, (), 9, 0.25, 6.0), "at 25.0 % of the moments all files were slow, 6 times as slow"),
        (SlowPlaces(1), "Slowness by file is not shown"),
        (SlowPlaces(0), "Slowness by file is not shown"),
    ],
)
def test_a_probe_names_slow_files_that_have_others_beside_them(places, said):
    text = " ".join(probe_text(dataclasses.replace(SHORT_PROBE, places=places)).split())

    assert said in text
    assert ("slow whenever read" in text) == bool(places.slow_files)


def run(folder, reads: int, taken_ms: float, length: int = 10 * KB) -> Session:
    """Return so many reads of a file, and one of another that always takes as long."""
    calls = [(10 * n, 10 * n + taken_ms, 1, "pread", 0, length, 0) for n in range(reads)]
    calls.append((990, 995, 1, "pread", 1, KB, 0))
    steps = epochs_of_steps(20, 50, 10)
    return training(folder, calls, steps, paths=["/data/a", "/data/b"], sizes=[length, KB])


def compared(tmp_path, one: Session, two: Session):
    """Return a comparison of two sessions."""
    return compare(Side("A", [Source(one)]), Side("B", [Source(two)]))


@pytest.mark.parametrize(
    ("length", "said"),
    [
        (1000 * KB, "50.0 MB in both"),
        (1000 * KB + 1, "50,001,000 B in A, 50,001,050 B in B"),
        (2000 * KB, "50.0 MB in A, 100.0 MB in B"),
    ],
)
def test_bytes_that_differ_have_other_words(length, said, tmp_path):
    both = compared(tmp_path, run(tmp_path / "a", 50, 5, 1000 * KB), run(tmp_path / "b", 50, 5, length))

    (check,) = [check for check in both.checks if check.name == "bytes read"]
    assert said in check.sentence


@pytest.mark.parametrize(("taken_ms", "listed"), [(5, False), (5.001, False), (8, True)])
def test_files_whose_time_changed_are_listed(taken_ms, listed, tmp_path):
    # GIVEN one file whose reads take as long, a five thousandth longer, or much longer
    both = compared(tmp_path, run(tmp_path / "a", 50, 5), run(tmp_path / "b", 50, taken_ms))

    text = render(both)

    assert ("Files whose time in calls changed most" in text) == listed
    assert ("   /data/a" in text) == listed
    assert "/data/b" not in text


@pytest.mark.parametrize(
    ("condition", "said"),
    [
        ("write_bandwidth<-10%", "cannot be judged: write bandwidth is unknown before, unknown in B."),
        ("reads>+10", "holds: reads is 51 before, 91 in B (+78.4 %)."),
    ],
)
def test_a_condition_says_what_it_rests_on(condition, said, tmp_path):
    both = compared(tmp_path, run(tmp_path / "a", 50, 5), run(tmp_path / "b", 90, 5))

    (failure,) = judge([parse_condition(condition)], [both])

    assert render_failure(failure).endswith(said)


@pytest.mark.parametrize(
    ("name", "first_ns", "said"),
    [
        ("a trace cut short", -1, "The trace lacks 300 calls, and it is not known when they were made"),
        (
            "a trace cut short",
            0,
            "The trace lacks 300 calls from the session's start on: figures of",
        ),
        ("a trace cut short", 10**8, "The trace has all calls of the first 100.0 ms of"),
        ("half of it fetched", -1, ""),
    ],
)
def test_a_trace_that_was_cut_says_from_when(name, first_ns, said, tmp_path):
    # GIVEN
    session = SESSIONS[name](tmp_path)
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    meta["time"]["first_dropped_ns"] = first_ns

    # WHEN
    span = trace_span([meta])

    # THEN
    assert (span is None) == (not said)
    assert span is None or span.sentence.startswith(said)


@pytest.mark.parametrize(
    ("verified", "damaged", "said"),
    [
        (0, {}, "verified     nothing: no checkpoint is there"),
        (1, {}, "verified     1 checkpoint, all as written"),
        (3, {}, "verified     3 checkpoints, all as written"),
        (3, {"a": "it is gone"}, "damaged      a: it is gone"),
    ],
)
def test_a_tier_says_what_was_verified(verified, damaged, said, capsys, monkeypatch, tmp_path):
    # GIVEN
    status = TierStatus(folder=tmp_path, tier="slow", owner="", verified=verified, damaged=damaged)
    monkeypatch.setattr("tfdarshan.checkpoint.burst_status.burst_status", lambda *_, **__: status)

    # WHEN
    code = main(["burst", "status", "--verify", str(tmp_path)])

    # THEN
    text = capsys.readouterr().out
    assert code == bool(damaged)
    assert said in text
    assert ("all as written" in text) == (verified > 0 and not damaged)


def test_a_fast_tier_in_which_nothing_waits_says_so(capsys, monkeypatch, tmp_path):
    status = TierStatus(folder=tmp_path, tier="fast", owner="")
    monkeypatch.setattr("tfdarshan.checkpoint.burst_status.burst_status", lambda *_, **__: status)

    main(["burst", "status", str(tmp_path)])

    assert "waiting      nothing\n" in capsys.readouterr().out
