"""The next batch is not prefetched while a step computes: both take their time one after the other."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Unknown
from tfdarshan.findings.fix_lines import prepares_ahead, read_ahead
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.read_on_demand import bursts_of
from tfdarshan.findings.unseen_faults import NOT_SEEN, unseen_faults
from tfdarshan.replay.edits import Prefetch
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "prefetch"
ABOUT = About(
    title="The next batch is not prefetched",
    cause="The input pipeline rests while a step computes, and the step waits while the input pipeline "
    "reads. A step takes the sum of both times. With prefetch it takes the longer of the two.",
    says="the next batch is not prefetched while a step computes",
    seen=("reads only during input wait", "the tab's Timeline and Steps"),
    fixes={
        "tf.data": "`dataset.prefetch(tf.data.AUTOTUNE)` at the end",
        "PyTorch": "`DataLoader(..., num_workers=1, prefetch_factor=4)`",
        "Grain": "`.to_iter_dataset(ReadOptions(prefetch_buffer_size=500))`",
        "plain Python": "`for batch in tfdarshan.ahead.read_ahead(batches):`",
    },
    estimate="The replay has a buffer of batches between the readers and the training "
    "loop. The range is wide if the steps may need the processors that decode.",
    ignore="the steps already use all CPU cores: decoding beside them then slows them down",
    fix="a prefetch of batches",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it if the pipeline has no buffer behind it, and rests while steps compute."""
    model, windows = measures.model, measures.windows
    if windows is None and (found := _on_demand(measures)) is not None:
        return found
    if windows is None or model.wait_s is None:
        return Unknown(NAME, f"whether input is prepared while steps compute: {measures.why_no_wait}")
    if not measures.traced:
        return measures.untraced(NAME, "whether input is prepared while steps compute")
    job = measures.job
    if prepares_ahead(measures) or job.model.batches_ahead.min() > 0:
        return None
    unseen = unseen_faults(measures)
    calls_only = " in file calls" if unseen else ""
    overlap = job.facts.pipeline.overlap
    beside = percent(overlap, 1)
    return Finding(
        name=NAME,
        title="the next batch is not prefetched while a step computes",
        what=f"A step takes {human_seconds(model.unit_s)}: it waits {human_seconds(model.wait_s)} for its "
        f"batch and then computes {human_seconds(model.compute_s)}. {_beside(overlap, calls_only)}"
        + (f" {NOT_SEEN}" if unseen else ""),
        evidence=(
            Evidence("input wait", human_seconds(model.wait_s), model.wait_s),
            Evidence("compute, mean", human_seconds(model.compute_s), model.compute_s),
            Evidence(f"pipeline at work{calls_only} beside compute", beside, overlap),
        ),
        fix=read_ahead(measures),
        edits=(Prefetch(),),
    )


def _beside(overlap: float, calls_only: str) -> str:
    """Say how much the pipeline works while steps compute, of what it does while they wait."""
    share = percent(overlap, 1)
    if share == percent(0, 1):
        return f"The input pipeline does nothing{calls_only} while steps compute."
    return (
        f"While steps compute, the input pipeline does {share} of the work{calls_only} that it does while "
        "steps wait."
    )


def _on_demand(measures: Measures) -> Finding | None:
    """Find it in a job that marks no steps, by the bursts in which input is read."""
    bursts = bursts_of(measures)
    if bursts is None or bursts.batch is None or not bursts.one_at_a_time:
        return None
    lasts_s, pause_s = float(np.median(bursts.lasts_s)), float(np.median(bursts.pauses_s))
    count, (name, amount, _) = len(bursts.start_ns), bursts.batch
    brings = human_bytes(amount) if name == "bytes" else f"{amount:,} {name}"
    return Finding(
        name=NAME,
        title="each batch is read only when it is asked for",
        what=f"The job reads its input in {count:,} bursts of {brings}, {human_seconds(lasts_s)} each, and "
        f"reads nothing in the pauses of {human_seconds(pause_s)} between bursts. The first burst is no "
        "larger than the others, so no batch is prepared ahead.",
        evidence=(
            Evidence("bursts of calls on input", f"{count:,}", float(count)),
            Evidence("a burst, median", human_seconds(lasts_s), lasts_s),
            Evidence("a pause, median", human_seconds(pause_s), pause_s),
        ),
        fix=read_ahead(measures),
        edits=(Prefetch(),),
    )
