"""Reading ahead gains nothing of storage whose limit lets a rest be made up for: the first wait shows it."""

import random

import pytest

from tests.unit.findings.made_up_training import training
from tfdarshan.analysis.step_model import NOISE, most_saved_s, noise_s
from tfdarshan.findings.diagnosis import diagnose

KB = 1_000


def job(logdir, waits_ms, compute_ms=70.0, resting_ms=0.0):
    """Gives steps that wait so long for four readers, which rest for some of that, and then compute."""
    at, calls, steps = 0.0, [], []
    for number, whole in enumerate(waits_ms):
        wait = whole - resting_ms
        calls += [
            (
                at + wait / 2 * n,
                at + wait / 2 * (n + 1),
                tid + 1,
                "pread",
                8 * (number % 4) + 2 * tid + n,
                1000 * KB,
            )
            for n in range(2)
            for tid in range(4)
        ]
        steps.append((at, at + whole + compute_ms, whole))
        at += whole + compute_ms
    paths = [f"/data/{n}" for n in range(32)]
    machine = {"machine": {"cpus": 4, "memory_bytes": 16_000_000_000, "cpu_s": 0.05}}
    return training(logdir, calls, steps, paths=paths, sizes=[1000 * KB] * 32, meta=machine)


@pytest.mark.parametrize(
    ("first_ms", "later_ms", "catches_up"),
    [
        (400, [330] * 19, True),  # each batch comes 400 ms after the one before
        (330, [330] * 19, False),  # so it does, whatever was computed
        (900, [330] * 19, False),  # the first one took longer for another reason
        (400, [330, 250, 420, 300] * 5, False),  # waits that differ do not tell
    ],
    ids=["a limit", "waits", "a slow start", "unsteady"],
)
def test_the_first_wait_shows_whether_it_does(tmp_path, first_ms, later_ms, catches_up):
    found = diagnose(job(tmp_path, [first_ms, *later_ms]))

    ahead = next(one for one in found.findings if one.name == "prefetch")
    doubted = [entry.claim for entry in (ahead.gain.doubts if ahead.gain else ())]
    if catches_up:
        assert ahead.kind == "note"
        assert doubted == ["storage has more to give while steps compute"]
        assert ahead.gain.doubts[0].refuted_by == (
            "the first batch, which took 400.0 ms and later ones 330.0 ms, is the only one "
            "that had no rest before it"
        )
    else:
        assert ahead.gain.low_s > 0
        assert not doubted


def test_calls_that_take_no_longer_beside_others_show_that_no_limit_holds_them(tmp_path):
    # GIVEN a first wait as long as another one with the compute before it; four readers, whose calls of 20 ms
    # run with none to three of the others', as it comes
    dice, at, calls, steps = random.Random(1), 0.0, [], []
    for number in range(40):
        wait = 400.0 if number == 0 else 330.0
        for tid in range(4):
            begin = at + dice.uniform(0, 20)
            for n in range(6):
                calls.append((begin, begin + 20, tid + 1, "pread", 8 * (number % 4) + 2 * tid, KB, n * KB))
                begin += 20 + dice.uniform(0, 25)
        steps.append((at, at + wait + 70, wait))
        at += wait + 70
    machine = {"machine": {"cpus": 4, "memory_bytes": 16_000_000_000, "cpu_s": 0.05}}
    paths = [f"/data/{n}" for n in range(32)]
    session = training(tmp_path, sorted(calls), steps, paths=paths, sizes=[1000 * KB] * 32, meta=machine)

    ahead = next(one for one in diagnose(session).findings if one.name == "prefetch")

    assert not ahead.gain.doubts


def test_steps_that_hardly_compute_show_nothing(tmp_path):
    found = diagnose(job(tmp_path, [400, *[395] * 19], compute_ms=5.0))

    assert "prefetch" not in [one.name for one in found.problems]


@pytest.mark.parametrize(("files", "sure_steps"), [(20, 60), (80, 79)])
def test_waits_of_passes_after_the_first_one_are_sure(tmp_path, files, sure_steps):
    # GIVEN 80 files, or four times 20, each read and decoded in 30 ms before 10 ms of compute; memory serves
    # what is read again
    calls, steps = [], []
    for number in range(80):
        at, read_ms = 40.0 * number, 20.0 if number < files else 0.05
        calls.append((at, at + read_ms, 1, "pread", number % files, 1000 * KB, 0))
        steps.append((at, at + 40, 30))
    machine = {"machine": {"cpus": 4, "memory_bytes": 16_000_000_000, "cpu_s": 0.05}}
    paths = [f"/data/{n}" for n in range(files)]
    session = training(tmp_path, calls, steps, paths=paths, sizes=[1000 * KB] * files, meta=machine)

    ahead = next(one for one in diagnose(session).findings if one.name == "prefetch")

    # THEN storage may make up for what it rests in the first of several passes
    sure_s = 0.6 * 0.010 * sure_steps / 80
    assert ahead.gain.low_s == pytest.approx(sure_s - noise_s(0.040, sure_s), rel=0.05)


@pytest.mark.parametrize(("resting_ms", "more"), [(0.0, False), (60.0, True)])
def test_readers_that_wait_for_each_other_at_a_batchs_end_need_not_when_they_read_ahead(
    tmp_path, resting_ms, more
):
    # GIVEN steps that wait 200 ms for four readers, which rest for some of that, and compute 70 ms
    gain = next(
        one.gain
        for one in diagnose(job(tmp_path, [200.0] * 20, resting_ms=resting_ms)).findings
        if one.name == "prefetch"
    )

    # THEN as much is expected: what steps compute; what they rest may be spared as well, and the rest gets
    # quicker
    assert gain.saved_s == pytest.approx(0.92 * 0.070 * 19 / 20, rel=0.02)
    most = 0.070 * 19 / 20 + NOISE * 0.27 + (0.9 * resting_ms / 1000 if more else 0)
    assert gain.high_s == pytest.approx(most_saved_s(0.27, most), rel=0.1)
