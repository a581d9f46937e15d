"""What is not promised: of a session that is short, of the first batch, of readers that nobody waits for."""

import dataclasses

import pytest

from tests.unit.findings.made_up_training import LOOP, epochs_of_steps, training
from tfdarshan.findings.diagnosis import diagnose, diagnosis_alone
from tfdarshan.findings.measurement import measure
from tfdarshan.reports.views.findings_view import findings_panels
from tfdarshan.reports.views.panel import Headline

KB = 1_000


def headline_of(found):
    return next(panel for panel in findings_panels(found) if isinstance(panel, Headline))


def waiting_reads(steps, *, step_ms=100.0, wait_ms=90.0, first_ms=None):
    """Return the calls of one reader that is busy in the waits of steps, and the steps."""
    windows, calls, at = [], [], 0.0
    for number in range(steps):
        waits = first_ms if first_ms is not None and number == 0 else wait_ms
        end = at + waits + (step_ms - wait_ms)
        windows.append((at, end, waits))
        calls += [(at + 10 * n, at + 10 * n + 9, 1, "pread", n % 4, 100 * KB) for n in range(int(waits / 10))]
        at = end
    return calls, windows


@pytest.mark.parametrize(("steps", "step_ms"), [(3, 100.0), (20, 4.0)])
def test_a_short_session_is_said_to_be_and_nothing_is_called_a_problem(tmp_path, steps, step_ms):
    # GIVEN three steps, or 80 ms, that all but wait
    calls = [(step_ms * n, step_ms * n + 0.9 * step_ms, 1, "pread", n % 4, 100 * KB) for n in range(steps)]
    windows = epochs_of_steps(steps, step_ms, 0.9 * step_ms)
    session = training(tmp_path, calls, windows, paths=[f"/data/{n}" for n in range(4)], sizes=[10**9] * 4)

    # WHEN
    found = diagnose(session)

    # THEN
    assert not found.problems
    assert found.verdict.state == "unknown"
    assert found.verdict.sentence.startswith("Too short to tell: ")
    assert found.verdict.record


def test_the_first_batchs_wait_is_no_certain_gain(tmp_path):
    # GIVEN ten steps that hardly wait, but for the first one, which waits 400 ms
    calls, windows = waiting_reads(10, wait_ms=5, first_ms=400)
    session = training(tmp_path, calls, windows, paths=[f"/data/{n}" for n in range(4)], sizes=[10**9] * 4)

    # THEN no lower bound counts on it, but that of another device, which has the first batch sooner, too
    for finding in diagnose(session).findings:
        if finding.gain is not None and finding.name != "staging":
            assert finding.gain.speedup_range[0] < 1.05, finding.name


@pytest.mark.parametrize("name", ["read_parallelism", "small_files"])
def test_readers_that_never_rest_need_not_be_waited_for(tmp_path, name):
    # GIVEN a job without steps, one thread of which reads files of 4 kB all the time
    calls = []
    for n in range(400):
        at = 10.0 * n
        calls += [(at, at + 5, 1, "open", n % 100, 0), (at + 5, at + 10, 1, "read", n % 100, 4 * KB)]
    session = training(tmp_path, calls, paths=[f"/data/{n}" for n in range(100)], sizes=[4 * KB] * 100)

    # WHEN
    found = diagnose(session)

    # THEN
    finding = next(one for one in found.findings if one.name == name)
    assert finding.gain.speedup_range[0] == 1.0
    assert "No step was marked: if the job waits for its files, up to " in found.verdict.sentence
    assert headline_of(found).promise == "faster job, if the job waited for its files"


def by_the_loop(logdir, read_ms):
    """Return 40 steps of 50 ms that say no wait, in which the loop's own thread reads a file."""
    calls = [(50.0 * n, 50.0 * n + read_ms, LOOP, "pread", n % 4, 100 * KB) for n in range(40)]
    paths = [f"/data/{n}" for n in range(4)]
    return training(logdir, calls, epochs_of_steps(40, 50, -1), paths=paths, sizes=[10**9] * 4)


def test_a_loop_that_reads_its_input_itself_waits_for_its_reads(tmp_path):
    # GIVEN reads that take 40 ms of each step
    found = diagnose(by_the_loop(tmp_path, 40))

    # THEN what is lost is said without a condition
    assert found.verdict.state == "slow"
    assert found.verdict.sentence.startswith("An estimated ")
    assert " of step time can be saved. " in found.verdict.sentence
    assert "up to" not in found.verdict.sentence


def test_what_a_loop_reads_itself_is_known_to_be_waited_for_if_it_is_little(tmp_path):
    # GIVEN reads that take 2 ms of each step
    found = diagnose(by_the_loop(tmp_path, 2))

    # THEN nobody is told that nothing is known of it
    assert not found.problems
    assert found.verdict.sentence.startswith(
        "The training loop reads its input itself; file calls ran 4.0 % of the time. "
    )
    assert "waits for its files" not in found.verdict.sentence
    assert "does not tell" not in found.verdict.sentence
    assert ", if " not in headline_of(found).promise


def test_a_promise_says_that_the_model_is_what_is_unsure(tmp_path):
    # GIVEN reads by the training loop, and a model that is far from the run
    measures = measure(by_the_loop(tmp_path, 2))
    measures.__dict__["job"] = dataclasses.replace(measures.job, step_error=measures.job.step_error + 0.5)

    # THEN what waits for the reads is no condition
    headline = headline_of(diagnosis_alone(measures))
    assert headline.sentence.startswith("The training loop reads its input itself")
    assert headline.promise == "faster training: the model does not reproduce the run"
