"""A cure of later epochs gives no more than these waited, and none where memory served them."""

from dataclasses import replace

import numpy as np
import pytest

from tests.scenario_sessions import KB, MB, Sketch, sketched
from tests.unit.findings.made_up_training import training
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.finding import Assumption, Gain
from tfdarshan.findings.later_waits import within_first_waits, within_later_waits
from tfdarshan.findings.measurement import measure

EPOCHS, STEPS, STEP_MS = 4, 20, 30.0
# Pages that memory has come late where many readers share the processors.
CROWDED_MS = 5.0


def job(logdir, later_ms, *, ahead=False):
    """Gives epochs of 80 reads by four threads, four a step, that wait 40 ms a step, or less later."""
    at, calls, steps = 0.0, [], []
    for epoch in range(EPOCHS):
        for step in range(STEPS):
            wait = later_ms if epoch else 40.0
            # Read ahead, what a step needs is read beside the one before; the first epoch's is not.
            taken = CROWDED_MS if epoch and ahead else wait
            first = at - (CROWDED_MS if epoch and ahead else 0.0)
            calls += [
                (first, first + taken, n + 1, "pread", 4 * step + n, MB, 0) for n in range(4) if taken > 0
            ]
            steps.append((at, at + wait + STEP_MS, wait))
            at += wait + STEP_MS
    paths = [f"/data/{n}" for n in range(4 * STEPS)]
    machine = {"machine": {"cpus": 4, "memory_bytes": 16_000_000_000, "cpu_s": 0.05}}
    return training(logdir, calls, steps, paths=paths, sizes=[MB] * len(paths), meta=machine)


def found(session, name):
    return next((one for one in diagnose(session).findings if one.name == name), None)


def test_what_later_epochs_waited_is_known(tmp_path):
    measures = measure(job(tmp_path, 15.0))

    # THEN the first epoch's steps are left out
    assert measures.later_wait_s == pytest.approx(3 * STEPS * 0.015, rel=0.05)
    assert not measures.later_epochs_hardly_wait


def test_an_input_that_is_read_once_has_no_later_epochs(tmp_path):
    session = sketched(tmp_path, Sketch(epochs=1, files=40, size=100 * KB))

    assert measure(session).later_wait_s is None


def test_a_cache_gives_what_later_epochs_waited_at_most(tmp_path):
    # GIVEN later epochs that wait as long as the first, and some that wait a third of it for as many calls
    alike, less = (found(job(tmp_path / str(ms), ms), "fits_in_memory") for ms in (40.0, 14.0))

    # THEN
    whole = measure(job(tmp_path / "again", 14.0))
    assert less.gain.saved_s <= whole.later_wait_s / whole.model.units
    assert less.gain.low_s < less.gain.saved_s < less.gain.high_s
    assert alike.gain.saved_s > 2 * less.gain.saved_s


def test_a_copy_for_an_epoch_that_reads_all_of_it_anyway_is_a_note(tmp_path):
    # GIVEN later epochs that hardly wait, though their calls take 5 ms each beside the steps
    hidden, waited = job(tmp_path / "a", 0.5, ahead=True), job(tmp_path / "b", 20.0)

    # THEN memory served them
    assert measure(hidden).later_epochs_hardly_wait
    assert found(hidden, "staging").kind == "note"
    assert found(hidden, "staging").what.endswith("so it helps only if several runs use it.")
    assert "several runs" not in found(waited, "staging").what
    assert found(waited, "fits_in_memory").kind == "problem"


def test_what_memory_serves_to_many_says_nothing_of_storage(tmp_path):
    # GIVEN a first epoch of one reader at a time, 10 ms each, and later ones of eight, as quick, that hide
    at, calls, steps = 0.0, [], []
    for epoch in range(3):
        for step in range(40):
            if epoch:
                calls += [(at - 20, at - 10, n + 1, "pread", 8 * (step % 5) + n, MB, 0) for n in range(8)]
            else:
                calls.append((at, at + 10, 1, "pread", step, MB, 0))
            wait = 0.1 if epoch else 10.0
            steps.append((at, at + wait + 30, wait))
            at += wait + 30
    paths = [f"/data/{n}" for n in range(40)]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[MB] * 40)

    # THEN nobody knows what more readers of storage get
    measures = measure(session)
    assert measures.later_epochs_hardly_wait
    assert measures.contention is None


@pytest.mark.parametrize(("later_ms", "kept"), [(40.0, True), (1.0, False)])
def test_a_gain_stays_as_it_is_where_later_epochs_waited_for_more(tmp_path, later_ms, kept):
    measures = measure(job(tmp_path, later_ms))
    seen = Assumption("steps wait", "they do", "they do not")
    gain = Gain("step", 0.1, 0.01, 0.02, 0.025, (seen,))

    assert (within_later_waits(gain, measures) == gain) is kept
    # ... and what the loop's own calls take comes on top
    assert within_later_waits(gain, measures, own_s=1.0) == gain
    without_steps = replace(measures, figures=replace(measures.figures, windows=None))
    assert within_later_waits(gain, without_steps) == gain


def out_of_order(logdir, later_ms, *, epochs=2, count=200):
    """Gives epochs of reads anywhere in a file, ahead of their steps: 6 ms each, of memory later."""
    rng, at, calls, steps = np.random.default_rng(1), 10.0, [], []
    for epoch in range(epochs):
        for place in rng.permutation(count).tolist():
            took, wait = (0.02, later_ms) if epoch else (6.0, 2.0)
            calls.append((at + wait - took, at + wait, 1, "pread", 0, 30 * KB, place * 30 * KB))
            steps.append((at, at + wait + 8, wait))
            at += wait + 8
    return training(logdir, calls, steps, paths=["/data/a"], sizes=[count * 30 * KB])


@pytest.mark.parametrize("later_ms", [0.05, 1.0, 2.0])
def test_reads_in_order_give_no_more_than_the_first_epoch_waited(tmp_path, later_ms):
    # GIVEN later steps that wait next to nothing, or as long as the first ones, for what memory serves
    session = out_of_order(tmp_path, later_ms)
    measures, in_order = measure(session), found(session, "random_access")

    # THEN what they wait stays
    first_s = 200 * 2e-3 / measures.model.units
    assert 0.7 * first_s < in_order.gain.saved_s <= in_order.gain.if_so_s <= first_s
    more = replace(in_order.gain, if_so_s=1.0)
    assert within_first_waits(more, measures).if_so_s <= first_s
    # ... and what the loop's own calls take comes on top
    assert within_first_waits(more, measures, own_s=1.1).if_so_s == 1.0
    without_steps = replace(measures, figures=replace(measures.figures, windows=None))
    assert within_first_waits(more, without_steps) == more
