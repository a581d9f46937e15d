"""More reads at a time than the device bears: its bandwidth falls as the queue grows."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.depth_phases import DepthPhases
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding, Unknown
from tfdarshan.findings.fix_lines import fewer_readers
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.storage_edits import Uncrowded
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes

NAME = "too_many_threads"
ABOUT = About(
    title="Too many reads run at a time",
    cause="The storage moves more bytes per second with fewer reads at a time. One disk arm that "
    "serves eight files jumps between them, and spends its time on seeks.",
    says="8 reads at a time slow the storage down",
    seen=("bandwidth that falls as queue depth grows", "the tab's Timeline, by depth and by bandwidth"),
    fixes={
        "tf.data": "`map(load, num_parallel_calls=2)`; `interleave(..., num_parallel_calls=2)`",
        "PyTorch": "`DataLoader(..., num_workers=2)`",
        "Grain": "`.to_iter_dataset(ReadOptions(num_threads=2))`",
        "plain Python": "`ThreadPoolExecutor(2)`",
    },
    estimate="The replay has as many readers as ran in the phases of highest bandwidth.",
    ignore="decoding needs the threads: then read with few calls and decode with many",
    fix="fewer reads at a time",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find it if storage moved more in each of several phases with fewer reads at a time."""
    if not measures.traced:
        return measures.untraced(NAME, "what bandwidth the storage gives at each queue depth")
    phases = measures.phases
    # One shallow phase may be a burst, or a cache that fills: it has to be so again.
    if phases is None or phases.shallow_phases < THRESHOLD["several"] or not _moves_more(phases):
        return None
    n = max(1, round(phases.shallow_depth))
    now, best = float(np.median(phases.usual_rate)), float(np.median(phases.shallow_rate))
    shallow, usual = phases.shallow_depth, phases.usual_depth
    return Finding(
        name=NAME,
        title=f"{usual:.0f} reads at a time slow the storage down",
        what=f"With {usual:.1f} reads at a time the storage gives {human_bytes(now)}/s. In "
        f"{phases.shallow_phases} parts of this session only {shallow:.1f} ran, and it gave "
        f"{human_bytes(best)}/s.",
        evidence=(
            Evidence("queue depth", f"{usual:.1f}", usual),
            Evidence("bandwidth at it", f"{human_bytes(now)}/s", now),
            Evidence("best depth", f"{shallow:.1f}", shallow),
            Evidence("bandwidth at that", f"{human_bytes(best)}/s", best),
            Evidence("phases at that", f"{phases.shallow_phases}", phases.shallow_phases),
        ),
        fix=fewer_readers(measures, n, round(usual)),
        edits=(Uncrowded(n, best / max(now, 1.0)),),
    )


def _moves_more(phases: DepthPhases) -> bool:
    """Say whether the slower half of the shallow windows moves more than the quicker half of the others."""
    shallow, usual = np.sort(phases.shallow_rate), np.sort(phases.usual_rate)
    slower, quicker = shallow[: (len(shallow) + 1) // 2], usual[len(usual) // 2 :]
    return bool(np.median(slower) > np.median(quicker))
