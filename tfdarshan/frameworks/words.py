"""How a fix is said: a sentence, and lines as they would be before and after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

DataSet = Literal["training", "validation"]


@dataclass(frozen=True)
class Fix:
    """What to do: a sentence, and the line to change as it would be before and after; that may be several.

    `data_set` is what that line reads: another data set may have a line of the same text. `loads_first` says
    whether the lines read all input before the first epoch, one sample after the other; `all_input` is then
    how many times as much that is as the recorded batches took, None if unknown.
    """

    what: str
    line: str = ""
    instead_of: str = ""
    data_set: DataSet = "training"
    loads_first: bool = False
    all_input: float | None = None


# Of Python code nobody sees whether it draws random numbers.
DRAWN_BEHIND = "Draw random augmentation behind it: what is kept is the same in each epoch."
IN_BACKGROUND = (
    "Save in the background: copy the state in memory, and let a thread write the copy. Keep what submit() "
    "returns, and call its result() before the next save: that raises the error of a failed save."
)
SAVER = "saver = concurrent.futures.ThreadPoolExecutor(1)  # before the first epoch\n"


@dataclass(frozen=True)
class Saves:
    """Checkpoints of one kind.

    Attributes:
        names: What their files are called, a regular expression.
        fix: How to save them beside training.
        package: What the job has loaded if it writes them; "" if nothing tells.
        fast_tier: Whether the fix copies to a fast tier, not to memory.
    """

    names: str
    fix: Fix
    package: str = ""
    fast_tier: bool = False


class Words(Protocol):
    """The fixes of an input pipeline, as one types them with a framework."""

    def more_readers(self, readers: int) -> Fix:
        """Word how to read with so many readers at a time."""

    def fewer_readers(self, readers: int) -> Fix:
        """Word how to read with fewer."""

    def read_ahead(self) -> Fix:
        """Word how to prepare batches while a step computes."""

    def keep_in_memory(self) -> Fix:
        """Word how to keep samples in memory from the first epoch on."""

    def more_decoding(self, calls: int) -> Fix:
        """Word how to decode with so many calls at a time."""

    def more_validation(self, readers: int) -> Fix:
        """Word how to read a validation set with so many readers at a time."""

    def keep_workers(self) -> Fix:
        """Word how to have readers live on from epoch to epoch."""

    def any_order(self) -> Fix:
        """Word how to take batches in the order in which they are ready."""

    def more_shards(self, shards: int) -> Fix:
        """Word how to split the input into so many shards, which readers have each to themselves."""

    def equal_parts(self) -> Fix:
        """Word how to give readers parts of the input that take as long."""

    def part_of_rank(self) -> Fix:
        """Word how to have each rank of a job read a part of the samples."""

    def read_in_order(self, samples: int) -> Fix:
        """Word how to read so many samples that follow each other in a file, and then others."""

    def less_transport(self) -> Fix:
        """Word how to move batches from readers to the loop in less time."""
