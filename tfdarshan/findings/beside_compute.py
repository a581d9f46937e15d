"""What has to be so if input is to be prepared beside what steps compute, and what of it then is hidden."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.finding import Assumption
from tfdarshan.findings.measures import CACHED, SEVERAL, Measures
from tfdarshan.findings.more_readers import FULL, serial_share
from tfdarshan.findings.processors import busy_cpus, busy_steps, left_by_steps
from tfdarshan.units import human_seconds, percent

# Shares of what can overlap that do.
LIKELY = (0.6, 0.92, 1.0)
# What a queue and the threads at its ends take for a batch that is handed over.
HANDED_OVER_S = (60e-6, 30e-6, 0.0)
BUSY_CPUS = 0.85
# Where storage makes up for rests, the first wait is as long as another one with the compute before it. So
# many steps tell, whose waits differ by such a share.
FIRST_STEPS, STEADY = 5, 0.15
PROCESSORS_FREE = "processors are free for it"
HAS_MORE = "storage has more to give while steps compute"


def sure_from_ns(measures: Measures) -> int:
    """Gives from when on waits are surely hidden: where memory serves later passes, from the first one's end.

    Storage may let rests be made up for: then the first pass takes as long, unless it is known to wait.
    """
    share, through_ns = serial_share(measures), measures.facts.stored.first_pass_ends_ns
    waits = share.known and share.high < FULL
    return 0 if waits or through_ns is None or measures.figures.rereads.passes < SEVERAL else through_ns


def storage_has_more(measures: Measures, waits_s: Array, typical_s: float) -> list[Assumption]:
    """Gives that storage has more to give while steps compute, where the first waits look as if it had not.

    A limit of bytes or calls a second lets a rest be made up for: then later batches come the sooner by what
    steps computed before, and reading ahead gains nothing. The first one has no such rest before it.

    Args:
        measures: The session.
        waits_s: What each batch was waited for.
        typical_s: What a step usually computes.
    """
    allowance = measures.allowance
    if measures.slow_share <= CACHED:
        return []
    if allowance is not None and typical_s < allowance.interval_s:
        apart = human_seconds(allowance.interval_s)
        return [Assumption(HAS_MORE, "", f"calls that are held end {apart} apart, whatever steps compute")]
    share = serial_share(measures)
    if share.known and share.high < FULL:
        # Calls beside others take no longer, so no limit holds them back.
        return []
    waits = waits_s[:FIRST_STEPS]
    if len(waits) < FIRST_STEPS:
        return []
    first_s, usual_s = float(waits[0]), float(np.median(waits[1:]))
    steady = float(np.ptp(waits[1:])) <= STEADY * usual_s
    made_up = abs(first_s - usual_s - typical_s) <= STEADY * first_s and typical_s > STEADY * usual_s
    if not (steady and made_up):
        return []
    return [
        Assumption(
            HAS_MORE,
            "",
            f"the first batch, which took {human_seconds(first_s)} and later ones "
            f"{human_seconds(usual_s)}, is the only one that had no rest before it",
        )
    ]


def leaves_a_processor(measures: Measures) -> list[Assumption]:
    """Gives that processors are free for more threads, where steps and what goes on beside them leave none.

    More threads do the same work in less time: they take a processor from steps that need all of them. A job
    that waits for most of its time gains more than its steps lose.
    """
    busy, cpus, model = busy_steps(measures), measures.machine.cpus, measures.model
    if busy is None or not cpus or cpus - min(busy, cpus) >= 1 or 2 * model.compute_s < model.unit_s:
        return []
    return [Assumption(PROCESSORS_FREE, "", "steps take longer beside the pipeline")]


def processors_free(measures: Measures) -> list[Assumption]:
    """Gives that processors are free for work beside compute; nothing if that is not known."""
    busy, cpus = busy_cpus(measures, others=True), measures.machine.cpus
    if busy is None or not cpus:
        return []
    free = f"they are busy {percent(busy, cpus)} of the time" if busy <= BUSY_CPUS * cpus else ""
    if not free and others_take_them(measures):
        free = left_by_steps(measures)
    return [Assumption(PROCESSORS_FREE, free, "steps take longer beside the pipeline")]


def others_take_them(measures: Measures) -> bool:
    """Says whether it is other programs that keep processors busy, which may be gone in the next run."""
    own, cpus = busy_cpus(measures, others=False), measures.machine.cpus
    return own is not None and cpus is not None and own <= BUSY_CPUS * cpus
