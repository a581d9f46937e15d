"""A batch that takes long holds up the batches behind it that are ready."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.steps.loader_waits import LoaderWaits, slow_worker, training_loader
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Unknown
from tfdarshan.findings.fix_lines import words_of
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.slow_worker import slow_part
from tfdarshan.replay.loader_edits import Sooner
from tfdarshan.units import human_seconds, percent

NAME = "head_of_line"
ABOUT = About(
    title="A slow batch holds up batches that are ready",
    cause="The loader hands batches over in order. While one worker prepares a slow batch, batches of "
    "other workers lie ready, and the training loop waits.",
    says="for 31 % of the input wait a later batch is ready, but has to wait for its turn",
    seen=("large `kept` in the table of batches", "`session.batches`"),
    fixes={"PyTorch": "`DataLoader(..., in_order=False)`, from PyTorch 2.6 on"},
    estimate="The replay spares what workers had nothing to do while a ready batch waited for its turn.",
    ignore="the order of batches has to be the same in each run",
    fix="batches in the order in which they are ready",
)


RECORD_EARLIER = "start the session before the first epoch"


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it if the loop waits for a batch while later ones lie ready."""
    waits, training = measures.loader_waits, training_loader(measures.session.meta[0])
    words = words_of(measures)
    if training is None or words is None or not training[1].get("in_order", True):
        return None
    if waits is None:
        older = int(training[1].get("working", 0)) > 0
        why = "which batches were ready: the workers started before the session, which has no times of theirs"
        return Unknown(NAME, why, RECORD_EARLIER) if older else None
    ready_s, wait_s = float(waits.ready_s.sum()), float(waits.wait_s.sum())
    if ready_s <= 0 or slow_part(measures) is not None:
        return None
    held = int((waits.ready_s > 0).sum())
    # A batch that comes sooner makes another one come later, unless a worker had nothing to do.
    spared_s = float(np.minimum(waits.ready_s, waits.idle_s).sum())
    return Finding(
        name=NAME,
        title=f"for {percent(ready_s, wait_s)} of the input wait a later batch is ready, but has to wait "
        "for its turn",
        what=f"For {held:,} of {len(waits):,} batches the training loop waited although a later batch was "
        f"ready: {human_seconds(ready_s)} of the {human_seconds(wait_s)} that it waited in all.{_one(waits)}",
        evidence=(
            Evidence("batches that held others up", f"{held:,}", held),
            Evidence("wait with a batch ready", human_seconds(ready_s), ready_s),
            Evidence("of all waits", percent(ready_s, wait_s), ready_s / wait_s),
            Evidence("of it a worker had nothing to do, mean", human_seconds(spared_s), spared_s),
            Evidence("longest fetch", human_seconds(float(waits.work_s.max())), float(waits.work_s.max())),
        ),
        fix=words.any_order(),
        edits=(Sooner(spared_s),),
    )


def _one(waits: LoaderWaits) -> str:
    """Say which worker it is, if one alone is slow."""
    slow = slow_worker(waits)
    return (
        ""
        if slow is None
        else f" The worker with id {slow.worker} takes {slow.times:.1f} times as long as the others."
    )
