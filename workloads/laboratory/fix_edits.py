"""The laboratory's single fixes as edits of the replay model; some are fixes that no finding names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tfdarshan.findings.small_reads import PAGE_BYTES
from tfdarshan.replay.calibrate import ModelledJob
from tfdarshan.replay.edits import (
    CacheInMemory,
    DecodeCalls,
    Edit,
    Prefetch,
    Readers,
    ShufflePaths,
    Uncompressed,
)
from tfdarshan.replay.loader_edits import WorkersKept
from tfdarshan.replay.loop_edits import BackgroundSaves, BufferedWrites, ValidationCached, ValidationReaders
from tfdarshan.replay.prior_model import processors
from tfdarshan.replay.storage_edits import (
    KeptOpen,
    LargeReads,
    SequentialReads,
    Shards,
    Staged,
    Without,
)

from .known_fix import FEW, THREADS
from .program import LOADERS, Program

Edits = tuple[Edit, ...]


@dataclass(frozen=True)
class DecodeInMap:
    """A generator that only names or reads samples, and decoding by TensorFlow's operations behind it."""

    def __call__(self, job: ModelledJob) -> ModelledJob:
        """Return the job with it."""
        model, drawn, left = job.model, job.drawn, processors(job.facts, job.drawn)
        own_s = np.minimum(model.work_s, drawn["sample_s"])
        behind_s = model.behind_s + (model.work_s - own_s) / drawn["operation_faster"]
        calls = np.maximum(2, np.round(np.minimum(left, len(job.facts.batch) + 1))).astype(int)
        return job.but(
            work_s=own_s, behind_s=behind_s, behind_serial=1 / left,
            calls_ahead=np.maximum(model.calls_ahead, calls),
        )  # fmt: skip


def edits_for(fix: str, program: Program, job: ModelledJob) -> Edits | None:
    """Return the edits that a fix of a program is; None if the model has none for it.

    Args:
        fix: One of `known_fix.FINDINGS_OF`.
        program: Before the fix.
        job: Its recorded run, modelled.
    """
    if fix == "moved":
        paths = job.facts.files.rows["path"].astype(str)
        return (Staged(paths.str.contains(program.slow_path, regex=False).to_numpy(bool)),)
    if fix in ("parallel", "decode calls") and program.shape in LOADERS:
        shared = program.shards if program.shape == "torch_iterable" else THREADS
        count = min(THREADS if fix == "parallel" else round(job.facts.processors.cpus or 1), shared)
        return (*([WorkersKept()] * (program.threads > 0)), Readers(count))
    if fix == "shards for all":
        return (Readers(program.threads),)
    if fix == "memory":
        by_item = program.shape == "torch_map" and not program.threads and not program.hugging_face
        return (CacheInMemory(loads_first=program.shape.startswith("torch") and not by_item),)
    if fix == "background checkpoint":
        return (BackgroundSaves(fast_tier=program.extra == "tf_checkpoint"),)
    return EDITS.get(fix)


EDITS: Mapping[str, Edits] = {
    "parallel": (Readers(THREADS),),
    "decode calls": (DecodeCalls(),),
    "decode in a map": (DecodeInMap(),),
    "fewer threads": (Readers(FEW),),
    "fewer workers": (Readers(FEW),),
    "prefetch": (Prefetch(),),
    "read ahead": (Prefetch(),),
    "staging": (Staged(),),
    "shards": (Shards(),),
    "uncompressed": (Uncompressed(),),
    "larger buffer": (LargeReads(),),
    "paths shuffled": (ShufflePaths(),),
    "in order": (SequentialReads(), LargeReads(), Readers(1)),
    "large reads": (LargeReads(),),
    "larger pages": (LargeReads(PAGE_BYTES),),
    "listed once": (Without("stat"),),
    "kept open": (KeptOpen(),),
    "known size": (Without("probe"),),
    "one sync": (BufferedWrites(),),
    "buffered writes": (BufferedWrites(),),
    "validation cached": (ValidationCached(),),
    "validation parallel": (ValidationReaders(THREADS),),
}
