"""Stats by the thousand: files asked for again and again."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.units import human_seconds

NAME = "stat_storm"
CURE = Cure(
    "List and check the files once, at the start, and keep the list.",
    "paths = sorted(entry.path for entry in os.scandir(folder))  # once",
    "if os.path.exists(path) and os.path.getsize(path) > 0:  # for every sample",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds stats beyond the one that comes with an open."""
    if not measures.kinds_known:
        return _counted(measures)
    stats, opens = measures.group("stat"), measures.group("open")
    spare = stats.calls - opens.calls
    if spare <= 0:
        return None
    needless = stats.scaled(spare / stats.calls)
    # At most, opens need no stat of their own either.
    gain, stall_s = measures.without(needless, 0.7, 1.0, stats.calls / spare)
    rows = measures.files.rows["stats"].to_numpy()
    most = np.argsort(-np.where(measures.is_input, rows, 0), kind="stable")
    each_s = stats.thread_s / stats.calls
    per_unit = stats.calls / measures.model.units
    return Finding(
        name=NAME,
        kind="problem",
        title=f"{per_unit:,.0f} stats are made a {measures.model.unit}",
        what=f"{stats.calls:,.0f} stats for {opens.calls:,.0f} opens, {human_seconds(each_s)} each: the same "
        "questions about files are asked again and again.",
        evidence=(
            Evidence("stats", f"{stats.calls:,.0f}", stats.calls),
            Evidence("opens", f"{opens.calls:,.0f}", opens.calls),
            Evidence("mean", human_seconds(each_s), each_s),
            Evidence("time in them, over all threads", human_seconds(stats.thread_s), stats.thread_s),
        ),
        files=measures.paths_of(most[rows[most] > 0]),
        unit=measures.model.unit,
        cost_s=gain.expected_s,
        stall_s=stall_s,
        cure=CURE,
        gain=gain,
        not_worth="where the answers come from a local disk's cache, in a microsecond each",
    )


def _counted(measures: Measures) -> Finding | Unknown | None:
    data = measures.summary
    if data.posix.stats is None:
        return measures.untraced(NAME, "what stats cost")
    stats, opens = data.posix.stats, data.posix.opens + data.stdio.opens
    if not measures.imported:
        asked = measures.files.rows.loc[measures.is_input, ["stats", "opens"]].sum()
        stats, opens = int(asked["stats"]), int(asked["opens"])
    if stats <= opens:
        return None
    return counted_note(
        measures,
        NAME,
        unknown="what stats cost",
        title=f"{stats:,} stats are made for {opens:,} opens",
        what="The same questions about files are asked again and again.",
        evidence=(Evidence("stats", f"{stats:,}", stats), Evidence("opens", f"{opens:,}", opens)),
        most_s=data.file_time.meta_s,
        cure=CURE,
    )
