"""What a limit of each interval counts, bytes or calls: that of which every interval gives as much.

A limit of bytes gives as many of them from one release to the next, and the more calls the smaller these are;
a limit of calls gives as many calls, and the more bytes the larger these are. So what varies clearly less is
what it counts. Bytes and calls are of the same intervals, so their variances are compared as those of paired
values: one is smaller if their sum and their difference are correlated. Of calls that are about of one size
both vary alike, and nothing is said.

What is counted is constant but for the calls at an interval's two ends, which are partly the next one's: it
varies by no more than these two are of it. What varies more is not what is counted, however much more the
other one varies: the device counts what read-ahead asks for, which is neither a program's bytes nor its calls
where these are smaller, and memory has some of both.

A call counts as one up to 1 MiB, as far as file systems read ahead and block layers divide; a larger one as
several, which are nearly bytes again. Calls that memory serves, and that of an interval which began before
its release, add as much to the variation of both.

Source: Pitman, A Note on Normal Correlation, and Morgan, A Test for the Significance of the Difference
Between the Two Variances, Biometrika 31, 1939.
"""

from __future__ import annotations

import math

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.thresholds import THRESHOLD

# What a limit of calls counts as one: larger reads are divided before they are counted.
COUNTED_BYTES = 1 << 20
# Fisher's z of the correlation, over its standard error: by chance so in 1 of 100 sessions.
CERTAIN = THRESHOLD["certain"]
# What is counted varies at most so much as the other does, and the two differ by so much of a mean.
CLEARLY, APART = 1 - THRESHOLD["clearly"], THRESHOLD["rarely"]
# Calls at the two ends of an interval: what is counted varies by no more than their part of it.
AT_ENDS = 2


def limited_quantity(lasted: Array, moved: Array, calls: Array) -> bool | None:
    """Tell whether a limit counts bytes, not calls, by what each of its intervals gave.

    Args:
        lasted: How long each lasted, in any unit.
        moved: Bytes of the reads in each.
        calls: How many these are, of at most `COUNTED_BYTES` each.

    Returns:
        None where nothing is clear: too few intervals, calls of about one size, or neither is as constant as
        what is counted.
    """
    if len(lasted) < THRESHOLD["few"] or not moved.any() or not calls.any():
        return None
    rates = moved / lasted, calls / lasted
    by_bytes, by_calls = (rate / rate.mean() for rate in rates)
    apart = by_bytes - by_calls
    if apart.std() < APART:
        return None
    together = by_bytes + by_calls
    alike = float(np.corrcoef(together, apart)[0, 1]) if together.std() else 0.0
    certain = math.atanh(min(abs(alike), 1 - 1e-9)) * math.sqrt(len(lasted) - 3)
    varies, other = sorted((float(by_bytes.std()), float(by_calls.std())))
    if certain < CERTAIN or varies > min(CLEARLY * other, AT_ENDS / float(calls.mean())):
        return None
    return alike < 0
