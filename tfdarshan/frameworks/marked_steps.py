"""The steps of a session as rows of one shape: those that the job marked, or those made of its batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from tfdarshan.frameworks.batch_log import LOOPED_STEPS, SOURCES, STEP_CALLS
from tfdarshan.frameworks.batch_rows import STEP, UNKNOWN, row_blocks
from tfdarshan.native.spool_reader import Array

# -1 stands for what nothing says. Source: struct tfd_batch_row of csrc/batches/batch_log.h.
STEP_ROW = np.dtype(
    [
        ("kind", "<i4"), ("loop", "<i4"), ("start_ns", "<i8"), ("end_ns", "<i8"), ("step", "<i8"),
        ("input_wait_ns", "<i8"), ("rchar", "<i8"), ("read_bytes", "<i8"), ("epoch", "<i4"),
        ("source", "<i4"),
    ]
)  # fmt: skip
# With the time of the wait in which the GPU was idle. Only waits of loaders have it, from a row of its own.
SESSION_STEP = np.dtype([*STEP_ROW.descr, ("exposed_wait_ns", "<i8")])


@dataclass(frozen=True)
class SessionSteps:
    """The steps of a session in order of time.

    Attributes:
        blocks: Arrays of SESSION_STEP, one after the other; times in ns since the epoch.
        sources: What `source` is a place in.
        left_out: How many steps other threads marked meanwhile, which are not among them.
    """

    blocks: Iterator[Array]
    sources: Sequence[str]
    left_out: int = 0


@dataclass
class _Loop:
    """The steps that one thread marked: how many, and from when until when, in ns since the epoch."""

    steps: int
    start_ns: int
    end_ns: int


def marked_steps(folder: Path, owner: int) -> SessionSteps | None:
    """Return the steps that the owner of a session marked, also if it was killed; None if there are none.

    Of threads that mark steps at the same time they are those of the one that marked most.

    Args:
        folder: The session's spool folder.
        owner: The owner's process number.
    """
    loops = _loops(_marked(folder, owner))
    if not loops:
        return None
    kept = _one_at_a_time(loops)
    chosen = (rows[np.isin(rows["loop"], kept)] for rows in _marked(folder, owner))
    left_out = sum(loop.steps for number, loop in loops.items() if number not in kept)
    return SessionSteps((_session_steps(rows) for rows in chosen if len(rows)), SOURCES, left_out)


def _marked(folder: Path, owner: int) -> Iterator[Array]:
    for pid, rows in row_blocks(folder):
        marked = rows[rows["kind"] == STEP]
        if pid == owner and len(marked):
            yield marked.view(STEP_ROW)


def _loops(blocks: Iterator[Array]) -> dict[int, _Loop]:
    """Return the loops by their numbers."""
    found: dict[int, _Loop] = {}
    for rows in blocks:
        for number in np.unique(rows["loop"]).tolist():
            mine = rows[rows["loop"] == number]
            start_ns, end_ns = int(mine["start_ns"].min()), int(mine["end_ns"].max())
            loop = found.setdefault(number, _Loop(0, start_ns, end_ns))
            loop.steps += len(mine)
            loop.start_ns, loop.end_ns = min(loop.start_ns, start_ns), max(loop.end_ns, end_ns)
    return found


def _one_at_a_time(loops: dict[int, _Loop]) -> list[int]:
    """Return the loops with most steps of which none goes on while another one does."""
    kept: list[int] = []
    for number, loop in sorted(loops.items(), key=lambda one: (-one[1].steps, one[0])):
        others = (loops[other] for other in kept)
        if all(loop.end_ns <= other.start_ns or loop.start_ns >= other.end_ns for other in others):
            kept.append(number)
    return kept


def _session_steps(marked: Array) -> Array:
    steps = np.empty(len(marked), SESSION_STEP)
    for name in STEP_ROW.names or ():
        steps[name] = marked[name]
    steps["exposed_wait_ns"] = UNKNOWN
    return steps


def with_requests(steps: SessionSteps, begin_ns: Array, end_ns: Array) -> SessionSteps:
    """Return marked steps that also wait while a batch is requested from a loader within them.

    So do loops over numbers, such as those of `range()`, that take their batches by `next()`. A step that is
    marked around the loop's body alone begins with the request for its batch.

    Args:
        steps: The steps.
        begin_ns: When the training loop's requests begin, in order; it makes one after the other.
        end_ns: When they end.
    """
    begun = _from_requests(steps.blocks, begin_ns, end_ns)
    return replace(steps, blocks=(_waiting(block, begin_ns, end_ns) for block in begun))


def _from_requests(blocks: Iterator[Array], begin_ns: Array, end_ns: Array) -> Iterator[Array]:
    """Yield steps that begin with the requests behind the step before, if none is within them."""
    last_ns = np.iinfo(np.int64).min
    for steps in blocks:
        before_ns = np.append(last_ns, steps["end_ns"][:-1])
        after, first, last = (
            np.searchsorted(begin_ns, at) for at in (before_ns, steps["start_ns"], steps["end_ns"])
        )
        is_body = (steps["source"] == SOURCES.index(STEP_CALLS)) & (steps["input_wait_ns"] <= 0)
        moved = np.flatnonzero(is_body & (after < first) & (first == last))
        # What the job did between an iterator's start and its first request is no part of a step.
        lasted_ns = np.concatenate([[0], np.cumsum(end_ns - begin_ns)])
        others_ns = lasted_ns[first[moved] - 1] - lasted_ns[after[moved]]
        steps["start_ns"][moved] = begin_ns[first[moved] - 1] - others_ns
        steps["input_wait_ns"][moved] = lasted_ns[first[moved]] - lasted_ns[after[moved]]
        # The kernel was asked behind the requests.
        steps["rchar"][moved] = steps["read_bytes"][moved] = UNKNOWN
        last_ns = int(steps["end_ns"][-1])
        yield steps


def _waiting(steps: Array, begin_ns: Array, end_ns: Array) -> Array:
    start_ns, told_ns = steps["start_ns"], np.maximum(steps["input_wait_ns"], 0)
    # The wait that a loop tells is at its step's start. Where others are that the job tells, nobody knows.
    is_looped = steps["source"] == SOURCES.index(LOOPED_STEPS)
    behind_ns = start_ns + np.where(is_looped, told_ns, 0)
    until_ns, since_ns = (_requested_ns(begin_ns, end_ns, at) for at in (steps["end_ns"], behind_ns))
    waited_ns = until_ns - since_ns
    all_ns = np.where(is_looped, told_ns + waited_ns, np.maximum(told_ns, waited_ns))
    first, last = (np.searchsorted(begin_ns, steps[name]) for name in ("start_ns", "end_ns"))
    asked = np.flatnonzero(first < last)
    if len(asked):
        # A step between two of these goes on with a batch that was kept.
        those = slice(asked[0], asked[-1] + 1)
        steps["input_wait_ns"][those] = all_ns[those]
    return steps


def _requested_ns(begin_ns: Array, end_ns: Array, at_ns: Array) -> Array:
    """Return how long all requests together have lasted up to some moments."""
    before_ns = np.concatenate([[0], np.cumsum(end_ns - begin_ns)])
    begun = np.searchsorted(begin_ns, at_ns, side="right")
    last = np.maximum(begun - 1, 0)
    found: Array = before_ns[begun] - np.where(begun > 0, np.maximum(end_ns[last] - at_ns, 0), 0)
    return found
