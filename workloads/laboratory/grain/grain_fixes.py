"""The single fixes of programs that read by Grain's datasets."""

from __future__ import annotations

import os

from ..known_fix import FEW, THREADS, KnownFix, changed
from ..program import GRAIN, Program


def by_grain(program: Program) -> list[KnownFix]:
    """List those of a dataset: who reads its samples, and what stays in memory."""
    if program.shape != GRAIN:
        return []
    found, processors = [], os.cpu_count() or 1
    if program.threads < THREADS:
        found.append(changed("parallel", program, threads=THREADS))
    if program.decode and program.processes < processors:
        found.append(changed("decode calls", program, processes=processors))
    if program.threads > FEW:
        found.append(changed("fewer threads", program, threads=FEW))
    if not program.threads:
        found.append(changed("prefetch", program, threads=1))
    # What processes keep is theirs.
    if program.epochs > 1 and not program.processes:
        found.append(changed("memory", program, in_memory=True))
    return found
