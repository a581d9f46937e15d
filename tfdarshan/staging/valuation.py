"""What each candidate takes per epoch, on the tier where it is and on the fast one, and the room it needs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfdarshan.analysis.rereads import median_epochs
from tfdarshan.staging.candidate import SLOW_OPEN_S, Candidates
from tfdarshan.staging.expectation import ThreadTime
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.probe import TierProbe
from tfdarshan.staging.run_facts import RunFacts
from tfdarshan.staging.tier import SlowTier, slow_tiers

Array = Any


@dataclass(frozen=True)
class Valuation:
    """Arrays have one entry per candidate.

    Attributes:
        found: The candidates.
        epochs: Epochs in the sessions.
        tiers: The models of where the files are.
        tier_of: The place in `tiers` of each candidate's.
        slow_s: Thread seconds per epoch where the file is.
        fast_s: Thread seconds per epoch on the fast tier, at most `slow_s`.
        all_fast_s: What all of them would take there, the files that are slower there too.
        waits: Calls per epoch for which a thread waited.
        in_pauses: Which of them the loop stands still for between steps, bool.
        waited_s: Seconds per epoch that steps waited for the file where it is, 0 if nothing says so.
        size_bytes: The file's own bytes.
        room_bytes: Bytes that it takes on the fast tier, in whole blocks.
    """

    found: Candidates
    epochs: float
    tiers: tuple[SlowTier, ...]
    tier_of: Array
    slow_s: Array
    fast_s: Array
    size_bytes: Array
    room_bytes: Array
    all_fast_s: float
    waits: Array
    in_pauses: Array
    waited_s: Array

    @property
    def input_bytes(self) -> int:
        """What a pass over all of them reads."""
        return int(total(self.size_bytes))

    @property
    def saved_s(self) -> Array:
        """Thread seconds per epoch that staging the file saves."""
        return self.slow_s - self.fast_s

    def thread_time(self, members: Array | None = None) -> ThreadTime:
        """Sums up the time of some candidates, or of all, and how uncertain it is of those that gain."""
        rows = slice(None) if members is None else members
        count = int(np.count_nonzero(self.saved_s[rows] > 0))
        still = self.in_pauses[rows]
        return ThreadTime(
            total(self.slow_s[rows]),
            total(self.fast_s[rows]),
            relative_doubt(self.tiers, count),
            total(self.waits[rows]),
            total(self.slow_s[rows][still]),
            total(self.fast_s[rows][still]),
            *self.look_doubt(members),
            total(self.waited_s[rows]),
        )

    def look_doubt(self, members: Array | None = None) -> tuple[float, float]:
        """Gives how much more and less looks at originals may take than expected, as shares of `slow_s`."""
        rows, looks = slice(None) if members is None else members, self.found.looks
        whole_s = max(total(self.slow_s[rows]) * self.epochs, 1e-12)
        more_s, less_s = looks.most_s - looks.expected_s, looks.expected_s - looks.least_s
        return max(0.0, total(more_s[rows])) / whole_s, max(0.0, total(less_s[rows])) / whole_s


def relative_doubt(tiers: Sequence[SlowTier], count: int) -> float:
    """Gives two standard errors of a sum over `count` files, relative to it."""
    files = sum(tier.model.files for tier in tiers)
    if not files or not count:
        return 0.0
    scatter = sum(tier.model.mad_share * tier.model.files for tier in tiers) / files
    return min(1.0, 2 * 1.4826 * scatter / math.sqrt(count))


def total(values: Array) -> float:
    """Gives the sum of many single-precision numbers in double precision."""
    return float(values.sum(dtype=np.float64))


def value_candidates(
    use: FileUse,
    found: Candidates,
    fast_tier: TierProbe,
    *,
    readers: float,
    epochs: float | None,
    block_bytes: int,
) -> Valuation:
    """Values the candidates.

    Args:
        use: What the files were used for.
        found: The candidates among them.
        fast_tier: What the fast tier was measured at.
        readers: Threads that read in the sessions.
        epochs: Epochs in the sessions, None to take the median of how often files were read.
        block_bytes: What the fast tier allots space in.
    """
    epochs = epochs or median_epochs(use.times_read[found.rows])
    tiers, tier_of, slow_s = slow_tiers(use, found, readers)
    fast_s = fast_tier.model.seconds(found.pass_bytes)
    per_epoch = found.recurring / epochs
    all_fast_s = total(fast_s * per_epoch)
    fast_s = np.minimum(fast_s, slow_s)
    size = use.size_bytes[found.rows]
    size = np.where(size > 0, size, found.pass_bytes).astype(np.float64)
    room = np.ceil(np.maximum(size, 1) / block_bytes) * block_bytes
    return Valuation(
        found=found, epochs=epochs, tiers=tiers, tier_of=tier_of, slow_s=slow_s * per_epoch,
        fast_s=fast_s * per_epoch, size_bytes=size, room_bytes=room, all_fast_s=all_fast_s,
        waits=_waits(use, found, epochs),
        in_pauses=np.zeros(len(found.rows), bool) if use.in_pauses is None else use.in_pauses[found.rows],
        waited_s=_waited_s(use, found, slow_s) / epochs,
    )  # fmt: skip


def _waited_s(use: FileUse, found: Candidates, slow_s: Array) -> Array:
    """Gives what steps waited for the passes that storage served: of all waits beside calls, their share."""
    rows = found.rows
    if use.waited_s is None:
        return np.zeros(len(rows))
    share = slow_s * found.recurring / np.maximum(use.read_s[rows] + use.meta_s[rows], 1e-12)
    waited: Array = use.waited_s[rows] * np.minimum(share, 1.0)
    return waited


def _waits(use: FileUse, found: Candidates, epochs: float) -> Array:
    """Gives the reads and opens per epoch that storage served: of reads as long as others, its share.

    An open that takes longer than a local file system's waits for a server.
    """
    rows = found.rows
    share = use.storage_bytes[rows] / np.maximum(use.bytes_read[rows], 1)
    opens = np.where(use.open_s[rows] > SLOW_OPEN_S * use.opens[rows], use.opens[rows], 0)
    waits: Array = (use.reads[rows] * share + opens) / epochs
    return waits


def copy_seconds(
    use: FileUse, valuation: Valuation, members: Array, facts: RunFacts, fast_tier: TierProbe
) -> float:
    """Gives how long copying takes: reading once with as many threads as the job had, and writing.

    What no step read is of other sizes than the models were fitted on: it takes what the others take a byte.
    """
    rows = valuation.found.rows[members]
    size = np.maximum(use.size_bytes[rows].astype(np.float64), valuation.found.pass_bytes[members])
    tier_of, seen = valuation.tier_of[members], use.bytes_read[rows] > 0
    read_s = sum(
        float(tier.model.seconds(size[seen & (tier_of == place)]).sum())
        for place, tier in enumerate(valuation.tiers)
    )
    all_bytes = float(size.sum())
    read_s *= all_bytes / max(float(size[seen].sum()), 1.0)
    return read_s / max(facts.readers, 1.0) + all_bytes / fast_tier.write_bytes_per_s
