"""What it takes tf.data to hand a ready batch over to Python is no wait for files."""

import numpy as np
import pytest

from tests.unit.findings.made_up_training import training
from tests.unit.findings.test_cures_of_pipelines import SHARDS
from tfdarshan.analysis.step_windows import StepWindows
from tfdarshan.findings.diagnosis import diagnose
from tfdarshan.findings.measurement import measure

STEPS = 800
PIPELINE = {"stages": [SHARDS, {"name": "prefetch"}], "pool_threads": None, "datasets": 1, "iterators": 1}


def short_steps(logdir, wait_ms, *, by_tf_data=True):
    """Gives a session of steps of 2.5 ms that wait so long, while a thread reads for 0.7 of each 1 ms."""
    calls = [(1.0 * n, 1.0 * n + 0.7, 1, "pread", 0, 256_000, n * 256_000) for n in range(5 * STEPS // 2)]
    steps = [(2.5 * n, 2.5 * n + 2.5, wait_ms) for n in range(STEPS)]
    meta = {"pipelines": {"found": [PIPELINE] if by_tf_data else [], "left_out": 0}}
    return training(logdir, calls, steps, sizes=[1_000_000_000], meta=meta)


def windows(*wait_ms):
    end = 100_000_000 * (1 + np.arange(len(wait_ms)))
    start = end - 100_000_000
    return StepWindows(start, end, start + (np.array(wait_ms) * 1e6).astype(np.int64))


@pytest.mark.parametrize(
    ("wait_ms", "handed_ms"),
    [([0.15] * 2 + [40.0] * 8, 0.15), ([0.0] * 5 + [0.5] * 5, 0.0), ([40.0] * 10, 0.2)],
    ids=["some are ready", "nothing is handed over", "none is, and handing over takes no longer"],
)
def test_quick_waits_say_what_handing_over_takes(wait_ms, handed_ms):
    assert 1e3 * windows(*wait_ms).handed_s == pytest.approx(handed_ms)


def test_no_cure_spares_what_handing_over_takes(tmp_path):
    # GIVEN steps that wait 0.25 of 2.5 ms, beside a thread that reads for most of the time
    found, by_hand = (
        diagnose(short_steps(tmp_path / name, 0.25, by_tf_data=name == "tf.data"))
        for name in ("tf.data", "by hand")
    )

    # THEN a tenth of the time is no problem of its files where tf.data hands batches over, and else it may be
    assert found.problems == ()
    assert by_hand.problems != ()
    assert found.verdict.sentence.startswith(
        "10.0 % of step time waits for input, 80.0 % of that to be handed a batch that is ready"
    )


def test_a_wait_that_is_longer_is_for_files_but_for_handing_over(tmp_path):
    # GIVEN a wait of half of each step
    model = measure(short_steps(tmp_path / "half", 1.25)).model

    # THEN all but 0.2 ms of it can be saved at most
    assert model.most_wait_s == pytest.approx(1.25e-3)
    assert model.saved_s(1.0) == pytest.approx(1.05e-3)
    assert diagnose(short_steps(tmp_path / "again", 1.25)).problems
