"""Input is not prepared while steps compute: both take their time one after the other."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.finding import Assumption, Evidence, Finding, Gain, Unknown
from tfdarshan.findings.measures import CACHED, SEVERAL, Measures
from tfdarshan.findings.more_readers import FULL, UNSHOWN, serial_share
from tfdarshan.findings.pipeline_api import prepares_ahead, read_ahead
from tfdarshan.findings.processors import busy_cpus, left_by_steps
from tfdarshan.findings.python_lock import lock_is_free
from tfdarshan.findings.unseen_faults import NOT_SEEN, UnseenFaults, unseen_faults
from tfdarshan.units import human_seconds, percent

NAME = "prefetch"
OVERLAPPED = 0.5
BUFFERED = 0.2
# Shares of what can overlap that do.
LIKELY = (0.6, 0.92, 1.0)
# What a queue and the threads at its ends take for a batch that is handed over.
HANDED_OVER_S = (60e-6, 30e-6, 0.0)
BUSY_CPUS = 0.85
# Calls that take so much of a batch's time tell when the pipeline works, though page faults were not seen.
MOSTLY_CALLS = 0.5
# Where storage makes up for rests, the first wait is as long as another one with the compute before it. So
# many steps tell, whose waits differ by such a share.
FIRST_STEPS, STEADY = 5, 0.15
PROCESSORS_FREE = "processors are free for it"
HAS_MORE = "storage has more to give while steps compute"


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where the pipeline rests while steps compute, and steps wait while it works."""
    model, windows = measures.model, measures.windows
    typical_s = None if windows is None else windows.typical_compute_s
    if windows is None or model.wait_s is None or typical_s is None:
        return Unknown(NAME, f"whether input is prepared while steps compute: {measures.why_no_wait}")
    if not measures.traced:
        return measures.untraced(NAME, "whether input is prepared while steps compute")
    overlap = measures.overlap
    if overlap >= OVERLAPPED or model.storage_s <= 0 or prepares_ahead(measures):
        return None
    unseen = unseen_faults(measures)
    if unseen and model.storage_s < MOSTLY_CALLS * model.pipeline_s:
        # Its calls do not tell when it works.
        return Unknown(NAME, f"whether input is prepared while steps compute: {unseen.why}", unseen.record)
    beside_s = (1 - overlap) * typical_s
    hidden_s = windows.hidden_wait_s(beside_s) / model.units
    sure_s = windows.hidden_wait_s(beside_s, _sure_from_ns(measures)) / model.units
    gain = _gain(measures, sure_s, hidden_s, unseen)
    calls_only = " in file calls" if unseen else ""
    return Finding(
        name=NAME,
        kind="problem",
        title="input is not prepared while steps compute",
        what=f"A step takes {human_seconds(model.unit_s)}: it waits {human_seconds(model.wait_s)} for its "
        f"batch and then computes {human_seconds(model.compute_s)}. While it computes, the input pipeline "
        f"works{calls_only} {percent(overlap, 1)} as much as while it waits."
        + (f" {NOT_SEEN}" if unseen else ""),
        evidence=(
            Evidence("input wait", human_seconds(model.wait_s), model.wait_s),
            Evidence("compute, mean", human_seconds(model.compute_s), model.compute_s),
            Evidence("compute, median", human_seconds(typical_s), typical_s),
            Evidence(f"pipeline at work{calls_only} beside compute", percent(overlap, 1), overlap),
        ),
        unit=model.unit,
        cost_s=gain.expected_s,
        cure=read_ahead(measures),
        gain=gain,
        not_worth="where the processors are busy computing the steps themselves: then both share them",
    )


def _sure_from_ns(measures: Measures) -> int:
    """Gives from when on waits are surely hidden: where memory serves later passes, from the first one's end.

    Storage may let rests be made up for: then the first pass takes as long, unless it is known to wait.
    """
    share, through_ns = serial_share(measures), measures.facts.stored.first_pass_ends_ns
    waits = share.known and share.high < FULL
    return 0 if waits or through_ns is None or measures.figures.rereads.passes < SEVERAL else through_ns


def _gain(measures: Measures, sure_s: float, hidden_s: float, unseen: UnseenFaults | None) -> Gain:
    """Gives what is saved if so much of a step's wait is hidden beside its compute, surely and likely."""
    low, expected, high = (
        max(0.0, share * seconds - handed_s)
        for share, seconds, handed_s in zip(LIKELY, (sure_s, hidden_s, hidden_s), HANDED_OVER_S, strict=True)
    )
    assumed = _assumed(measures, "its file calls run" if unseen else "it works")
    # What other programs take may be free in the next run: nothing is certain, and as much expected.
    taken = PROCESSORS_FREE if others_take_them(measures) else ""
    chance = 1.0 if all(entry.support or entry.claim == taken for entry in assumed) else UNSHOWN
    assumed += lock_is_free(measures)
    if measures.model.readers >= SEVERAL:
        # At a batch's end readers wait for the last of them: read ahead, they go on with the next batch.
        high += measures.model.idle_s
    gain = measures.gain(low, expected, high, assumed=assumed, chance=chance)
    return unseen.doubted(gain, "the pipeline rests between its file calls") if unseen else gain


def _assumed(measures: Measures, works: str) -> list[Assumption]:
    """Gives what has to be so: nothing is prepared now, and processors are free to."""
    overlap = measures.overlap
    # A pipeline that works beside steps at all has a buffer: whether a larger one helps is not certain.
    rests = f"{works} {percent(overlap, 1)} as much as in waits" if overlap <= BUFFERED else ""
    return [
        Assumption("the pipeline rests while steps compute", rests, "a larger buffer changes nothing"),
        *_storage_has_more(measures),
        *processors_free(measures),
    ]


def _storage_has_more(measures: Measures) -> list[Assumption]:
    """Gives that storage has more to give while steps compute, where the first waits look as if it had not.

    A limit of bytes or calls a second lets a rest be made up for: then later batches come the sooner by what
    steps computed before, and reading ahead gains nothing. The first one has no such rest before it.
    """
    windows, allowance = measures.windows, measures.allowance
    if windows is None or windows.wait_end_ns is None or measures.slow_share <= CACHED:
        return []
    if allowance is not None and (windows.typical_compute_s or 0.0) < allowance.interval_s:
        apart = human_seconds(allowance.interval_s)
        return [Assumption(HAS_MORE, "", f"calls that are held end {apart} apart, whatever steps compute")]
    share = serial_share(measures)
    if share.known and share.high < FULL:
        # Calls beside others take no longer, so no limit holds them back.
        return []
    waits = (windows.wait_end_ns - windows.start_ns)[:FIRST_STEPS] / 1e9
    if len(waits) < FIRST_STEPS:
        return []
    first_s, usual_s = float(waits[0]), float(np.median(waits[1:]))
    typical_s = windows.typical_compute_s or 0.0
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
