"""Files that storage serves slowly, and a local disk would serve quickly."""

from __future__ import annotations

import json
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.file_name import exact_name, shell_word
from tfdarshan.findings.about import About
from tfdarshan.findings.cache_share import from_memory
from tfdarshan.findings.copied_files import copied
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.fix_lines import CONNECTS, read_by_loop
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.replayed import first_epoch_alone
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.staging.advice import small_set
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.candidate import databases, find_candidates
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.knapsack import density_order
from tfdarshan.staging.later_epochs import LaterEpochs, later_epochs
from tfdarshan.staging.staged_input import StagedInput, staged_input
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "staging"
ABOUT = About(
    title="A local disk would be faster",
    cause="The job reads its input from storage that is slower than a local disk: a network or "
    "parallel file system, a bucket, a hard disk. Copies on a fast tier serve the reads with "
    "less latency and more bandwidth.",
    says="reads reach only 5.0 MB/s per reader",
    seen=("the files to copy, and the capacity curve", "the tab's Staging"),
    fixes={
        "any job": "`tfdarshan advise --logdir logs --fast /local -o plan.json`, then `tfdarshan stage "
        "apply plan.json`",
        "SQLite": "`cp -u DATABASE /local/`, then open the copy",
    },
    estimate="The replay has the copies on a local NVMe disk. The finding assumes the "
    "speed of that disk; `tfdarshan advise` measures the real fast tier. Copying has a price in "
    "the ranking.",
    ignore="the job is only ever run for one epoch, or the page cache keeps the input after that",
    fix="a copy of the input on a local disk",
)
ONCE = (
    " Only the first epoch read them from storage, later epochs found them in memory. Making the copies "
    "takes one such pass too, so they pay off from the second run on."
)
# When to ignore a copy, if the session shows what later epochs gain.
ONE_RUN, FEW_EPOCHS = "no other run reads this input", "few epochs follow: copying takes about as long as one"
MIRRORED = (
    "Point the job to the mirror that these commands make: with `run --staged`, the job's `stat()` calls "
    "still go to the originals."
)


@dataclass(frozen=True, eq=False)
class Worth:
    """Places of candidates, the most seconds per byte first.

    Attributes:
        useful: Those that gain at all.
        staged: Those to stage: the small set where a few give nearly all, else all of them.
        share: The share of the seconds saved that these save.
        chosen: All that the fix is of, bool, whether they gain or not.
    """

    useful: Array
    staged: Array
    share: float
    chosen: Array


def find(measures: Measures) -> Finding | Unknown | None:
    """Find them where a local disk would save time."""
    if not measures.traced:
        return measures.untraced(NAME, "what copies on a local disk would give")
    use, facts = measures.use_and_facts
    found = find_candidates(use, by_hand=True)
    if not len(found.rows) or from_memory(measures, found.rows):
        return None
    staged = staged_input(use, facts, measures.job, LOCAL_SSD, found, place=np.arange(len(use)))
    files = _worth(staged, _copied(staged, databases(use.paths)[found.rows]))
    if not len(files.useful):
        return None
    later = later_epochs(staged)
    once = later.measured and first_epoch_alone(measures, later.beyond_s)
    rows = found.rows[files.chosen]
    slow_s, fast_s = (
        staged.epochs * float(each[files.chosen].sum()) for each in (staged.slow_s, staged.fast_s)
    )
    storage_bytes = float(use.storage_bytes[rows].sum())
    all_bytes, hot_bytes = (float(staged.size_bytes[chosen].sum()) for chosen in (files.useful, files.staged))
    some, few = plural(len(files.staged), "file"), len(files.staged) < len(files.useful)
    gives = "gives" if len(files.staged) == 1 else "give"
    hot = f"; {some}, {human_bytes(hot_bytes)}, {gives} {percent(files.share, 1)} of the gain" if few else ""
    members = files.staged if few else np.flatnonzero(files.chosen)
    return Finding(
        name=NAME,
        kind="note" if once else "problem",
        title=_title(use, rows, storage_bytes / max(slow_s, TINY_S)),
        what=f"{plural(len(files.useful), 'file')}, {human_bytes(all_bytes)} in all, "
        f"{'is' if len(files.useful) == 1 else 'are'} on storage that is slower than a local disk{hot}."
        f"{ONCE if once else ''}",
        evidence=(
            Evidence("from storage", human_bytes(storage_bytes), storage_bytes),
            Evidence("time in calls on these files, all threads together", human_seconds(slow_s), slow_s),
            Evidence("the same on a local SSD (assumed)", human_seconds(fast_s), fast_s),
            Evidence("files to copy", f"{len(files.staged):,} of {len(files.useful):,}", len(files.staged)),
            Evidence("their size", human_bytes(hot_bytes), hot_bytes),
        ),
        files=measures.paths_of(found.rows[files.staged]),
        fix=_fix(measures, staged, files, later),
        edits=(staged.staged(members),),
        work="copy some" if few else "copy all",
        lasts=not once,
        caveat=later.caveat,
        not_worth="" if not later.measured else ONE_RUN if once else FEW_EPOCHS,
    )


def _title(use: FileUse, rows: Array, bytes_per_s: float) -> str:
    """Name what takes longer of some files: reads from storage, or opens, closes and stats."""
    other_s = float((use.meta_s[rows] + use.stat_s[rows]).sum())
    if other_s <= float(use.storage_s[rows].sum()):
        return f"reads reach only {human_bytes(bytes_per_s)}/s per reader"
    share = percent(other_s, other_s + float(use.read_s[rows].sum()))
    return f"calls that read nothing, such as open() and stat(), take {share} of file call time"


def _fix(measures: Measures, staged: StagedInput, files: Worth, later: LaterEpochs) -> Fix:
    """Word it: SQLite's files are opened for writing, so that no open of theirs is redirected."""
    caveat, size = f" {later.caveat}".rstrip(), staged.size_bytes
    by_sqlite = databases(measures.files.paths)[staged.found.rows]
    opened, led = (files.staged[by_sqlite[files.staged] == kind] for kind in (True, False))
    words, lines = [], []
    if len(opened):
        (first,) = measures.paths_of(staged.found.rows[opened[:1]])
        room = human_bytes(float(size[opened].sum()))
        words.append(
            f"Copy {room} of SQLite databases to a local disk.{caveat} Open the copy with the "
            "arguments of the original. `cp -u` copies only what has changed since."
        )
        # Once, and not in each run: a copy takes as long as a pass.
        copy = f"DIR/{first.rsplit('/', 1)[-1]}"
        # sqlite3 refuses a connection that another thread has opened.
        shared = "" if read_by_loop(measures) else ", check_same_thread=False"
        connects = f"database = sqlite3.connect({json.dumps(copy)}{shared})"
        lines += [f"cp -u {shell_word(exact_name(first))} DIR/", connects]
    if len(led):
        all_of_it = len(led) == np.count_nonzero(~by_sqlite[files.useful])
        beside = _beside(staged, ~by_sqlite) if all_of_it else led[:0]
        beside_bytes = float(size[beside].sum())
        copied_bytes = float(size[led].sum()) + beside_bytes
        rest = human_bytes(copied_bytes)
        rest = f"{rest} of other files" if len(opened) else f"{rest} of input"
        words.append(f"Copy {rest} to a local disk.{'' if len(opened) else caveat}")
        if beside_bytes > THRESHOLD["hardly"] * copied_bytes:
            unread = human_bytes(beside_bytes)
            words.append(f"{unread} of that is read outside of steps, and makes no step faster.")
        words += [MIRRORED] if staged.mirrored else []
        rows = staged.found.rows[~by_sqlite]
        lines.append(copied(measures, rows, everything=all_of_it, mirrored=staged.mirrored).lines)
    # Where commands stage other files, too, the line of the database is one of several.
    goes = "" if len(led) else CONNECTS
    return Fix(" ".join(words), "\n".join(lines), goes if len(opened) else "")


def _beside(staged: StagedInput, led: Array) -> Array:
    """Return what no step reads of what commands stage: they do that, too, where they stage all that fits."""
    return np.flatnonzero(staged.outside_steps & led & (staged.saved_s <= 0))


def _copied(staged: StagedInput, by_hand: Array) -> Array:
    """Say what is to be copied, bool: SQLite's files, which commands leave out, the others, or all.

    Of the two kinds one will do if it gives nearly all.
    """
    saved_s = staged.saved_s
    one: Array = by_hand if saved_s[by_hand].sum() > saved_s[~by_hand].sum() else ~by_hand
    if one.all() or staged.is_enough(staged.expected(np.flatnonzero(one)), staged.expected()):
        return one
    return np.ones(len(one), bool)


def _worth(staged: StagedInput, chosen: Array) -> Worth:
    """Return which of the chosen files are worth staging."""
    saved_s, size = np.where(chosen, staged.saved_s, 0.0), staged.size_bytes
    order = density_order(saved_s, size)
    small = small_set(saved_s, size, order)
    if small is None or not staged.is_enough(staged.expected(small), staged.expected(order)):
        return Worth(order, order, 1.0, chosen)
    first = order[: len(small)]
    return Worth(order, first, float(saved_s[first].sum() / saved_s[order].sum()), chosen)
