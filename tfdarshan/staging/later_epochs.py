"""What of a run's later epochs the page cache may serve: then staging gains a run's first epoch only.

The first epoch of a run finds nothing in memory. If the kernel keeps what it read, later epochs come from
there, wherever the files are. A session of several epochs shows that by itself: passes that memory served
gain nothing. A session of one epoch does not, so both are said: as if the cache kept nothing, and as if it
kept all that the memory holds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tfdarshan.staging.candidate import MEMORY_FILE_SYSTEMS
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.run_facts import RunFacts
from tfdarshan.staging.valuation import Valuation
from tfdarshan.units import percent

# A session that reads its files more often than this has later epochs itself.
SEVERAL = 1.5
# Of so many passes over files that were read before, the share that memory served is a measurement.
ENOUGH_AGAIN = 0.1
# Less than this is not worth a word.
NOTABLE = 0.05
# Memory is for other things, too: the cache is likely to keep what takes half of it.
LIKELY_PART = 0.5


@dataclass(frozen=True)
class LaterEpochs:
    """What the page cache may serve of them.

    Attributes:
        kept_share: Share of the input that it keeps at most, 0 to 1; 0 where the session's own later passes
            are in the gain already, or the files' storage is not cached.
        measured: Whether files that were read again say so; else the size of the memory does.
        likely: Whether it is likely to keep so much, and not only possible.
        input_bytes: What an epoch reads.
        memory_bytes: What the job may have of the machine's memory, None if unknown.
    """

    kept_share: float = 0.0
    measured: bool = False
    likely: bool = False
    input_bytes: int = 0
    memory_bytes: int | None = None

    @property
    def known(self) -> bool:
        """Whether later epochs gain what the first one does."""
        return self.kept_share == 0

    @property
    def condition(self) -> str:
        """What a first sentence says after what is to be staged; "" where all epochs gain alike."""
        if self.known:
            return ""
        then = "later ones gain only if the page cache does not keep it"
        if self.measured:
            then = f"the page cache serves {percent(self.kept_share, 1)} of later ones"
        return f", for the first epoch of a run: {then}"

    def epochs_worth(self, epochs: float) -> float:
        """Gives how many times the first epoch's gain a run saves if the cache keeps what it can."""
        return 1 + max(epochs - 1, 0) * (1 - self.kept_share)

    def paid_in(self, copy_s: float, saved_s: float) -> int | None:
        """Gives the epoch of a run in which copying is won back if the cache keeps what it can; None: never.

        Args:
            copy_s: What copying takes.
            saved_s: What the first epoch saves.
        """
        if saved_s <= 0:
            return None
        if copy_s <= saved_s:
            return 1
        later_s = (1 - self.kept_share) * saved_s
        return None if later_s <= 0 else 1 + math.ceil((copy_s - saved_s) / later_s)


def later_epochs(use: FileUse, facts: RunFacts, valuation: Valuation) -> LaterEpochs:
    """Works out what the page cache may serve.

    Args:
        use: What the files were used for.
        facts: The run.
        valuation: The files that can be staged, and the epochs in the sessions.
    """
    found, sessions = valuation.found, max(len(facts.paths), 1)
    if use.emulated or not len(found.rows) or valuation.epochs / sessions >= SEVERAL:
        return LaterEpochs()
    kinds = [use.mounts[code].fs_type for code in np.unique(use.mount[found.rows]).tolist()]
    if all(kind in MEMORY_FILE_SYSTEMS for kind in kinds):
        return LaterEpochs()
    input_bytes, memory = valuation.input_bytes, facts.memory_bytes
    if sessions == 1 and found.reread_share >= ENOUGH_AGAIN and found.reread_storage_share is not None:
        kept = 1 - found.reread_storage_share
        return LaterEpochs(kept if kept >= NOTABLE else 0.0, True, True, input_bytes, memory)
    kept = 1.0 if memory is None else min(1.0, memory / max(input_bytes, 1))
    fits = memory is not None and input_bytes <= LIKELY_PART * memory
    # FUSE keeps pages from one open to the next only if its server asks for that.
    likely = fits and not any(kind.startswith("fuse") for kind in kinds)
    return LaterEpochs(kept if kept >= NOTABLE else 0.0, False, likely, input_bytes, memory)
