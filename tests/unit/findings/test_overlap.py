"""Findings on how much runs at a time: reads beside reads, and reads beside steps."""

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.analysis.step_model import most_saved_s, noise_s
from tfdarshan.findings.diagnosis import diagnose


def reading(step_ms, wait_ms, *, readers=1, all_the_time=False, steps=20):
    """Gives calls of 5 ms, one after the other, in the waits or all the time, and the steps."""
    calls = []
    for n in range(steps):
        until = step_ms if all_the_time else wait_ms
        for at in range(0, int(until), 5):
            start = n * step_ms + at
            calls += [(start, start + 5, reader + 1, "pread", 0, 100_000) for reader in range(readers)]
    return calls, epochs_of_steps(steps, step_ms, wait_ms)


def test_one_reader_that_always_waits_is_found_first(tmp_path):
    # GIVEN steps that wait 85 of 100 ms for one reader
    session = training(tmp_path, *reading(100, 85))

    # WHEN
    found = diagnose(session)

    # THEN
    first = found.problems[0]
    (second,) = (finding for finding in found.problems if finding.name == "prefetch")
    assert first.name == "read_parallelism"
    assert found.verdict.cause == "read_parallelism"
    assert "num_parallel_calls=" in first.cure.line
    # ... prefetching alone hides what a step computes, and no more than the rest gets quicker beside that
    assert second.gain.saved_s < 0.015 * 19 / 20
    hidden_s = 0.015 * 19 / 20
    assert second.gain.high_s == pytest.approx(most_saved_s(0.1, hidden_s + noise_s(0.1, hidden_s)))
    # ... and the costs are no more than the wait
    assert sum(finding.cost_s for finding in found.problems) <= 0.085 + 1e-9


def test_no_prefetch_is_found_first_where_steps_compute_long_enough(tmp_path):
    # GIVEN 4 readers that work 40 of 100 ms, while nothing computes
    session = training(tmp_path, *reading(100, 40, readers=4))

    # WHEN
    first = diagnose(session).problems[0]

    # THEN all of the wait but the first can be hidden: 100 ms become 60, or what runs differ by less, and get
    # quicker
    assert first.name == "prefetch"
    most_s = most_saved_s(100, 38 + noise_s(100, 38))
    assert first.gain.speedup_range[1] == pytest.approx(100 / (100 - most_s))
    assert first.gain.low_s < first.gain.saved_s < first.gain.high_s


def test_what_is_said_of_a_step_adds_up_to_it(tmp_path):
    # GIVEN steps of 100 ms that wait 40, of which the first one computes 400 ms longer, as one that compiles
    calls, steps = reading(100, 40, readers=4)
    late = [(call[0] + 400, call[1] + 400, *call[2:]) if call[0] >= 100 else call for call in calls]
    steps = [(0, 500, 40), *((start + 400, end + 400, wait) for start, end, wait in steps[1:])]
    session = training(tmp_path, late, steps)

    # WHEN
    (found,) = (finding for finding in diagnose(session).problems if finding.name == "prefetch")

    # THEN the means of 2,400 ms in 20 steps are said, and the median stands beside them
    assert "takes 120.0 ms: it waits 40.0 ms for its batch and then computes 80.0 ms." in found.what
    assert {(shown.label, shown.text) for shown in found.evidence} >= {
        ("input wait", "40.0 ms"),
        ("compute, mean", "80.0 ms"),
        ("compute, median", "60.0 ms"),
    }


def test_a_prefetching_job_that_hardly_waits_is_healthy(tmp_path):
    # GIVEN one reader that works all the time, beside steps that wait 1 of 100 ms
    session = training(tmp_path, *reading(100, 1, all_the_time=True))

    # WHEN
    found = diagnose(session)

    # THEN
    assert found.findings == ()
    assert (found.verdict.state, found.verdict.wait_share) == ("healthy", pytest.approx(0.01))


def test_no_gain_is_expected_that_the_job_does_not_wait_for(tmp_path):
    # GIVEN one reader that works all the time, beside steps that wait 20 of 100 ms
    session = training(tmp_path, *reading(100, 20, all_the_time=True))

    # WHEN
    (first,) = diagnose(session).problems

    # THEN any number of readers saves those 20 ms, and what runs differ by, and at most the rest gets quicker
    assert first.name == "read_parallelism"
    assert first.gain.high_s == pytest.approx(most_saved_s(0.1, 0.020 + noise_s(0.1, 0.020)))
    assert first.gain.low_s < first.gain.saved_s == pytest.approx(0.019)


def test_without_steps_the_verdict_says_that_it_cannot_tell_and_what_to_record(tmp_path):
    # GIVEN calls for a tenth of the time, and no steps
    calls, _ = reading(100, 10)
    session = training(tmp_path, calls, duration_ms=2000)

    # WHEN
    found = diagnose(session)

    # THEN
    assert (found.verdict.state, found.verdict.wait_share, found.problems) == ("unknown", None, ())
    assert "cannot tell" in found.verdict.sentence
    assert "tfdarshan.step()" in found.verdict.record
    assert {"input_bound", "prefetch", "decode_bound"} <= {entry.name for entry in found.unknown}
