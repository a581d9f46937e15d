"""What the training loop did with each batch, by a session's calls and steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.unsaid_waits import read_in_pauses
from tfdarshan.replay.job_facts import BatchFacts
from tfdarshan.replay.loop_times import LoopTimes, union_by
from tfdarshan.replay.recorded_job import RecordedJob
from tfdarshan.thresholds import THRESHOLD


def validation_files(recorded: RecordedJob, is_input: Array, loop: LoopTimes) -> Array:
    """Return which files are read in pauses between steps alone, bool by row of the file table.

    Args:
        recorded: The session's tables.
        is_input: Which calls read input, bool.
        loop: When the loop asked for batches, and was done with them.
    """
    calls, count = recorded.calls, len(recorded.files)
    if not loop.known:
        return np.zeros(count, bool)
    start_s = calls.start_ns[is_input] / 1e9
    place = loop.place(start_s)
    pause = (start_s >= loop.stop_s[place]) & (start_s >= loop.ask_s[0])
    return read_in_pauses(calls.file[is_input], place, pause, count, len(loop.ask_s))


def batch_facts(
    recorded: RecordedJob, loop: LoopTimes, reading: Array, validating: Array, epoch: Array
) -> BatchFacts:
    """Return what the loop did with each batch: it stood still for its own calls, at least.

    A save is waited for as far as its step, or the pause behind that, is longer than others, and no longer
    than the save goes on: a pause may be a validation's, too.

    Args:
        recorded: The session's tables.
        loop: When it asked for batches, and got them.
        reading: Which calls read what batches are made of, bool.
        validating: Which calls read a validation set, bool.
        epoch: The epoch of each batch.
    """
    calls, kinds, count = recorded.calls, recorded.kinds, len(loop.ask_s)
    start_s, end_s = calls.start_ns / 1e9, calls.end_ns / 1e9
    place = loop.place(start_s)
    output = recorded.is_output
    output &= (start_s >= loop.got_s[place]) & (start_s < loop.next_s[place])

    def taken(chosen: Array) -> Array:
        return union_by(place[chosen], start_s[chosen], end_s[chosen], count)

    # What its own thread reads, or asks, in its step or behind it, it waits for. A step says how long its
    # waits are together, not when each is: if such calls are what it waits for, they fill its waits first.
    wait_s, own = loop.got_s - loop.ask_s, recorded.is_loop & reading
    late = own & (start_s >= loop.got_s[place])
    first_s = taken(own & ~late)
    room_s = np.where(first_s > 0, np.maximum(wait_s - first_s, 0.0), 0.0) + loop.hidden_s
    step, behind = (loop.got_s, loop.stop_s), (np.maximum(loop.got_s, loop.stop_s), loop.next_s)
    late_s, paused_s = (
        _within(place[late], start_s[late], end_s[late], begin_s, until_s)
        for begin_s, until_s in (step, (behind[0], loop.request_s))
    )
    own_s = np.maximum(late_s - room_s, 0.0)
    wrote, synced = output & (kinds == KIND["write"]), output & (kinds == KIND["sync"])
    write_bytes = np.bincount(place[wrote], calls.length[wrote], minlength=count)
    whole_s, busy_s = loop.next_s - loop.got_s, loop.stop_s - loop.got_s
    ours = output & recorded.is_loop
    stood_s = [_within(place[ours], start_s[ours], end_s[ours], *part) for part in (step, behind)]
    saves = write_bytes > THRESHOLD["save"]
    if saves.any() and not saves.all():
        # Opening a file that is saved, and closing it, is part of the save.
        saving = np.isin(calls.file, calls.file[output]) & saves[place]
        saved_s = _saves_within(recorded, place, saving, validating, (step, behind))
        for number, lasts_s in enumerate((busy_s, np.maximum(whole_s - busy_s, 0.0))):
            longer_s = np.maximum(lasts_s - float(np.median(lasts_s[~saves])), 0.0)
            stood_s[number] = np.maximum(stood_s[number], np.minimum(longer_s, saved_s[number]))
    write_s = stood_s[0] + stood_s[1]
    own_s = np.minimum(own_s, np.maximum(busy_s - stood_s[0], 0.0))
    compute_s = np.maximum(busy_s - stood_s[0] - own_s, 0.0)
    own_s += np.minimum(paused_s, np.maximum(whole_s - busy_s - stood_s[1], 0.0))
    pause_s = np.maximum(whole_s - compute_s - write_s - own_s, 0.0)
    validation_s = np.minimum(taken(validating), pause_s)
    windows = recorded.windows
    return BatchFacts(
        weight=np.ones(count), epoch=epoch, wait_s=wait_s + own_s, compute_s=compute_s,
        write_s=write_s, sync_s=np.minimum(taken(synced), write_s),
        beside_s=np.maximum(taken(output) - write_s, 0.0),
        write_bytes=write_bytes, validation_s=validation_s,
        pause_s=pause_s - validation_s, known=loop.known,
        hand_s=0.0 if windows is None else windows.handed_s,
    )  # fmt: skip


def _within(place: Array, start_s: Array, end_s: Array, from_s: Array, until_s: Array) -> Array:
    """Return how long any of some intervals ran in a part of its batch, shape (batches,).

    Args:
        place: The batch of each.
        start_s: Their starts, ascending.
        end_s: Their ends.
        from_s: When the part of each batch begins.
        until_s: When it ends.
    """
    first_s, last_s = (np.clip(at_s, from_s[place], until_s[place]) for at_s in (start_s, end_s))
    return union_by(place, first_s, last_s, len(from_s))


def _saves_within(
    recorded: RecordedJob,
    place: Array,
    saving: Array,
    validating: Array,
    parts: Sequence[tuple[Array, Array]],
) -> list[Array]:
    """Return how long saves went on in parts of their batches, but for reads of a validation set.

    What is between two calls of a save, such as packing what it writes, belongs to it.

    Args:
        recorded: The session's tables.
        place: The batch of each call.
        saving: Which calls are on files that batches save, bool.
        validating: Which calls read a validation set, bool.
        parts: From when to when each part is, of each batch.
    """
    start_s, end_s = recorded.calls.start_ns / 1e9, recorded.calls.end_ns / 1e9
    reached_s = np.maximum.accumulate(end_s[saving])
    next_s = np.append(start_s[saving][1:], np.inf)
    goes_on = (next_s - reached_s <= THRESHOLD["save gap"]) & (
        np.append(place[saving][1:], -1) == place[saving]
    )
    end_s[saving] = np.where(goes_on, np.maximum(end_s[saving], next_s), end_s[saving])
    chosen = saving | validating
    return [
        _within(place[chosen], start_s[chosen], end_s[chosen], *part)
        - _within(place[validating], start_s[validating], end_s[validating], *part)
        for part in parts
    ]
