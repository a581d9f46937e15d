"""The single fixes of a drawn program, written by hand and not by what the findings print."""

from __future__ import annotations

from typing import Any

from .grain.grain_fixes import by_grain
from .known_fix import EXTRA_FIXES, FEW, IN_PYTHON, THREADS, WHOLE_FILES, KnownFix, changed
from .program import PYTHON, TF_DATA, Program
from .pytorch.loader_fixes import by_loader


def known_fixes(program: Program) -> list[KnownFix]:
    """List those that the program leaves room for: whether one helps is for the runs to tell."""
    by_input = (_by_tf_data, _by_python, by_loader, by_grain, _by_access)
    found = [fix for fixes in by_input for fix in fixes(program)] + _by_extra(program)
    found.append(changed("staging", program, 2, staged=True))
    if program.slow_path and program.access not in ("random", "sqlite"):
        found.append(changed("moved", program, 2, moved=True))
    return found


def _by_tf_data(program: Program) -> list[KnownFix]:
    if program.shape not in TF_DATA:
        return []
    found = [changed("parallel", program, threads=THREADS, pool=THREADS)]
    if program.threads == 0 and program.shape != "interleave":
        found.append(changed("decode calls", program, threads=-1))
    if program.threads > FEW:
        found.append(changed("fewer threads", program, threads=FEW, pool=0))
    if not program.prefetch:
        found.append(changed("prefetch", program, prefetch=True))
    if program.epochs > 1 and program.cache != "right":
        found.append(changed("memory", program, cache="right"))
    if program.shuffle == "samples":
        found.append(changed("paths shuffled", program, shuffle="paths" if program.shape == "map" else ""))
    if program.shape == "map":
        found.append(changed("shards", program, 3, shape="records", threads=0, slow_path="", moved=False))
    if program.gzip:
        found.append(changed("uncompressed", program, 3, gzip=False))
    elif program.shape != "map":
        found.append(changed("larger buffer", program, buffer_bytes=8 << 20))
    return found


def _by_python(program: Program) -> list[KnownFix]:
    if program.shape not in PYTHON:
        return []
    found = []
    if program.shape == "generator":
        found.append(changed("decode in a map", program, decode_in_map=True))
    if program.shape == "generator" and not program.prefetch:
        found.append(changed("prefetch", program, prefetch=True))
    if program.shape != "generator" and not program.ahead:
        found.append(changed("read ahead", program, ahead=True))
    if program.threads < THREADS:
        found.append(changed("parallel", program, threads=THREADS, threads_ahead=program.threads == 0))
    if program.threads > FEW:
        found.append(changed("fewer threads", program, threads=FEW))
    if program.access in WHOLE_FILES:
        found.append(changed("shards", program, 3, access="shards", slow_path=""))
    if program.epochs > 1:
        kept: dict[str, Any] = {"cache": "right"} if program.shape == "generator" else {"in_memory": True}
        found.append(changed("memory", program, 1, **kept))
    return found


def _by_access(program: Program) -> list[KnownFix]:
    if program.shape not in IN_PYTHON:
        return []
    in_order = changed("in order", program, in_order=True)
    if program.access == "sqlite":
        return [in_order, changed("larger pages", program, large_pages=True)]
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
    return [changed(name, program, 1, **changes)]


def _by_extra(program: Program) -> list[KnownFix]:
    if program.extra in EXTRA_FIXES:
        return [changed(EXTRA_FIXES[program.extra], program, extra_cured=True)]
    if program.extra == "validation":
        found = [changed("validation parallel", program, validation_threads=THREADS)]
        if program.epochs > 1:
            found.append(changed("validation cached", program, validation_cached=True))
        return found
    return []
