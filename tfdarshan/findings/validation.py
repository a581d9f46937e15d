"""Files that are read between the steps of two epochs: a validation set, which training waits for."""

from __future__ import annotations

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.pause_calls import PauseReading
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
    says="training stands still 2.100 s an epoch for reading other files",
    seen=("a pause between two epochs, with reads in it", "the tab's Timeline"),
    fixes={
        "tf.data": "`validation.map(load, num_parallel_calls=16)`, or `.cache()` if it fits in memory",
        "PyTorch": "`DataLoader(validation, batch_size=batch_size, num_workers=8)`",
        "plain Python": "`ThreadPoolExecutor(16).map(read_validation, paths)`",
    },
    estimate="tfdarshan replays the job twice: with 16 readers for the validation set, and with a "
    "validation set that stays in memory after its first pass. The better fix is named.",
    ignore="validating once in several epochs is enough",
    fix="a quicker validation set",
)
MOST_READERS = COUNTS[-1]


def find(measures: Measures) -> Finding | None:
    """Find such files if they are read in pauses between steps alone."""
    pauses = measures.pauses
    if not measures.traced or pauses is None:
        return None
    model, passes = measures.model, times_read(measures, pauses)
    whole_s, size = model.unit_s * model.units, float(_sizes(measures, pauses).sum())
    read = f"{plural(len(pauses.rows), 'file')} {'is' if len(pauses.rows) == 1 else 'are'} read"
    chosen = best_fix(measures, _fixes(measures, pauses))
    return Finding(
        name=NAME,
        title=f"training stands still {human_seconds(pauses.reading_s / pauses.count)} an epoch for reading "
        "other files",
        what=f"In {plural(pauses.count, 'pause')} between steps {read} that no step reads, "
        f"{human_bytes(size)} in all, {pauses.at_a_time:.1f} calls at a time: as a validation set is.",
        evidence=(
            Evidence("pauses", f"{pauses.count:,}", pauses.count),
            Evidence("reading in them", human_seconds(pauses.reading_s), pauses.reading_s),
            Evidence("of all time", percent(pauses.reading_s, whole_s), pauses.reading_s / whole_s),
            Evidence("files", f"{len(pauses.rows):,}", len(pauses.rows)),
            Evidence("times read", f"{passes:.1f}", passes),
        ),
        files=measures.paths_of(pauses.rows),
        fix=chosen.fix,
        edits=chosen.edits,
    )


def times_read(measures: Measures, pauses: PauseReading) -> float:
    """Return how often these files are read, the median, what follows the last step included."""
    read = measures.files.rows["bytes_read"].to_numpy()[pauses.rows]
    return max(1.0, float(np.median(read / np.maximum(_sizes(measures, pauses), 1))))


def _fixes(measures: Measures, pauses: PauseReading) -> list[ModelledFix]:
    """Return what can be done: more reads at a time, or to keep what fits and is read again."""
    memory, size = measures.machine.memory_bytes, float(_sizes(measures, pauses).sum())
    readers = ValidationReaders(MOST_READERS, before=pauses.at_a_time)
    found = [ModelledFix(validation_fix(measures, MOST_READERS, keep=False), (readers,))]
    if memory is not None and size <= ROOM * memory and times_read(measures, pauses) >= AGAIN:
        found.append(ModelledFix(validation_fix(measures, MOST_READERS, keep=True), (ValidationCached(),)))
    return found


def _sizes(measures: Measures, pauses: PauseReading) -> Array:
    sizes: Array = np.where(measures.sizes > 0, measures.sizes, 0)[pauses.rows]
    return sizes
