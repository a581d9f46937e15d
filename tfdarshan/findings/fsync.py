"""The training loop waits until data is on the device: fsync and fdatasync in its way."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.checkpoint.behind import EVERY_S
from tfdarshan.findings.about import About
from tfdarshan.findings.checkpoint_saves import kind_of_saves
from tfdarshan.findings.checkpoint_stall import in_the_background
from tfdarshan.findings.counted import counted_note
from tfdarshan.findings.finding import Evidence, Finding, Fix, Unknown
from tfdarshan.findings.fix_choice import ModelledFix
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.loop_edits import SyncsBehind
from tfdarshan.units import human_seconds, plural

NAME = "fsync"
ABOUT = About(
    title="The training loop waits for fsync",
    cause="The training loop calls `fsync()` or `fdatasync()`, and stands still until the data is on "
    "the device. Nothing else of a step goes on meanwhile.",
    says="the training loop waits 10.0 ms for each of 120 fsync calls",
    seen=("sync calls of the main thread", "the tab's Timeline"),
    fixes={
        "plain Python": "`tfdarshan.checkpoint.sync_behind(file)` in place of `os.fsync(file.fileno())`",
        "TensorFlow": "`tfdarshan.checkpoint.BurstBuffer(checkpoint, fast_dir=FAST, slow_dir=SLOW)` for "
        "checkpoints",
    },
    estimate="The replay has syncs that a thread makes once a second. The bytes still go "
    "to storage, beside the next steps.",
    ignore="the job must not go on before the data is durable",
    fix="syncs in the background",
)
FIX = Fix(
    "Let another thread sync the file once a second, or sync only at the end of the run.",
    "sync_behind(file)  # from tfdarshan.checkpoint",
    "os.fsync(file.fileno())",
)


# The new name has to stand for what is durable.
RENAMED_FIX = Fix(
    "Let another thread write, sync and then rename the file: a file that is renamed before it is synced "
    "may be empty after a crash."
)


def find(measures: Measures) -> Finding | Unknown | None:
    """Find syncs by the loop's own thread."""
    if not measures.writes_known:
        return _counted(measures)
    output, segments = measures.output, measures.writes
    places = output.chosen[output.sync & output.within]
    if not len(places):
        return None
    duration = segments.end_ns[places] - segments.start_ns[places]
    whole_s = float(duration.sum()) / 1e9
    each_s = whole_s / len(places)
    per_file = np.bincount(segments.file[places], duration, minlength=len(measures.files))
    order = np.argsort(-per_file, kind="stable")
    chosen = _fix(measures, order[:1])
    return Finding(
        name=NAME,
        title=_title(measures.loop, len(places), each_s),
        what=f"{plural(len(places), 'call')} of fsync or fdatasync took {human_seconds(whole_s)}, during "
        f"which {measures.loop} stood still.",
        evidence=(
            Evidence("syncs", f"{len(places):,}", len(places)),
            Evidence("time in them", human_seconds(whole_s), whole_s),
            Evidence("mean", human_seconds(each_s), each_s),
        ),
        files=measures.paths_of(order[per_file[order] > 0]),
        fix=chosen.fix,
        edits=chosen.edits,
    )


def _title(loop: str, count: int, each_s: float) -> str:
    if count == 1:
        return f"{loop} calls fsync once, and waits {human_seconds(each_s)} for it"
    return f"{loop} waits {human_seconds(each_s)} for each of {count:,} fsync calls"


def _fix(measures: Measures, synced: Array | slice = slice(None)) -> ModelledFix:
    """Choose it for the file whose syncs take longest; counters do not tell which one that is."""
    kind, rows = kind_of_saves(measures), measures.files.rows
    if kind.fast_tier:
        return in_the_background(kind)
    renamed = (rows["renames"] > 0) & (rows["writes"] > 0)
    fix = RENAMED_FIX if renamed.to_numpy()[synced].any() else FIX
    return ModelledFix(fix, (SyncsBehind(EVERY_S),))


def _counted(measures: Measures) -> Finding | Unknown | None:
    data = measures.summary
    syncs = data.posix.syncs
    if not syncs:
        return None
    return counted_note(
        measures,
        NAME,
        unknown="what syncs cost",
        title=f"{plural(syncs, 'sync')} wait{'s' * (syncs == 1)} for the device",
        what="fsync and fdatasync return when the data is on the device.",
        evidence=(Evidence("syncs", f"{syncs:,}", syncs),),
        most_s=data.file_time.write_s,
        fix=_fix(measures).fix,
    )
