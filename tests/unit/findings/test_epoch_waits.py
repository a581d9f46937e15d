"""A job whose later epochs memory serves is told by epoch: the mean is true of none."""

from __future__ import annotations

import dataclasses
import json
import re

import pytest

from tests.unit.findings.made_up_epochs import two_epochs
from tests.unit.findings.made_up_training import epochs_of_steps, training
from tfdarshan.analysis.steps.epoch_waits import EpochWaits
from tfdarshan.findings.finding import Finding, Fix
from tfdarshan.findings.measurement import measure
from tfdarshan.findings.replayed import replayed
from tfdarshan.findings.verdict import make_verdict
from tfdarshan.replay.edits import Prefetch
from tfdarshan.reports.views.view_source import Source
from tfdarshan.session import open_session

KB = 1_000
STEPS, STEP_MS = 20, 100


def cached(logdir, *, later_ms=0.5, epochs=(1, 2, 3), marked=True):
    """Return three epochs: the first waits 74 ms a step for reads, the others for a batch of a cache()."""
    calls = [(STEP_MS * n, STEP_MS * n + 74, 1, "pread", n, 100 * KB) for n in range(STEPS)]
    first = epochs_of_steps(STEPS, STEP_MS, 74)
    steps = [
        *first,
        *((begin, end, later_ms) for begin, end, _ in epochs_of_steps(3 * STEPS, STEP_MS, 1)[STEPS:]),
    ]
    paths = [f"/data/{n}" for n in range(STEPS)]
    session = training(logdir, calls, steps, paths=paths, sizes=[100 * KB] * STEPS)
    (path,) = session.path.glob("*.meta.json")
    meta = json.loads(path.read_text())
    if marked:
        rows = meta["steps"]["rows"]
        meta["steps"]["rows"] = [[*row[:5], -1, -1, epochs[n // STEPS]] for n, row in enumerate(rows)]
    path.write_text(json.dumps(meta))
    return open_session(session.path)


def test_each_epoch_is_told_where_the_first_one_alone_waits(tmp_path):
    # GIVEN epochs that Keras marked
    session = cached(tmp_path)

    # THEN the verdict, its figures, the bar and the tab's bands tell them apart
    assert session.verdict.sentence.startswith(
        "Training waits for input 74.0 % of epoch 1, and 0.5 % of later epochs. "
    )
    assert session.verdict.epochs == EpochWaits(1, pytest.approx(0.74), pytest.approx(0.005))
    assert session.steps["epoch"].tolist() == [1] * STEPS + [2] * STEPS + [3] * STEPS
    assert "  all epochs together: # waiting for file calls" in session.summary()
    assert [band.label for band in Source(session).bands] == ["epoch 1", "epoch 2", "epoch 3"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        # a session that began with the third epoch
        ({"epochs": (3, 4, 5)}, "Training waits for input 74.0 % of epoch 3, and 0.5 % of later epochs."),
        # epochs that wait alike
        ({"later_ms": 40}, "Training waits for input 51.3 % of the time."),
        # nobody knows of epochs
        ({"marked": False}, "Training waits for input 25.0 % of the time."),
    ],
)
def test_other_jobs_are_told_what_all_steps_wait(tmp_path, more, words):
    assert cached(tmp_path, **more).verdict.sentence.startswith(words)


def test_what_the_first_epoch_waits_is_no_share_of_another_wait(tmp_path):
    # GIVEN a fix of what the first epoch alone waits for
    measures = measure(cached(tmp_path))
    fix = Finding("prefetch", "prefetch", "prefetch", fix=Fix("prefetch"), edits=(Prefetch(),))
    (found,) = replayed([fix], measures)

    # THEN the sentence has that epoch's figure alone
    sentence = make_verdict(measures, [dataclasses.replace(found, kind="problem")], []).sentence
    assert sentence.startswith(
        "Training waits for input 74.0 % of epoch 1, and 0.5 % of later epochs. Prefetch. prefetch: "
    )


def test_files_that_are_read_again_begin_an_epoch(tmp_path):
    # GIVEN files that memory serves in a second epoch, and steps that say nothing of epochs
    session = two_epochs(tmp_path, first_ms=60.0, later_ms=0.01)

    # THEN
    assert session.steps["epoch"].tolist() == [-1] * len(session.steps)
    assert session.verdict.epochs.first == 1
    said = r"waits for input \S+ % of epoch 1, and (< )?\S+ % of later epochs\."
    assert re.search(said, session.verdict.sentence)


def test_a_copy_that_the_first_epoch_alone_gains_by_is_no_fix(tmp_path):
    # GIVEN files that memory serves in a second epoch
    session = two_epochs(tmp_path, first_ms=60.0, later_ms=0.01)

    # THEN the verdict says for whom it is one
    assert (session.verdict.state, session.verdict.gain) == ("unknown", None)
    assert session.verdict.sentence.endswith(
        "Memory serves later epochs, so a copy on a local disk only pays off if several runs use it."
    )
    assert "No fix known here" not in session.verdict.sentence
