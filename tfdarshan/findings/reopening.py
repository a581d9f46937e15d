"""Files that a process opens again although it had them open before: each epoch, or for each sample."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.about import About
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.fix_lines import input_pipeline, reads_in_python, starts_workers_anew
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.storage_edits import KeptOpen
from tfdarshan.units import human_seconds, plural

NAME = "reopening"
ABOUT = About(
    title="Files are opened again and again",
    cause="A process opens a file again: in each epoch, or for each sample. An open on network or "
    "parallel file systems asks a metadata server, and can take longer than the read.",
    says="files are opened 5 times each",
    seen=("more opens than files", "`tfdarshan files`, the tab's Files"),
    fixes={
        "PyTorch": "keep open files in the data set, and give the `DataLoader` `persistent_workers=True`",
        "plain Python": "`files = {path: open(path, 'rb', buffering=0) for path in paths}`, once",
    },
    estimate="The replay has one open per file and process.",
    ignore="the job reads more files than may be open at a time (`ulimit -n`), and pack them into shards",
    fix="files kept open",
)
FIX = Fix(
    "Open each file once and keep it open, or keep what was read in memory.",
    "files = {path: open(path, 'rb', buffering=0) for path in paths}  # once",
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find opens beyond the first of each file in each process.

    What keeps no file open can only read less: that is the fix of `fits_in_memory`.
    """
    if not keeps_open(measures):
        return None
    if not measures.kinds_known:
        return _counted(measures)
    costs = measures.costs
    first = np.minimum(np.maximum(measures.files.rows["openers"].to_numpy(), 1), costs.opens)
    again = costs.opens - first
    if not again.any():
        return None
    files = int(np.count_nonzero(costs.opens))
    # Opens are taken to cost the same each.
    needless_s = float((costs.open_s * again / np.maximum(costs.opens, 1)).sum())
    order = np.argsort(-again, kind="stable")
    return Finding(
        name=NAME,
        title=_title(float(costs.opens.sum()), float(first.sum()), files),
        what=f"The job opens {plural(files, 'file')} {costs.opens.sum():,.0f} times. Opening a file again "
        f"takes {human_seconds(needless_s / max(float(again.sum()), 1))} each time.",
        evidence=(
            Evidence("opens", f"{costs.opens.sum():,.0f}", float(costs.opens.sum())),
            Evidence("files opened", f"{files:,}", files),
            Evidence("time in opening again, over all threads", human_seconds(needless_s), needless_s),
        ),
        files=measures.paths_of(order[again[order] > 0]),
        fix=FIX,
        edits=(KeptOpen(),),
    )


def keeps_open(measures: Measures) -> bool:
    """Say whether what reads can keep files open: tf.data, and a worker that ends with its epoch, cannot."""
    by_tf_data = input_pipeline(measures) is not None or "tensorflow" in measures.versions
    return (reads_in_python(measures) or not by_tf_data) and not starts_workers_anew(measures)


def _title(opens: float, needed: float, files: int) -> str:
    """Word it; `needed` opens are left if each process opens each of its files once."""
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
        fix=FIX,
    )
