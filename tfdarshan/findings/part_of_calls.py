"""The calls on some files: those that the training loop makes in pauses are on files that no step reads."""

from __future__ import annotations

from tfdarshan.analysis.call_kinds import NO_CALLS, CallGroup
from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.measures import Measures

# Calls take whole nanoseconds.
LEAST_S = 1e-9


def part_of(measures: Measures, calls: CallGroup, taken_s: Array, share: Array) -> CallGroup:
    """Gives a part of some calls.

    Sums do not say on which files the loop stands still. On those that are read in pauses alone it does as
    far as it reads them itself; on all others for what is left.

    Args:
        measures: The session.
        calls: The calls, on all files.
        taken_s: What they take on each row of the file table, seconds.
        share: What share of that the part has, 0 to 1, or bool.
    """
    whole_s, part_s, pauses = float(taken_s.sum()), taken_s * share, measures.pauses
    if whole_s <= 0:
        return NO_CALLS
    if pauses is None or pauses.thread_s <= 0:
        return calls.scaled(float(part_s.sum()) / whole_s)
    paused_s, paused_part_s = (float(seconds[pauses.rows].sum()) for seconds in (taken_s, part_s))
    paused = _in_pauses(calls, paused_s / whole_s, pauses.loop_s / pauses.thread_s)
    others, others_s = _without(calls, paused), whole_s - paused_s
    found = NO_CALLS
    if paused_s > 0:
        found += paused.scaled(paused_part_s / paused_s)
    if others_s > 0:
        found += others.scaled((float(part_s.sum()) - paused_part_s) / others_s)
    return found


def _without(calls: CallGroup, some: CallGroup) -> CallGroup:
    """Gives calls without some of them. What is less than a nanosecond is what rounding left."""
    left = calls + some.scaled(-1)
    beside_s, within_s = (seconds if seconds > LEAST_S else 0.0 for seconds in (left.beside_s, left.within_s))
    return CallGroup(max(0.0, left.calls), max(0.0, left.moved_bytes), beside_s, within_s)


def _in_pauses(calls: CallGroup, share: float, by_loop: float) -> CallGroup:
    """Gives such a share of some calls, with `by_loop` of its time the loop's, as far as that has so much."""
    some = calls.scaled(share)
    within_s = min(calls.within_s, max(by_loop * some.thread_s, some.thread_s - calls.beside_s))
    return CallGroup(some.calls, some.moved_bytes, some.thread_s - within_s, within_s)
