"""Bursts in which a job without steps reads its input, and the pauses between them, in which nothing reads.

A loop that reads each batch only when it needs it reads one batch, pauses, and reads the next one. A pipeline
that prepares ahead looks alike once its buffer is full, but begins each epoch with several batches in a row.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from tfdarshan.analysis.calls.call_kinds import KIND
from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.calls.reader_count import weighted_median
from tfdarshan.native.input_sums import InputCalls
from tfdarshan.thresholds import THRESHOLD

# Shorter ones are no time to prepare a batch in.
LEAST_PAUSE_NS = round(1e9 * THRESHOLD["pause"])
# Half of all pausing is in pauses as long as the usual one, or longer; one of half its length parts bursts.
AS_LONG = 0.5
# So many bursts show what one brings, if so large a share of them differs by so little from the middle one.
LEAST_BURSTS, REGULAR, ALIKE = THRESHOLD["few"], THRESHOLD["most"], THRESHOLD["hardly"]
COUNTED = ("files", "reads", "bytes")


@dataclass(frozen=True)
class ReadBursts:
    """All bursts of a session, one at least.

    Attributes:
        start_ns: When each burst's first call began.
        end_ns: When the last of its calls ended; the pauses are between these and the next start.
        brought: Files opened, reads with data, and bytes of each burst, int64 of shape (3, bursts).
    """

    start_ns: Array
    end_ns: Array
    brought: Array

    @property
    def lasts_s(self) -> Array:
        """How long each burst lasts."""
        return (self.end_ns - self.start_ns) / 1e9

    @property
    def pauses_s(self) -> Array:
        """How long the pauses between them are."""
        return (self.start_ns[1:] - self.end_ns[:-1]) / 1e9

    @property
    def batch(self) -> tuple[str, int, int] | None:
        """What all bring alike, how much of it the usual one does, and the largest; None if it is nothing.

        The first and the last one need not: other files are read at first, and what is left at last.
        """
        if len(self.start_ns) < LEAST_BURSTS:
            return None
        for name, brought in zip(COUNTED, self.brought, strict=True):
            usual = float(np.median(brought))
            alike = np.abs(brought[1:-1] - usual) <= ALIKE * usual
            if usual > 0 and float(alike.mean()) >= REGULAR:
                return name, round(usual), int(brought.max())
        return None

    @property
    def one_at_a_time(self) -> bool:
        """Whether none brings more than the usual one: no buffer was filled in any epoch."""
        batch = self.batch
        return batch is not None and batch[2] <= (1 + ALIKE) * batch[1]


def read_bursts(blocks: Iterable[InputCalls]) -> ReadBursts | None:
    """Find them.

    Args:
        blocks: The calls on input, in order of start, block by block.

    Returns:
        None where there is no call.
    """
    reached, sums = 0, np.zeros(3, np.int64)
    first_ns: int | None = None
    found: list[tuple[Array, Array, Array]] = []
    for calls in blocks:
        if not len(calls):
            continue
        first_ns = int(calls.start_ns[0]) if first_ns is None else first_ns
        before = np.maximum.accumulate(np.concatenate([[max(reached, first_ns)], calls.end_ns]))
        read = calls.kind == KIND["read"]
        ones = np.array([calls.kind == KIND["open"], read, np.where(read, calls.length, 0)], np.int64)
        brought = sums[:, None] + np.cumsum(ones, axis=1) - ones
        rests = np.flatnonzero(calls.start_ns - before[:-1] >= LEAST_PAUSE_NS)
        found.append((before[rests], calls.start_ns[rests], brought[:, rests]))
        reached, sums = int(before[-1]), sums + ones.sum(axis=1)
    if first_ns is None:
        return None
    from_ns, to_ns, brought = (np.concatenate(parts, axis=-1) for parts in zip(*found, strict=True))
    apart = parting_rests(to_ns - from_ns)
    start_ns = np.concatenate([[first_ns], to_ns[apart]]).astype(np.int64)
    end_ns = np.concatenate([from_ns[apart], [reached]]).astype(np.int64)
    zero = np.zeros((3, 1), np.int64)
    return ReadBursts(
        start_ns, end_ns, np.diff(np.concatenate([zero, brought[:, apart], sums[:, None]], axis=1), axis=1)
    )


def parting_rests(rests_ns: Array) -> Array:
    """Return the places of the rests that part bursts, of all rests that are long enough to prepare a batch.

    What is opened before training, such as a database, is followed by a few rests in which modules are loaded
    and a model is made: longer than those of steps, and all of them before these.
    """
    found = _usual_pauses(rests_ns)
    first = len(found)
    if first >= LEAST_BURSTS - 1 or not np.array_equal(found, np.arange(first)):
        return found
    return np.concatenate([found, first + _usual_pauses(rests_ns[first:])])


def _usual_pauses(rests_ns: Array) -> Array:
    """Return the places of those that are as long as most pausing is."""
    if not len(rests_ns):
        return np.zeros(0, np.int64)
    return np.flatnonzero(rests_ns >= AS_LONG * weighted_median(rests_ns, rests_ns))
