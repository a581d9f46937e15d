"""Makes steps of what a process noted: when batches were requested and came, and when optimizers stepped.

A step is an optimizer's, if there are any, else a batch of the training loader. It begins when its first
batch is requested and ends when the next step's is, or, as an epoch's last, when anything is requested.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.frameworks.all_frameworks import adapter_of, adapters
from tfdarshan.frameworks.batch_rows import CAME, END, FETCH, OPTIMIZER, REQUEST, START, STEP, UNKNOWN
from tfdarshan.frameworks.loaders import Loaders
from tfdarshan.frameworks.marked_steps import SESSION_STEP, SessionSteps
from tfdarshan.native.spool_reader import Array

NO_PASS = -1
BITS = 32
LOW_BITS = (1 << BITS) - 1


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
    # Any thread may free an iterator, and a backward pass steps optimizers in one that takes no batches.
    works_for_it = (rows["kind"] == OPTIMIZER) & ~np.isin(rows["thread"], rows["thread"][_came(rows)])
    mine = (rows["thread"] == thread) | (rows["kind"] == END) | works_for_it
    mine = rows[mine & (rows["kind"] != FETCH)]
    if not len(mine):
        return None, frozenset()
    by_optimizer = _optimizer_tells(mine, loaders.places(mine))
    marked = mine if by_optimizer else _with_steps(mine[mine["kind"] != OPTIMIZER], loaders)
    training = _trained_on(marked, loaders.places(marked))
    loaders.number_trained(marked, training, set(marked["pass"][_before_steps(marked)].tolist()))
    if training:
        steps = _steps(marked, training, loaders, by_optimizer=by_optimizer)
    else:
        steps = _without_batches(marked)
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

    A thread that only takes batches reads ahead of the loop, and nobody waits for it. One that only steps
    optimizers works for the main one, if that takes the batches.
    """
    stepped = rows["thread"][rows["kind"] == OPTIMIZER]
    if not len(stepped):
        return pid
    threads, times = np.unique(stepped, return_counts=True)
    most, takers = threads[times == times.max()], rows["thread"][_came(rows)]
    thread = pid if pid in most else int(most[0])
    return pid if pid in takers and thread not in takers else thread


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
    before = _before_steps(rows)
    return frozenset(int(place) for place in np.unique(places[before]) if place >= 0)


def _before_steps(rows: Array) -> Array:
    """Return the places of the requests behind which an optimizer stepped next."""
    events = np.flatnonzero((rows["kind"] == REQUEST) | (rows["kind"] == OPTIMIZER))
    stepped = rows["kind"][events] == OPTIMIZER
    found: Array = events[:-1][stepped[1:] & ~stepped[:-1]]
    return found


def _trained_on(rows: Array, places: Array) -> frozenset[int]:
    """Return the loaders whose batches optimizers step for.

    Those are the ones that were asked last, and those that gave batches to most of the same steps. A pass
    that begins and ends within a step only validates, unless most steps have one.
    """
    ends, last = _before_steps(rows), _followed(rows, places)
    came = np.flatnonzero(_came(rows))
    step, number = np.searchsorted(ends, came), rows["pass"][came]
    passes, inverse = np.unique(number, return_inverse=True)
    first, latest = np.full(len(passes), len(ends)), np.full(len(passes), -1)
    np.minimum.at(first, inverse, step)
    np.maximum.at(latest, inverse, step)
    goes_on = (first < latest)[inverse] & (step < len(ends)) & (places[came] >= 0)
    pairs = np.unique(_paired(step[goes_on], places[came][goes_on]))
    asked_last = {place: places[ends] == place for place in last}
    going_on = set(places[came][goes_on].tolist())
    trained = {
        place
        for place, ended in asked_last.items()
        if place in going_on or 2 * np.count_nonzero(ended) > len(ends)
    }
    found = trained or set(last)
    for place in sorted(found):
        ended = asked_last[place]
        gave, steps = np.unique((pairs & LOW_BITS)[ended[pairs >> BITS]], return_counts=True)
        found.update(gave[2 * steps > np.count_nonzero(ended)].tolist())
    return frozenset(place for place in found if place >= 0)


def _with_steps(rows: Array, loaders: Loaders) -> Array:
    """Return the rows of a job without optimizers: each batch that it works on is a step.

    It works on batches of the loader between whose requests most time goes by.
    """
    came, places = np.flatnonzero(_came(rows)), loaders.places(rows)
    if not len(came):
        return rows
    begins = rows["begin_ns"]
    until = np.append(begins, rows["end_ns"][-1])[came + 1]
    used = np.bincount(places[came] + 1, (until - begins[came]).astype(float))[1:]
    if not len(used):
        return rows
    worked_on = came[places[came] == np.argmax(used)]
    epochs = [loaders.epoch_of_pass.get(number, UNKNOWN) > 0 for number in rows["pass"][worked_on].tolist()]
    worked_on = worked_on[np.array(epochs, bool)]
    steps = rows[worked_on].copy()
    steps["kind"], steps["begin_ns"], steps["pass"] = OPTIMIZER, steps["end_ns"], NO_PASS
    return np.insert(rows, worked_on + 1, steps)


def _source(loaders: Loaders, training: frozenset[int], *, by_optimizer: bool) -> str:
    if by_optimizer:
        return next(one.optimizers for one in adapters() if one.optimizers)
    return adapter_of(loaders.found[min(training)]["framework"]).batches


def _begun(row: Any, loaders: Loaders) -> Step:
    """Return the step that begins with a request."""
    epoch = loaders.epoch_of_pass.get(int(row["pass"]), UNKNOWN)
    begin_ns = int(row["begin_ns"])
    return Step(begin_ns, int(row["end_ns"]) - begin_ns, epoch, exposed_ns=int(row["exposed_ns"]))


def _all_exposed(exposed_ns: Iterable[int]) -> int:
    """Return how long the GPU was idle in several waits together, UNKNOWN if one was not measured."""
    told = list(exposed_ns)
    return UNKNOWN if UNKNOWN in told else sum(told)


class _OptimizerSteps:
    """The step that goes on: `done_ns` is when an optimizer stepped last in it, 0 before."""

    def __init__(self, loaders: Loaders, usual: Mapping[int, int]) -> None:
        self._loaders, self._usual = loaders, usual
        self._step: Step | None = None
        self._done_ns = 0
        self._stepped: Counter[int] = Counter()
        # The loaders that gave its batches, and the start of each pass that has not given one.
        self._gave: set[int] = set()
        self._started: dict[int, Any] = {}
        # The end of a pass: batches that were taken before may be trained on behind it.
        self._rest: Step | None = None

    def end(self, at_ns: int) -> Step | None:
        """End the step at a request, if its optimizer has stepped."""
        if self._step is None or not self._done_ns:
            return None
        step, self._step = self._step, None
        step.end_ns = max(at_ns, self._done_ns)
        self._done_ns = 0
        self._stepped.clear()
        self._gave.clear()
        return step

    def start(self, row: Any, place: int) -> None:
        """Note that a training loader begins a pass: its batches of the one before are trained on no more."""
        self._started[int(row["pass"])], self._rest = row, None
        if place in self._gave:
            self._step = None
            self._gave.clear()

    def take(self, row: Any, place: int) -> None:
        """Note a batch of a training loader."""
        begun, self._rest = _begun(row, self._loaders), None
        if self._step is None:
            self._step = begun
        else:
            self._wait(begun.wait_ns, begun.exposed_ns)
        self._gave.add(place)
        started = self._started.pop(int(row["pass"]), None)
        if started is not None:
            lasted_ns = int(started["end_ns"] - started["begin_ns"])
            if started["begin_ns"] < self._step.start_ns:
                # What the job did between the start and its first request is no part of a step.
                self._step.start_ns -= lasted_ns
            self._wait(lasted_ns, int(started["exposed_ns"]))

    def _wait(self, wait_ns: int, exposed_ns: int) -> None:
        assert self._step is not None
        self._step.wait_ns += wait_ns
        self._step.exposed_ns = _all_exposed((self._step.exposed_ns, exposed_ns))

    def stop(self, row: Any) -> None:
        """Note that a training loader has no more batches."""
        self._rest = _begun(row, self._loaders)

    def leave(self) -> None:
        """Note a batch of another loader."""
        self._rest = None

    def optimizer(self, row: Any) -> Step | None:
        """Note a step of an optimizer; return the step that it ends, if it has stepped as often as usual."""
        name, ended = int(row["ordinal"]) & LOW_BITS, None
        if self._step is None:
            self._step, self._rest = self._rest, None
        elif self._stepped[name] >= self._usual.get(name, 1):
            ended = self.end(0)
        if ended is not None:
            exposed_ns = min(ended.exposed_ns, 0)
            self._step = Step(ended.end_ns, 0, ended.epoch, exposed_ns=exposed_ns)
        if self._step is not None:
            self._done_ns = int(row["end_ns"])
            self._stepped[name] += 1
        return ended


def _usual_times(rows: Array, places: Array, training: frozenset[int]) -> dict[int, int]:
    """Return how often each optimizer steps for a batch, at least: a loop may keep its batches and step on.

    What follows the first batch and the last one may have been recorded in part.
    """
    batch = np.cumsum(_came(rows) & np.isin(places, list(training)))
    stepped = (rows["kind"] == OPTIMIZER) & (batch > 0) & (batch < batch.max(initial=0))
    found: dict[int, int] = {}
    pairs, counts = np.unique(_paired(batch[stepped], rows["ordinal"][stepped]), return_counts=True)
    for name, times in zip((pairs & LOW_BITS).tolist(), counts.tolist(), strict=True):
        found[name] = min(found.get(name, times), times)
    return found


def _paired(first: Array, second: Array) -> Array:
    """Return pairs of numbers as one number each; of the second one only its lowest bits."""
    found: Array = (first.astype(np.int64) << BITS) | (second.astype(np.int64) & LOW_BITS)
    return found


def _steps(rows: Array, training: frozenset[int], loaders: Loaders, *, by_optimizer: bool) -> Iterator[Step]:
    """Yield the steps. The last one of an optimizer ends with it, a batch when its iterator is gone."""
    places = loaders.places(rows)
    if not by_optimizer:
        # A pass that is no epoch was only looked at, as by who builds a model by its first batch.
        looks = [number for number, epoch in loaders.epoch_of_pass.items() if epoch < 0]
        places[np.isin(rows["pass"], looks)] = UNKNOWN
    steps = _OptimizerSteps(loaders, _usual_times(rows, places, training))
    for row, place in zip(rows, places.tolist(), strict=True):
        kind, ended = row["kind"], None
        if kind in (START, REQUEST) or (kind == END and place in training and not by_optimizer):
            ended = steps.end(int(row["begin_ns"]))
        if kind == OPTIMIZER:
            ended = steps.optimizer(row)
        elif kind in (START, REQUEST) and place not in training:
            steps.leave()
        elif kind == START:
            steps.start(row, place)
        elif kind == REQUEST and row["outcome"] == CAME:
            steps.take(row, place)
        elif kind == REQUEST:
            steps.stop(row)
        if ended is not None:
            yield ended
    if (ended := steps.end(0 if by_optimizer else int(rows["end_ns"][-1]))) is not None:
        yield ended


def _without_batches(rows: Array) -> Iterator[Step]:
    """Yield a step for each one of an optimizer: what they wait for is not known."""
    at_ns = rows["end_ns"][rows["kind"] == OPTIMIZER].tolist()
    for begin_ns, end_ns in itertools.pairwise(at_ns):
        yield Step(begin_ns, UNKNOWN, UNKNOWN, end_ns)
