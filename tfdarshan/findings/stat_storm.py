"""Stats by the thousand: files asked for again and again."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.call_kinds import STATS
from tfdarshan.findings.about import About
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.fix_lines import reads_in_python
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.storage_edits import Without
from tfdarshan.units import human_seconds, plural

NAME = "stat_storm"
ABOUT = About(
    title="Files are asked about again and again",
    cause="The job makes `stat()` calls that no open needs, for example `os.path.exists()` before "
    "every read. A `stat()` call on network storage is a round trip to a server.",
    says="the job makes 8 stat() calls a step",
    seen=("`stat()` calls while steps wait", "the tab's Timeline, by kind of call"),
    fixes={
        "plain Python": "`paths = sorted(entry.path for entry in os.scandir(folder))`, once before training",
        "PyTorch": "list the files in `Dataset.__init__`, not in `__getitem__`",
        "tf.data": "`tf.data.Dataset.from_tensor_slices(paths)`, with a list that was made once",
    },
    estimate="tfdarshan replays the job without `stat()` calls, and without the time that Python takes "
    "for such calls. All other calls stay.",
    ignore="files appear or change while the job runs",
    fix="fewer stat() calls",
)
# Places in `InputFacts.asked`.
OTHERS, LOOP, BY_NAME = 0, 1, 1
FIX = Fix(
    "List and check the files once, at the start, and keep the list.",
    "paths = sorted(entry.path for entry in os.scandir(folder))  # once",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find stats by the job's own code, and of TensorFlow's readers those beyond the one of each open."""
    if not measures.kinds_known:
        return _counted(measures)
    stats, opens = measures.group(*STATS), measures.group("open")
    if not _asks_needlessly(measures):
        return None
    rows = measures.files.rows["stats"].to_numpy()
    order = np.argsort(-np.where(measures.is_input, rows, 0), kind="stable")
    each_s = stats.thread_s / stats.calls
    per_unit = stats.calls / measures.model.units
    files = max(1, int(np.count_nonzero(np.where(measures.is_input, rows, 0))))
    asked = f"{plural(round(stats.calls), 'stat() call')} on {plural(files, 'file')}"
    again = ": the job asks about the same files again and again" if stats.calls > files else ""
    return Finding(
        name=NAME,
        title=f"{_title(per_unit, measures.model.unit)}, {human_seconds(each_s)} each",
        what=f"{asked} take {human_seconds(each_s)} each{again}.",
        evidence=(
            Evidence("stat() calls", f"{stats.calls:,.0f}", stats.calls),
            Evidence("opens", f"{opens.calls:,.0f}", opens.calls),
            Evidence("mean", human_seconds(each_s), each_s),
            Evidence("time in them, over all threads", human_seconds(stats.thread_s), stats.thread_s),
        ),
        files=measures.paths_of(order[rows[order] > 0]),
        fix=FIX,
        edits=(Without("stat"),),
    )


def _title(per_unit: float, unit: str) -> str:
    """Word how many a unit makes; of fewer than one, in how many units there is one."""
    if round(per_unit) >= 1:
        return f"the job makes {plural(round(per_unit), 'stat() call')} a {unit}"
    return f"the job makes one stat() call every {1 / per_unit:,.0f} {unit}s"


def _asks_needlessly(measures: Measures) -> bool:
    """Say whether a list made once would spare stats.

    A reader of TensorFlow's asks for a file's size when it opens it; what the loop's thread asks by a file's
    name, or a thread that runs Python, is asked by the job's own code. What asks about an open file comes
    with opening it.
    """
    stats, opens = measures.facts.asked
    if stats[LOOP, BY_NAME]:
        return True
    if reads_in_python(measures):
        return bool(stats[OTHERS, BY_NAME])
    return bool(stats[OTHERS].sum() > opens[OTHERS].sum())


def _counted(measures: Measures) -> Finding | Unknown | None:
    data = measures.summary
    if data.posix.stats is None:
        return measures.untraced(NAME, "what stat() calls cost")
    stats, opens = data.posix.stats, data.posix.opens + data.stdio.opens
    if not measures.imported:
        asked = measures.files.rows.loc[measures.is_input, ["stats", "opens"]].sum()
        stats, opens = int(asked["stats"]), int(asked["opens"])
    if stats <= opens:
        return None
    return counted_note(
        measures,
        NAME,
        unknown="what stat() calls cost",
        title=f"the job makes {plural(stats, 'stat() call')} for {plural(opens, 'open')}",
        what="An open needs one stat() call at most: the job asks about files again and again, or about "
        "files that it does not read.",
        evidence=(Evidence("stat() calls", f"{stats:,}", stats), Evidence("opens", f"{opens:,}", opens)),
        most_s=data.file_time.meta_s,
        fix=FIX,
    )
