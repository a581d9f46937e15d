"""Files that storage serves slowly, and a local disk would serve quickly."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.intervals import Array
from tfdarshan.findings.copied_files import copied
from tfdarshan.findings.finding import Assumption, Cure, Evidence, Finding, Gain
from tfdarshan.findings.kept_copies import kept_copies
from tfdarshan.findings.measures import Measures
from tfdarshan.findings.served_once import SERVED_ONCE, storage_served_once
from tfdarshan.staging.assumed_tier import LOCAL_SSD
from tfdarshan.staging.candidate import ASKED_BY_NAME, LOOKED_AT, databases
from tfdarshan.staging.expectation import Expectation
from tfdarshan.staging.later_epochs import LaterEpochs
from tfdarshan.staging.outside_steps import NOTABLE, read_outside_steps
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.run_facts import RunFacts
from tfdarshan.staging.small_set import is_enough, small_set
from tfdarshan.staging.whole_input import WholeInput, stage_all
from tfdarshan.staging.why_not import memory_serves
from tfdarshan.units import human_bytes, human_seconds, percent, plural

NAME = "staging"
# Less than this is no input that anybody would copy, unless so many calls on it take that share of the time.
LEAST_BYTES, LEAST_CALLS, MUCH = 1 << 18, 30, 0.5
# A disk that was assumed, not measured, has to be so many times quicker than storage for a lower bound.
MARGIN = 4.0
ONCE = f"{SERVED_ONCE.format(what='copy')}helps only if several runs use it."
THERE = "Have the job read the mirror that the commands make there: "
MIRRORED = {
    ASKED_BY_NAME: f"{THERE}it asks for its files by name, and `run --staged` would ask the originals.",
    LOOKED_AT: f"{THERE}`run --staged` would first look at each original on the slow server, to see whether "
    "it has changed, which a mirror does not notice.",
}
NOT_FOR_DECODING = Assumption(
    "batches wait for these reads, not for what decodes beside them",
    "",
    "decoding them keeps a processor busy throughout",
)
WRITES_WAIT, AS_LONG = "the training loop's writes wait for these reads", "they take as long without these"
# The files that give this share of the gain are the hot ones.
MOST_OF_IT = 0.9


@dataclass(frozen=True)
class Worth:
    """Places of candidates, the most seconds per byte first.

    Attributes:
        useful: Those that gain at all.
        staged: Those to stage: the small set where a few give nearly all, else all of them.
        hot: Those that give most of the gain.
        share: How much of it.
        chosen: All that the cure is of, bool, whether they gain or not.
    """

    useful: Array
    staged: Array
    hot: Array
    share: float
    chosen: Array


def find(measures: Measures, fast_tier: TierProbe = LOCAL_SSD) -> Finding | None:
    """Finds them where a fast tier would save time."""
    use, facts = measures.use_and_facts
    whole = stage_all(use, facts, fast_tier)
    rows, valuation = whole.found.rows, whole.valuation
    saved, passes = whole.saved_s, use.times_read[rows]
    if float(use.storage_bytes[rows].sum()) < LEAST_BYTES and not _calls_take_most(measures):
        return None
    if float(saved.sum()) <= 0 or memory_serves(whole.found):
        return None
    size = np.where(use.size_bytes[rows] > 0, use.size_bytes[rows], use.bytes_read[rows] / passes)
    by_hand = databases(use.paths)[rows]
    files, expected = _worth(whole, facts, size, _copied(whole, facts, by_hand))
    gain, once = (
        _gain(measures, whole, files, size, expected, fast_tier),
        storage_served_once(measures, mirrored=bool(whole.found.mirrored)),
    )
    in_steps_s = np.where(valuation.in_pauses, 0.0, saved)[files.staged]
    stall_s = facts.loop_share * float(in_steps_s.sum()) + expected.still_s + expected.writes_s
    stall_s *= valuation.epochs / measures.model.units
    slow, fast = (valuation.epochs * seconds for seconds in _taken(whole, files))
    storage_bytes = float(use.storage_bytes[rows[files.chosen]].sum())
    hot_bytes, all_bytes, staged_bytes = (
        float(size[chosen].sum()) for chosen in (files.hot, files.useful, files.staged)
    )
    bandwidth = storage_bytes / max(slow, 1e-9)
    hot_files = f"{len(files.hot):,}"
    some = plural(len(files.hot), "file")
    hot = f"; {human_bytes(hot_bytes)} of it in {some} gives {percent(files.share, 1)} of the gain"
    hot = hot if len(files.hot) < len(files.useful) else ""
    return Finding(
        name=NAME,
        kind="note" if once else "problem",
        title=f"storage serves the input at {human_bytes(bandwidth)}/s a reader",
        what=f"{human_bytes(all_bytes)} in {plural(len(files.useful), 'file')} comes from storage that is "
        f"slower than a local disk{hot}.{ONCE if once else ''}",
        evidence=(
            Evidence("from storage", human_bytes(storage_bytes), storage_bytes),
            Evidence("time in it, over all threads", human_seconds(slow), slow),
            Evidence("the same on a local SSD (assumed)", human_seconds(fast), fast),
            Evidence("hot files", f"{hot_files} of {len(files.useful):,}", len(files.hot)),
            Evidence("their size", human_bytes(hot_bytes), hot_bytes),
        ),
        files=measures.paths_of(rows[files.hot]),
        unit=measures.model.unit,
        cost_s=gain.saved_s,
        stall_s=min(stall_s, gain.saved_s),
        cure=_cure(measures, whole, files, size),
        gain=gain,
        not_worth=_not_worth(whole.later),
        copied_bytes=staged_bytes,
    )


def _calls_take_most(measures: Measures) -> bool:
    calls = measures.input_calls
    return calls.calls >= LEAST_CALLS and measures.seconds(calls) >= MUCH * measures.model.unit_s


def _cure(measures: Measures, whole: WholeInput, files: Worth, size: Array) -> Cure:
    """Words it: SQLite's files are opened for writing, so that no open of theirs is redirected."""
    condition = whole.later.condition
    by_sqlite = databases(measures.files.paths)[whole.found.rows]
    opened, led = (files.staged[by_sqlite[files.staged] == kind] for kind in (True, False))
    words, lines = [], []
    if len(opened):
        (first,) = measures.paths_of(whole.found.rows[opened], 1)
        room = human_bytes(float(size[opened].sum()))
        words.append(
            f"Copy {room} of SQLite's to a local disk{condition}, and open the copy: `cp -u` copies only "
            "what has changed since."
        )
        # Once, and not in each run: a copy takes as long as a pass.
        copy = f"DIR/{first.rsplit('/', 1)[-1]}"
        lines += [f"cp -u {shlex.quote(first)} DIR/", f"database = sqlite3.connect({json.dumps(copy)})"]
    if len(led):
        all_of_it = len(led) == np.count_nonzero(~by_sqlite[files.useful])
        beside = _beside(measures, whole, ~by_sqlite) if all_of_it else led[:0]
        beside_bytes = float(size[beside].sum())
        all_bytes = float(size[led].sum()) + beside_bytes
        rest = human_bytes(all_bytes)
        rest = f"{rest}{' of other files' if len(opened) else ''}"
        words.append(f"Stage {rest} to a local disk{'' if len(opened) else condition}.")
        if beside_bytes and beside_bytes >= NOTABLE * all_bytes:
            unread = human_bytes(beside_bytes)
            words.append(f"{unread} of it is read only before the first step or after the last.")
        mirrored = bool(whole.found.mirrored)
        words += [MIRRORED[whole.found.mirrored]] if mirrored else []
        rows = whole.found.rows[~by_sqlite]
        lines.append(copied(measures, rows, everything=all_of_it, mirrored=mirrored).lines)
    # Where commands stage other files, too, the line of the database is one of several.
    goes = "" if len(led) else "database = sqlite3.connect(path)"
    return Cure(" ".join(words), "\n".join(lines), goes if len(opened) else "")


def _beside(measures: Measures, whole: WholeInput, led: Array) -> Array:
    """Gives what no step reads of what commands stage: they do that, too, where they stage all that fits."""
    outside = read_outside_steps(*measures.use_and_facts, whole.found.rows)
    return np.flatnonzero(outside & led & (whole.saved_s <= 0))


def _copied(whole: WholeInput, facts: RunFacts, by_hand: Array) -> Array:
    """Says what is to be copied, bool: SQLite's files, which commands leave out, the others, or all.

    Of the two kinds one will do if an epoch is hardly shorter with both.
    """
    saved_s = whole.saved_s
    one: Array = by_hand if saved_s[by_hand].sum() > saved_s[~by_hand].sum() else ~by_hand
    if one.all() or is_enough(whole.expected_of(facts, np.flatnonzero(one)), whole.expected):
        return one
    return np.ones(len(one), bool)


def _worth(whole: WholeInput, facts: RunFacts, size: Array, chosen: Array) -> tuple[Worth, Expectation]:
    """Gives which of the chosen files are worth staging, and what to expect of that."""
    saved = np.where(chosen, whole.saved_s, 0.0)
    order = np.argsort(-saved / np.maximum(size, 1), kind="stable")
    order = order[saved[order] > 0]
    all_of_them = whole.expected if chosen.all() else whole.expected_of(facts, np.flatnonzero(chosen))
    reached = np.cumsum(saved[order], dtype=np.float64)
    small = small_set(saved, size, order)
    if small is not None and is_enough(expected := whole.expected_of(facts, small), all_of_them):
        first = order[: len(small)]
        return Worth(order, first, first, float(reached[len(first) - 1] / reached[-1]), chosen), expected
    hot = order[: int(np.searchsorted(reached, MOST_OF_IT * reached[-1])) + 1]
    return Worth(order, order, hot, float(reached[len(hot) - 1] / reached[-1]), chosen), all_of_them


def _not_worth(later: LaterEpochs) -> str:
    measured = "`tfdarshan advise` measures the fast tier, and says after how many epochs it pays"
    if later.known:
        return f"for a single epoch: the copy reads everything once. {measured}"
    memory = "" if later.memory_bytes is None else f" ({human_bytes(later.memory_bytes)} of memory)"
    return (
        f"if the page cache keeps the {human_bytes(later.input_bytes)} from a run's first epoch on{memory}: "
        f"the copy reads everything once, and only that epoch gains. {measured}"
    )


def _gain(
    measures: Measures,
    whole: WholeInput,
    files: Worth,
    size: Array,
    expected: Expectation,
    fast_tier: TierProbe,
) -> Gain:
    """Gives of a unit what is expected of an epoch."""
    model, units_s = measures.model, whole.valuation.epochs / measures.model.units
    found_s = (expected.low_s, expected.saved_s, expected.high_s, expected.if_so_s)
    low, likely, high, if_so = (units_s * saved_s for saved_s in found_s)
    use, facts = measures.use_and_facts
    by_loop = not model.certain and facts.loop_reads
    faster, kept = _faster(whole, files, fast_tier), None
    if not faster.support:
        kept = kept_copies(use, whole, files.staged, size, facts.memory_bytes)
    if kept is not None:
        low, faster = kept.share * low, kept.assumed(_speed(fast_tier))
    assumed = [measures.waited, *(() if by_loop else measures.shared), faster]
    if facts.may_wait_for_decoding:
        assumed.append(NOT_FOR_DECODING)
    if expected.writes_s > 0:
        each = f"{human_seconds(units_s * expected.writes_s)} a {model.unit}"
        assumed.append(Assumption(WRITES_WAIT, f"{each}; those with no read between are quick", AS_LONG))
    return Gain(model.unit, model.unit_s, low, likely, high, tuple(assumed), if_so)


def _taken(whole: WholeInput, files: Worth) -> tuple[float, float]:
    """Gives the thread seconds per epoch of what the cure is of, where it is and on the fast tier."""
    slow_s, fast_s = (values[files.chosen] for values in (whole.valuation.slow_s, whole.valuation.fast_s))
    return float(slow_s.sum()), float(fast_s.sum())


def _faster(whole: WholeInput, files: Worth, fast_tier: TierProbe) -> Assumption:
    """Gives what has to be so of the fast tier; the bounds hold if it is so much slower than was assumed."""
    slow_s, fast_s = _taken(whole, files)
    margin = slow_s / max(fast_s, 1e-12)
    measured, speed = fast_tier is not LOCAL_SSD, _speed(fast_tier)
    return Assumption(
        f"{'the fast tier' if measured else 'a local disk, which was not measured,'} takes {speed}",
        f"storage takes {margin:.1f} times as long" if measured or margin >= MARGIN else "",
        "the fast tier is busy otherwise" if measured else "`tfdarshan advise` measures less",
    )


def _speed(tier: TierProbe) -> str:
    """Says what a tier takes for a file, and for bytes."""
    cost = tier.model
    return f"{human_seconds(cost.base_s)} a file and {human_bytes(1 / max(cost.s_per_byte, 1e-12))}/s"
