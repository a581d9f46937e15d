"""Makes steps of what a process noted: when batches were requested and came, and when optimizers stepped.

A step is an optimizer's, if there are any, else a batch of the training loader. It begins when its first
batch is requested and ends when the next step's is, or, as an epoch's last, when anything is requested.
"""

from __future__ import annotations

import numpy as np

from tfdarshan.frameworks.all_frameworks import adapter_of, adapters
from tfdarshan.frameworks.batch_rows import CAME, END, FETCH, OPTIMIZER, REQUEST, START, STEP, UNKNOWN
from tfdarshan.frameworks.loaders import Loaders
from tfdarshan.frameworks.marked_steps import SESSION_STEP, SessionSteps
from tfdarshan.frameworks.step_cycles import BITS, LOW_BITS, Steps, cut_steps, paired
from tfdarshan.native.spool_reader import Array

NO_PASS = -1


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
    if not len(steps.start_ns):
        return None, training
    source = _source(loaders, training, by_optimizer=by_optimizer)
    return SessionSteps(iter([_session_steps(steps)]), [source]), training


def _session_steps(steps: Steps) -> Array:
    """Return steps as an array of SESSION_STEP."""
    found = np.zeros(len(steps.start_ns), SESSION_STEP)
    found["kind"], found["step"] = STEP, np.arange(len(found))
    found["start_ns"], found["end_ns"], found["input_wait_ns"] = steps.start_ns, steps.end_ns, steps.wait_ns
    found["epoch"], found["exposed_wait_ns"] = steps.epoch, steps.exposed_ns
    found["rchar"] = found["read_bytes"] = UNKNOWN
    return found


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


def training_requests(rows: Array, loaders: Loaders, training: frozenset[int], pid: int) -> Array:
    """Return the rows of what the training thread waited for: batches that are trained on, and iterators.

    Args:
        rows: The process's rows in order of time.
        loaders: Its loaders.
        training: Places of the loaders whose batches are trained on.
        pid: Its number.
    """
    mine = (rows["thread"] == training_thread(rows, pid)) & np.isin(loaders.places(rows), list(training))
    found: Array = rows[mine & ((rows["kind"] == START) | _came(rows))]
    return found


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
    passes = np.unique(number)
    inverse = np.searchsorted(passes, number)
    first, latest = np.full(len(passes), len(ends)), np.full(len(passes), -1)
    np.minimum.at(first, inverse, step)
    np.maximum.at(latest, inverse, step)
    goes_on = (first < latest)[inverse] & (step < len(ends)) & (places[came] >= 0)
    pairs = np.sort(paired(step[goes_on], places[came][goes_on]))
    pairs = pairs[np.diff(pairs, prepend=-1) != 0]
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
    worked_on = worked_on[loaders.epochs(rows[worked_on]) > 0]
    steps = rows[worked_on].copy()
    steps["kind"], steps["begin_ns"], steps["pass"] = OPTIMIZER, steps["end_ns"], NO_PASS
    return np.insert(rows, worked_on + 1, steps)


def _source(loaders: Loaders, training: frozenset[int], *, by_optimizer: bool) -> str:
    if by_optimizer:
        return next(one.optimizers for one in adapters() if one.optimizers)
    return adapter_of(loaders.found[min(training)]["framework"]).batches


def _steps(rows: Array, training: frozenset[int], loaders: Loaders, *, by_optimizer: bool) -> Steps:
    """Return the steps of a job that takes batches."""
    places, epochs = loaders.places(rows), loaders.epochs(rows)
    if not by_optimizer:
        # A pass that is no epoch was only looked at, as by who builds a model by its first batch.
        places[epochs < 0] = UNKNOWN
    return cut_steps(rows, places, epochs, training, by_optimizer=by_optimizer)


def _without_batches(rows: Array) -> Steps:
    """Return a step for each one of an optimizer: what they wait for is not known."""
    at_ns = rows["end_ns"][rows["kind"] == OPTIMIZER]
    unknown = np.full(max(len(at_ns) - 1, 0), UNKNOWN)
    return Steps(at_ns[:-1], at_ns[1:], unknown, unknown, unknown)
