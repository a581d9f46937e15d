"""Storage that is full: it gives the same however many reads run at a time."""

from __future__ import annotations

from tfdarshan.findings import too_many_threads
from tfdarshan.findings.finding import Cure, Evidence, Finding
from tfdarshan.findings.measures import LEAST_SHARE, Measures
from tfdarshan.units import human_bytes, percent

NAME = "full_storage"
# From this share of a call on, more readers give at most 1.4 times as much.
FULL = 0.7
# Calls of so much of the time are worth a word.
BUSY = 0.5


def find(measures: Measures) -> Finding | None:
    """Finds it where calls take longer the more of them run, so that together they get no further.

    Where fewer at a time get further, that is said instead.
    """
    found, model = measures.contention, measures.model
    if found is None or not is_full(measures) or model.most_wait_s < LEAST_SHARE * model.unit_s:
        return None
    if isinstance(too_many_threads.find(measures), Finding):
        return None
    levels = measures.pipeline.levels.iloc[1:]
    busy_s, calls = float(levels["seconds"].sum()), measures.input_calls.calls
    if busy_s < BUSY * model.storage_s * model.units or busy_s <= 0:
        return None
    bandwidth, rate = float(levels["bytes"].sum()) / busy_s, calls / busy_s
    gives = f"{human_bytes(bandwidth)}/s in {rate:,.0f} calls a second"
    return Finding(
        name=NAME,
        kind="note",
        title=f"storage gives {human_bytes(bandwidth)}/s however many reads run at a time",
        what=f"It gives {gives} with up to {found.depth:.0f} of them under way: a call takes the longer the "
        "more others run. More readers give nothing.",
        evidence=(
            Evidence("bandwidth", f"{human_bytes(bandwidth)}/s", bandwidth),
            Evidence("calls a second", f"{rate:,.0f}", rate),
            Evidence("calls compared", f"{found.calls:,}", found.calls),
            Evidence(
                "of a call, served one at a time",
                f"{percent(found.share, 1)} ({percent(found.low, 1)} to {percent(found.high, 1)})",
                found.share,
            ),
        ),
        unit=model.unit,
        cure=Cure(
            "Read less from it: stage the files, keep them in memory, store them smaller; where it is calls "
            "that it limits, put small files into shards."
        ),
    )


def is_full(measures: Measures) -> bool:
    """Says whether the session shows that more reads at a time give nothing."""
    return measures.contention is not None and measures.contention.low >= FULL
