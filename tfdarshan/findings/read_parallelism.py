"""Too few reads at a time: each waits for the one before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tfdarshan.findings.finding import Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.read_split import waits_share
from tfdarshan.units import human_seconds, percent

NAME = "read_parallelism"
MOST_READERS = 16
# A smaller number of readers will do if it saves this much of what the largest does.
NEARLY = 0.9
# What n times the readers make calls quicker by, as a power of n: a disk's waits 0.44, a server's 1; a pipe
# that one reader fills 0. Most disks and links are such pipes; a store that limits each stream is not.
WAITS = (0.4, 0.75, 1.0)
TRANSFERS = (0.0, 0.1, 1.0)
# Depths count that held for this share of the busy time.
SEEN = 0.02


@dataclass(frozen=True)
class Scaling:
    """Powers of n that waits and transfers get quicker by; `place` of `read_split.waits_share`."""

    waits: float
    transfers: float
    place: int


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds it where more readers would help."""
    model = measures.model
    if not measures.traced:
        return measures.untraced(NAME, "how many calls ran at a time")
    readers = model.readers
    if readers >= 0.8 * MOST_READERS or model.storage_s <= 0:
        return None
    low, expected, high = scalings(measures)
    choices = [n for n in (2, 4, 8, MOST_READERS) if n > 1.2 * readers]
    saved = [_saved(measures, n, expected, other=1.0) for n in choices]
    n = next(n for n, seconds in zip(choices, saved, strict=True) if seconds >= NEARLY * saved[-1])
    gain = measures.gain(
        _saved(measures, n, low, other=1.0),
        _saved(measures, n, expected, other=1.0 if model.storage_s < model.other_s else None),
        _saved(measures, n, high, other=readers / n),
    )
    calls = measures.input_calls
    mean_s = calls.thread_s / calls.calls if calls.calls else 0.0
    shown = round(readers)
    return Finding(
        name=NAME,
        kind="problem",
        title=f"only {shown} {'read runs' if shown == 1 else 'reads run'} at a time",
        what=f"Input is read by about {readers:.1f} readers, which spend {percent(model.busy_share, 1)} of "
        f"their time in calls of {human_seconds(mean_s)}: they wait one after the other.",
        evidence=(
            Evidence("readers", f"{readers:.1f}", readers),
            Evidence("threads that read", f"{measures.pipeline.readers.threads:.1f}"),
            Evidence("queue depth", f"{measures.pipeline.readers.together:.1f}"),
            Evidence("mean call", human_seconds(mean_s), mean_s),
            Evidence("readers' time in calls", percent(model.busy_share, 1), model.busy_share),
        ),
        unit=model.unit,
        cost_s=gain.expected_s,
        cure=Cure(
            f"Read with {n} calls at a time.",
            f"dataset = dataset.map(load, num_parallel_calls={n}, deterministic=False)",
            f"dataset = dataset.map(load{'' if shown <= 1 else f', num_parallel_calls={shown}'})",
        ),
        gain=gain,
        not_worth="where one reader fills the device already: large reads from a single disk gain nothing",
    )


def scalings(measures: Measures) -> tuple[Scaling, Scaling, Scaling]:
    """Gives lower bound, expectation and upper bound of how calls scale with readers."""
    found = _fitted(measures)
    if found is None:
        low, expected, high = (
            Scaling(w, t, n) for n, (w, t) in enumerate(zip(WAITS, TRANSFERS, strict=True))
        )
        return low, expected, high
    return Scaling(0.7 * found, 0.4 * found, 0), Scaling(found, found, 1), Scaling(1.0, 1.0, 2)


def _fitted(measures: Measures) -> float | None:
    """Gives the power of the depth that bandwidth grows with, where several depths were seen."""
    levels = measures.pipeline.levels.iloc[1:]
    seconds, rate = levels["seconds"].to_numpy(), levels["bytes_per_s"].to_numpy()
    seen = (seconds >= SEEN * seconds.sum()) & (rate > 0)
    if np.count_nonzero(seen) < 2:
        return None
    depth, rate, weight = np.log(levels.index.to_numpy()[seen]), np.log(rate[seen]), np.sqrt(seconds[seen])
    if np.ptp(depth) < np.log(2) - 1e-9:
        return None
    slope = float(np.polyfit(depth, rate, 1, w=weight)[0])
    return min(max(slope, 0.0), 1.0)


def _saved(measures: Measures, readers: float, scaling: Scaling, *, other: float | None = None) -> float:
    """Gives what P is shorter by with so many readers.

    Args:
        measures: The session.
        readers: How many.
        scaling: How calls scale with them.
        other: What then is left of what is no call; as many times less as processors share it by default.
    """
    model, cpus = measures.model, measures.machine.cpus or 1.0
    ratio = model.readers / readers
    waits = waits_share(measures, scaling.place)
    # What the page cache served is the processors' work.
    served = model.storage_s * measures.slow_share
    storage = served * (waits * ratio**scaling.waits + (1 - waits) * ratio**scaling.transfers)
    if other is None:
        other = min(model.readers, cpus) / min(readers, cpus)
    return float(served - storage + model.other_s * (1 - other))
