"""Stats by the thousand: files asked for again and again."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.call_kinds import NO_CALLS, STATS, CallGroup
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Unknown
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.pipeline_api import reads_in_python
from tfdarshan.units import human_seconds, plural

NAME = "stat_storm"
# Places in `AskedCalls`.
OTHERS, LOOP = 0, 1
BY_NAME, ANY = 1, slice(None)
# The kernel answers later looks at a name if they take at most this part of what the first one does.
ANSWERED = 0.25
CURE = Cure(
    "List and check the files once, at the start, and keep the list.",
    "paths = sorted(entry.path for entry in os.scandir(folder))  # once",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds stats by the job's own code, and of TensorFlow's readers those beyond the one of each open."""
    if not measures.kinds_known:
        return _counted(measures)
    stats, opens = measures.group(*STATS), measures.group("open")
    needless = needless_stats(measures)
    if needless.thread_s <= 0:
        return None
    # At most, nothing is asked at all.
    assumed = Assumption(
        "files do not change, so one answer will do",
        f"{plural(round(stats.calls), 'stat')} for {plural(round(opens.calls), 'open')}",
        "the job waits for files that others write",
    )
    least, likely = spared_by_a_list(measures)
    most = stats.thread_s / needless.thread_s
    gain, stall_s = measures.without(needless, 0.7 * least, likely, most, [assumed])
    rows = measures.files.rows["stats"].to_numpy()
    order = np.argsort(-np.where(measures.is_input, rows, 0), kind="stable")
    each_s = stats.thread_s / stats.calls
    per_unit = stats.calls / measures.model.units
    files = max(1, int(np.count_nonzero(np.where(measures.is_input, rows, 0))))
    asked = f"{plural(round(stats.calls), 'stat')} of {plural(files, 'file')}"
    again = ": the job asks about the same files again and again" if stats.calls > files else ""
    return Finding(
        name=NAME,
        kind="problem",
        title=_title(per_unit, measures.model.unit),
        what=f"{asked} take {human_seconds(each_s)} each{again}.",
        evidence=(
            Evidence("stats", f"{stats.calls:,.0f}", stats.calls),
            Evidence("opens", f"{opens.calls:,.0f}", opens.calls),
            Evidence("mean", human_seconds(each_s), each_s),
            Evidence("time in them, over all threads", human_seconds(stats.thread_s), stats.thread_s),
        ),
        files=measures.paths_of(order[rows[order] > 0]),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=stall_s,
        cure=CURE,
        gain=gain,
        not_worth="where the answers come from a local disk's cache, in a microsecond each",
    )


def _title(per_unit: float, unit: str) -> str:
    """Words how many a unit makes; of fewer than one, in how many units there is one."""
    if round(per_unit) >= 1:
        made = plural(round(per_unit), "stat")
        return f"{made} {'is' if round(per_unit) == 1 else 'are'} made a {unit}"
    return f"a stat is made every {1 / per_unit:,.0f} {unit}s"


def needless_stats(measures: Measures) -> CallGroup:
    """Gives the stats that a list made once would spare.

    A reader of TensorFlow's asks for a file's size when it opens it; what the loop's thread asks by a file's
    name, or a thread that runs Python, is asked by the job's own code.
    """
    stats, in_python = measures.group(*STATS), reads_in_python(measures)
    asked, opened = (measures.facts.asked.calls[place] for place in (0, 1))
    taken_s = measures.facts.asked.lasted_ns[0] / 1e9
    # What asks about an open file comes with opening it.
    others, own = (OTHERS, BY_NAME) if in_python else (OTHERS, ANY), (LOOP, BY_NAME)
    count, own_count = float(asked[others].sum()), float(asked[own])
    with_opens = 0.0 if in_python else float(opened[OTHERS].sum())
    spare = max(0.0, 1 - with_opens / count) if count else 0.0
    whole_s, others_s = float(taken_s.sum()), float(taken_s[others].sum())
    if whole_s <= 0:
        return NO_CALLS
    # A trace that was cut short has a part of the calls.
    scale = stats.thread_s / whole_s
    own_s = scale * float(taken_s[own])
    within_s = min(stats.within_s, own_s)
    calls = stats.calls * (spare * count + own_count) / float(asked.sum())
    return CallGroup(calls, 0.0, scale * spare * others_s + own_s - within_s, within_s)


def spared_by_a_list(measures: Measures) -> tuple[float, float]:
    """Gives what part of the needless stats' time a list spares: lower bound, and expected.

    The first stat since a file was opened looks its name up, and where none is made the open does. If the
    kernel answers the ones that follow, that is what the first one took its time for; if each stat is the
    first nothing tells.
    """
    asked = measures.facts.asked
    own = [LOOP, OTHERS] if reads_in_python(measures) else [LOOP]
    calls, lasted_ns = (
        float(asked.calls[0][own, BY_NAME].sum()),
        float(asked.lasted_ns[0][own, BY_NAME].sum()),
    )
    looks, looked_ns = float(asked.looks[own].sum()), float(asked.looked_ns[own].sum())
    if not looks or lasted_ns <= 0:
        return 1.0, 1.0
    opened = min(1.0, float(asked.calls[1].sum()) / looks)
    others = 1 - opened * looked_ns / lasted_ns
    if calls <= looks:
        return others, 1.0
    answered = (lasted_ns - looked_ns) / (calls - looks) <= ANSWERED * looked_ns / looks
    return (others, others) if answered else (1.0, 1.0)


def stats_of_opens(measures: Measures) -> CallGroup:
    """Gives the stats that come with opening files: who opens fewer times makes as many fewer."""
    stats, spare = measures.group(*STATS), needless_stats(measures)
    if not measures.kinds_known:
        return NO_CALLS
    beside_s, within_s = stats.beside_s - spare.beside_s, stats.within_s - spare.within_s
    return CallGroup(max(0.0, stats.calls - spare.calls), 0.0, max(0.0, beside_s), max(0.0, within_s))


def asked_by_loop(measures: Measures) -> float:
    """Gives what share of stats by name, in time, is the loop's own: to read otherwise spares none."""
    stats = measures.group("stat")
    if not measures.kinds_known or stats.thread_s <= 0:
        return 0.0
    return min(1.0, needless_stats(measures).within_s / stats.thread_s)


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
        title=f"{stats:,} stats are made for {plural(opens, 'open')}",
        what="An open needs no more than one: files are asked about again and again, or without being read.",
        evidence=(Evidence("stats", f"{stats:,}", stats), Evidence("opens", f"{opens:,}", opens)),
        most_s=data.file_time.meta_s,
        cure=CURE,
    )
