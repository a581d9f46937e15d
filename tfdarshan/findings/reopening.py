"""Files that a process opens again although it had them open before: each epoch, or for each sample."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Unknown
from tfdarshan.findings.later_waits import within_later_waits
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.more_readers import UNSHOWN
from tfdarshan.findings.part_of_calls import part_of
from tfdarshan.findings.pipeline_api import keep_in_memory, reads_in_python, starts_workers_anew
from tfdarshan.findings.read_behind_opens import read_behind_opens
from tfdarshan.findings.stat_storm import stats_of_opens
from tfdarshan.findings.usual_calls import usual_share
from tfdarshan.units import human_seconds, plural

NAME = "reopening"
# Files that are opened about once for each time that they are read whole.
ONCE_A_PASS = 1.2
# Of the time in opens after the first, the least that is spared, and how many times as long as another one
# the first open may take, which is made all the same: for the lower bound, and as expected.
SURE, LIKELY = (0.5, 8.0), (0.95, 2.0)
# No more is certain: what readers no longer spend in opens they wait in part for others, at a batch's end.
MOST_SURE = 0.93
CURE = Cure(
    "Open each file once and keep it open, or keep what was read in memory.",
    "handles = {path: open(path, 'rb', buffering=0) for path in paths}  # once",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Finds opens beyond the first of each file in each process."""
    if not measures.kinds_known:
        return _counted(measures)
    costs = measures.costs
    first = np.minimum(np.maximum(measures.files.rows["openers"].to_numpy(), 1), costs.opens)
    again = costs.opens - first
    if not again.any():
        return None
    opening, asking = measures.group("open", "close"), stats_of_opens(measures)
    # Who opens a file asks about it, too. Opens are taken to cost the same each.
    opened_s = costs.open_s + asking.thread_s * costs.opens / costs.opens.sum()
    part = again / np.maximum(costs.opens, 1)
    needless_s, whole_s = float((opened_s * part).sum()), float(opened_s.sum())
    share = needless_s / whole_s if whole_s > 0 else 0.0
    needless = part_of(measures, opening + asking, opened_s, part)
    files = int(np.count_nonzero(costs.opens))
    assumed = Assumption(
        "a file that was opened once can stay open",
        f"{plural(files, 'file')}, opened {costs.opens.sum():,.0f} times",
        "there are more files than may be open at a time",
    )
    low, likely = (max(least, _left_of_opens(share, times)) for least, times in (SURE, LIKELY))
    usual = usual_share(measures, ("open", "close"))
    low, likely = usual * min(MOST_SURE, low), (1 - UNSHOWN * (1 - usual)) * likely
    # Of reads that may have stood before opens none is spared: surely none, and half is expected to have.
    behind = float((read_behind_opens(measures) * part).sum()) / max(needless_s, 1e-12)
    low, likely = max(0.0, low - behind), max(0.0, likely - UNSHOWN * behind)
    # File systems that forget a file's pages at each open have storage serve what is read again.
    read_s = 0.0 if measures.summary.emulation is not None else float((costs.slow_s * part).sum())
    most = 1 + read_s / needless_s if needless_s > 0 else 1.0
    gain, stall_s = measures.without(needless, low, likely, most, [assumed])
    once_a_pass = bool(costs.opens.sum() <= ONCE_A_PASS * _opened_once_a_pass(measures).sum())
    if once_a_pass:
        # Then it is later passes that open again.
        gain = within_later_waits(gain, measures, needless.within_s / measures.model.units)
    order = np.argsort(-again, kind="stable")
    return Finding(
        name=NAME,
        # Whoever reads a file again opens it again: what spares that is to keep what was read.
        kind="note" if once_a_pass else "problem",
        title=_title(float(costs.opens.sum()), float(first.sum()), files),
        what=f"{costs.opens.sum():,.0f} opens of {plural(files, 'file')}; opening and closing again, with "
        f"what is asked meanwhile, takes {human_seconds(needless_s / max(float(again.sum()), 1))} each time.",
        evidence=(
            Evidence("opens", f"{costs.opens.sum():,.0f}", float(costs.opens.sum())),
            Evidence("files opened", f"{files:,}", files),
            Evidence("time in opening again, over all threads", human_seconds(needless_s), needless_s),
        ),
        files=measures.paths_of(order[again[order] > 0]),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=stall_s,
        cure=_cure(measures),
        gain=gain,
        not_worth="with more files than may be open at a time (ulimit -n): then put them into shards",
    )


def _cure(measures: Measures) -> Cure:
    """Words how to open files less often: tf.data, and a worker that ends with its epoch, keep none open."""
    keeps_open = reads_in_python(measures) and not starts_workers_anew(measures)
    return CURE if keeps_open else keep_in_memory(measures)


def _left_of_opens(share: float, times: float) -> float:
    """Gives what of `share` of all opens' time is spared if the first open takes so many times as long."""
    opens = 1 / max(1 - share, 1e-9)
    return opens / (opens - 1 + times)


def _opened_once_a_pass(measures: Measures) -> Array:
    """Gives how often files are opened if each process, and each pass over a file, opens it once."""
    costs, size = measures.costs, measures.sizes
    passes = np.where(size > 0, costs.read_bytes / np.maximum(size, 1), 1.0)
    openers = measures.files.rows["openers"].to_numpy()
    once: Array = np.where(costs.opens > 0, np.maximum(np.maximum(passes, openers), 1.0), 0.0)
    return once


def _title(opens: float, needed: float, files: int) -> str:
    """Words it; `needed` opens are left if each process opens each of its files once."""
    times = opens / max(needed, 1)
    how_often = f"{times:.0f}" if times == round(times) else f"{times:.1f}"
    if needed > files:
        return f"each process opens a file {how_often} times"
    return f"a file is opened {how_often} times" if files == 1 else f"files are opened {how_often} times each"


def _counted(measures: Measures) -> Finding | Unknown | None:
    data, rows = measures.summary, measures.files.rows
    opens = data.posix.opens + data.stdio.opens
    files = int(np.count_nonzero(rows["opens"]))
    needed = int(rows["openers"].sum())
    if opens <= 2 * needed:
        return None
    by = f" in {plural(data.processes, 'process', 'processes')}" if needed > files else ""
    return counted_note(
        measures,
        NAME,
        unknown="what opening files again costs",
        title=_title(opens, needed, files),
        what=f"{plural(opens, 'open')} of {plural(files, 'file')}{by}.",
        evidence=(Evidence("opens", f"{opens:,}", opens), Evidence("files opened", f"{files:,}", files)),
        most_s=data.file_time.meta_s,
        cure=_cure(measures),
    )
