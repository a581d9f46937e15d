"""More reads at a time than the device bears: its bandwidth falls as the queue grows."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.depth_phases import DepthPhases
from tfdarshan.findings.finding import Assumption, Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.pipeline_api import fewer_readers
from tfdarshan.units import human_bytes, plural

NAME = "too_many_threads"
# How much the bandwidth has to fall.
FALLS = 1.1
# One shallow phase may be a burst, or a cache that fills: it has to be so again.
FEWEST_PHASES = 3
# Quartiles of the rates that bound what is promised.
QUARTILES = (25, 50, 75)
# What of the difference a job gets that now has fewer at a time throughout: the phases read other files.
LIKELY = (0.6, 0.9, 1.1)


@dataclass(frozen=True)
class Crowding:
    """Phases in which storage gave more to fewer readers.

    Attributes:
        phases: They, beside the others.
        readers: How many reads were under way in them.
        left: What calls take there of what they take now: at worst, as expected, at best.
    """

    phases: DepthPhases
    readers: int
    left: tuple[float, float, float]


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
    low, expected, high = (max(0.0, 1 - likely * part) for likely, part in zip(LIKELY, slower, strict=True))
    return Crowding(phases, max(1, math.floor(phases.shallow_depth + 0.5)), (low, expected, high))


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where fewer readers would get more."""
    if not measures.traced:
        return measures.untraced(NAME, "what the device gives at what queue depth")
    found = crowding(measures)
    if found is None:
        return None
    phases, n = found.phases, found.readers
    now, best = float(np.median(phases.usual_rate)), float(np.median(phases.shallow_rate))
    served = measures.model.storage_s * measures.slow_share
    shallow, usual = phases.shallow_depth, phases.usual_depth
    # Fewer readers are also fewer threads that do the rest, as far as processors let them.
    cpus = measures.machine.cpus or 1.0
    more_s = measures.model.other_s * max(0.0, min(usual, cpus) / min(n, cpus) - 1)
    quartile = np.percentile(phases.shallow_rate, QUARTILES[0])
    assumed = Assumption(
        "storage gives more with fewer reads at a time throughout",
        f"{human_bytes(quartile)}/s or more in three quarters of {plural(phases.shallow_phases, 'phase')} "
        f"with {shallow:.1f}",
        "those phases read other files, or the page cache",
    )
    gain = measures.gain(
        (1 - found.left[0]) * served - more_s,
        (1 - found.left[1]) * served - more_s / 2,
        (1 - found.left[2]) * served,
        assumed=[assumed],
    )
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
        cost_s=gain.saved_s,
        cure=fewer_readers(measures, n, round(usual)),
        gain=gain,
        not_worth="where decoding needs the threads: then read with few and decode with many, in two maps",
    )
