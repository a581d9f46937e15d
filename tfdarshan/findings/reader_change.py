"""What the parts of a pipeline take with more readers, or with fewer: one answer for findings and what-if."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from tfdarshan.analysis.contention import call_time
from tfdarshan.findings.file_streams import longest_share
from tfdarshan.findings.finding import Assumption
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN, WAITS, serial_share, times_as_long
from tfdarshan.findings.pipeline_api import keeps_decoded, reads_in_python, waits_elsewhere
from tfdarshan.findings.python_lock import hands_lock_over
from tfdarshan.findings.reads_on import reads_on
from tfdarshan.findings.too_many_threads import Crowding, crowding

# What the file that took longest takes another time, at best.
BY_CHANCE = 0.8


@dataclass(frozen=True)
class ReaderChange:
    """Parts of P, as shares of what they took: calls that storage served, what is no call, cached calls."""

    calls: float = 1.0
    other: float = 1.0
    cached: float = 1.0

    def saved_s(self, measures: Measures) -> float:
        """Gives what P is shorter by."""
        model = measures.model
        return float(model.storage_s * self.spared(measures) + model.other_s * (1 - self.other))

    def spared(self, measures: Measures) -> float:
        """Gives what the time in calls is shorter by, as a share of it."""
        served = measures.slow_share
        return float(served * (1 - self.calls) + (1 - served) * (1 - self.cached))


Changes = tuple[ReaderChange, ReaderChange, ReaderChange]


def with_readers(measures: Measures, readers: float) -> Changes:
    """Gives it for so many readers: at worst, as expected, at best."""
    return _with_readers(measures, readers, UNSHOWN)


def _with_readers(measures: Measures, readers: float, chance: float) -> Changes:
    """Gives it; `chance` is how likely storage serves more of them, where nothing shows that."""
    model, cpus, share = measures.model, measures.machine.cpus or 1.0, serial_share(measures)
    before, crowd = model.readers, crowding(measures)
    # As many threads as there are processors share what is no call.
    shared = min(before, cpus) / min(readers, cpus)
    if readers < before:
        return _with_fewer(measures, readers, shared, crowd)
    if crowd is not None:
        # Storage that gives less the more is asked of it.
        return ReaderChange(1 / crowd.left[1]), ReaderChange(), ReaderChange(other=before / readers)
    sure = min(readers, max(share.most_readers, before))
    likely = shared if model.storage_s >= model.other_s else _decoded_beside(measures, shared)
    if hands_lock_over(measures):
        likely = 1.0
    if not share.known and reads_on(measures):
        # Beside storage that gives no more, all of it goes on already.
        likely = 1 - chance * (1 - likely)
    # The file that takes longest takes no less time; it may have been slow by chance.
    longest = longest_share(measures)
    return (
        ReaderChange(max(longest, times_as_long(share.high, before, sure))),
        ReaderChange(
            max(longest, share.times(before, readers)),
            before / readers if waits_elsewhere(measures) else likely,
        ),
        ReaderChange(max(BY_CHANCE * longest, times_as_long(share.low, before, readers)), before / readers),
    )


def _decoded_beside(measures: Measures, shared: float) -> float:
    """Gives what is left of work that takes longer than reading, if what reads is made to run side by side.

    A stage that is known to decode does that as often at a time as it reads; Python that does both may
    compute in a library, which shares the processors, or in the interpreter, which has one. Other work stays.
    """
    if keeps_decoded(measures):
        return shared
    return 1 - UNSHOWN * (1 - shared) if reads_in_python(measures) else 1.0


def if_served(measures: Measures, readers: float) -> ReaderChange:
    """Gives what is expected of more readers if storage serves them, though nothing may show that it does."""
    return _served(measures, readers, serial_share(measures).expected)


def if_it_waits(measures: Measures, readers: float) -> ReaderChange:
    """Gives the same of storage that waits, unless it is known what it does."""
    share = serial_share(measures)
    return _served(measures, readers, share.expected if share.known else WAITS)


def _served(measures: Measures, readers: float, share: float) -> ReaderChange:
    calls = max(longest_share(measures), times_as_long(share, measures.model.readers, readers))
    return dataclasses.replace(_with_readers(measures, readers, 1.0)[1], calls=calls)


def serves_more(measures: Measures) -> Assumption:
    """Gives what has to be so of storage if more readers are to help, and what shows it."""
    share, found, seen = serial_share(measures), measures.contention, ""
    if share.known and found is not None and found.depth > 1:
        times = call_time(found.share, found.depth)
        seen = (
            f"calls take {times:.1f} times as long with {found.depth:.0f} under way as alone, "
            f"of {found.calls:,} calls"
        )
    elif share.known:
        seen = f"{share.words} of a call is served one at a time"
    return Assumption(
        "storage serves more reads at a time",
        seen,
        "calls take as many times longer as there are",
        told_by=share.command,
    )


def _with_fewer(measures: Measures, readers: float, shared: float, crowd: Crowding | None) -> Changes:
    share, before = serial_share(measures), measures.model.readers
    shares, others = (share.low, share.expected, share.high), (before / readers, shared, 1.0)
    calls = [times_as_long(one, before, readers) for one in shares]
    if crowd is not None and crowd.readers < before:
        # Down to the readers of the phases that gave more, storage gives more; with fewer, less again.
        at = max(readers, float(crowd.readers))
        part = (before - at) / (before - crowd.readers)
        calls = [
            (1 - part * (1 - left)) * times_as_long(one, at, readers)
            for left, one in zip(crowd.left, shares, strict=True)
        ]
    worst, expected, best = (
        ReaderChange(call, other, other) for call, other in zip(calls, others, strict=True)
    )
    return worst, expected, best
