"""The advice: which files to stage, what it gives, what other rules would give, whether to do it at all."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.sessions.session_data import SessionData
from tfdarshan.staging.candidate import Candidates, LeftOut, find_candidates
from tfdarshan.staging.curve import CurvePoint, capacity_curve, knee
from tfdarshan.staging.expectation import Expectation, ThreadTime, expect, readers_idle
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.knapsack import Choice, choose, density_order, fill_in_order
from tfdarshan.staging.later_epochs import LaterEpochs
from tfdarshan.staging.outside_steps import read_outside_steps
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.question import CopyCost, Promise, Question, RuleResult
from tfdarshan.staging.run_facts import RunFacts, read_run
from tfdarshan.staging.small_set import is_enough, small_set
from tfdarshan.staging.tier import SlowTier
from tfdarshan.staging.unit import FOLDERS_DO, MANY_FILES, Units, folder_units
from tfdarshan.staging.valuation import (
    Valuation,
    copy_seconds,
    relative_doubt,
    total,
)
from tfdarshan.staging.whole_input import stage_all
from tfdarshan.staging.why_not import Reason, find_reasons

Array = Any

RULES = ("this advice", "smallest first", "largest first")
# Files are read about as often as each other where the one read most is read at most so many times as often.
ALIKE = 1.25


@dataclass(frozen=True)
class CacheFacts:
    """What the page cache did. `storage_share` is of the bytes read, the others of the passes.

    `counted` is whether the kernel's figures say it; else the time of each pass does.
    """

    storage_share: float
    reread_share: float
    reread_storage_share: float | None
    traced_share: float
    counted: bool = False


@dataclass(frozen=True)
class Advice:
    """All that is said. `rules` are in the order of RULES; `reasons` is empty where staging helps.

    `bytes` are the candidates' own, `room_bytes` what they take on the fast tier, in whole blocks.

    `everything` is what to expect of all files on the fast tier, whatever room there is.

    `later` is what the page cache may serve of a run's later epochs; what is expected is of the first.

    `stat_s` is the thread seconds per epoch in stats of the candidates by name. What is promised counts them
    only if the job is `mirrored`, for the reason that is given: to read copies and links in one folder, which
    answer them.

    `rest` is what staging all that fits would give, where the small set of files was chosen: those that give
    nearly all of it; None where all that fits was.

    `read_alike` says whether each candidate was read about as often as each other.

    `outside_steps` is how many of the chosen files a run reads before its first step or after the last alone:
    they fit, too, and no time here has them. `outside_bytes` are theirs.
    """

    question: Question
    facts: RunFacts
    session_epochs: float
    files: int
    bytes: int
    room_bytes: int
    left_out: tuple[LeftOut, ...]
    cache: CacheFacts
    read_alike: bool
    slow_tiers: tuple[SlowTier, ...]
    look_doubt: tuple[float, float]
    fast_tier: TierProbe
    unit: str
    units: int
    rules: tuple[RuleResult, ...]
    best_possible_s: float
    curve: tuple[CurvePoint, ...]
    knee: CurvePoint | None
    copy: CopyCost
    everything: Expectation
    later: LaterEpochs
    rest: RuleResult | None
    stat_s: float
    mirrored: str
    outside_steps: int
    outside_bytes: int
    reasons: tuple[Reason, ...]

    @property
    def chosen(self) -> RuleResult:
        """This advice's own choice."""
        return self.rules[0]

    @property
    def helps(self) -> bool:
        """Whether staging is worth it."""
        return not self.reasons

    @property
    def wait_unknown(self) -> bool:
        """Whether training may wait for something else than these reads: nothing says that it does not."""
        return self.question.input_wait is None and readers_idle(self.facts)

    def expected_at(self, point: CurvePoint) -> Expectation:
        """Gives what to expect of the files of a point of the capacity curve."""
        time = ThreadTime(
            point.slow_s,
            point.slow_s - point.saved_s,
            relative_doubt(self.slow_tiers, point.files),
            point.waits,
            looks_more=self.look_doubt[0],
            looks_less=self.look_doubt[1],
            waited_s=point.waited_s,
        )
        return expect(self.facts, self.session_epochs, time, self.question.input_wait)


@dataclass(frozen=True)
class Decision:
    """An advice with the files behind it, as rows of `use`: the candidates, and the chosen ones.

    `saved_s` is the thread seconds per epoch that each chosen one saves.
    """

    advice: Advice
    use: FileUse
    candidates: Array
    rows: Array
    saved_s: Array
    promise: Promise


def decide(sessions: Sequence[SessionData], question: Question, fast_tier: TierProbe) -> Decision:
    """Finds the files to stage.

    Args:
        sessions: Sessions of the job.
        question: Folders, capacity and what else is known.
        fast_tier: What the fast tier was measured at.

    Raises:
        SessionDataError: A session's table is damaged or missing.
    """
    return decide_on(*read_run(sessions, slow=question.slow), question, fast_tier)


def decide_on(use: FileUse, facts: RunFacts, question: Question, fast_tier: TierProbe) -> Decision:
    """Finds the files to stage, from what is already read.

    What the steps say of the input wait counts unless the question says something else.
    """
    if question.input_wait is None:
        question = dataclasses.replace(question, input_wait=facts.input_wait)
    whole = stage_all(
        use,
        facts,
        fast_tier,
        found=find_candidates(use, slow=question.slow, fast=question.fast),
        session_epochs=question.session_epochs,
        input_wait=question.input_wait,
        block_bytes=question.block_bytes,
    )
    found, valuation = whole.found, whole.valuation
    outside = read_outside_steps(use, facts, found.rows)
    picked = _pick(question, use, valuation, outside)
    members, rest = _members(picked, valuation, facts, question)
    rules = _rules(valuation, members, facts, question)
    saved_s = rules[0].expected.saved_s
    copy_s = copy_seconds(use, valuation, members, facts, fast_tier)
    every = math.ceil(copy_s / saved_s) if saved_s > 0 else None
    copy = CopyCost(copy_s, every, whole.later.paid_in(copy_s, saved_s))
    advice = Advice(
        question=question,
        facts=facts,
        session_epochs=valuation.epochs,
        files=len(found.rows),
        bytes=valuation.input_bytes,
        room_bytes=int(total(valuation.room_bytes)),
        left_out=found.left_out,
        cache=_cache_facts(use, found, facts),
        read_alike=_read_alike(use, found),
        slow_tiers=valuation.tiers,
        look_doubt=valuation.look_doubt(),
        fast_tier=fast_tier,
        unit=picked.units.name,
        units=picked.units.count,
        rules=rules,
        best_possible_s=picked.choice.bound,
        curve=picked.curve,
        knee=knee(picked.curve),
        copy=copy,
        everything=whole.expected,
        later=whole.later,
        rest=rest,
        stat_s=total(use.stat_s[found.rows]) / valuation.epochs if use.stat_s.any() else 0.0,
        mirrored=found.mirrored,
        outside_steps=int(np.count_nonzero(outside[members])),
        outside_bytes=int(total((valuation.size_bytes * outside)[members])),
        reasons=find_reasons(
            question=question,
            facts=facts,
            valuation=valuation,
            best=whole.expected,
            units=picked.units,
            chosen=rules[0],
            copy=copy,
            later=whole.later,
        ),
    )
    promise = dataclasses.replace(
        _promise(use, valuation, members, facts, rules[0]), cached_share=whole.later.kept_share
    )
    return Decision(advice, use, found.rows, found.rows[members], valuation.saved_s[members], promise)


@dataclass(frozen=True)
class _Picked:
    """What was chosen, by which units, its small set if there is one, and the curve of what else could be.

    `beside` is what the room that is left takes of what no step reads.
    """

    units: Units
    choice: Choice
    beside: Array
    small: Array | None
    curve: tuple[CurvePoint, ...]


def _pick(question: Question, use: FileUse, valuation: Valuation, outside: Array) -> _Picked:
    """Chooses files; whole folders if asked for, or if there are very many files and folders do as well."""
    rows = valuation.found.rows
    if question.unit != "directory":
        picked = _pick_by(Units("file", None, len(rows)), question, valuation, outside)
        if question.unit == "file" or len(rows) <= MANY_FILES:
            return picked
    folders = _pick_by(folder_units(use.paths, rows), question, valuation, outside)
    if question.unit == "auto" and folders.choice.value < FOLDERS_DO * picked.choice.value:
        return picked
    return folders


def _pick_by(units: Units, question: Question, valuation: Valuation, outside: Array) -> _Picked:
    value, weight = units.total(valuation.saved_s), units.total(valuation.room_bytes)
    order = density_order(value, weight)
    choice = choose(value, weight, question.room_bytes, order)
    taken = np.zeros(units.count, bool)
    taken[choice.items] = True
    small = None if question.everything else small_set(value, weight, order[taken[order]])
    return _Picked(
        units,
        choice,
        _beside(choice, value, weight, units.total(outside.astype(float)), question.room_bytes),
        small,
        capacity_curve(
            order,
            value,
            units.total(valuation.size_bytes),
            weight,
            units.total(valuation.slow_s),
            units.total(valuation.waits),
            units.total(valuation.waited_s),
        ),
    )


def _beside(choice: Choice, value: Array, weight: Array, outside: Array, room_bytes: int) -> Array:
    """Gives the items that save no step anything but are read outside of them, as many as there is room for.

    Without anything that saves time nothing is staged.
    """
    if not len(choice.items):
        return choice.items
    items = np.flatnonzero((value <= 0) & (outside > 0))
    return fill_in_order(items[np.argsort(weight[items])], weight, room_bytes - choice.weight)


def _members(
    picked: _Picked, valuation: Valuation, facts: RunFacts, question: Question
) -> tuple[Array, RuleResult | None]:
    """Gives the candidates to stage; and what all that fits gives, where these are a small set of it."""
    members = picked.units.members(np.sort(np.concatenate([picked.choice.items, picked.beside])))
    if picked.small is None:
        return members, None
    few = picked.units.members(picked.small)
    small, everything = (_result(RULES[0], valuation, rows, facts, question) for rows in (few, members))
    return (few, everything) if is_enough(small.expected, everything.expected) else (members, None)


def _promise(
    use: FileUse, valuation: Valuation, members: Array, facts: RunFacts, chosen: RuleResult
) -> Promise:
    passes = valuation.found.recurring / valuation.epochs
    reading_s = use.reading_s(valuation.found.rows)
    time, everything = valuation.thread_time(members), valuation.thread_time()
    expected = chosen.expected
    return Promise(
        epoch_s=expected.epoch_s,
        saved_s=expected.saved_s,
        low_s=expected.low_s,
        high_s=expected.high_s,
        readers=facts.readers,
        staged_passes=total(passes[members]),
        staged_bytes=total(passes[members] * valuation.found.pass_bytes[members]),
        staged_slow_s=time.slow_s,
        staged_fast_s=time.fast_s,
        rest_passes=total(passes) - total(passes[members]),
        rest_slow_s=everything.slow_s - time.slow_s,
        whole_epoch_s=None if facts.steps_s is None else facts.duration_s / valuation.epochs,
        reading_epoch_s=None if reading_s is None else reading_s / valuation.epochs,
    )


def _rules(
    valuation: Valuation, members: Array, facts: RunFacts, question: Question
) -> tuple[RuleResult, ...]:
    """Gives what the advice chose, and what the other rules would, in the order of RULES."""
    by_size = np.argsort(valuation.room_bytes.astype(np.float32))
    picked = [members]
    for order in (by_size, by_size[::-1]):
        picked.append(fill_in_order(order, valuation.room_bytes, question.room_bytes))
    return tuple(
        _result(name, valuation, rows, facts, question) for name, rows in zip(RULES, picked, strict=True)
    )


def _result(name: str, valuation: Valuation, rows: Array, facts: RunFacts, question: Question) -> RuleResult:
    """Gives what staging some candidates gives."""
    time = valuation.thread_time(rows)
    expected = expect(facts, valuation.epochs, time, question.input_wait)
    size, room = (int(each[rows].sum()) for each in (valuation.size_bytes, valuation.room_bytes))
    return RuleResult(name, len(rows), size, room, time.slow_s - time.fast_s, expected)


def _read_alike(use: FileUse, found: Candidates) -> bool:
    """Compares how often files were read, at any time and in what epochs are counted in; a size says so.

    Of a file of unknown size nobody knows how much of it a read is.
    """
    rows, size = found.rows, use.size_bytes[found.rows]
    if len(rows) < 2 or (size <= 0).any():
        return False

    def alike(often: Array) -> bool:
        return float(often.max()) <= ALIKE * float(often.min())

    return alike(found.passes) and alike(use.times_read[rows]) and alike(use.bytes_read[rows] / size)


def _cache_facts(use: FileUse, found: Candidates, facts: RunFacts) -> CacheFacts:
    read = total(use.bytes_read[found.rows])
    storage = total(use.storage_bytes[found.rows])
    share = storage / read if read else 0.0
    again, stored = found.reread_share, found.reread_storage_share
    return CacheFacts(share, again, stored, use.traced_share, facts.storage_counted)
