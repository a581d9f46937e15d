"""The trace was cut short: single calls are missing from it."""

from __future__ import annotations

from tfdarshan.findings.finding import Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.units import percent

NAME = "truncated_trace"


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where a bound dropped segments."""
    if measures.imported:
        what = "single calls of STDIO, opens and stats" if measures.traced else "single calls"
        record = "record with DXT_ENABLE_IO_TRACE=1, or with tfdarshan"
        return Unknown(NAME, f"{what}: the log has no trace of them", record)
    dropped, made = measures.dropped_calls, measures.summary.calls
    if not made or dropped < LEAST_SHARE * made:
        return None
    return Finding(
        name=NAME,
        kind="doubt",
        title=f"{percent(dropped, made)} of the calls have no segment",
        what=f"{dropped:,} of {made:,} calls found no room in the trace: counters have them all, but what is "
        "said of steps, queue depth and single calls is of the rest, scaled up.",
        evidence=(
            Evidence("calls", f"{made:,}", made),
            Evidence("without a segment", f"{dropped:,}", dropped),
        ),
        cure=Cure(
            "Give the trace more memory, or record fewer steps.",
            "with tfdarshan.profile(logdir, trace_memory_mb=2048):",
            "with tfdarshan.profile(logdir):",
        ),
        not_worth="where the recorded part is like the rest",
    )
