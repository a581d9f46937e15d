"""Why staging will not help, where it will not."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tfdarshan.staging.candidate import Candidates
from tfdarshan.staging.expectation import Expectation, ThreadTime, gain, readers_idle
from tfdarshan.staging.later_epochs import LaterEpochs
from tfdarshan.staging.question import CopyCost, Question, RuleResult
from tfdarshan.staging.run_facts import RunFacts
from tfdarshan.staging.unit import Units
from tfdarshan.staging.valuation import Valuation, total
from tfdarshan.units import human_bytes, human_seconds, percent, plural

CACHE_SERVES = 0.02
NOT_FASTER = 1.1


@dataclass(frozen=True)
class Reason:
    """A limit that staging does not move: a short code, and a sentence."""

    code: str
    sentence: str


def find_reasons(
    *,
    question: Question,
    facts: RunFacts,
    valuation: Valuation,
    best: Expectation,
    units: Units,
    chosen: RuleResult,
    copy: CopyCost,
    later: LaterEpochs,
) -> tuple[Reason, ...]:
    """Gives the first limit that holds, none where staging helps.

    Args:
        question: What was asked.
        facts: The run.
        valuation: What the candidates take.
        best: What staging all of them gives.
        units: What is staged as one.
        chosen: What staging the chosen files gives.
        copy: What copying them takes.
        later: What the page cache may serve of a run's later epochs.
    """
    found = valuation.found
    everything = valuation.thread_time()
    if not len(found.rows):
        return (Reason("no_files", "no file was recorded that could be staged"),)
    if memory_serves(found):
        return (_page_cache(found),)
    if everything.slow_s < NOT_FASTER * everything.fast_s:
        return (_not_faster(everything.slow_s, valuation.all_fast_s),)
    if best.gain < question.least_gain:
        return (_little(best, facts, everything, question),)
    if chosen.expected.gain < question.least_gain:
        return (_too_small(question, chosen, best, valuation, units),)
    if question.epochs is not None and (copy.break_even_epoch or math.inf) > question.epochs:
        pays = f"from epoch {copy.break_even_epoch} on" if copy.break_even_epoch else "never"
        return (Reason("copy", f"the copy pays {pays}, and the job runs {question.epochs}"),)
    if question.epochs is None or not later.likely:
        return ()
    paid = copy.break_even_if_kept is not None and copy.break_even_if_kept <= question.epochs
    return () if paid else (_kept(question.epochs, chosen, copy, later),)


def memory_serves(found: Candidates) -> bool:
    """Says whether storage will serve next to none of the passes over the candidates, nor of their bytes.

    One large file from storage is much, however many small ones memory has.
    """
    return all(
        total(found.recurring * weight) <= CACHE_SERVES * total(found.passes * weight)
        for weight in (1.0, found.pass_bytes)
    )


def _kept(epochs: int, chosen: RuleResult, copy: CopyCost, later: LaterEpochs) -> Reason:
    """Says that the page cache leaves too little to gain in the epochs that the job runs."""
    saved_s = chosen.expected.saved_s * later.epochs_worth(epochs)
    gains = f"the job's {plural(epochs, 'epoch')} save {human_seconds(saved_s)}, and copying takes"
    if later.measured:
        share = percent(later.kept_share, 1)
        why = f"the page cache served {share} of what was read again, so later epochs of a run gain little"
        return Reason("copy", f"{why}: {gains} {human_seconds(copy.seconds)}")
    size, memory = human_bytes(later.input_bytes), human_bytes(later.memory_bytes or 0)
    why = f"the page cache is likely to keep the {size} after a run's first epoch, with {memory} of memory"
    return Reason(
        "copy",
        f"{why}: then {gains} {human_seconds(copy.seconds)}; a session of two epochs shows whether it does",
    )


def _page_cache(found: Candidates) -> Reason:
    served, passes = total(found.storage_passes), total(found.passes)
    once = np.count_nonzero(np.abs(found.storage_passes - 1) <= 0.5) >= (1 - CACHE_SERVES) * len(found.rows)
    if not served:
        return Reason("page_cache", "the page cache served all passes over files, as fast as any tier could")
    said = f"storage served {percent(served, passes)} of the passes over files"
    if served > CACHE_SERVES * passes:
        said += ", next to none of them of a file that was read before"
        said = "storage served files the first time only" if once else said
    return Reason("page_cache", f"{said}: the page cache serves the rest, as fast as any tier could")


def _not_faster(slow_s: float, fast_s: float) -> Reason:
    how = "not faster" if fast_s >= slow_s else "hardly faster"
    return Reason(
        "fast_tier",
        f"the fast tier is {how}: an epoch's reads of all files take {human_seconds(fast_s)} of thread time "
        f"there and {human_seconds(slow_s)} where they are",
    )


def _little(best: Expectation, facts: RunFacts, everything: ThreadTime, question: Question) -> Reason:
    """Gives what an epoch's time goes into where staging all files does not shorten it."""
    wait = question.input_wait
    waits = "" if wait is None else f"training waits for input {100 * wait:.1f} % of the time"
    gains = f"with every file staged an epoch would be {100 * best.gain:.1f} % faster"
    model = facts.model_with(wait)
    if wait is not None and gain(1.0, model.most_of_wait[1] * wait) < question.least_gain:
        return Reason("not_io", f"{waits}, so what it does besides is the limit: {gains}")
    waits = f"{waits}; " if waits else ""
    if wait is not None and model.held_back:
        beside = "reading and all other work together fit beside what the steps compute"
        return Reason("not_io", f"{waits}{beside}, so the wait has another cause: {gains}")
    if readers_idle(facts):
        busy = f"the readers are in file calls {100 * facts.busy_share:.1f} % of the time"
        return Reason("not_io", f"{waits}{busy}, so decoding or computing is the limit: {gains}")
    readers = max(facts.readers, 1.0)
    of_it = f"of an epoch's {human_seconds(best.epoch_s)}"
    slow_s, fast_s = everything.slow_s / readers, everything.fast_s / readers
    if gain(best.epoch_s, slow_s) < question.least_gain:
        limit = f"what could be staged takes storage only {human_seconds(slow_s)} {of_it}"
        return Reason("other_io", f"{waits}other file calls are the limit, for {limit}: {gains}")
    times = f"what takes {human_seconds(slow_s)} {of_it} would take {human_seconds(fast_s)} on the fast tier"
    return Reason("little", f"{waits}{times}: {gains}")


def _too_small(
    question: Question, chosen: RuleResult, best: Expectation, valuation: Valuation, units: Units
) -> Reason:
    room = human_bytes(question.room_bytes)
    if not chosen.files:
        one = "folder" if units.name == "directory" else "file"
        sizes = units.total(valuation.room_bytes)[units.total(valuation.saved_s) > 0]
        return Reason(
            "capacity",
            f"no {one} that would gain fits: {room} may be used and the smallest takes "
            f"{human_bytes(int(sizes.min()))}",
        )
    all_gain = "leave no I/O" if math.isinf(best.gain) else f"make it {100 * best.gain:.1f} %"
    return Reason(
        "capacity",
        f"what fits into {room} makes an epoch {100 * chosen.expected.gain:.1f} % faster; all files together "
        f"would {all_gain}",
    )
