"""Epochs that memory served: who copies or converts files reads once for that what one epoch reads once."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.epoch_waits import HARDLY
from tfdarshan.analysis.in_order.pause_calls import PauseReading
from tfdarshan.findings.measures import SEVERAL, Measures
from tfdarshan.findings.pipeline_api import input_pipeline
from tfdarshan.thresholds import THRESHOLD

# Storage that served so many passes of a job that read its input at least so often served the first epoch.
ONE_PASS = 1.2
SLOW_OPEN_S = THRESHOLD["slow open"]
SERVED_ONCE = " Memory served later epochs: storage served one pass, and a {what} takes one, too, so it "


def storage_served_once(measures: Measures, *, mirrored: bool = False) -> bool:
    """Says whether the session has epochs that memory served: then a copy reads as much as it spares.

    The page cache served them, or a cache() of the pipeline's own did.

    Args:
        measures: The session.
        mirrored: Whether copies answer stats by name, too.
    """
    if measures.figures.rereads.passes >= SEVERAL:
        return memory_served_later(measures, mirrored=mirrored)
    return cache_served_later(measures)


def cache_served_later(measures: Measures) -> bool:
    """Says of a job that read its input once whether a cache() of its pipeline served later epochs."""
    if measures.figures.rereads.passes >= SEVERAL:
        return False
    pipeline = input_pipeline(measures)
    cache = None if pipeline is None else pipeline.has("cache")
    if pipeline is None or pipeline.reader is None or cache not in pipeline.after(pipeline.reader):
        return False
    return pipeline.iterators > 1 and not pipeline.made_anew and not pauses_last(measures)


def memory_served_later(measures: Measures, *, mirrored: bool = False) -> bool:
    """Says of a job that read its input several times whether storage served one pass of it.

    Args:
        measures: The session.
        mirrored: Whether stats by name count, which a server is asked in later passes, too.
    """
    passes = measures.figures.rereads.passes
    if passes < SEVERAL or measures.summary.emulation is not None:
        return False
    one_pass = max(_passes_stored(measures), _passes_asked(measures, mirrored)) <= ONE_PASS
    return (one_pass or measures.later_epochs_hardly_wait) and not pauses_last(measures)


def _passes_stored(measures: Measures) -> float:
    """Gives how many passes storage served: of what is read after the last step no call counts."""
    costs, passes = measures.costs, measures.figures.rereads.passes
    if measures.trace_room.dropped_calls == 0:
        passes = min(passes, float(costs.read_bytes.sum()) / max(measures.unique_bytes, 1.0))
    return passes * costs.storage_share


def _passes_asked(measures: Measures, by_name: bool) -> float:
    """Gives how many passes a server takes if memory serves all but the first: it is asked at each open."""
    costs, rows = measures.costs, np.flatnonzero(measures.is_input)
    opens, call_s = costs.opens[rows], costs.call_s[rows]
    asked_s = costs.other_s[rows] - (0.0 if by_name else costs.stat_s[rows])
    beyond_s = np.maximum(asked_s - SLOW_OPEN_S * opens, 0)
    again_s = float((beyond_s * (1 - 1 / np.maximum(opens, 1))).sum())
    return 1 + again_s / max(float(call_s.sum()) - again_s, 1e-12)


def pause_calls_s(measures: Measures, pauses: PauseReading) -> tuple[float, float]:
    """Gives what calls on the files of pauses take in these, and after the last step, over all threads.

    How long the pause after the last step is no step says, but what its calls take is known.
    """
    seen_s = float(measures.costs.call_s[pauses.rows].sum())
    whole_s = float(measures.files.rows["time_s"].to_numpy()[pauses.rows].sum())
    return seen_s, max(0.0, whole_s - seen_s)


def pauses_last(measures: Measures) -> bool:
    """Says whether training stands still in later pauses, too, for files that no step reads."""
    pauses = measures.pauses
    if pauses is None:
        return False
    if pauses.count < 2:
        seen_s, after_s = pause_calls_s(measures, pauses)
        return after_s > HARDLY * seen_s
    first_s = pauses.reading_s - pauses.later_s
    return pauses.later_s / (pauses.count - 1) > HARDLY * first_s
