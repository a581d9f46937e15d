"""Storage that is full: it gives the same however many reads run at a time."""

from __future__ import annotations

from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Fix
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.job_facts import StorageFacts
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, percent

NAME = "full_storage"
ABOUT = About(
    title="The storage is saturated",
    cause="The storage gives the same bandwidth however many reads run at a time: calls take longer as "
    "more of them run, or a rate limit holds calls back. More readers give nothing.",
    says="storage gives no more than 20.0 MB/s, even with more reads at a time",
    seen=("a flat bandwidth at any queue depth", "the tab's Timeline"),
    fixes={
        "any job": "read less: stage the files, keep them in memory, or store them smaller",
        "a limit on calls": "read with fewer calls: put small files into shards",
    },
    estimate="This finding promises nothing by itself. `staging`, `fits_in_memory` and `small_files` "
    "replay the job with less to read.",
    ignore="training does not wait for input",
)


def find(measures: Measures) -> Finding | None:
    """Find it if calls take longer the more of them run, or a limit holds them back, by session or probe."""
    model, levels = measures.model, measures.pipeline.levels.iloc[1:]
    busy_s = float(levels["seconds"].sum())
    if not measures.traced or busy_s <= 0 or model.most_wait_s < THRESHOLD["note"] * model.unit_s:
        return None
    storage = measures.job.facts.storage
    if storage.limit_s is None and (storage.serial is None or storage.serial[1] < THRESHOLD["full"]):
        return None
    # What memory serves besides is none of it.
    stored = measures.costs.storage_share or 1.0
    bandwidth = stored * float(levels["bytes"].sum()) / busy_s
    rate = stored * measures.input_calls.calls / busy_s
    return Finding(
        name=NAME,
        kind="note",
        title=f"storage gives no more than {human_bytes(bandwidth)}/s, even with more reads at a time",
        what=f"Storage gives {human_bytes(bandwidth)}/s in {rate:,.0f} calls a second. {_shown_by(storage)} "
        "More readers would not help.",
        evidence=(
            Evidence("bandwidth", f"{human_bytes(bandwidth)}/s", bandwidth),
            Evidence("calls a second", f"{rate:,.0f}", rate),
            *_serialized(storage),
        ),
        fix=_fix(storage),
    )


def _fix(storage: StorageFacts) -> Fix:
    """Word it for what storage limits, if that is known."""
    if storage.limit_of_calls:
        return Fix(
            "Read with fewer calls: put small files into shards, stage the files, or keep them in memory."
        )
    less = "Read less from the storage: stage the files, keep them in memory, or store them smaller."
    if storage.limit_of_calls is not None:
        return Fix(less)
    return Fix(f"{less} If the storage limits calls rather than bytes, put small files into shards.")


def _shown_by(storage: StorageFacts) -> str:
    """Word what shows it: a limit, a probe if calls ran one at a time, or how many ran."""
    if storage.limit_s is not None:
        return (
            f"A rate limit holds further calls back until the next {human_seconds(storage.limit_s)} begin, "
            "as limits of a cgroup, a cloud disk or a quota do."
        )
    most = len(storage.depth_s)
    if most <= 1:
        return "A probe got no more with several reads at a time."
    return f"Calls took longer as more of them ran at a time (up to {most})."


def _serialized(storage: StorageFacts) -> tuple[Evidence, ...]:
    """Return what of a call is served one at a time, if that shows it."""
    if storage.serial is None or storage.limit_s is not None:
        return ()
    share, low, high = storage.serial
    text = f"{percent(share, 1)} ({percent(low, 1)} to {percent(high, 1)})"
    return (Evidence("of a call, served one at a time", text, share),)
