"""The laboratory's single fixes as edits of the replay model."""

from __future__ import annotations

from collections.abc import Mapping

from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.edits import (
    CacheInMemory,
    DecodeCalls,
    DecodeInMap,
    Edit,
    Prefetch,
    Readers,
    ShufflePaths,
)
from tfdarshan.replay.loop_edits import BackgroundSaves, BufferedWrites, ValidationCached, ValidationReaders
from tfdarshan.replay.storage_edits import (
    KeptOpen,
    LargeReads,
    SequentialReads,
    Shards,
    Staged,
    Uncompressed,
    Without,
)

from .known_cure import FEW, THREADS
from .program import Program

Edits = tuple[Edit, ...]


def edits_for(cure: str, program: Program, job: ModelledJob) -> Edits | None:
    """Return the edits that a cure of a program is; None if the model has none for it.

    Args:
        cure: One of `known_cure.FINDINGS_OF`.
        program: Before the cure.
        job: Its recorded run, modelled.
    """
    if cure == "moved":
        paths = job.facts.files.rows["path"].astype(str)
        return (Staged(paths.str.contains(program.slow_path, regex=False).to_numpy(bool)),)
    if cure == "background checkpoint":
        return (BackgroundSaves(fast_tier=program.extra == "tf_checkpoint"),)
    return EDITS.get(cure)


EDITS: Mapping[str, Edits] = {
    "parallel": (Readers(THREADS),),
    "decode calls": (DecodeCalls(),),
    "decode in a map": (DecodeInMap(),),
    "fewer threads": (Readers(FEW),),
    "prefetch": (Prefetch(),),
    "read ahead": (Prefetch(),),
    "memory": (CacheInMemory(),),
    "staging": (Staged(),),
    "shards": (Shards(),),
    "uncompressed": (Uncompressed(),),
    "larger buffer": (LargeReads(),),
    "paths shuffled": (ShufflePaths(),),
    "in order": (SequentialReads(), LargeReads(), Readers(1)),
    "large reads": (LargeReads(),),
    "larger pages": (LargeReads(),),
    "listed once": (Without("stat"),),
    "kept open": (KeptOpen(),),
    "known size": (Without("probe"),),
    "one sync": (BufferedWrites(),),
    "buffered writes": (BufferedWrites(),),
    "validation cached": (ValidationCached(),),
    "validation parallel": (ValidationReaders(THREADS),),
}
