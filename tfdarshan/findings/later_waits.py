"""A gain of later epochs, or of the first: no more than what their steps waited.

Later ones begin where the input was read through once.
"""

from __future__ import annotations

import dataclasses

from tfdarshan.analysis.first_pass import waited_after_s
from tfdarshan.analysis.step_model import most_of_a_run_s
from tfdarshan.findings.finding import Gain
from tfdarshan.findings.measures import Measures

# Of these waits nobody saves more than such shares: a batch from memory is waited for, too.
LIKELY = (0.8, 0.98, 1.0)


def within_later_waits(gain: Gain, measures: Measures, own_s: float = 0.0) -> Gain:
    """Gives a gain of later epochs with no more than these waited.

    Args:
        gain: Of a unit.
        measures: The session.
        own_s: What of a unit the loop's own calls take beside its waits.
    """
    later_s = measures.later_wait_s
    return gain if later_s is None else _within(gain, later_s / measures.model.units + own_s)


def within_first_waits(gain: Gain, measures: Measures, own_s: float = 0.0) -> Gain:
    """Gives a gain of the first epoch, of reads that memory served later, with no more than that waited.

    Args:
        gain: Of a unit.
        measures: The session.
        own_s: What of a unit the loop's own calls take beside its waits.
    """
    model, through_ns = measures.model, measures.facts.stored.first_pass_ends_ns
    if measures.windows is None or through_ns is None:
        return gain
    later_s = waited_after_s(measures.windows, through_ns, model.handed_s)
    if later_s is None:
        return gain
    first_s = model.most_wait_s - model.handed_s - later_s / model.units
    return _within(gain, max(0.0, first_s) + own_s)


def _within(gain: Gain, waits_s: float) -> Gain:
    """Gives a gain of no more than these waits."""
    low, likely, most = (share * waits_s for share in LIKELY)
    return dataclasses.replace(
        gain,
        low_s=min(gain.low_s, low),
        saved_s=min(gain.saved_s, likely),
        high_s=min(gain.high_s, most_of_a_run_s(gain.before_s, most)),
        if_so_s=min(gain.if_so_s, likely),
    )
