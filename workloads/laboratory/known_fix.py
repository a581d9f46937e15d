"""A single fix of a drawn program, and what findings may call each."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from .program import GRAIN, LOADERS, PYTHON, Program

Effort = Literal[1, 2, 3]  # some lines, a copy of the data, a conversion of it
THREADS = 16
FEW = 2
# Samples that are files of their own.
WHOLE_FILES = ("file", "stats", "until_empty", "small_reads")

# What Python reads and decodes, in threads or in worker processes.
IN_PYTHON = (*PYTHON, *LOADERS, GRAIN)

# What findings may call each fix. A name that stands nowhere here is reported, not taken for wrong.
FINDINGS_OF = {
    "parallel": ("read_parallelism",),
    "decode calls": ("decode_bound",),
    "decode in a map": ("decode_bound",),
    "fewer threads": ("too_many_threads",),
    "prefetch": ("prefetch",),
    "read ahead": ("prefetch",),
    "memory": ("fits_in_memory", "full_storage", "decode_bound"),
    "staging": ("staging", "full_storage"),
    "shards": ("small_files", "full_storage"),
    "uncompressed": ("decode_bound",),
    "larger buffer": ("small_reads",),
    "paths shuffled": ("shuffle_buffer",),
    "in order": ("random_access",),
    "large reads": ("small_reads",),
    "larger pages": ("small_reads",),
    "listed once": ("stat_storm",),
    "kept open": ("reopening",),
    "known size": ("eof_probes",),
    "moved": ("straggler",),
    "background checkpoint": ("checkpoint_stall",),
    # A log that is flushed and synced once is written once, too.
    "one sync": ("fsync", "small_writes"),
    "buffered writes": ("small_writes",),
    # Of mapped files: none is drawn here, see tests/integration/test_mapped_findings.py.
    "read ahead of faults": ("mapped_wait",),
    "workers kept": ("worker_starts",),
    "any order": ("head_of_line",),
    "fewer workers": ("too_many_workers", "too_many_threads"),
    "shards for all": ("few_shards",),
    # Of PyTorch's loaders: none is drawn here, see tests/unit/findings/test_loader_fixes.py.
    "batches by name": ("batch_transport",),
    "equal parts": ("slow_worker",),
    # Of a job of several ranks: none is drawn here, see tests/unit/findings/test_rank_findings.py.
    "sharded by rank": ("unsharded_input",),
    "equal shards": ("shard_imbalance",),
    "another node": ("slow_node", "slow_rank"),
    "validation cached": ("fits_in_memory", "validation"),
    "validation parallel": ("read_parallelism", "validation"),
}
EXTRA_FIXES = {
    "numpy_checkpoint": "background checkpoint",
    "tf_checkpoint": "background checkpoint",
    "torch_checkpoint": "background checkpoint",
    "synced_log": "one sync",
    "small_writes": "buffered writes",
}


@dataclass(frozen=True)
class KnownFix:
    """One: the same work by another program."""

    name: str
    effort: Effort
    program: Program

    @property
    def findings(self) -> tuple[str, ...]:
        """Names of findings that may mean it: threads of Python code that decodes as it reads decode, too."""
        decoding = ("decode_bound",) if self.name == "parallel" and self.program.shape in IN_PYTHON else ()
        return FINDINGS_OF[self.name] + decoding


def changed(name: str, program: Program, effort: Effort = 1, **changes: Any) -> KnownFix:
    """Return the fix by a program with some of its parameters changed."""
    return KnownFix(name, effort, dataclasses.replace(program, **changes))
