"""What recording cost: by the shortest pause between calls, which is where each is written down."""

import json

import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.analysis.calls.own_cost import OwnCost, own_cost
from tfdarshan.session import open_session

NS = 1e-6  # in ms


def session_of(logdir, calls, **meta):
    return training(logdir, calls, paths=["/data/a"], duration_ms=1_000, meta=meta)


def reads(pauses_ns, *, tid=1, operation="pread", at=0.0):
    """Give reads of 1 ms, with such pauses between them."""
    calls = []
    for pause_ns in (*pauses_ns, 0):
        calls.append((at, at + 1, tid, operation, 0, 100))
        at += 1 + pause_ns * NS
    return calls


def test_a_call_costs_the_shortest_pause(tmp_path):
    # GIVEN 101 reads of a second's session, with pauses of 200 ns and more; and fewer of another thread
    calls = reads([200, 5_000, 300, 80_000] * 25) + reads([900] * 10, tid=2)

    # WHEN
    found = own_cost(session_of(tmp_path, calls).processes)

    # THEN
    assert found == OwnCost(101, pytest.approx(200e-9), pytest.approx(101 * 200e-9))
    assert found.words == "less than 0.1 % of the session: 101 calls of one thread, 200 ns each"


def test_what_a_job_does_between_calls_is_no_cost(tmp_path):
    # GIVEN an open, a read right after it, and half a second without calls
    calls = [(0, 1, 1, "open", 0, 0), (1 + 500 * NS, 2, 1, "pread", 0, 100), (502, 503, 1, "close", 0, 0)]

    # WHEN
    found = own_cost(session_of(tmp_path, calls).processes)

    # THEN
    assert found.call_s == pytest.approx(500e-9)


def test_calls_within_others_say_nothing(tmp_path):
    # GIVEN calls that begin before the one before has ended
    calls = [(n, n + 1.5, 1, "pread", 0, 100) for n in range(20)]

    # THEN
    assert own_cost(session_of(tmp_path, calls).processes) is None


@pytest.mark.parametrize("meta", [{"engine": {"name": "darshan", "version": "3.5"}}, {"threads": []}])
def test_of_other_engines_nothing_is_said(tmp_path, meta):
    # GIVEN
    session = session_of(tmp_path, reads([200] * 20))
    (path,) = session.path.glob("*.meta.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | meta))

    # THEN
    assert own_cost(open_session(session.path).processes) is None


def test_every_summary_says_it(tmp_path):
    # GIVEN
    session = session_of(tmp_path, reads([200_000] * 100))

    # THEN
    said = "at most 2.0 % of the session: 101 calls of one thread, 200.0 us each"
    assert f"Own cost  {said}" in session.summary()
    assert f"Own cost of recording: {said}" in session.summary(verbose=True)
