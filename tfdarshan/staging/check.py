"""Holds a staged run against what its plan promised, and says which assumption was off."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.files.input_files import mask_of
from tfdarshan.analysis.files.rereads import median_epochs
from tfdarshan.errors import ConfigurationError
from tfdarshan.file_name import table_name
from tfdarshan.sessions.checked_json import DecodingError, check
from tfdarshan.sessions.session_data import SessionData
from tfdarshan.staging.expectation import gain
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.plan_file import STATE_FOLDER, Plan
from tfdarshan.staging.plan_shape import Promise
from tfdarshan.staging.run_facts import RunFacts, read_run
from tfdarshan.units import plural

Array = Any


@dataclass(frozen=True)
class Assumption:
    """One assumption: what was promised, what came, and how many seconds that moved an epoch by."""

    name: str
    unit: str
    promised: float
    obtained: float
    effect_s: float


@dataclass(frozen=True)
class Check:
    """Promised against obtained, per epoch.

    Attributes:
        epochs: Epochs in the staged session.
        by_steps: Whether an epoch is of the steps' time, from the first one's start to the last one's end.
        by_reading: Whether it is of the time from the first read of the data set to the last; with neither it
            is of all time, start-up too.
        first_promised: Whether the promise is a run's first epoch and the session has later ones, too.
        before_s: An epoch before staging.
        promised_s: An epoch as promised.
        low_s: The shortest epoch that was promised.
        high_s: The longest.
        obtained_s: An epoch of the staged session.
        copies_read: Planned files of which the copy was read.
        originals_read: Planned files of which the original was read all the same.
        planned: Planned files.
        assumptions: What the promise rested on, the one that moved the most first.
        others_share: What other programs took of the processors meanwhile, 0 to 1; None if unknown.
    """

    epochs: float
    by_steps: bool
    by_reading: bool
    first_promised: bool
    before_s: float
    promised_s: float
    low_s: float
    high_s: float
    obtained_s: float
    copies_read: int
    originals_read: int
    planned: int
    assumptions: tuple[Assumption, ...]
    others_share: float | None = None

    @property
    def promised_gain(self) -> float:
        """How much faster an epoch was to be."""
        return gain(self.before_s, self.before_s - self.promised_s)

    @property
    def obtained_gain(self) -> float:
        """How much faster it is."""
        return gain(self.before_s, self.before_s - self.obtained_s)

    @property
    def error(self) -> float:
        """By which share of the promised epoch the obtained one is longer (positive) or shorter."""
        return self.obtained_s / self.promised_s - 1

    @property
    def kept(self) -> bool:
        """Whether the obtained epoch is in the promised range."""
        return self.low_s <= self.obtained_s <= self.high_s

    @property
    def missed(self) -> bool:
        """Whether the obtained epoch is longer than was promised."""
        return not self.kept and self.error > 0


def check_plan(plan: Plan, sessions: Sequence[SessionData], epochs: float | None = None) -> Check:
    """Compare.

    Args:
        plan: The plan that was applied.
        sessions: Sessions of the job reading staged files.
        epochs: Epochs in them, None to take the median of the files' passes.

    Raises:
        ConfigurationError: There is nothing to check: the plan promises nothing, or it was made from one of
            the sessions, or they read none of its copies.
        SessionDataError: A session's table is damaged or missing.
    """
    if not plan.files:
        raise ConfigurationError(
            "there is nothing to check: the plan has no files, because staging will not help."
        )
    before = {str(Path(path).resolve()) for path in plan.sessions}
    for session in sessions:
        if str(session.path.resolve()) in before:
            raise ConfigurationError(
                f"there is nothing to check: the plan was made from {session.path}; name a later session, in "
                "which the job read the copies."
            )
    promise = _promise(plan)
    use, facts = read_run(sessions)
    return compare(plan, promise, use, facts, epochs)


def _promise(plan: Plan) -> Promise:
    try:
        found = check(plan.promise, Promise)
        if not found.saved_s < min(found.epoch_s, found.whole_epoch_s or found.epoch_s):
            raise DecodingError("an epoch that takes no time")
    except DecodingError as error:
        what = f"nothing that could be checked ({error})" if plan.promise else "nothing that could be checked"
        raise ConfigurationError(
            f"the plan promises {what}: write it anew with `tfdarshan advise -o PLAN`."
        ) from error
    return found


def compare(plan: Plan, promise: Promise, use: FileUse, facts: RunFacts, epochs: float | None) -> Check:
    """Compare, with everything read."""
    copies, originals, rest = _parts(plan, use)
    if not copies.any() and not originals.any():
        raise ConfigurationError(
            "there is nothing to check: the session after staging reads none of the plan's "
            f"{plural(len(plan.files), 'file')}, neither below {plan.fast_root} nor below {plan.slow_root}: "
            "is it of the same job?"
        )
    if not copies.any():
        read = plural(int(originals.sum()), "planned file")
        raise ConfigurationError(
            f"there is nothing to check: the session reads the originals of {read} "
            f"and no copy; apply the plan, and read below {plan.fast_root} or with `tfdarshan run --staged`."
        )
    data = copies | originals | rest
    epochs = epochs or median_epochs(use.times_read[data])
    sessions = max(len(facts.paths), 1)
    by, before_s, obtained_s = _epoch(promise, facts, use.reading_s(data), epochs)
    return Check(
        epochs=epochs,
        by_steps=by == "steps",
        by_reading=by == "reading",
        first_promised=promise.cached_share > 0 and round(epochs / sessions) > 1,
        before_s=before_s,
        promised_s=before_s - promise.saved_s,
        low_s=max(before_s - promise.high_s, 0.0),
        high_s=before_s - promise.low_s,
        obtained_s=obtained_s,
        copies_read=int(copies.sum()),
        originals_read=int(originals.sum()),
        planned=len(plan.files),
        assumptions=_assumptions(
            promise, use, facts.readers, epochs, (copies, originals | rest), (before_s, obtained_s)
        ),
        others_share=facts.others_share,
    )


def _epoch(
    promise: Promise, facts: RunFacts, reading_s: float | None, epochs: float
) -> tuple[str, float, float]:
    """Return what an epoch is measured by, the same on both sides, and how long it was before and is now."""
    if promise.whole_epoch_s is not None and facts.steps_s is not None:
        return "steps", promise.epoch_s, facts.steps_s / epochs
    if reading_s is not None and (promise.reading_epoch_s or 0.0) > promise.saved_s:
        return "reading", promise.reading_epoch_s or 0.0, reading_s / epochs
    return "session", promise.whole_epoch_s or promise.epoch_s, facts.duration_s / epochs


def _assumptions(
    promise: Promise,
    use: FileUse,
    readers_now: float,
    epochs: float,
    chosen: tuple[Array, Array],
    epoch_s: tuple[float, float],
) -> tuple[Assumption, ...]:
    """Split what came differently into its parts, which add up: one is changed after the other.

    Args:
        promise: What was promised.
        use: What the files were used for.
        readers_now: Readers of the staged session.
        epochs: Its epochs.
        chosen: Its files on the fast tier, and on the slow one.
        epoch_s: How long an epoch was before, and is now.
    """
    (fast, slow), readers, now = chosen, max(promise.readers, 1.0), max(readers_now, 1.0)
    seconds = (use.read_s + use.meta_s) / epochs
    passes = np.maximum(use.opens, use.bytes_read // np.maximum(use.size_bytes, 1)) / epochs
    fast_passes, fast_s = float(passes[fast].sum()), float(seconds[fast].sum())
    slow_passes, slow_s = float(passes[slow].sum()), float(seconds[slow].sum())
    fast_each = _each(promise.staged_fast_s, promise.staged_passes)
    slow_each = _each(
        promise.rest_slow_s + promise.staged_slow_s, promise.rest_passes + promise.staged_passes
    )
    rest_each = _each(promise.rest_slow_s, promise.rest_passes) or slow_each
    promised_s, total_s = promise.staged_fast_s + promise.rest_slow_s, fast_s + slow_s
    heat_s = fast_passes * fast_each + slow_passes * rest_each - promised_s
    # What is promised may be less than what the reads take less: some of it is hidden by computing.
    outside = epoch_s[0] - promise.saved_s - promised_s / readers
    outside_now = epoch_s[1] - total_s / now
    found = [
        Assumption("reads of staged files", "an epoch", promise.staged_passes, fast_passes, heat_s / readers),
        Assumption(
            "a pass over a copy", "s", fast_each, _each(fast_s, fast_passes),
            (fast_s - fast_passes * fast_each) / readers,
        ),
        Assumption(
            "a pass on the slow tier", "s", rest_each, _each(slow_s, slow_passes),
            (slow_s - slow_passes * rest_each) / readers,
        ),
        Assumption("readers", "threads", promise.readers, readers_now, total_s / now - total_s / readers),
        Assumption(
            "time without reads", "s an epoch", max(outside, 0.0), max(outside_now, 0.0),
            outside_now - outside,
        ),
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda assumption: -abs(assumption.effect_s)))


def _each(total: float, count: float) -> float:
    return total / count if count > 0 else 0.0


def _parts(plan: Plan, use: FileUse) -> tuple[Array, Array, Array]:
    """Mark the copies that were read, the originals of copies, and the other files of the data set.

    In a mirror the others are below the fast root too, as links. The stager's own journal, which
    `run --staged` reads, is none of them.
    """
    roots = (plan.fast_root, plan.slow_root)
    below_root = {root: f"{_as_tables(os.path.normpath(root)).rstrip('/')}/" for root in roots}
    own = mask_of(pc.match_substring(use.paths, f"/{STATE_FOLDER}"))
    read = (use.counted_bytes > 0) & ~own
    names = pa.array([_as_tables(file.name) for file in plan.files], pa.large_string())
    planned, below = {}, {}
    for root, prefix in below_root.items():
        below[root] = mask_of(pc.starts_with(use.paths, prefix)) & read
        inside = pc.utf8_slice_codeunits(use.paths, len(prefix))
        planned[root] = below[root] & mask_of(pc.is_in(inside, names))
    copies, originals = planned[plan.fast_root], planned[plan.slow_root] & ~planned[plan.fast_root]
    everything = below[plan.fast_root] | below[plan.slow_root]
    return copies, originals, everything & ~copies & ~originals


def _as_tables(name: str) -> str:
    return table_name(os.fsencode(name))
