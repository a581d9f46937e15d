"""Storage that is full: it gives the same however many reads run at a time."""

from __future__ import annotations

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Cure, Evidence, Finding
from tfdarshan.findings.measures import Measures
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "full_storage"
ABOUT = About(
    title="The storage is full",
    cause="The storage gives the same bandwidth however many reads run at a time: calls take longer as "
    "more of them run, or a rate limit holds calls back. More readers give nothing.",
    shown=(
        (
            '"storage gives 20.0 MB/s however many reads run at a time"',
            "`tfdarshan findings`, the tab's Overview",
        ),
        ("a flat bandwidth at any queue depth", "the tab's Timeline"),
    ),
    fixes={
        "any job": "read less: stage the files, keep them in memory, or store them smaller",
        "a limit on calls": "read with fewer calls: put small files into shards",
    },
    estimate="This finding promises nothing by itself. `staging`, `fits_in_memory` and `small_files` "
    "replay the job with less to read.",
    ignore="training does not wait for input",
)


def find(measures: Measures) -> Finding | None:
    """Find it if calls take longer the more of them run, or a limit holds them back."""
    model, limit, found = measures.model, measures.allowance, measures.contention
    if not measures.traced or model.most_wait_s < THRESHOLD["note"] * model.unit_s:
        return None
    if limit is None and (found is None or found.low < THRESHOLD["full"]):
        return None
    levels = measures.pipeline.levels.iloc[1:]
    busy_s, calls = float(levels["seconds"].sum()), measures.input_calls.calls
    if busy_s <= 0:
        return None
    # What memory serves besides is none of it.
    stored = measures.costs.storage_share or 1.0
    bandwidth, rate, what = stored * float(levels["bytes"].sum()) / busy_s, stored * calls / busy_s, "calls"
    if limit is not None:
        bandwidth, rate, what = limit.bytes_per_s, limit.calls_per_s, "reads"
    return Finding(
        name=NAME,
        kind="note",
        title=f"storage gives {human_bytes(bandwidth)}/s however many reads run at a time",
        what=f"It gives {human_bytes(bandwidth)}/s in {rate:,.0f} {what} a second{_shown_by(measures)}. "
        "More readers give nothing.",
        evidence=(
            Evidence("bandwidth", f"{human_bytes(bandwidth)}/s", bandwidth),
            Evidence(f"{what} a second", f"{rate:,.0f}", rate),
            *_compared(measures),
        ),
        unit=model.unit,
        cure=_cure(measures),
    )


def _cure(measures: Measures) -> Cure:
    """Word it for what storage limits, if that is known."""
    limit = measures.allowance
    ways = "stage the files, keep them in memory"
    if limit is not None and limit.counts is not None and not limit.counts.is_bytes:
        return Cure(f"Read it in fewer calls: put small files into shards, {ways}.")
    less = f"Read less from it: {ways}, store them smaller"
    if limit is not None and limit.counts is not None:
        return Cure(f"{less}.")
    return Cure(f"{less}; if it limits calls, put small files into shards.")


def _shown_by(measures: Measures) -> str:
    """Word what shows it: a limit, or how many of the session's calls ran at a time."""
    limit, found = measures.allowance, measures.contention
    if limit is not None:
        return (
            f": what is more than a limit allows waits for the next {human_seconds(limit.interval_s)}, "
            "as a cgroup, a cloud disk or a quota makes it"
        )
    depth = 0.0 if found is None else found.depth
    return f" with up to {depth:.0f} of them under way: a call takes the longer the more others run"


def _compared(measures: Measures) -> tuple[Evidence, ...]:
    """Return the calls that show it, and what of one is served one at a time, if they are the session's."""
    found = measures.contention
    if found is None or measures.allowance is not None:
        return ()
    share = f"{percent(found.share, 1)} ({percent(found.low, 1)} to {percent(found.high, 1)})"
    return (
        Evidence("calls compared", f"{found.calls:,}", found.calls),
        Evidence("of a call, served one at a time", share, found.share),
    )
