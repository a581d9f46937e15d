"""Input is not prepared while steps compute: both take their time one after the other."""

from __future__ import annotations

from tfdarshan.findings.beside_compute import (
    HANDED_OVER_S,
    LIKELY,
    PROCESSORS_FREE,
    others_take_them,
    processors_free,
    storage_has_more,
    sure_from_ns,
)
from tfdarshan.findings.finding import Assumption, Evidence, Finding, Gain, Unknown
from tfdarshan.findings.measures import SEVERAL, Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.pipeline_api import prepares_ahead, read_ahead
from tfdarshan.findings.python_lock import lock_is_free
from tfdarshan.findings.read_on_demand import read_on_demand
from tfdarshan.findings.unseen_faults import NOT_SEEN, UnseenFaults, unseen_faults
from tfdarshan.units import human_seconds, percent

NAME = "prefetch"
OVERLAPPED = 0.5
BUFFERED = 0.2
# What decoding takes longer, at most, in a pipeline that rests while steps compute: its processors fall idle
# meanwhile, and their caches cold. After rests of 30 ms it took 2 to 15 % longer in five of six comparisons.
RESTED = 0.1
# Calls that take so much of a batch's time tell when the pipeline works, though page faults were not seen.
MOSTLY_CALLS = 0.5


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where the pipeline rests while steps compute, and steps wait while it works."""
    model, windows = measures.model, measures.windows
    typical_s = None if windows is None else windows.typical_compute_s
    found = read_on_demand(measures) if windows is None else None
    if found is not None:
        return found
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
    sure_s = windows.hidden_wait_s(beside_s, sure_from_ns(measures)) / model.units
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
        cost_s=gain.saved_s,
        cure=read_ahead(measures),
        gain=gain,
        not_worth="where the processors are busy computing the steps themselves: then both share them",
    )


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
    high += (1 - measures.overlap) * RESTED * measures.model.other_s
    gain = measures.gain(low, expected, high, assumed=assumed, chance=chance, reads_as_much=True)
    return unseen.doubted(gain, "the pipeline rests between its file calls") if unseen else gain


def _assumed(measures: Measures, works: str) -> list[Assumption]:
    """Gives what has to be so: nothing is prepared now, and processors are free to."""
    overlap = measures.overlap
    # A pipeline that works beside steps at all has a buffer: whether a larger one helps is not certain.
    rests = f"{works} {percent(overlap, 1)} as much as in waits" if overlap <= BUFFERED else ""
    return [
        Assumption("the pipeline rests while steps compute", rests, "a larger buffer changes nothing"),
        *_storage(measures),
        *processors_free(measures),
    ]


def _storage(measures: Measures) -> list[Assumption]:
    """Gives that storage has more to give, by what the first steps waited."""
    windows = measures.windows
    if windows is None or windows.wait_end_ns is None:
        return []
    waits_s = (windows.wait_end_ns - windows.start_ns) / 1e9
    return storage_has_more(measures, waits_s, windows.typical_compute_s or 0.0)
