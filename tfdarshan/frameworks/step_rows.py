"""Makes steps of what a process noted: when batches were requested and came, and when optimizers stepped.

A step is an optimizer's, if there are any, else a batch of the training loader. It begins when its first
batch is requested and ends when the next step's is, or, as an epoch's last, when anything is requested.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.frameworks.all_frameworks import adapter_of, adapters
from tfdarshan.frameworks.batch_rows import CAME, END, FETCH, OPTIMIZER, REQUEST, START, STEP, UNKNOWN
from tfdarshan.frameworks.loaders import Loaders
from tfdarshan.frameworks.marked_steps import SESSION_STEP, SessionSteps
from tfdarshan.native.spool_reader import Array


@dataclass
class Step:
    """One step; times in ns since the epoch. The GPU was idle for `exposed_ns` of the wait, -1 if unknown."""

    start_ns: int
    wait_ns: int
    epoch: int
    end_ns: int = 0
    exposed_ns: int = UNKNOWN


def step_rows(rows: Array, loaders: Loaders, pid: int) -> tuple[SessionSteps | None, frozenset[int]]:
    """Return the steps, None if there are none, and the training loaders' places.

    Args:
        rows: The process's rows in order of time.
        loaders: Its loaders.
        pid: Its number.
    """
    thread = training_thread(rows, pid)
    # An iterator may be freed by any thread.
    mine = rows[((rows["thread"] == thread) | (rows["kind"] == END)) & (rows["kind"] != FETCH)]
    places = loaders.places(mine)
    by_optimizer = _optimizer_tells(mine, places)
    training = _followed(mine, places) if by_optimizer else _longest_used(mine, places)
    if by_optimizer:
        steps = _steps_of_optimizer(mine, places, training, loaders)
    else:
        steps = _steps_of_batches(mine, places, training, loaders)
    found = np.fromiter(
        (_session_step(number, step) for number, step in enumerate(steps)),
        SESSION_STEP,
    )
    if not len(found):
        return None, training
    source = _source(loaders, training, by_optimizer=by_optimizer)
    return SessionSteps(iter([found]), [source]), training


def _session_step(number: int, step: Step) -> tuple[int, ...]:
    """Return a step as SESSION_STEP has it."""
    times = (step.start_ns, step.end_ns, number, step.wait_ns)
    return (STEP, 0, *times, UNKNOWN, UNKNOWN, step.epoch, 0, step.exposed_ns)


def training_thread(rows: Array, pid: int) -> int:
    """Return the thread that trains: the one whose optimizer steps most often, else the main one.

    A thread that only takes batches reads ahead of the loop, and nobody waits for it.
    """
    stepped = rows["thread"][rows["kind"] == OPTIMIZER]
    if not len(stepped):
        return pid
    threads, times = np.unique(stepped, return_counts=True)
    return int(threads[np.argmax(times)])


def _came(rows: Array) -> Array:
    found: Array = (rows["kind"] == REQUEST) & (rows["outcome"] == CAME)
    return found


def _optimizer_tells(rows: Array, places: Array) -> bool:
    """Return whether optimizers end steps: they do not if batches go on without them.

    So they do in replays of a CUDA graph, in which no optimizer is called.
    """
    stepped = np.flatnonzero(rows["kind"] == OPTIMIZER)
    if not len(stepped):
        return False
    came = _came(rows) & np.isin(places, list(_followed(rows, places)))
    batches, last = np.cumsum(came), stepped[-1]
    if not batches[last]:
        return True
    between = np.diff(np.concatenate([[0], batches[stepped]]))
    # A later pass over the loader may only measure how good the model is.
    goes_on = came[last:] & (rows["pass"][last:] == rows["pass"][:last][came[:last]][-1])
    return bool(np.count_nonzero(goes_on) <= between.max())


def _followed(rows: Array, places: Array) -> frozenset[int]:
    """Return the loaders that were asked last when an optimizer stepped."""
    events = np.flatnonzero((rows["kind"] == REQUEST) | (rows["kind"] == OPTIMIZER))
    stepped = rows["kind"][events] == OPTIMIZER
    before = events[:-1][stepped[1:] & ~stepped[:-1]]
    return frozenset(int(place) for place in np.unique(places[before]) if place >= 0)


def _longest_used(rows: Array, places: Array) -> frozenset[int]:
    """Return the loader between whose requests most time goes by."""
    came = np.flatnonzero(_came(rows))
    if not len(came):
        return frozenset()
    begins = rows["begin_ns"]
    until = np.append(begins, rows["end_ns"][-1])[came + 1]
    used = np.bincount(places[came] + 1, (until - begins[came]).astype(float))[1:]
    return frozenset([int(np.argmax(used))]) if len(used) else frozenset()


def _source(loaders: Loaders, training: frozenset[int], *, by_optimizer: bool) -> str:
    if by_optimizer:
        return next(one.optimizers for one in adapters() if one.optimizers)
    return adapter_of(loaders.found[min(training)]["framework"]).batches


def _steps_of_batches(
    rows: Array, places: Array, training: frozenset[int], loaders: Loaders
) -> Iterator[Step]:
    step: Step | None = None
    started: Any = None
    passed = -1
    for row, place in zip(rows, places.tolist(), strict=True):
        begin_ns = int(row["begin_ns"])
        if step is not None and (row["kind"] in (START, REQUEST) or row["pass"] == passed):
            step.end_ns = begin_ns
            yield step
            step = None
        if row["kind"] == START:
            started = row
        elif row["kind"] == REQUEST:
            begun = _begun(row, started, loaders)
            if row["outcome"] == CAME and place in training and begun.epoch > 0:
                step, passed = begun, int(row["pass"])
            started = None
    if step is not None:
        step.end_ns = max(int(rows["end_ns"].max()), step.start_ns)
        yield step


def _begun(row: Any, started: Any, loaders: Loaders) -> Step:
    """Return the step that begins with a request, or with the start of the iterator before it."""
    epoch = loaders.epoch_of_pass.get(int(row["pass"]), UNKNOWN)
    waits = [row] if started is None else [started, row]
    return Step(
        int(waits[0]["begin_ns"]),
        sum(int(wait["end_ns"] - wait["begin_ns"]) for wait in waits),
        epoch,
        exposed_ns=_all_exposed(int(wait["exposed_ns"]) for wait in waits),
    )


def _all_exposed(exposed_ns: Iterable[int]) -> int:
    """Return how long the GPU was idle in several waits together, UNKNOWN if one was not measured."""
    told = list(exposed_ns)
    return UNKNOWN if UNKNOWN in told else sum(told)


class _OptimizerSteps:
    """The step that goes on: `done_ns` is when an optimizer stepped last in it, 0 before."""

    def __init__(self, loaders: Loaders) -> None:
        self._loaders = loaders
        self._step: Step | None = None
        self._done_ns = 0
        self._started: Any = None
        # The end of a pass: batches that were taken before may be trained on behind it.
        self._rest: Step | None = None

    def end(self, at_ns: int) -> Step | None:
        """End the step at a request, if its optimizer has stepped."""
        if self._step is None or not self._done_ns:
            return None
        step, self._step = self._step, None
        step.end_ns = max(at_ns, self._done_ns)
        self._done_ns = 0
        return step

    def start(self, row: Any) -> None:
        """Note that the training loader begins a pass: batches of the one before are trained on no more."""
        self._started, self._step, self._rest = row, None, None

    def take(self, row: Any) -> None:
        """Note a batch of the training loader."""
        begun = _begun(row, self._started, self._loaders)
        self._started = self._rest = None
        if self._step is None:
            self._step = begun
        else:
            self._step.wait_ns += begun.wait_ns
            self._step.exposed_ns = _all_exposed((self._step.exposed_ns, begun.exposed_ns))

    def stop(self, row: Any) -> None:
        """Note that the training loader has no more batches."""
        self._rest = _begun(row, None, self._loaders)

    def leave(self) -> None:
        """Note a batch of another loader."""
        self._started = self._rest = None

    def optimizer(self, at_ns: int) -> None:
        """Note a step of an optimizer."""
        if self._step is None:
            self._step, self._rest = self._rest, None
        if self._step is not None:
            self._done_ns = at_ns


def _steps_of_optimizer(
    rows: Array, places: Array, training: frozenset[int], loaders: Loaders
) -> Iterator[Step]:
    if not training:
        yield from _without_batches(rows)
        return
    steps = _OptimizerSteps(loaders)
    for row, place in zip(rows, places.tolist(), strict=True):
        kind = row["kind"]
        if kind in (START, REQUEST) and (ended := steps.end(int(row["begin_ns"]))) is not None:
            yield ended
        if kind == OPTIMIZER:
            steps.optimizer(int(row["end_ns"]))
        elif kind in (START, REQUEST) and place not in training:
            steps.leave()
        elif kind == START:
            steps.start(row)
        elif kind == REQUEST and row["outcome"] == CAME:
            steps.take(row)
        elif kind == REQUEST:
            steps.stop(row)
    if (ended := steps.end(0)) is not None:
        yield ended


def _without_batches(rows: Array) -> Iterator[Step]:
    """Yield a step for each one of an optimizer: what they wait for is not known."""
    at_ns = rows["end_ns"][rows["kind"] == OPTIMIZER].tolist()
    for begin_ns, end_ns in itertools.pairwise(at_ns):
        yield Step(begin_ns, UNKNOWN, UNKNOWN, end_ns)
