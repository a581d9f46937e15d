"""Files that are read between the steps of two epochs: a validation set, which training waits for."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.findings.about import About
from tfdarshan.findings.finding import Evidence, Finding
from tfdarshan.findings.fits_in_memory import AGAIN, ROOM
from tfdarshan.findings.fix_choice import COUNTS, ModelledFix, best_fix
from tfdarshan.findings.fix_lines import validation_fix
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.loop_edits import ValidationCached, ValidationReaders
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "validation"
ABOUT = About(
    title="Training waits for a validation set",
    cause="Between the steps of two epochs the job reads files that no training step reads. Training "
    "stands still meanwhile, so every second of validation input counts in full.",
    says="training stands still 2.100 s an epoch while other files are read",
    seen=("a pause between two epochs, with reads in it", "the tab's Timeline"),
    fixes={
        "tf.data": "`validation.map(load, num_parallel_calls=16)`, or `.cache()` if it fits in memory",
        "PyTorch": "`DataLoader(validation, batch_size=batch_size, num_workers=8)`",
        "plain Python": "`ThreadPoolExecutor(16).map(read_validation, paths)`",
    },
    estimate="tfdarshan replays the job twice: with 16 readers for the validation set, and with a "
    "validation set that stays in memory after its first pass. The better fix is named.",
    ignore="the pause is short beside a whole epoch of the job",
    fix="a faster validation set",
)
MOST_READERS = COUNTS[-1]
NO_FIX = "Neither more readers nor a copy in memory is sure to make that shorter."


def find(measures: Measures) -> Finding | None:
    """Find such files if they are read in pauses between steps alone."""
    rows, facts = measures.validation_files, measures.job.facts
    batches, at_a_time = facts.batches, facts.validation_readers
    reading_s = float(batches.weight @ batches.validation_s)
    if not reading_s:
        return None
    pauses = round(float(batches.weight @ (batches.validation_s > 0)))
    model, passes = measures.model, times_read(measures)
    whole_s, size = model.unit_s * model.units, float(_sizes(measures).sum())
    fixes = _fixes(measures)
    chosen = best_fix(measures, fixes) if fixes else None
    return Finding(
        name=NAME,
        kind="note" if chosen is None else "problem",
        title=f"training stands still {human_seconds(reading_s / pauses)} an epoch while "
        "other files are read",
        what=f"{'Once' if pauses == 1 else f'In {pauses:,} pauses'} between steps, the job reads "
        f"{plural(len(rows), 'file')} that no step reads, such as a validation set: {human_bytes(size)}, "
        f"{'one call' if round(at_a_time, 1) == 1 else f'{at_a_time:.1f} calls'} at a time."
        + (f" {NO_FIX}" if chosen is None else ""),
        evidence=(
            Evidence("pauses", f"{pauses:,}", pauses),
            Evidence("reading in them", human_seconds(reading_s), reading_s),
            Evidence("of all time", percent(reading_s, whole_s), reading_s / whole_s),
            Evidence("files", f"{len(rows):,}", len(rows)),
            Evidence("times read", f"{passes:.1f}", passes),
        ),
        files=measures.paths_of(rows),
        fix=None if chosen is None else chosen.fix,
        edits=() if chosen is None else chosen.edits,
    )


def times_read(measures: Measures) -> float:
    """Return how often these files are read, the median, what follows the last step included."""
    read = measures.files.rows["bytes_read"].to_numpy()[measures.validation_files]
    return max(1.0, float(np.median(read / np.maximum(_sizes(measures), 1))))


def _fixes(measures: Measures) -> list[ModelledFix]:
    """Return what can be done: to read several files at a time, or to keep what fits and is read again."""
    memory, size = measures.machine.rank_bytes, float(_sizes(measures).sum())
    several = len(measures.validation_files) > 1
    # Processes take time to start.
    counts = COUNTS if measures.job.facts.pipeline.processes is not None else (MOST_READERS,)
    found = [
        ModelledFix(validation_fix(measures, count, keep=False), (ValidationReaders(count),))
        for count in counts
        if several
    ]
    if memory is not None and size <= ROOM * memory and times_read(measures) >= AGAIN:
        found.append(ModelledFix(validation_fix(measures, MOST_READERS, keep=True), (ValidationCached(),)))
    return found


def _sizes(measures: Measures) -> Array:
    return np.where(measures.sizes > 0, measures.sizes, 0)[measures.validation_files]
