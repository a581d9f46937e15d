"""Waits of a loop whose accelerator may compute meanwhile: upper bounds, unless the GPU's clock is known."""

from __future__ import annotations

import pytest

from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.whatif import StorageChange, what_if
from tfdarshan.fleet.job_models import Asked, saved_s
from tfdarshan.replay.storage_edits import OtherStorage
from tfdarshan.session import Session

STEPS, FILE_BYTES = 40, 5_000_000
ON_GPU = ("/dev/nvidia-uvm",)
WHY = "The accelerator may compute while the training loop waits: the wait and the speedup are upper bounds."
TOLD_BY = "To find out, time steps that all use one batch, up to the last result: training gets no faster."


def dispatching(logdir, *exposed_ms, accelerators=ON_GPU, wait_ms=100, compute_ms=2) -> Session:
    """Return 40 steps of 2 ms behind a wait of 100 ms, in which a file of its own is read in one call.

    A GPU that takes 90 ms for a step works on the one before meanwhile: quicker reads give 102 / 90 at most.
    """
    step_ms = wait_ms + compute_ms
    calls = []
    for n in range(STEPS):
        at = n * step_ms
        calls += [(at, at, 200, "open", n, 0), (at, at + wait_ms, 200, "pread", n, FILE_BYTES, 0),
                  (at + wait_ms, at + wait_ms, 200, "close", n, 0)]  # fmt: skip
    machine: dict[str, object] = {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 0.1, "others_cpus": 0.0}
    machine |= {"accelerators": list(accelerators)} if accelerators else {}
    return training(
        logdir,
        calls,
        [(*step, *exposed_ms) for step in epochs_of_steps(STEPS, step_ms, wait_ms)],
        paths=[f"/data/{n}" for n in range(STEPS)],
        sizes=[FILE_BYTES] * STEPS,
        meta={"machine": machine},
    )


def test_a_wait_that_an_accelerator_may_hide_is_an_upper_bound(tmp_path):
    # GIVEN
    verdict = dispatching(tmp_path).verdict

    # THEN it says so, why, and what tells, once each
    assert verdict.sentence.startswith("Training waits for input at most 98.0 % of the time.")
    assert "training gets up to " in verdict.sentence
    assert (verdict.gain.supported, verdict.gain.speedup_range[0]) == (False, 1.0)
    assert [verdict.notes.count(said) for said in (WHY, TOLD_BY)] == [1, 1]
    assert "The fix gives nothing if training does not wait" not in " ".join(verdict.notes)


@pytest.mark.parametrize(
    ("exposed_ms", "accelerators"), [((), ()), ((100,), ON_GPU)], ids=["no accelerator", "the GPU's clock"]
)
def test_a_wait_that_is_known_is_promised_firmly(tmp_path, exposed_ms, accelerators):
    # GIVEN a job without an accelerator, and one whose GPU is known to have been idle
    session = dispatching(tmp_path, *exposed_ms, accelerators=accelerators)

    # THEN
    verdict, asked = session.verdict, what_if(measure(session), StorageChange(latency=0.1, bandwidth=10))
    assert verdict.sentence.startswith("Training waits for input 98.0 % of the time.")
    assert verdict.gain.supported
    assert verdict.gain.speedup_range[0] > 1
    assert WHY not in verdict.notes
    assert WHY not in asked.notes


def test_the_same_bound_holds_wherever_the_model_is_asked(tmp_path):
    # GIVEN
    known, hidden = (
        dispatching(tmp_path / name, accelerators=found) for name, found in (("a", ()), ("b", ON_GPU))
    )
    edit = OtherStorage(0.1, 10.0)

    # WHEN
    (least_s, _), (hidden_s, most_s) = (saved_s(Asked(0, str(one.path), edit)) for one in (known, hidden))
    asked = what_if(measure(hidden), StorageChange(latency=0.1, bandwidth=10))

    # THEN nothing is certain
    assert least_s > 0 == hidden_s < most_s
    assert not asked.gain.supported
    assert [asked.notes.count(said) for said in (WHY, TOLD_BY)] == [1, 1]
    assert not measure(hidden).job.facts.waits_known


def test_a_healthy_job_needs_no_doubt(tmp_path):
    verdict = dispatching(tmp_path, wait_ms=0.1, compute_ms=20).verdict

    assert verdict.state == "healthy"
    assert WHY not in verdict.notes


@pytest.mark.parametrize(("known", "hidden"), [(30, False), (10, True)])
def test_most_waits_have_to_be_the_gpus(tmp_path, known, hidden):
    # GIVEN steps of which the first ones' waits are known on the GPU's clock
    steps = [(102 * n, 102 * n + 102, 100, 60 if n < known else -1) for n in range(STEPS)]
    calls = [(102 * n, 102 * n + 100, 200, "pread", 0, 1000, 1000 * n) for n in range(STEPS)]
    machine = {"cpus": 4, "memory_bytes": 1 << 34, "cpu_s": 0.1, "accelerators": list(ON_GPU)}

    assert measure(training(tmp_path, calls, steps, meta={"machine": machine})).hidden is hidden
