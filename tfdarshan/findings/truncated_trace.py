"""The trace was cut short: single calls are missing from it."""

from __future__ import annotations

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import percent

NAME = "truncated_trace"
ABOUT = About(
    title="The trace lacks calls",
    cause="The session made more calls than its trace has room for. The counters stay exact, but the "
    "trace lacks single calls. tfdarshan scales the seconds of the recorded calls up to all "
    "calls.",
    says="the trace is full, and 75.0 % of the calls are missing",
    fixes={
        "any job": "`tfdarshan run --memory-cap-mb 4096 --trace-memory-mb 2048 train.py`",
        "a long run": "record fewer steps: `tfdarshan run --steps 100-200 train.py`",
        "many small calls": "leave files out: `tfdarshan run --exclude '*.log' train.py`",
    },
    ignore="the recorded part of the run is like the rest",
)
MIB_BYTES = 1 << 20


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it where a bound dropped segments."""
    if measures.imported:
        # Darshan's own trace is of reads and writes alone.
        what = "single calls of STDIO, opens and stats" if measures.traced else "single calls"
        ways = [] if measures.traced else ["record with DXT_ENABLE_IO_TRACE=1"]
        ways += [measures.recorded.to_see_more] if measures.recorded.is_python else []
        return Unknown(NAME, f"{what}: the log has no trace of them", ", or ".join(ways))
    dropped, made = measures.dropped_events.dropped_calls, measures.summary.calls
    if not made or dropped < THRESHOLD["note"] * made:
        return None
    return Finding(
        name=NAME,
        kind="doubt",
        title=f"the trace is full, and {_part(dropped, made)} are missing",
        what=f"The trace had no room for {dropped:,} of {made:,} calls. {_span(measures)} Times of calls are "
        "those of the calls in the trace, scaled up to all calls.",
        evidence=(
            Evidence("calls", f"{made:,}", made),
            Evidence("not in the trace", f"{dropped:,}", dropped),
        ),
        fix=_fix(measures),
    )


def _part(dropped: int, made: int) -> str:
    return (
        "nearly all calls" if dropped > THRESHOLD["most"] * made else f"{percent(dropped, made)} of the calls"
    )


def _span(measures: Measures) -> str:
    span = measures.summary.trace_span
    if span is None or span.until_s is None:
        return "It is not known when these calls were made. Counters include all calls."
    return span.sentence


def _fix(measures: Measures) -> Fix:
    enough, memory = measures.dropped_events.enough, measures.machine.memory_bytes
    # The job needs memory, too.
    if enough is None or not memory or 2 * enough.memory_cap_mb * MIB_BYTES > memory:
        return Fix(
            f"Record fewer steps ({measures.recorded.fewer_steps}), or leave files out with "
            f"{measures.recorded.to_leave_files_out}."
        )
    more = {"memory_cap_mb": enough.memory_cap_mb, "trace_memory_mb": enough.trace_memory_mb}
    return Fix(
        f"Record fewer steps ({measures.recorded.fewer_steps}), or give the trace more memory "
        f"({measures.recorded.spelled(**more)}).",
        measures.recorded.line(**more),
    )
