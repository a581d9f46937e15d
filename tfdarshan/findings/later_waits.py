"""A gain of later epochs: no more than what steps waited after the input was read through once."""

from __future__ import annotations

import dataclasses

from tfdarshan.analysis.step_model import NOISE, most_saved_s
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
    if later_s is None:
        return gain
    low, likely, most = (share * (later_s / measures.model.units + own_s) for share in LIKELY)
    return dataclasses.replace(
        gain,
        low_s=min(gain.low_s, low),
        expected_s=min(gain.expected_s, likely),
        high_s=min(gain.high_s, most_saved_s(gain.before_s, most + NOISE * gain.before_s)),
        if_so_s=min(gain.if_so_s, likely),
    )
