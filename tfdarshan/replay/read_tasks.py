"""Cuts the calls on input into tasks: chains of calls that one reader makes for a sample or a file."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from tfdarshan.analysis.calls.call_kinds import CALL_KINDS, KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.pass_bytes import pass_bytes
from tfdarshan.analysis.storage.storage_passes import from_storage
from tfdarshan.replay.job_model import CALLS, OPEN, PROBE, READ, STAT
from tfdarshan.replay.priors import SETTING

OF_KIND = {"stat": STAT, "read": READ, "empty_read": PROBE}
COUNTED = [
    KIND[kind] for kind in ("open", *OF_KIND)
]  # what follows an open, such as its close, is part of it
GROUP = np.array([OF_KIND.get(kind, OPEN) for kind in CALL_KINDS])


@dataclass(frozen=True)
class InputCalls:
    """Calls on input in order of start; one entry per call.

    Attributes:
        start_s: Starts in seconds.
        end_s: Ends.
        kind: Places in `CALL_KINDS`.
        file: Rows of the file table.
        thread: Threads.
        offset: Where a read begins, -1 if that is unknown.
        length: Bytes that it read.
        process: Numbers of the processes that made them.
        exact: Whether these follow from `offset` on, bool: of a page fault that is not known.
    """

    start_s: Array
    end_s: Array
    kind: Array
    file: Array
    thread: Array
    offset: Array
    length: Array
    process: Array
    exact: Array


@dataclass(frozen=True)
class ReadTasks:
    """Tasks in order of their first call. Times are in seconds; one entry per task.

    Attributes:
        begin_s: When it began.
        epoch: The pass over the input that it is of, from 0.
        file: The file that it read most recently, a row of the file table.
        calls: Calls by `job_model.CALLS`, shape (kinds, tasks); of those by an open file the opens alone.
        first_opens: Its opens of a file that its process did not open before, shape (tasks,).
        call_s: Their durations, likewise.
        turn_s: What of these is after the call that ended before, shape (tasks,): what each takes of storage
            that serves one call at a time.
        quick_s: What they would take if each were as quick as the quickest of its kind, shape (tasks,).
        size: Bytes read.
        stored_s: The durations of its reads that storage served, not memory.
        requests: How many these are: what the kernel read ahead is no request.
        jumps: Reads elsewhere than where the last one of the file ended.
        places: How many of these begin where no other one of the file did before.
        asked_reads: Reads that the program asked for: a database makes a chain of reads of one of these.
        work_s: Time of its reader between its calls.
        rest_s: And from its last call to the first one of the next task of its thread; infinite after that.
    """

    begin_s: Array
    epoch: Array
    file: Array
    calls: Array
    first_opens: Array
    call_s: Array
    turn_s: Array
    quick_s: Array
    size: Array
    stored_s: Array
    requests: Array
    jumps: Array
    places: Array
    asked_reads: Array
    work_s: Array
    rest_s: Array

    def __len__(self) -> int:
        return len(self.begin_s)


def read_tasks(calls: InputCalls, size_bytes: Array, batches: int) -> ReadTasks:
    """Return the tasks.

    Args:
        calls: Of a part of a session or all of it.
        size_bytes: Sizes of the files of the table, not above 0 where unknown.
        batches: How many batches they are for.
    """
    if not len(calls.start_s):
        none: dict[str, Array] = dict.fromkeys((one.name for one in fields(ReadTasks)), np.zeros(0))
        none |= dict.fromkeys(("epoch", "file"), np.zeros(0, int))
        return ReadTasks(**none | dict.fromkeys(("calls", "call_s"), np.zeros((len(CALLS), 0))))
    heads = _heads(calls, batches)
    number = _numbers(calls, heads, batches)
    count = int(number.max()) + 1
    lasted_s, reads = calls.end_s - calls.start_s, calls.kind == KIND["read"]
    length = np.where(reads, calls.length, 0)
    begin_s, work_s, rest_s = _between(calls, number, count)
    stored = reads & from_storage(np.ones(len(number)), length, lasted_s)
    file = np.zeros(count, int)
    file[number] = calls.file
    order = np.argsort(begin_s, kind="stable")

    def summed(values: Array) -> Array:
        return np.bincount(number, values, minlength=count)[order]

    groups, counted = GROUP[calls.kind], np.isin(calls.kind, COUNTED)
    passes, jumps = np.zeros(count, int), reads & jumps_of(calls)
    np.maximum.at(passes, number[reads], _passes(calls, length, size_bytes)[reads])
    # A batch that passes over its files again and again is no row of epochs.
    most = int(passes.max(initial=0)) + 1
    passes = passes * batches // most if most > batches else passes
    epoch = _epochs(passes[order], begin_s[order])
    return ReadTasks(
        begin_s[order], epoch, file[order],
        np.array([summed((groups == group) & counted) for group in range(len(CALLS))]),
        summed(_opens_first(calls)),
        np.array([summed(lasted_s * (groups == group)) for group in range(len(CALLS))]),
        summed(turns_of(calls)), summed(np.minimum(lasted_s, _quick_s(calls.kind, lasted_s))),
        summed(length), summed(lasted_s * stored), summed(stored), summed(jumps),
        summed(_at_new_places(calls, jumps)), summed(heads), work_s[order], rest_s[order],
    )  # fmt: skip


def _numbers(calls: InputCalls, heads: Array, batches: int) -> Array:
    """Return the task of each call: a file that is opened and read, or a chain of reads of an open one.

    Files that are opened less often than batches are taken are read for several of them.
    """
    opens = calls.kind == KIND["open"]
    by_opens = np.count_nonzero(opens) >= batches
    stream = calls.file.astype(np.int64) << 32 | calls.thread
    order = np.argsort(stream, kind="stable")
    stream, kind, marks = stream[order], calls.kind[order], (opens if by_opens else heads)[order]
    begins = np.append(True, stream[1:] != stream[:-1])
    if by_opens:
        begins[1:] |= kind[:-1] == KIND["close"]
    # A second open, or head, begins another one; what is called before the first is part of that.
    reached, first = np.cumsum(marks), np.flatnonzero(begins)
    before = np.repeat(reached[first] - marks[first], np.diff(np.append(first, len(marks))))
    begins |= marks & (reached - before > 1)
    # A close that no open is in front of ends what was opened before: the file had two descriptors.
    places = np.flatnonzero(begins)
    ends = np.append(places[1:], len(marks)) - 1
    again = (np.add.reduceat(marks, places, dtype=int) == 0) & (kind[ends] == KIND["close"]) & (places > 0)
    begins[places[again & (stream[places] == stream[places - 1])]] = False
    number = np.empty(len(marks), int)
    number[order] = np.cumsum(begins) - 1
    return number


def _heads(calls: InputCalls, batches: int) -> Array:
    """Return which reads the program asked for, and no read before them led to, bool.

    A tree of pages is entered at the same pages again and again, for each batch at least: a chain of
    dependent reads begins at the first of these. Else each read is asked for.
    """
    reads = calls.kind == KIND["read"]
    where = np.flatnonzero(reads & (calls.offset >= 0))
    if len(where):
        place = calls.file[where].astype(np.int64) << 40 | calls.offset[where]
        _, inverse, count = np.unique(place, return_inverse=True, return_counts=True)
        entries = 2 * count >= count.max()
        if count.max() >= batches and 2 * count[entries].sum() <= len(where):
            first = np.argmax(entries[inverse])
            heads = np.zeros(len(reads), bool)
            heads[where[inverse == inverse[first]]] = True
            return heads
    return reads


def _between(calls: InputCalls, number: Array, count: int) -> tuple[Array, Array, Array]:
    """Return when each task began, the time that its reader was in none of its calls, and until the next."""
    order = np.argsort(number, kind="stable")
    start_s, end_s, thread = calls.start_s[order], calls.end_s[order], calls.thread[order]
    same = number[order][1:] == number[order][:-1]
    rest_s = np.maximum(start_s[1:] - end_s[:-1], 0.0) * same
    work_s = np.bincount(number[order][1:], rest_s, minlength=count)
    first = np.flatnonzero(np.append(True, ~same))
    begin_s, thread = start_s[first], thread[first]
    last_s = np.maximum.reduceat(end_s, first)
    turns = np.lexsort((begin_s, thread))
    until_s = np.full(count, np.inf)
    until_s[turns[:-1]] = np.where(
        thread[turns][1:] == thread[turns][:-1], begin_s[turns][1:] - last_s[turns][:-1], np.inf
    )
    return begin_s, work_s, np.maximum(until_s, 0.0)


def _opens_first(calls: InputCalls) -> Array:
    """Return which calls open a file that their process did not open before, bool."""
    found, opens = np.zeros(len(calls.kind), bool), np.flatnonzero(calls.kind == KIND["open"])
    opened = calls.process[opens].astype(np.int64) << 32 | calls.file[opens]
    found[opens[np.unique(opened, return_index=True)[1]]] = True
    return found


def turns_of(calls: InputCalls) -> Array:
    """Return the time of each call from the end of the call that ended before it, or from its own start."""
    order = np.argsort(calls.end_s, kind="stable")
    end_s, found = calls.end_s[order], np.empty(len(order))
    found[order] = end_s - np.maximum(calls.start_s[order], np.append(-np.inf, end_s[:-1]))
    return found


def _quick_s(kind: Array, lasted_s: Array) -> Array:
    """Return what a quarter of the calls of each call's kind does not exceed."""
    quick_s = np.zeros(len(CALL_KINDS))
    for one in np.unique(kind).tolist():
        quick_s[one] = np.quantile(lasted_s[kind == one], SETTING["quick"])
    return quick_s[kind]


def jumps_of(calls: InputCalls) -> Array:
    """Return which calls read elsewhere than where the last read of their file ended, bool; if known."""
    reads = np.flatnonzero((calls.kind == KIND["read"]) & (calls.offset >= 0))
    order = reads[np.argsort(calls.file[reads], kind="stable")]
    file, offset, end = calls.file[order], calls.offset[order], (calls.offset + calls.length)[order]
    found = np.zeros(len(calls.file), bool)
    found[order] = np.append(True, (file[1:] != file[:-1]) | (offset[1:] != end[:-1]))[: len(order)]
    return found


def _at_new_places(calls: InputCalls, jumps: Array) -> Array:
    """Return which of the reads that jump begin where none of them did before in their file, bool."""
    found, order = np.zeros(len(jumps), bool), np.flatnonzero(jumps)
    places = calls.file[order].astype(np.int64) << 40 | calls.offset[order]
    found[order[np.unique(places, return_index=True)[1]]] = True
    return found


def _passes(calls: InputCalls, length: Array, size_bytes: Array) -> Array:
    """Return the pass over its file that each read is of, from 0."""
    order = np.argsort(calls.file, kind="stable")
    file, moved = calls.file[order], length[order]
    before = np.cumsum(moved) - moved
    first = np.flatnonzero(np.append(True, file[1:] != file[:-1]))
    before -= np.repeat(before[first], np.diff(np.append(first, len(file))))
    found = np.empty(len(file), int)
    found[order] = before // np.maximum(_pass_bytes(calls, length, size_bytes), 1)[file]
    return found


def _pass_bytes(calls: InputCalls, length: Array, size_bytes: Array) -> Array:
    """Return what a pass over each file moves: what is read of it; if that is not known, all of it."""
    placed, files = (length > 0) & calls.exact & (calls.offset >= 0), len(size_bytes)
    moved, known = (np.bincount(calls.file, one, minlength=files) for one in (length, length * placed))
    part = pass_bytes(calls.file[placed], calls.offset[placed], length[placed], files)
    return np.where(known == moved, part, np.where(size_bytes > 0, size_bytes, moved))


def _epochs(passes: Array, begin_s: Array) -> Array:
    """Return the epoch that each task is of: an epoch begins with the first tasks of its pass.

    Args:
        passes: The pass over its file that each task is of.
        begin_s: When it began, ascending.
    """
    begins, most = [begin_s[0]], int(passes.max()) + 1
    for number in range(1, most):
        of = begin_s[passes == number]
        # Few tasks that are ahead of all others begin no epoch: records that are read twice, by chance.
        if len(of) * 2 * most <= len(passes):
            continue
        first_s = float(np.quantile(of, SETTING["early"], method="lower"))
        # Nor do passes side by side: files that are read more often than others.
        before = begin_s[passes == passes[passes < number].max(initial=0)]
        if 2 * np.count_nonzero(before < first_s) > len(before):
            begins.append(max(begins[-1], first_s))
    return np.searchsorted(np.array(begins), begin_s, side="right") - 1
