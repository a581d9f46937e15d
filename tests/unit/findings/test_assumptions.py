"""What gains assume: each says it, with what of the session shows it, and none is certain without."""

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.joint_training import MadeUpRank, joint_training
from tests.scenario_sessions import MB, SKETCHES, sketched
from tests.unit.findings import (
    test_mapped_cached,
    test_mapped_window,
    test_shuffle_buffer,
    test_small_reads,
    test_validation,
)
from tests.unit.findings.made_up_mapped import mapped_training
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.findings.test_cures_of_pipelines import LOAD, PATHS
from tests.unit.findings.test_mapped_findings import IN_STEPS, RANDOM, probe
from tests.unit.findings.test_rank_findings import everything, hosts, shards
from tfdarshan.findings.all_findings import NAMES
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.finding import Assumption, Gain
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.plain import plain_diagnosis
from tfdarshan.reports.text.findings_text import findings_text
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.panel import Cards
from tfdarshan.session import Session

SEEN = Assumption("steps wait", "3 ms of 10 ms", "they do not")
UNSEEN = Assumption("storage serves more", "", "it is full")


@pytest.mark.parametrize(("assumed", "least"), [((SEEN,), 1.25), ((SEEN, UNSEEN), 1.0), ((), 1.0)])
def test_no_gain_is_certain_without_support(assumed, least):
    # GIVEN a gain of 20 % to 60 % of a step of 10 ms

    # WHEN something that it assumes is not seen, or nothing is said of what it assumes
    gain = Gain("step", 0.010, 0.002, 0.004, 0.006, assumed)

    # THEN its lower bound promises nothing, and the rest is as it was
    assert gain.speedup_range == (pytest.approx(least), pytest.approx(2.5))
    assert gain.speedup == pytest.approx(1 / 0.6)


def test_what_costs_time_is_not_made_up_for():
    assert Gain("step", 1.0, -0.5, -0.2, 0.1).low_s == -0.5


def jumping(folder):
    """Writes a session of reads anywhere in two files, 5 ms each."""
    calls = [
        (at, at + 5, tid, "pread", tid % 2, 8_000, (at * 7919 + tid * 104_729) % 40_000 * 1_000)
        for at in range(0, 2_000, 5)
        for tid in range(1, 17)
    ]
    return training(folder, calls, WAITING, paths=("/data/a", "/data/b"), sizes=[40_000_000] * 2)


def crowded(folder):
    """Writes a session of 2 readers at 400 MB/s for a fifth of each half second, else 16 at 25 MB/s."""
    calls = []
    for at in range(0, 2_000, 4):
        readers, length = (16, 6_250) if at % 500 < 400 else (2, 800_000)
        calls += [(at, at + 4, tid + 1, "pread", tid, length, at * 1_000_000) for tid in range(readers)]
    return training(folder, calls, WAITING, paths=[f"/data/{n}" for n in range(16)], sizes=[10**11] * 16)


def decoding(folder):
    """Writes a session of one reader that reads 1 of 10 ms, and decodes the rest, on four processors."""
    calls = [(at, at + 1, 1, "read", 0, 100_000, at * 1_000_000) for at in range(0, 2_000, 10)]
    machine = {"machine": {"cpus": 4, "memory_bytes": 1 << 30, "cpu_s": 1.8}}
    return training(folder, calls, WAITING, sizes=[10**10], meta=machine)


def ranks(folder, dealt, times=(1, 1, 1, 1)):
    """Writes a session of four ranks on two nodes."""
    made = zip(dealt, hosts(4, 2), times, strict=True)
    return joint_training(folder, [MadeUpRank(*one) for one in made])


WAITING = epochs_of_steps(20, 100, 90)
MAKERS: dict[str, Callable[[Path], Session]] = {
    name: partial(sketched, sketch=sketch) for name, sketch in SKETCHES.items()
}
MAKERS |= {maker.__name__: maker for maker in (jumping, crowded, decoding)}
MAKERS |= {
    "a buffer to be filled": lambda folder: test_shuffle_buffer.job(
        folder, PATHS, LOAD, test_shuffle_buffer.SHUFFLE
    ),
    "validation": test_validation.job,
    "validation of much": partial(test_validation.job, memory=10 * MB),
    "page faults": lambda folder: mapped_training(
        folder, RANDOM, IN_STEPS, bytes_in=200 << 17, probes=[probe(0.9, page_s=0.0002)]
    ),
    "small windows": test_mapped_window.job,
    "records of a generator": test_mapped_cached.job,
    "small reads": partial(test_small_reads.job, taken_ms=lambda part: 3.0),
    "all files for each rank": lambda folder: ranks(folder, everything(4, 4, 1, np.random.default_rng(1))),
    "more for one rank": lambda folder: ranks(folder, shards(4, 4, more=(1, 3))),
    "a slow rank": lambda folder: ranks(folder, shards(4, 4), (1, 1, 1, 5)),
    "a slow node": lambda folder: ranks(folder, shards(4, 4), (1, 1, 5, 5)),
}


@pytest.mark.parametrize("name", MAKERS)
def test_every_gain_says_what_it_assumes(name, tmp_path):
    # GIVEN
    session = MAKERS[name](tmp_path)

    # WHEN
    gains = {found.name: found.gain for found in diagnose(session).findings if found.gain is not None}

    # THEN
    for gain in gains.values():
        assert gain.assumptions
        assert len(set(gain.assumptions)) == len(gain.assumptions)
        for entry in gain.assumptions:
            assert entry.claim
            assert entry.refuted_by
            assert not entry.support or re.search(r"\d", entry.support), entry
        if not all(entry.support for entry in gain.assumptions):
            assert gain.speedup_range[0] == 1


def test_each_finding_that_promises_something_is_among_them(tmp_path):
    # GIVEN these sessions
    promising = set()
    for name, maker in MAKERS.items():
        for one in diagnose(maker(tmp_path / name)).findings:
            promising |= {one.name} if one.gain is not None else set()

    # THEN
    assert promising == set(NAMES) - {
        "input_bound", "page_cache", "low_coverage", "truncated_trace", "full_storage",
    }  # fmt: skip


def test_what_is_assumed_is_shown(tmp_path):
    # GIVEN one reader with the same files under way all the time
    diagnosis = diagnose(sketched(tmp_path, SKETCHES["one reader"]))
    (found,) = (one for one in diagnosis.findings if one.name == "read_parallelism")

    # WHEN it is shown
    text = " ".join(findings_text(diagnosis).split())
    cards = [item for panel in findings_panels(diagnosis) if isinstance(panel, Cards) for item in panel.items]
    (card,) = (one for one in cards if one.name == "read_parallelism")
    plain = next(one for one in plain_diagnosis(diagnosis)["findings"] if one["name"] == "read_parallelism")

    # THEN it says what nothing shows, and what would refute it
    said = "storage serves more reads at a time (not seen here, so no gain is certain; wrong if calls"
    assert found.gain.speedup_range[0] == 1
    assert said in text
    assert any(said in line for line in card.assumes)
    assert "storage serves more reads at a time" in [one["claim"] for one in plain["gain"]["assumptions"]]
    # ... and what all gains assume once
    assert text.count("steps wait for these files (seen: ") == 1


def test_a_job_without_steps_is_promised_nothing_for_certain(tmp_path):
    # GIVEN a job whose three readers never rest, and that marks no steps
    calls = [(n * 10.0, n * 10 + 9.9, tid, "pread", n % 40, 100_000) for n in range(60) for tid in (1, 2, 3)]
    paths = [f"/data/{number}" for number in range(40)]
    session = training(tmp_path, calls, paths=paths, sizes=[100_000] * 40)

    # WHEN
    found = [one for one in diagnose(session).findings if one.gain is not None]

    # THEN nobody says that it waits for them
    assert "staging" in [one.name for one in found]
    assert all(one.gain.low_s == 0 for one in found)


def test_half_of_what_a_cure_would_give_is_expected_not_what_half_of_it_would_give(tmp_path):
    # GIVEN reads of 90 of 100 ms that steps compute beside, so that a part of what they save is hidden anyway
    steps = epochs_of_steps(20, 100, 40)
    calls = [(100 * n + 5, 100 * n + 95, 1, "pread", 0, MB, n * MB) for n in range(20)]
    measures = measure(training(tmp_path, calls, steps, sizes=[10**12]))
    doubted = Assumption("it is so", "", "it is not")

    # WHEN half of the calls' time would be enough
    whole, half = (measures.gain(0.0, 0.09, 0.09, assumed=[doubted], chance=chance) for chance in (1.0, 0.5))

    # THEN
    assert whole.saved_s == measures.gain(0.0, 0.045, 0.09, assumed=[doubted]).saved_s > 0.03
    assert half.saved_s == pytest.approx(whole.saved_s / 2)
    assert half.if_so_s == whole.if_so_s == whole.saved_s
    assert half.high_s == whole.high_s
