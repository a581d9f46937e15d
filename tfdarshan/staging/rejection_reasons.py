"""Why staging will not help, where it will not."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np

from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.promise import promise
from tfdarshan.staging.expectation import Expectation
from tfdarshan.staging.later_epochs import LaterEpochs
from tfdarshan.staging.question import CopyCost, Question, RuleResult
from tfdarshan.staging.staged_input import StagedInput, total
from tfdarshan.staging.unit import Units
from tfdarshan.thresholds import THRESHOLD
from tfdarshan.units import human_bytes, human_seconds, percent, plural

LEAST = THRESHOLD["note"]


@dataclass(frozen=True)
class Reason:
    """A limit that staging does not move: a short code, and a sentence."""

    code: str
    sentence: str


def find_reasons(
    *,
    question: Question,
    staged: StagedInput,
    best: Expectation,
    units: Units,
    chosen: RuleResult,
    copy: CopyCost,
    later: LaterEpochs,
) -> tuple[Reason, ...]:
    """Return the first limit that holds, none where staging helps.

    Args:
        question: What was asked.
        staged: The files that can be staged, with the job's model.
        best: What staging all of them gives.
        units: What is staged as one.
        chosen: What staging the chosen files gives.
        copy: What copying them takes.
        later: What a copy saves in each epoch of a run.
    """
    if not len(staged.found.rows):
        return (Reason("no_files", "the session recorded no file that could be staged"),)
    if _counted_in_memory(staged):
        return (_page_cache(staged),)
    least_s = LEAST * best.epoch_s
    if later.measured and memory_serves(staged) and (later.later_s or 0.0) < least_s:
        return (_page_cache(staged),)
    # What is read behind the last step alone shortens no step.
    if best.saved_s < least_s or not np.any(units.total(staged.saved_s) > 0):
        return (_little(staged, best),)
    if chosen.expected.saved_s < least_s:
        return (_too_small(question, chosen, best, staged, units),)
    kept = not later.known and later.memory_bytes is not None
    paid = copy.break_even_if_kept if kept else copy.break_even_epoch
    if question.epochs is not None and (paid or math.inf) > question.epochs:
        return (_copy(question.epochs, copy, later),)
    return ()


def _counted_in_memory(staged: StagedInput) -> bool:
    """Say whether the kernel fetched next to nothing of the files from storage, however long calls took."""
    use, rows = staged.use, staged.found.rows
    most = LEAST * total(use.bytes_read[rows])
    return staged.facts.storage_counted and total(use.storage_bytes[rows]) <= most


def memory_serves(staged: StagedInput) -> bool:
    """Say whether memory served at least half of the passes over the files, and of their bytes."""
    found = staged.found
    return all(
        2 * total(found.storage_passes * weight) <= total(found.passes * weight)
        for weight in (np.ones(len(found.rows)), found.pass_bytes)
    )


def _copy(epochs: int, copy: CopyCost, later: LaterEpochs) -> Reason:
    """Say that the job's epochs do not win the copy back."""
    pays = f"from epoch {copy.break_even_epoch} on" if copy.break_even_epoch else "never"
    if not later.known and later.memory_bytes is not None:
        size = human_bytes(later.input_bytes)
        pays = (
            f"{pays} if the page cache keeps nothing of the {size} of input, and later or never if it "
            "keeps all"
        )
    return Reason("copy", f"the copy pays off {pays}, and the job runs {plural(epochs, 'epoch')}")


def _page_cache(staged: StagedInput) -> Reason:
    served, passes = total(staged.found.storage_passes), total(staged.found.passes)
    if not served:
        return Reason("page_cache", "the page cache served all passes over files, as fast as any tier could")
    said = f"storage served {percent(served, passes)} of the passes over files"
    return Reason("page_cache", f"{said}: the page cache serves the rest, as fast as any tier could")


def _little(staged: StagedInput, best: Expectation) -> Reason:
    """Say what an epoch's time goes into where staging all files does not shorten it."""
    job, gains = staged.job, f"with every file staged an epoch would be {percent(best.gain, 1)} faster"
    if memory_serves(staged):
        return _page_cache(staged)
    waits = percent(float(job.weight @ (job.run.wait_s / np.maximum(job.run.total_s, TINY_S))), 1)
    waits = f"training waits for input {waits} of the time"
    # What a tier would give that takes nothing.
    edit = dataclasses.replace(staged.staged(), call_s=0.0, bytes_per_s=math.inf)
    if 1 - 1 / promise(job, edit).expected < LEAST:
        stored_s, readers_s = total(staged.slow_s), staged.facts.readers * best.epoch_s
        busy = f"storage takes {percent(stored_s, readers_s)} of the readers' time"
        return Reason("not_io", f"{waits}, and {busy}, so decoding or computing is the limit: {gains}")
    slow_s, fast_s = (human_seconds(total(values)) for values in (staged.slow_s, staged.fast_s))
    times = (
        f"reading an epoch takes the readers {slow_s} in all where the files are now, and {fast_s} on the "
        "fast tier"
    )
    return Reason("fast_tier", f"the fast tier is not faster: {times}")


def _too_small(
    question: Question, chosen: RuleResult, best: Expectation, staged: StagedInput, units: Units
) -> Reason:
    room = human_bytes(question.room_bytes)
    if not chosen.files:
        one = "folder" if units.name == "directory" else "file"
        sizes = units.total(staged.room_bytes)[units.total(staged.saved_s) > 0]
        return Reason(
            "capacity",
            f"no {one} that would gain fits: {room} may be used, and the smallest takes "
            f"{human_bytes(int(sizes.min()))}",
        )
    return Reason(
        "capacity",
        f"what fits into {room} makes an epoch {percent(chosen.expected.gain, 1)} faster; all files together "
        f"would make it {percent(best.gain, 1)} faster",
    )
