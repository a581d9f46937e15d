"""The single cures of a drawn program, written by hand and not by what the findings print."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

from .program import PYTHON, TF_DATA, Program

Effort = Literal[1, 2, 3]  # some lines, a copy of the data, a conversion of it
THREADS = 16
FEW = 2
# Samples that are files of their own.
WHOLE_FILES = ("file", "stats", "until_empty", "small_reads")

# What findings may call each cure. A name that stands nowhere here is reported, not taken for wrong.
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
    # Of PyTorch's loaders: none is drawn here, see tests/unit/findings/test_loader_fixes.py.
    "workers kept": ("worker_starts",),
    "any order": ("head_of_line",),
    "batches by name": ("batch_transport",),
    "fewer workers": ("too_many_workers",),
    "shards for all": ("few_shards",),
    "equal parts": ("slow_worker",),
    # Of a job of several ranks: none is drawn here, see tests/unit/findings/test_rank_findings.py.
    "sharded by rank": ("unsharded_input",),
    "equal shards": ("shard_imbalance",),
    "another node": ("slow_node", "slow_rank"),
    "validation cached": ("fits_in_memory", "validation"),
    "validation parallel": ("read_parallelism", "validation"),
}
EXTRA_CURES = {
    "numpy_checkpoint": "background checkpoint",
    "tf_checkpoint": "background checkpoint",
    "synced_log": "one sync",
    "small_writes": "buffered writes",
}


@dataclass(frozen=True)
class KnownCure:
    """One: the same work by another program."""

    name: str
    effort: Effort
    program: Program

    @property
    def findings(self) -> tuple[str, ...]:
        """Names of findings that may mean it: threads of Python code that decodes as it reads decode, too."""
        decoding = ("decode_bound",) if self.name == "parallel" and self.program.shape in PYTHON else ()
        return FINDINGS_OF[self.name] + decoding


def known_cures(program: Program) -> list[KnownCure]:
    """List those that the program leaves room for: whether one helps is for the runs to tell."""
    found = [*_by_tf_data(program), *_by_python(program), *_by_access(program), *_by_extra(program)]
    found.append(_cure("staging", program, 2, staged=True))
    if program.slow_path and program.access not in ("random", "sqlite"):
        found.append(_cure("moved", program, 2, moved=True))
    return found


def _cure(name: str, program: Program, effort: Effort = 1, **changes: Any) -> KnownCure:
    return KnownCure(name, effort, dataclasses.replace(program, **changes))


def _by_tf_data(program: Program) -> list[KnownCure]:
    if program.shape not in TF_DATA:
        return []
    found = [_cure("parallel", program, threads=THREADS, pool=THREADS)]
    if program.threads == 0 and program.shape != "interleave":
        found.append(_cure("decode calls", program, threads=-1))
    if program.threads > FEW:
        found.append(_cure("fewer threads", program, threads=FEW, pool=0))
    if not program.prefetch:
        found.append(_cure("prefetch", program, prefetch=True))
    if program.epochs > 1 and program.cache != "right":
        found.append(_cure("memory", program, cache="right"))
    if program.shuffle == "samples":
        found.append(_cure("paths shuffled", program, shuffle="paths" if program.shape == "map" else ""))
    if program.shape == "map":
        found.append(_cure("shards", program, 3, shape="records", threads=0, slow_path="", moved=False))
    if program.gzip:
        found.append(_cure("uncompressed", program, 3, gzip=False))
    elif program.shape != "map":
        found.append(_cure("larger buffer", program, buffer_bytes=8 << 20))
    return found


def _by_python(program: Program) -> list[KnownCure]:
    if program.shape not in PYTHON:
        return []
    found = []
    if program.shape == "generator":
        found.append(_cure("decode in a map", program, decode_in_map=True))
    if program.shape == "generator" and not program.prefetch:
        found.append(_cure("prefetch", program, prefetch=True))
    if program.shape != "generator" and not program.ahead:
        found.append(_cure("read ahead", program, ahead=True))
    if program.threads < THREADS:
        found.append(_cure("parallel", program, threads=THREADS, threads_ahead=program.threads == 0))
    if program.threads > FEW:
        found.append(_cure("fewer threads", program, threads=FEW))
    if program.access in WHOLE_FILES:
        found.append(_cure("shards", program, 3, access="shards", slow_path=""))
    if program.epochs > 1:
        kept: dict[str, Any] = {"cache": "right"} if program.shape == "generator" else {"in_memory": True}
        found.append(_cure("memory", program, 1, **kept))
    return found


def _by_access(program: Program) -> list[KnownCure]:
    if program.shape not in PYTHON:
        return []
    in_order = _cure("in order", program, in_order=True)
    if program.access == "sqlite":
        return [in_order, _cure("larger pages", program, large_pages=True)]
    if program.access == "random":
        return [in_order]
    by_access = {
        "stats": ("listed once", "listed_once"),
        "until_empty": ("known size", "known_size"),
        "small_reads": ("large reads", "large_reads"),
        "reopened": ("kept open", "kept_open"),
    }
    if program.access not in by_access:
        return []
    name, knob = by_access[program.access]
    changes: dict[str, Any] = {knob: True}
    return [_cure(name, program, 1, **changes)]


def _by_extra(program: Program) -> list[KnownCure]:
    if program.extra in EXTRA_CURES:
        return [_cure(EXTRA_CURES[program.extra], program, extra_cured=True)]
    if program.extra == "validation":
        found = [_cure("validation parallel", program, validation_threads=THREADS)]
        if program.epochs > 1:
            found.append(_cure("validation cached", program, validation_cached=True))
        return found
    return []
