"""Why staging will not help, where it will not."""

from __future__ import annotations

import math
from dataclasses import dataclass

from tfdarshan.staging.expectation import Expectation, ThreadTime, expect
from tfdarshan.staging.question import CopyCost, Question, RuleResult
from tfdarshan.staging.run_facts import RunFacts
from tfdarshan.staging.valuation import Valuation
from tfdarshan.units import human_bytes, human_seconds, percent

CACHE_SERVES = 0.02
NOT_FASTER = 1.1


@dataclass(frozen=True)
class Reason:
    """A limit that staging does not move: a short code, and a sentence."""

    code: str
    sentence: str


def find_reasons(
    *, question: Question, facts: RunFacts, valuation: Valuation, chosen: RuleResult, copy: CopyCost
) -> tuple[Reason, ...]:
    """Gives the first limit that holds, none where staging helps.

    Args:
        question: What was asked.
        facts: The run.
        valuation: What the candidates take.
        chosen: What staging the chosen files gives.
        copy: What copying them takes.
    """
    found = valuation.found
    passes = float(found.passes.sum())
    everything = valuation.thread_time()
    if not len(found.rows):
        return (Reason("no_files", "the sessions have no file that could be staged"),)
    if float(found.recurring.sum()) <= CACHE_SERVES * passes:
        return (_page_cache(float(found.storage_passes.sum()), passes),)
    if everything.slow_s < NOT_FASTER * everything.fast_s:
        return (_not_faster(everything),)
    best = expect(facts, valuation.epochs, everything, question.input_wait)
    if best.gain < question.least_gain:
        return (_not_io(best, facts, question.input_wait),)
    if chosen.expected.gain < question.least_gain:
        return (_too_small(question, chosen, best, int(valuation.size.min())),)
    if question.epochs is not None and (copy.break_even_epoch or math.inf) > question.epochs:
        pays = f"from epoch {copy.break_even_epoch} on" if copy.break_even_epoch else "never"
        return (Reason("copy", f"the copy pays {pays}, and the job runs {question.epochs}"),)
    return ()


def _not_faster(everything: ThreadTime) -> Reason:
    return Reason(
        "fast_tier",
        "the fast tier is not faster: an epoch's reads of all files take "
        f"{human_seconds(everything.fast_s)} of thread time there and "
        f"{human_seconds(everything.slow_s)} where they are",
    )


def _too_small(question: Question, chosen: RuleResult, best: Expectation, smallest: int) -> Reason:
    room = human_bytes(question.room_bytes)
    if not chosen.files:
        return Reason(
            "capacity", f"no file fits: {room} may be used and the smallest takes {human_bytes(smallest)}"
        )
    return Reason(
        "capacity",
        f"what fits into {room} makes an epoch {100 * chosen.expected.gain:.1f} % faster; all files together "
        f"would make it {100 * best.gain:.1f} %",
    )


def _page_cache(storage_passes: float, passes: float) -> Reason:
    first = "storage served none of the passes over files"
    if storage_passes > CACHE_SERVES * passes:
        first = "storage served files the first time only"
    return Reason("page_cache", f"{first}: the page cache serves the rest, as fast as any tier could")


def _not_io(best: Expectation, facts: RunFacts, input_wait: float | None) -> Reason:
    waits = ""
    if input_wait is not None:
        waits = f"training waits for input {100 * input_wait:.1f} % of the time; "
    elif facts.io_s is not None:
        waits = f"a file call is running {percent(facts.io_s, facts.duration_s)} of the time; "
    return Reason(
        "not_io",
        f"{waits}decoding or computing is the limit: with every file staged an epoch would be "
        f"{100 * best.gain:.1f} % faster",
    )
