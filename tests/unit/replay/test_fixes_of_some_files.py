"""A fix of some of a job's files leaves the others as they are: images, and a scattered file of labels."""

import numpy as np
import pytest

from tests.unit.findings.made_up_training import LOOP, training
from tests.unit.findings.told import told
from tfdarshan.findings import random_access, small_files
from tfdarshan.replay.calibrate import calibrated
from tfdarshan.replay.edits import DEMANDS, edited
from tfdarshan.replay.job_model import READ
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.session_facts import facts_of
from tfdarshan.replay.storage_edits import LargeReads, SequentialReads, Shards

BATCHES, SAMPLES, READ_MS, COMPUTE_MS = 32, 4, 5, 20
COUNT = BATCHES * SAMPLES
IMAGE, LABEL = 110_000, 4096
# Row 0 of the file table is no file.
LABELS = np.arange(COUNT + 2) == COUNT + 1
IMAGES = ~LABELS


def job(logdir):
    """A loop that opens an image and the labels for each sample, and reads the label at a place of its own.

    Each read takes 5 ms.
    """
    calls, steps, at = [], [], 0.0
    for batch in range(BATCHES):
        began = at
        for sample in range(batch * SAMPLES, (batch + 1) * SAMPLES):
            for file, size, offset in ((sample, IMAGE, 0), (COUNT, LABEL, sample * 37 % COUNT * LABEL)):
                calls += [(at, at, LOOP, "open", file, 0),
                          (at, at + READ_MS, LOOP, "pread", file, size, offset),
                          (at + READ_MS, at + READ_MS, LOOP, "close", file, 0)]  # fmt: skip
                at += READ_MS
        steps.append((began, at + COMPUTE_MS, at - began))
        at += COMPUTE_MS
    paths = [*(f"/data/{number:03}.jpg" for number in range(COUNT)), "/data/labels.h5"]
    return training(logdir, calls, steps, paths=paths, sizes=[IMAGE] * COUNT + [COUNT * LABEL])


def needed(made, files):
    """What tasks of some files need, whatever of it."""
    mine = files[made.facts.tasks.file]
    columns = {name: getattr(made.model, name) for name in DEMANDS}
    return {name: column[..., mine] if column.ndim == 1 or name == "calls" else column[..., mine, :]
            for name, column in columns.items()}  # fmt: skip


@pytest.mark.parametrize(
    ("edits", "others"),
    [
        ((SequentialReads(LABELS), LargeReads(files=LABELS)), IMAGES),
        ((Shards(archives=True, files=IMAGES),), LABELS),
    ],
    ids=["in order", "shards"],
)
def test_other_files_need_what_they_needed(tmp_path, edits, others):
    # GIVEN
    before = calibrated(facts_of(job(tmp_path)))

    # WHEN
    after = edited(before, *edits)

    # THEN those of the others are as they were
    for name, column in needed(before, others).items():
        assert needed(after, others)[name] == pytest.approx(np.broadcast_to(column, column.shape)), name
    # AND those of the fix wait for as much of a request as they read
    size = LABEL if others is IMAGES else IMAGE
    waits_s = [needed(one, ~others)["wait_s"][READ].sum() for one in (before, after)]
    assert waits_s[1] == pytest.approx(waits_s[0] * size / SETTING["request"])


@pytest.mark.parametrize("finding", [random_access, small_files], ids=["in order", "shards"])
def test_a_fix_saves_no_more_than_its_files_take(tmp_path, finding):
    # GIVEN 4 samples of 10 ms a step, half of it for images, and 20 ms of computing
    found = told(job(tmp_path), finding)

    # THEN a step without one of both lasts 40 ms in place of 60
    assert 1.2 < found.gain.speedup < 60 / 40
