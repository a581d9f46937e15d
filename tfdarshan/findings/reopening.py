"""Files that are opened again although they were open before: each epoch, or for each sample."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.call_kinds import CallGroup
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.units import human_seconds, plural

NAME = "reopening"
CURE = Cure(
    "Open each file once and keep it open, or keep what was read in memory.",
    "handles = {path: open(path, 'rb', buffering=0) for path in paths}  # once; or dataset.cache()",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds opens beyond each file's first."""
    if not measures.kinds_known:
        return _counted(measures)
    costs = measures.costs
    again = np.maximum(costs.opens - 1, 0)
    if not again.any():
        return None
    # A file's opens are taken to cost the same each.
    needless_s = float((costs.open_s * again / np.maximum(costs.opens, 1)).sum())
    opening = measures.group("open", "close")
    share = needless_s / float(costs.open_s.sum()) if costs.open_s.any() else 0.0
    needless = CallGroup(float(again.sum()), 0.0, opening.beside_s * share, opening.within_s * share)
    files = int(np.count_nonzero(costs.opens))
    assumed = Assumption(
        "a file that was opened once can stay open",
        f"{plural(files, 'file')}, opened {costs.opens.sum():,.0f} times",
        "there are more files than may be open at a time",
    )
    gain, stall_s = measures.without(needless, 0.5, 0.95, 1.0, [assumed])
    times = float(costs.opens.sum()) / max(files, 1)
    order = np.argsort(-again, kind="stable")
    return Finding(
        name=NAME,
        kind="problem",
        title=_title(times, files),
        what=f"{costs.opens.sum():,.0f} opens of {plural(files, 'file')}; opening and closing again takes "
        f"{human_seconds(needless_s / max(float(again.sum()), 1))} each time.",
        evidence=(
            Evidence("opens", f"{costs.opens.sum():,.0f}", float(costs.opens.sum())),
            Evidence("files opened", f"{files:,}", files),
            Evidence("time in opening again, over all threads", human_seconds(needless_s), needless_s),
        ),
        files=measures.paths_of(order[again[order] > 0]),
        unit=measures.model.unit,
        cost_s=gain.expected_s,
        stall_s=stall_s,
        cure=CURE,
        gain=gain,
        not_worth="with more files than may be open at a time (ulimit -n): then put them into shards",
    )


def _title(times: float, files: int) -> str:
    how_often = f"{times:.0f}" if times == round(times) else f"{times:.1f}"
    return f"a file is opened {how_often} times" if files == 1 else f"files are opened {how_often} times each"


def _counted(measures: Measures) -> Finding | Unknown | None:
    data = measures.summary
    opens = data.posix.opens + data.stdio.opens
    files = int(np.count_nonzero(measures.files.rows["opens"]))
    # Each process has to open a file once.
    spare = opens - max(files, data.processes)
    if spare <= files:
        return None
    return counted_note(
        measures,
        NAME,
        unknown="what opening files again costs",
        title=_title(opens / max(files, 1), files),
        what=f"{plural(opens, 'open')} of {plural(files, 'file')}.",
        evidence=(Evidence("opens", f"{opens:,}", opens), Evidence("files opened", f"{files:,}", files)),
        most_s=data.file_time.meta_s,
        cure=CURE,
    )
