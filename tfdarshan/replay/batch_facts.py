"""What the training loop did with each batch, by a session's calls and steps."""

from __future__ import annotations

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

    Output of other threads is waited for as far as it makes a step and the pause behind it longer.

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

    # What its own thread reads, or asks, outside of its wait it waits for, too.
    working = (start_s >= loop.got_s[place]) & (start_s < loop.stop_s[place])
    own_s = taken(recorded.is_loop & reading & working)
    wrote, synced = output & (kinds == KIND["write"]), output & (kinds == KIND["sync"])
    write_bytes = np.bincount(place[wrote], calls.length[wrote], minlength=count)
    whole_s, busy_s = loop.next_s - loop.got_s, loop.stop_s - loop.got_s
    write_s = np.minimum(taken(output & recorded.is_loop), whole_s)
    saves = write_bytes > THRESHOLD["save"]
    if saves.any() and not saves.all():
        longer_s = np.maximum(whole_s - float(np.median(whole_s[~saves])), 0.0)
        write_s = np.where(saves, np.maximum(write_s, longer_s), write_s)
    own_s = np.minimum(own_s, np.maximum(busy_s - write_s, 0.0))
    compute_s = np.maximum(busy_s - write_s - own_s, 0.0)
    pause_s = np.maximum(whole_s - compute_s - write_s - own_s, 0.0)
    validation_s = np.minimum(taken(validating), pause_s)
    windows = recorded.windows
    return BatchFacts(
        weight=np.ones(count), epoch=epoch, wait_s=loop.got_s - loop.ask_s + own_s, compute_s=compute_s,
        write_s=write_s, sync_s=np.minimum(taken(synced), write_s),
        beside_s=np.maximum(taken(output) - write_s, 0.0),
        write_bytes=write_bytes, validation_s=validation_s,
        pause_s=pause_s - validation_s, known=loop.known,
        hand_s=0.0 if windows is None else windows.handed_s,
    )  # fmt: skip
