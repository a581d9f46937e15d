"""How a fix is said: a sentence, and lines as they would be before and after it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

DataSet = Literal["training", "validation"]


@dataclass(frozen=True)
class Cure:
    """What to do: a sentence, and the line to change as it would be before and after; that may be several.

    `data_set` is what that line reads: another data set may have a line of the same text.
    """

    what: str
    line: str = ""
    instead_of: str = ""
    data_set: DataSet = "training"


class Words(Protocol):
    """The fixes of an input pipeline, as one types them with a framework."""

    def more_readers(self, readers: int) -> Cure:
        """Word how to read with so many readers at a time."""

    def fewer_readers(self, readers: int) -> Cure:
        """Word how to read with fewer."""

    def read_ahead(self) -> Cure:
        """Word how to prepare batches while a step computes."""

    def keep_in_memory(self, *, decoded: bool) -> Cure:
        """Word how to keep samples in memory from the first epoch on."""

    def more_decoding(self, calls: int) -> Cure:
        """Word how to decode with so many calls at a time."""

    def more_validation(self, readers: int) -> Cure:
        """Word how to read a validation set with so many readers at a time."""

    def keep_workers(self) -> Cure:
        """Word how to have readers live on from epoch to epoch."""

    def any_order(self) -> Cure:
        """Word how to take batches in the order in which they are ready."""

    def less_transport(self) -> Cure:
        """Word how to move batches from readers to the loop in less time."""
