"""Stats of staged files: `run --staged` leaves them on the slow tier, and a mirror's copies answer them."""

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.staging.synthetic import FAST
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.staging import NAME, find
from tfdarshan.reports.text.advice_text import render
from tfdarshan.staging.advice import decide
from tfdarshan.staging.question import Question
from tfdarshan.terminal.paint import WIDTH

FILES = 40
SIZE = 200_000
STAT_MS, FEW_MS, READ_MS = 30.0, 0.8, 10.0
STEPS = epochs_of_steps(16, 100, 95)


def asking_job(logdir, *, stat_ms=STAT_MS, steps=STEPS, asks="stat", open_ms=1.0):
    """One thread that asks for each file, opens it and reads it, 40 ms a file."""
    calls = []
    for number in range(FILES):
        at = number * 40.0
        calls += [(at, at + stat_ms, 1, asks, number, SIZE)] if stat_ms else []
        calls += [
            (at + 31 - open_ms, at + 31, 1, "open", number, 0),
            (at + 31, at + 31 + READ_MS - 1, 1, "pread", number, SIZE),
        ]
    paths = [f"/data/{number:03}" for number in range(FILES)]
    return training(logdir, calls, steps, paths=paths, sizes=[SIZE] * FILES)


def advise(session):
    return decide([session], Question(fast="/fast", room_bytes=1 << 40, block_bytes=1), FAST).advice


def test_the_time_of_stats_is_no_gain_of_staging(tmp_path):
    # GIVEN a job that spends 0.8 ms on a stat of each file and 10 ms on reading it
    session = asking_job(tmp_path, stat_ms=FEW_MS)

    # WHEN
    advice = advise(session)

    # THEN no more than the reads can be saved, of which opens take 1 ms
    assert advice.chosen.expected.saved_s == pytest.approx(FILES * READ_MS / 1e3, rel=0.05)
    assert advice.stat_s == pytest.approx(FILES * FEW_MS / 1e3)
    assert not advice.mirrored
    # ... and the finding promises no more
    finding = staging(session)
    assert finding.gain.saved_s * 16 <= FILES * READ_MS / 1e3
    assert "tfdarshan run --staged plan.json" in finding.fix.line


def staging(session):
    (finding,) = (one for one in diagnose(session).findings if one.name == NAME)
    return finding


def test_a_mirror_is_for_what_is_asked_by_name(tmp_path):
    # GIVEN a job that spends 30 ms on a stat of each file and 10 ms on reading it
    session = asking_job(tmp_path)

    # WHEN
    advice, finding = advise(session), staging(session)

    # THEN both can be saved, but for what overlaps with computing
    both_s = FILES * (STAT_MS + READ_MS) / 1e3
    assert advice.mirrored
    assert 0.85 * both_s <= advice.chosen.expected.saved_s <= both_s
    assert finding.gain.saved_s * 16 == pytest.approx(advice.chosen.expected.saved_s, rel=0.05)
    # ... by a folder that the job reads
    assert finding.fix.what.endswith(
        "Point the job to the mirror that these commands make: with `run --staged`, the job's `stat()` calls "
        "still go to the originals."
    )
    assert "\ntfdarshan stage apply plan.json --mirror\n" in finding.fix.line
    assert "run --staged" not in finding.fix.line


@pytest.mark.parametrize(("stat_ms", "once"), [(STAT_MS, False), (0.2, True)])
def test_a_server_that_is_asked_by_name_is_asked_each_epoch(tmp_path, stat_ms, once):
    # GIVEN three epochs, of which memory has all bytes and opens but those of the first
    calls, at = [], 0.0
    for number in range(3 * FILES):
        long = number < FILES
        end = at + stat_ms
        opened = end + (5.0 if long else 0.02)
        read = opened + (10.0 if long else 0.02)
        file = number % FILES
        calls += [(at, end, 1, "stat", file, SIZE), (end, opened, 1, "open", file, 0)]
        calls += [(opened, read, 1, "pread", file, SIZE)]
        at = read
    paths = [f"/data/{number:03}" for number in range(FILES)]
    steps = epochs_of_steps(int(at // 100) + 1, 100, 99)
    measures = measure(training(tmp_path, calls, steps, paths=paths, sizes=[SIZE] * FILES))

    # THEN a mirror spares more than one pass, where these questions take long
    assert ("they pay off from the second run on" in find(measures).what) == once


def test_what_is_asked_of_an_open_file_is_asked_of_the_copy(tmp_path):
    # GIVEN the same of files that are open, as Python's open() does
    advice = advise(asking_job(tmp_path, stat_ms=20.0, asks="fstat"))

    # THEN a copy spares it
    assert advice.chosen.expected.saved_s == pytest.approx(FILES * (20.0 + READ_MS) / 1e3, rel=0.05)
    assert advice.stat_s == 0


@pytest.mark.parametrize(
    ("stat_ms", "said"),
    [
        (STAT_MS, ", in the gain: the job reads a mirror, whose copies answer them"),
        (FEW_MS, ", not in the gain: `run --staged` asks the originals"),
        (0.1, ", not in the gain: `run --staged` asks the originals"),
        (0.0, ""),
    ],
)
def test_stats_are_named_if_there_are_any(tmp_path, stat_ms, said):
    text = render(advise(asking_job(tmp_path, stat_ms=stat_ms)))
    line = " ".join(text.split())

    assert said in line
    assert ("of threads an epoch, " in line) == bool(said)
    assert max(map(len, text.splitlines())) <= WIDTH
