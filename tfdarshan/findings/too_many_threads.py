"""More reads at a time than the device bears: its bandwidth falls as the queue grows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.depth_phases import DepthPhases
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.pipeline_api import fewer_readers
from tfdarshan.replay.storage_edits import Uncrowded
from tfdarshan.units import human_bytes, plural

NAME = "too_many_threads"
ABOUT = About(
    title="Too many reads run at a time",
    cause="The storage moves more bytes per second with fewer reads at a time. One disk arm that "
    "serves eight files jumps between them, and spends its time on seeks.",
    shown=(
        ('"8 reads at a time are more than the storage bears"', "`tfdarshan findings`, the tab's Overview"),
        ("bandwidth that falls as queue depth grows", "the tab's Timeline, by depth and by bandwidth"),
    ),
    fixes={
        "tf.data": "`map(load, num_parallel_calls=2)`; `interleave(..., num_parallel_calls=2)`",
        "PyTorch": "`DataLoader(..., num_workers=2)`",
        "Grain": "`.to_iter_dataset(ReadOptions(num_threads=2))`",
        "plain Python": "`ThreadPoolExecutor(2)`",
    },
    estimate="tfdarshan replays the job with as many readers as ran in the phases of highest bandwidth.",
    ignore="decoding needs the threads: then read with few calls and decode with many, in two maps",
    fix="fewer reads at a time",
)
# How much the bandwidth has to fall.
FALLS = 1.1
# One shallow phase may be a burst, or a cache that fills: it has to be so again.
FEWEST_PHASES = 3
# Quartiles of the rates that bound what is promised.
QUARTILES = (25, 50, 75)


@dataclass(frozen=True)
class Crowding:
    """Phases in which storage gave more to fewer readers.

    Attributes:
        phases: They, beside the others.
        readers: How many reads were under way in them.
    """

    phases: DepthPhases
    readers: int


def crowding(measures: Measures) -> Crowding | None:
    """Gives them where storage moved more in each of several phases with fewer reads at a time."""
    phases = measures.phases if measures.traced else None
    if phases is None or phases.shallow_phases < FEWEST_PHASES:
        return None
    slower = [
        1 - float(now) / float(best) if best > 0 else 0.0
        for now, best in zip(
            np.percentile(phases.usual_rate, QUARTILES[::-1]),
            np.percentile(phases.shallow_rate, QUARTILES),
            strict=True,
        )
    ]
    # Even the slower ones of the shallow windows have to move more than the quicker ones of the others.
    if slower[0] < 1 - 1 / FALLS:
        return None
    return Crowding(phases, max(1, math.floor(phases.shallow_depth + 0.5)))


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where fewer readers would get more."""
    if not measures.traced:
        return measures.untraced(NAME, "what the device gives at what queue depth")
    found = crowding(measures)
    if found is None:
        return None
    phases, n = found.phases, found.readers
    now, best = float(np.median(phases.usual_rate)), float(np.median(phases.shallow_rate))
    shallow, usual = phases.shallow_depth, phases.usual_depth
    return Finding(
        name=NAME,
        kind="problem",
        title=f"{usual:.0f} reads at a time are more than the storage bears",
        what=f"With {usual:.1f} reads at a time it gives {human_bytes(now)}/s, in "
        f"{plural(phases.shallow_phases, 'phase')} with {shallow:.1f} it gave {human_bytes(best)}/s.",
        evidence=(
            Evidence("queue depth", f"{usual:.1f}", usual),
            Evidence("bandwidth at it", f"{human_bytes(now)}/s", now),
            Evidence("best depth", f"{shallow:.1f}", shallow),
            Evidence("bandwidth at that", f"{human_bytes(best)}/s", best),
            Evidence("phases at that", f"{phases.shallow_phases}", phases.shallow_phases),
        ),
        unit=measures.model.unit,
        cure=fewer_readers(measures, n, round(usual)),
        edits=(Uncrowded(n, best / max(now, 1.0)),),
        not_worth="where decoding needs the threads: then read with few and decode with many, in two maps",
    )
