"""Worker processes that are started for each epoch: the first batch waits for them."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.loader_waits import training_loader
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.fix_lines import words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.loader_edits import WorkersKept
from tfdarshan.units import human_seconds, plural

NAME = "worker_starts"
ABOUT = About(
    title="Workers are started for each epoch",
    cause="The loader ends its worker processes with each epoch, and starts others for the next one. "
    "The training loop stands still until they run. Started programs import the job's modules again.",
    says="each epoch starts 8 workers again, which takes 1.200 s",
    seen=("`waiting for workers to start` in a mean step", "the bar of `tfdarshan summary`"),
    fixes={"PyTorch": "`DataLoader(..., persistent_workers=True)`, made once before the first epoch"},
    estimate="The replay has later epochs whose first batch is begun as much sooner as "
    "starting workers took.",
    ignore="the data set changes between epochs: workers that stay alive would not see the change",
    fix="workers that stay alive",
)


def find(measures: Measures) -> Finding | None:
    """Find it if the training loader has started workers for several passes."""
    training, words = training_loader(measures.session.meta[0]), words_of(measures)
    if training is None or words is None:
        return None
    loader = training[1]
    workers, starts = int(loader.get("workers", 0)), int(loader.get("starts", 0))
    if not workers or loader.get("persistent") or starts < 2 or measures.windows is None:
        return None
    # A program that is started imports the job's modules before it reads.
    late_s = epoch_starts_s(measures)[1:]
    begun_s = int(loader.get("start_ns", 0)) / 1e9 / starts
    each_s = max(begun_s, float(late_s.mean())) if len(late_s) else begun_s
    return Finding(
        name=NAME,
        title=f"each epoch starts {plural(workers, 'worker')} again, which takes {human_seconds(each_s)}",
        what=f"The loader started {plural(workers, 'worker')} {starts:,} times, and the training loop waited "
        f"{human_seconds(starts * each_s)} for that.",
        evidence=(
            Evidence("workers", f"{workers:,}", workers),
            Evidence("times started", f"{starts:,}", starts),
            Evidence("time of one start", human_seconds(each_s), each_s),
        ),
        fix=words.keep_workers(),
        edits=(WorkersKept(),),
    )


def epoch_starts_s(measures: Measures) -> Array:
    """Return how long each epoch's first batch waits for workers to start, as the replay model has it.

    Returns:
        Seconds, one entry per epoch that starts workers; empty if the training loader has none.
    """
    training = training_loader(measures.session.meta[0])
    if training is None or not training[1].get("workers"):
        return np.zeros(0)
    late_s = np.nan_to_num(measures.job.facts.pipeline.late_s)
    return late_s[:1] if training[1].get("persistent") else late_s
