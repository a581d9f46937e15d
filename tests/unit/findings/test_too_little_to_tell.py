"""What is not promised: of a session that is short, of the first batch, of readers that nobody waits for."""

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings.diagnosis import diagnose

KB = 1_000


def waiting_reads(steps, *, step_ms=100.0, wait_ms=90.0, first_ms=None):
    """Gives the calls of one reader that is busy in the waits of steps, and the steps."""
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


@pytest.mark.parametrize(("wait_ms", "first_ms", "problem"), [(2, 400, False), (12, 400, True)])
def test_the_first_batchs_wait_alone_is_no_problem(tmp_path, wait_ms, first_ms, problem):
    # GIVEN forty steps of 100 ms that wait 2 ms of it, or 12, but for the first one, which waits 400 ms
    calls, windows = waiting_reads(40, wait_ms=wait_ms, first_ms=first_ms)
    session = training(tmp_path, calls, windows, paths=[f"/data/{n}" for n in range(4)], sizes=[10**9] * 4)

    # THEN what a run waits for once, however long it is, is a tenth of this one, and no problem
    found = diagnose(session)
    assert found.verdict.wait_share > 0.1
    assert bool(found.problems) is problem
    assert problem or all(one.gain is None for one in found.findings)


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
    assert "if that is waited for: no step was recorded" in found.verdict.sentence


@pytest.mark.parametrize(("beside", "surely"), [(0, True), (2, False), (4, None)])
def test_a_pipeline_that_reads_beside_steps_may_have_a_buffer_already(tmp_path, beside, surely):
    # GIVEN steps of 100 ms that wait 50; the reader works then, and for some tens of ms beside the rest
    calls = [
        (100 * n + 10 * part, 100 * n + 10 * part + 10, 1, "pread", part, 100 * KB)
        for n in range(20)
        for part in range(5 + beside)
    ]
    paths = [f"/data/{n}" for n in range(10)]
    session = training(tmp_path, calls, epochs_of_steps(20, 100, 50), paths=paths, sizes=[10**9] * 10)

    # WHEN
    found = [one for one in diagnose(session).findings if one.name == "prefetch"]

    # THEN more of it is sure to help, may help, or is nobody's advice
    assert [one.gain.speedup_range[0] > 1.2 for one in found] == ([] if surely is None else [surely])


@pytest.mark.parametrize(("calls_a_step", "found"), [(9, True), (1, False)])
def test_a_few_bytes_are_worth_a_copy_if_many_calls_on_them_take_the_time(tmp_path, calls_a_step, found):
    # GIVEN 20 steps that wait nine tenths for 20 kB or less: for 180 calls, or for 20 that take as long
    took = 90 / calls_a_step
    calls = [
        (100 * n + took * part, 100 * n + took * (part + 1), 1, "pread", n * calls_a_step + part, 100)
        for n in range(20)
        for part in range(calls_a_step)
    ]
    files = 20 * calls_a_step
    paths = [f"/data/{n}" for n in range(files)]
    session = training(tmp_path, calls, epochs_of_steps(20, 100, 90), paths=paths, sizes=[100] * files)

    # THEN
    assert ("staging" in {one.name for one in diagnose(session).findings}) is found
