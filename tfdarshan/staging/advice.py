"""The advice: which files to stage, what it gives, what other rules would give, whether to do it at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.job_model import TINY_S
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.staging.candidate import LeftOut, find_candidates
from tfdarshan.staging.curve import CurvePoint, capacity_curve, knee, steepest
from tfdarshan.staging.expectation import Expectation
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.knapsack import Choice, choose, density_order, fill_in_order
from tfdarshan.staging.later_epochs import LaterEpochs, later_epochs
from tfdarshan.staging.plan_shape import Promise
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.question import CopyCost, Question, RuleResult
from tfdarshan.staging.rejection_reasons import Reason, find_reasons
from tfdarshan.staging.run_facts import RunFacts, measured_runs, newest_job, put_together
from tfdarshan.staging.staged_input import StagedInput, copy_seconds, staged_input, total
from tfdarshan.staging.unit import Units, folder_units

RULES = ("this advice", "smallest first", "largest first")


@dataclass(frozen=True)
class Advice:
    """All that is said. `rules` are in the order of RULES; `reasons` is empty where staging helps.

    `bytes` are the candidates' own, `room_bytes` what they take on the fast tier, in whole blocks.

    `pass_s` is what a pass over a candidate takes of a reader where it is, mean, by the model.

    `everything` is what to expect of all files on the fast tier, whatever room there is.

    `later` is what a run's epochs save, the first and later ones.

    `stat_s` is the thread seconds per epoch in stats of the candidates by name. What is promised counts them
    only if the job is `mirrored`: reads copies and links in one folder, which answer them.

    `rest` is what staging all that fits would give, where the small set of files was chosen: those that give
    nearly all of it; None where all that fits was.

    `wait_known` says whether the session tells what training waits for; `hidden`, that it does not because an
    accelerator may have computed meanwhile.

    `outside_steps` is how many of the chosen files a run reads before its first step or after the last alone:
    they fit, too, and a copy of them shortens no step. `outside_bytes` are theirs.
    """

    question: Question
    facts: RunFacts
    session_epochs: float
    files: int
    bytes: int
    room_bytes: int
    left_out: tuple[LeftOut, ...]
    pass_s: float
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
    mirrored: bool
    wait_known: bool
    hidden: bool
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


@dataclass(frozen=True, eq=False)
class Decision:
    """An advice with the files behind it, as rows of `use`: the candidates, and the chosen ones.

    `saved_s` is the readers' seconds per epoch that each chosen one saves.
    """

    advice: Advice
    use: FileUse
    candidates: Array
    rows: Array
    saved_s: Array
    promise: Promise
    staged: StagedInput
    picked: Picked

    def expected_at(self, point: CurvePoint) -> Expectation:
        """Return what to expect of the files of a point of the capacity curve."""
        return self.staged.expected(self.picked.first(point.files))


def decide(sessions: Sequence[SessionData], question: Question, fast_tier: TierProbe) -> Decision:
    """Return the files to stage.

    Args:
        sessions: Sessions of the job.
        question: Folders, capacity and what else is known.
        fast_tier: What the fast tier was measured at.

    Raises:
        SessionDataError: A session's table is damaged or missing.
    """
    runs = measured_runs(sessions, slow=question.slow)
    return decide_on(*put_together(runs), question, fast_tier, newest_job(runs))


def decide_on(
    use: FileUse, facts: RunFacts, question: Question, fast_tier: TierProbe, job: ModelledJob
) -> Decision:
    """Return the files to stage, from what is already read.

    Args:
        use: What the files were used for.
        facts: The run.
        question: Folders, capacity and what else is known.
        fast_tier: What the fast tier was measured at.
        job: The replay model of the newest session.
    """
    found = find_candidates(use, slow=question.slow, fast=question.fast)
    staged = staged_input(
        use, facts, job, fast_tier, found,
        session_epochs=question.session_epochs, block_bytes=question.block_bytes,
    )  # fmt: skip
    outside = staged.outside_steps
    picked = _pick(question, staged)
    members, rest = _members(picked, staged)
    rules, everything, later = _rules(staged, members, question), staged.expected(), later_epochs(staged)
    copy = _copy_cost(staged, members, rules[0].expected, everything, later)
    advice = Advice(
        question=question,
        facts=facts,
        session_epochs=staged.epochs,
        files=len(found.rows),
        bytes=int(total(staged.size_bytes)),
        room_bytes=int(total(staged.room_bytes)),
        left_out=found.left_out,
        pass_s=total(staged.slow_s) / max(total(staged.passes), TINY_S),
        fast_tier=fast_tier,
        unit=picked.units.name,
        units=picked.units.count,
        rules=rules,
        best_possible_s=picked.choice.bound,
        curve=picked.curve,
        knee=knee(picked.curve),
        copy=copy,
        everything=everything,
        later=later,
        rest=rest,
        stat_s=total(use.stat_s[found.rows]) / staged.epochs,
        mirrored=staged.mirrored,
        wait_known=staged.wait_known,
        hidden=staged.job.facts.hidden,
        outside_steps=int(np.count_nonzero(outside[members])),
        outside_bytes=int(total((staged.size_bytes * outside)[members])),
        reasons=find_reasons(
            question=question, staged=staged, best=everything, units=picked.units, chosen=rules[0],
            copy=copy, later=later,
        ),
    )  # fmt: skip
    promise = _promise(staged, members, rules[0], later)
    rows = found.rows[members]
    return Decision(advice, use, found.rows, rows, staged.saved_s[members], promise, staged, picked)


@dataclass(frozen=True, eq=False)
class Picked:
    """What was chosen, by which units, its small set if there is one, and the curve of what else could be.

    `beside` is what the room that is left takes of what no step reads; `order` is units that gain, the best
    per byte first.
    """

    units: Units
    choice: Choice
    beside: Array
    small: Array | None
    order: Array
    curve: tuple[CurvePoint, ...]

    def first(self, count: int) -> Array:
        """Return the candidates of the best units, so many."""
        return self.units.members(np.sort(self.order[:count]))


def _pick(question: Question, staged: StagedInput) -> Picked:
    """Choose files, or whole folders if asked for."""
    rows, room = staged.found.rows, question.room_bytes
    units = (
        Units("file", None, len(rows)) if question.unit == "file" else folder_units(staged.use.paths, rows)
    )
    value, weight = units.total(staged.saved_s), units.total(staged.room_bytes)
    order = density_order(value, weight)
    choice = choose(value, weight, room, order)
    taken = np.zeros(units.count, bool)
    taken[choice.items] = True
    beside = _beside(choice, value, weight, units.total(staged.outside_steps.astype(float)), room)
    small = None if question.everything else small_set(value, weight, order[taken[order]])
    curve = capacity_curve(order, value, units.total(staged.size_bytes), weight, units.total(staged.slow_s))
    return Picked(units, choice, beside, small, order, curve)


def small_set(value: Array, weight: Array, order: Array) -> Array | None:
    """Return the items up to where a byte gives less than on average, sorted; None if all give alike.

    Args:
        value: What each item saves.
        weight: Bytes of each item.
        order: The items that were chosen, the most value per weight first.
    """
    if not len(order):
        return None
    last = steepest(*(np.cumsum(each[order], dtype=np.float64) for each in (value, np.maximum(weight, 1))))
    return None if last + 1 == len(order) else np.sort(order[: last + 1])


def _beside(choice: Choice, value: Array, weight: Array, outside: Array, room_bytes: int) -> Array:
    """Return the items that save no step anything but are read outside of them, as many as there is room for.

    Without anything that saves time nothing is staged.
    """
    if not len(choice.items):
        return np.zeros(0, int)
    items = np.flatnonzero((value <= 0) & (outside > 0))
    return fill_in_order(items[np.argsort(weight[items])], weight, room_bytes - choice.weight)


def _members(picked: Picked, staged: StagedInput) -> tuple[Array, RuleResult | None]:
    """Return the candidates to stage; and what all that fits gives, where these are a small set of it."""
    members = picked.units.members(np.sort(np.concatenate([picked.choice.items, picked.beside])))
    # What files of other ranks give is not in the model, so that it cannot say that few are enough.
    if picked.small is None or (staged.place[members] < 0).any():
        return members, None
    few = picked.units.members(picked.small)
    small, everything = (_result(RULES[0], staged, rows) for rows in (few, members))
    return (few, everything) if staged.is_enough(small.expected, everything.expected) else (members, None)


def _copy_cost(
    staged: StagedInput, members: Array, chosen: Expectation, best: Expectation, later: LaterEpochs
) -> CopyCost:
    copy_s, share = copy_seconds(staged, members), chosen.saved_s / max(best.saved_s, TINY_S)
    kept, lost = (later.paid_in(copy_s, share, kept=kept) for kept in (True, False))
    return CopyCost(copy_s, lost, kept)


def _promise(staged: StagedInput, members: Array, chosen: RuleResult, later: LaterEpochs) -> Promise:
    facts, passes, expected = staged.facts, staged.passes, chosen.expected
    reading_s = staged.use.reading_s(staged.found.rows)
    staged_slow_s = total(staged.slow_s[members])
    return Promise(
        epoch_s=expected.epoch_s,
        saved_s=expected.saved_s,
        low_s=expected.low_s,
        high_s=expected.high_s,
        readers=facts.readers,
        staged_passes=total(passes[members]),
        staged_slow_s=staged_slow_s,
        staged_fast_s=total(staged.fast_s[members]),
        rest_passes=total(passes) - total(passes[members]),
        rest_slow_s=total(staged.slow_s) - staged_slow_s,
        whole_epoch_s=None if facts.steps_s is None else facts.duration_s / staged.epochs,
        reading_epoch_s=None if reading_s is None else reading_s / staged.epochs,
        cached_share=float(not later.known),
    )


def _rules(staged: StagedInput, members: Array, question: Question) -> tuple[RuleResult, ...]:
    """Return what the advice chose, and what the other rules would, in the order of RULES."""
    by_size = np.argsort(staged.room_bytes.astype(np.float32))
    picked = [members]
    for order in (by_size, by_size[::-1]):
        picked.append(fill_in_order(order, staged.room_bytes, question.room_bytes))
    return tuple(_result(name, staged, rows) for name, rows in zip(RULES, picked, strict=True))


def _result(name: str, staged: StagedInput, rows: Array) -> RuleResult:
    """Return what staging some candidates gives."""
    size, room = (int(each[rows].sum()) for each in (staged.size_bytes, staged.room_bytes))
    return RuleResult(name, len(rows), size, room, total(staged.saved_s[rows]), staged.expected(rows))
