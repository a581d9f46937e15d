"""Stats of staged files: `run --staged` leaves them on the slow tier, so no gain counts their time."""

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tests.unit.staging.synthetic import FAST
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.staging import NAME
from tfdarshan.reports.text.advice_text import render
from tfdarshan.staging.advice import decide
from tfdarshan.staging.question import Question
from tfdarshan.terminal.paint import WIDTH

FILES = 40
SIZE = 200_000
STAT_MS, READ_MS = 30.0, 10.0
STEPS = epochs_of_steps(16, 100, 95)


def asking_job(logdir, *, stat_ms=STAT_MS, steps=STEPS, asks="stat"):
    """One thread that asks for each file, opens it and reads it, 40 ms a file."""
    calls = []
    for number in range(FILES):
        at = number * 40.0
        calls += [(at, at + stat_ms, 1, asks, number, SIZE)] if stat_ms else []
        calls += [
            (at + 30, at + 31, 1, "open", number, 0),
            (at + 31, at + 31 + READ_MS - 1, 1, "pread", number, SIZE),
        ]
    paths = [f"/data/{number:03}" for number in range(FILES)]
    return training(logdir, calls, steps, paths=paths, sizes=[SIZE] * FILES)


def advise(session):
    return decide([session], Question(fast="/fast", room_bytes=1 << 40, block_bytes=1), FAST).advice


def test_the_time_of_stats_is_no_gain_of_staging(tmp_path):
    # GIVEN a job that spends 30 ms on a stat of each file and 10 ms on reading it
    session = asking_job(tmp_path)

    # WHEN
    advice = advise(session)

    # THEN no more than the reads can be saved, of which opens take 1 ms
    assert advice.chosen.expected.saved_s == pytest.approx(FILES * READ_MS / 1e3, rel=0.02)
    assert advice.stat_s == pytest.approx(FILES * STAT_MS / 1e3)
    # ... and the finding promises no more
    (finding,) = (one for one in diagnose(session).findings if one.name == NAME)
    assert finding.gain.expected_s * 16 <= FILES * READ_MS / 1e3


def test_what_is_asked_of_an_open_file_is_asked_of_the_copy(tmp_path):
    # GIVEN the same of files that are open, as Python's open() does
    advice = advise(asking_job(tmp_path, stat_ms=20.0, asks="fstat"))

    # THEN a copy spares it
    assert advice.chosen.expected.saved_s == pytest.approx(FILES * (20.0 + READ_MS) / 1e3, rel=0.02)
    assert advice.stat_s == 0


@pytest.mark.parametrize("stat_ms", [STAT_MS, 0.1, 0.0])
def test_stats_are_named_where_they_take_time(tmp_path, stat_ms):
    text = render(advise(asking_job(tmp_path, stat_ms=stat_ms)))

    assert ("`run --staged` asks the originals" in text) == (stat_ms == STAT_MS)
    assert max(map(len, text.splitlines())) <= WIDTH
