"""What a copy saves in each epoch of a run: later ones come from memory if the page cache keeps the input.

A session of several epochs shows that: their own calls took as long as storage or memory does. A session of
one epoch does not, if all of its input fits into memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tfdarshan.replay.job_model import TINY_S
from tfdarshan.replay.promise import saved_seconds
from tfdarshan.staging.staged_input import StagedInput, total


@dataclass(frozen=True)
class LaterEpochs:
    """What they save.

    Attributes:
        first_s: What a copy of all files saves of a run's first epoch.
        later_s: What it saves of each later one; None if nothing tells.
        epochs: Epochs in the session.
        input_bytes: What an epoch reads.
        memory_bytes: What the job may have of the machine's memory, None if unknown.
    """

    first_s: float = 0.0
    later_s: float | None = 0.0
    epochs: int = 1
    input_bytes: int = 0
    memory_bytes: int | None = None

    @property
    def measured(self) -> bool:
        """Whether the session has later epochs."""
        return self.epochs > 1

    @property
    def beyond_s(self) -> float:
        """What copies save beyond the first epoch of the session: copying takes about as long as that."""
        return (self.epochs - 1) * (self.later_s or 0.0)

    @property
    def known(self) -> bool:
        """Whether the session tells what later epochs gain."""
        return self.later_s is not None

    @property
    def caveat(self) -> str:
        """A sentence on what later epochs gain; "" if it is known."""
        return "" if self.known else "If the page cache keeps the input, only the first epoch gets faster."

    def paid_in(self, copy_s: float, share: float, *, kept: bool) -> int | None:
        """Return the epoch of a run in which copying is won back; None is never.

        Args:
            copy_s: What copying takes.
            share: What the chosen files save, as a share of what all save.
            kept: Whether the page cache keeps the input from the first epoch on, if that is not known.
        """
        first_s = share * self.first_s
        later_s = share * self.later_s if self.later_s is not None else 0.0 if kept else first_s
        if copy_s <= first_s:
            return 1 if first_s > 0 else None
        return 1 + math.ceil((copy_s - first_s) / later_s) if later_s > 0 else None


def later_epochs(staged: StagedInput) -> LaterEpochs:
    """Return what copies of all files save of each epoch, by the job's own epochs."""
    job, memory = staged.job, staged.facts.memory_bytes
    input_bytes = int(total(staged.size_bytes))
    scale = staged.modelled_s / max(job.facts.batches.total_s, TINY_S)
    saved_s = saved_seconds(job, staged.staged()) * scale
    first_s, epochs = float(saved_s[0]), len(saved_s)
    later_s = float(saved_s[1:].mean()) if epochs > 1 else first_s
    fits = memory is None or input_bytes <= memory
    unknown = epochs == 1 and fits and _is_cached(staged)
    return LaterEpochs(first_s, None if unknown else later_s, epochs, input_bytes, memory)


def _is_cached(staged: StagedInput) -> bool:
    """Say whether the page cache may keep what is read: not of emulated storage, nor of memory."""
    return not staged.use.emulated and not staged.use.in_memory[staged.found.rows].all()
