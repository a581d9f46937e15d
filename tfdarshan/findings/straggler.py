"""A slow mount, folder or single files that hold up all the others."""

from __future__ import annotations

import numpy as np

from tfdarshan.findings.about import About
from tfdarshan.findings.cache_share import from_memory
from tfdarshan.findings.copied_files import copied
from tfdarshan.findings.finding import Evidence, Finding, Fix
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.slow_files import FEW, SLOW, slow_files
from tfdarshan.replay.storage_edits import Staged
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_seconds, percent, plural

NAME = "straggler"
ABOUT = About(
    title="Some files are slow",
    cause="A mount, a folder or a few files take several times as long as other files of their size. "
    "Readers that keep the order of batches wait for the slowest file, so a few slow files delay "
    "every step.",
    says="/archive takes 8 times as long as the rest",
    seen=("a folder in the colour of a low bandwidth", "the tab's Files"),
    fixes={
        "any job": "copy the slow files to the storage of the other files; the finding prints the commands",
        "Lustre": "`lfs getstripe FILE` names the servers of a slow file",
    },
    estimate="The replay has the slow files on a local NVMe disk. The range covers slow and fast NVMe disks.",
    ignore="the files were slow only once: check a second session first",
    fix="a copy of the slow files on faster storage",
)

AGAIN = "If the same files are slow again in a second session, copy"


def find(measures: Measures) -> Finding | None:
    """Find folders or files that take far longer than others for the same, and not from the page cache."""
    if not measures.kinds_known:
        written = _slow_writes(measures)
        if written is not None:
            return written
    costs = measures.costs
    rows = np.flatnonzero((costs.reads > 0) & (costs.call_s > 0))
    # A limit held up whichever was read when its interval was used up: elsewhere it holds up others. Of files
    # that are read in turn that is the first, as the kernel reads the others' ahead meanwhile.
    if len(rows) < 2 or measures.job.facts.storage.limit_s is not None:
        return None
    slow = slow_files(measures, rows)
    if slow is None or (not measures.imported and from_memory(measures, slow.rows)):
        return None
    order = slow.rows[np.argsort(-costs.call_s[slow.rows], kind="stable")]
    share = percent(float(costs.call_s[slow.rows].sum()), float(costs.call_s.sum()))
    once = " Each was slow in one read only: the storage may have held that read up, whatever the file."
    takes = "takes" if slow.name.startswith(("/", "1 ")) else "take"
    place = slow.name if slow.name.startswith("/") else ""
    return Finding(
        name=NAME,
        kind="note" if slow.once else "problem",
        title=f"{slow.name} {takes} {slow.times:.0f} times as long as the rest",
        what=f"{len(slow.rows):,} of {plural(len(rows), 'file')} took {share} of the time in input calls, "
        f"{slow.times:.1f} times as long as other files of their size.{once if slow.once else ''}",
        evidence=(
            Evidence("files", f"{len(slow.rows):,} of {len(rows):,}", len(slow.rows)),
            Evidence("times as long", f"{slow.times:.1f}", slow.times),
            Evidence("beyond others', over all threads", human_seconds(slow.excess_s), slow.excess_s),
        ),
        files=measures.paths_of(order),
        fix=Fix(
            f"{AGAIN if slow.once else 'Copy'} these files to faster storage, or find out what is "
            "wrong with the storage they are on.",
            copied(measures, slow.rows, everything=bool(place), place=place).lines,
        ),
        edits=(Staged(np.isin(np.arange(len(measures.files)), slow.rows)),),
        work="copy some",
    )


def _slow_writes(measures: Measures) -> Finding | None:
    """Find files of a log that were written far more slowly than others: a job waits for its slowest one."""
    table = measures.files.rows
    moved, taken = table["bytes_written"].to_numpy(), table["write_s"].to_numpy()
    rows = np.flatnonzero((moved >= THRESHOLD["little"]) & (table["writes"].to_numpy() >= FEW) & (taken > 0))
    if len(rows) < FEW:
        return None
    per_byte = taken[rows] / moved[rows]
    usual = float(np.median(per_byte))
    slow = per_byte >= SLOW * usual
    longest_s = float((taken[rows] - usual * moved[rows]).max())
    duration_s = measures.summary.duration_s
    if (
        not slow.any()
        or slow.sum() > THRESHOLD["stragglers"] * len(rows)
        or longest_s < THRESHOLD["note"] * duration_s
    ):
        return None
    files, times = int(slow.sum()), float(np.median(per_byte[slow])) / usual
    order = np.argsort(-per_byte, kind="stable")
    return Finding(
        name=NAME,
        kind="note",
        title=f"{files:,} of {plural(len(rows), 'file')} took {times:.0f} times as long to write as the "
        "others",
        what=f"The slowest of these files took {human_seconds(longest_s)} longer than others of its size. A "
        f"job that waits for all its files loses that part of its {human_seconds(duration_s)}.",
        evidence=(
            Evidence("slow files", f"{files:,} of {len(rows):,}", files),
            Evidence("times as long", f"{times:.1f}", times),
            Evidence("the slowest took longer by", human_seconds(longest_s), longest_s),
        ),
        files=measures.paths_of(rows[order]),
        cost_s=min(longest_s, duration_s),
        cost_share=min(longest_s / duration_s, 1.0),
        fix=Fix("Check the servers or disks that these files are on (lfs getstripe FILE on Lustre)."),
    )
