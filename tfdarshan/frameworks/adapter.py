"""What tfdarshan asks of a framework, and nothing else: an adapter answers what its framework can tell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tfdarshan.frameworks.words import Saves, Words


@dataclass(frozen=True)
class DeclaredInput:
    """How a job tells its framework to prepare batches: the replay model goes by it.

    Attributes:
        readers: Readers beside the training loop; 0 if the loop reads its input itself.
        prefetch: Batches that they have ready for the loop, beside those that they are at.
        processes: Processes that are started to read beside the loop, whether they have anything to read or
            not; None if readers are threads, which share Python's lock.
        whole_batches: Whether one of them prepares all of a batch.
        kept: Whether the processes live on from epoch to epoch.
    """

    readers: int
    prefetch: int
    processes: int | None
    whole_batches: bool = False
    kept: bool = False


class Adapter:
    """A framework that tells nothing: the loop is Python's own. Those that tell something derive from it.

    Attributes:
        name: The adapter's folder.
        batches: What says where steps begin and end that are marked by batches, for people.
        optimizers: The same of those that an optimizer ends.
        transport: What the paths of files have in them that carry batches between processes, and are not the
            job's data.
        saves: The checkpoints that the framework writes, and how they are saved beside training.
        trains_in: The module whose import has processes followed, too, that the job starts: they may train.
    """

    name: ClassVar[str] = "plain"
    batches: ClassVar[str] = ""
    optimizers: ClassVar[str] = ""
    transport: ClassVar[tuple[str, ...]] = ()
    saves: ClassVar[tuple[Saves, ...]] = ()
    trains_in: ClassVar[str] = ""

    def begin(self) -> None:
        """Note steps, waits and the input pipeline from now on.

        Batches are noted by `batch_log`, into files that outlive a killed process. A framework that the job
        has not imported yet is followed from its import on.
        """

    def end(self) -> dict[str, Any]:
        """Stop that, and return entries for the metadata of the session's owner."""
        return {}

    def rank_variables(self) -> dict[str, str]:
        """Return RANK and WORLD_SIZE of this process, if the framework has been told; else nothing."""
        return {}

    def declared(self, meta: Mapping[str, Any]) -> DeclaredInput | None:
        """Return how the job prepares its training batches; None if the owner's metadata does not say."""

    def words(self, meta: Mapping[str, Any]) -> Words | None:
        """Return how fixes of the job's input are typed; None if the owner's metadata names no pipeline."""
