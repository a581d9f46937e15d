"""The single fixes of programs that read by PyTorch's DataLoader."""

from __future__ import annotations

import math
import os
from typing import Any

from ..known_fix import FEW, THREADS, WHOLE_FILES, KnownFix, changed
from ..program import LOADERS, Program

DEFAULT_PREFETCH = 2
ONE_WORKERS_BATCHES = 4


def by_loader(program: Program) -> list[KnownFix]:
    """List those of a loader: what it is told, what its data set keeps, and how its data lies."""
    if program.shape not in LOADERS:
        return []
    return [*_by_workers(program), *_by_batches(program), *_by_data(program)]


def _by_workers(program: Program) -> list[KnownFix]:
    found, processors = [], os.cpu_count() or 1
    shared = program.shards if program.shape == "torch_iterable" else THREADS
    most = min(THREADS, shared)
    if program.threads < most:
        found.append(changed("parallel", program, threads=most, persistent=True))
    if program.decode and program.threads < min(processors, shared) < most:
        found.append(changed("decode calls", program, threads=min(processors, shared), persistent=True))
    if program.threads > FEW:
        found.append(changed("fewer workers", program, threads=FEW))
    if program.threads and program.epochs > 1 and not program.persistent:
        found.append(changed("workers kept", program, persistent=True))
    return found


def _by_batches(program: Program) -> list[KnownFix]:
    if not program.threads:
        return [changed("prefetch", program, threads=1, prefetch_factor=ONE_WORKERS_BATCHES, persistent=True)]
    ahead = max(2 * (program.prefetch_factor or DEFAULT_PREFETCH), ONE_WORKERS_BATCHES)
    found = [changed("prefetch", program, prefetch_factor=ahead)]
    if program.threads > 1 and not program.any_order:
        found.append(changed("any order", program, any_order=True))
    return found


def _by_data(program: Program) -> list[KnownFix]:
    found = []
    if program.epochs > 1:
        found.append(changed("memory", program, in_memory=True))
    if program.access in WHOLE_FILES:
        packed: dict[str, Any] = {"shape": "torch_iterable", "access": "shards", "shuffle": ""}
        packed |= {"slow_path": "", "hugging_face": False}
        found.append(changed("shards", program, 3, **packed))
    if program.shape == "torch_iterable" and program.threads > program.shards:
        shards = math.lcm(program.shards, program.threads)
        found.append(changed("shards for all", program, 3, shards=shards))
    return found
