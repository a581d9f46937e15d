"""Ways to wait less in page faults on mapped files, in words and as edits of the replay model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.steps.mapped_waits import PAGE_BYTES, FileWaits
from tfdarshan.findings.fix_choice import ModelledFix
from tfdarshan.findings.mapped_fix_lines import (
    READERS,
    WINDOW_BYTES,
    read_ahead_of_faults,
    read_larger_windows,
    read_single_pages,
)
from tfdarshan.findings.measures import Measures
from tfdarshan.replay.edits import Edit
from tfdarshan.replay.fault_edits import LargerWindow, ReadsAhead, TouchedPages
from tfdarshan.replay.priors import SETTING
from tfdarshan.replay.storage_edits import SequentialReads

# What a data set of LMDB records reads ahead before its first batch is there.
AHEAD_BYTES = 16 << 20
# What is read from end to end if calls read it.
READ_WHOLE = ("arrow_stream", "safetensors", "torch", "parquet")


def fixes_of(measures: Measures) -> list[ModelledFix]:
    """Return reading ahead, a larger window, and single pages, for the file that is waited for longest."""
    files = measures.mapped.files
    worst, mine = files[0], _rows_of(measures, files)
    window, pages = LargerWindow(WINDOW_BYTES, mine), _touched_pages(files, mine)
    ahead = read_ahead_of_faults(measures, worst, jumps=_jumps(worst))
    return [
        ModelledFix(ahead, _read_ahead(worst, window, pages)),
        ModelledFix(read_larger_windows(worst), (window,)),
        ModelledFix(read_single_pages(worst), (pages,)),
    ]


def came_in(files: Sequence[FileWaits]) -> int | None:
    """Return the bytes that came in for some files; None if that is not known of all."""
    known = [one.bytes_in for one in files if one.bytes_in is not None]
    return sum(known) if len(known) == len(files) else None


def _read_ahead(file: FileWaits, window: LargerWindow, pages: TouchedPages) -> tuple[Edit, ...]:
    """Return what the format's fix is: it may read in an order of its own, and nothing in vain."""
    if file.format in READ_WHOLE:
        return SequentialReads(window.files), window
    if file.format != "lmdb":
        return (ReadsAhead(READERS),)
    wanted = file.touched_bytes if _jumps(file) else file.bytes_in
    ahead = ReadsAhead(READERS, AHEAD_BYTES / wanted if wanted and file.bytes_in else 0.0)
    in_blocks: tuple[Edit, ...] = (replace(pages, apart=False), SequentialReads(pages.files))
    return *(in_blocks if _jumps(file) else ()), window, ahead


def _touched_pages(files: Sequence[FileWaits], mine: Array) -> TouchedPages:
    """Return reads of what is touched alone: at least a page for each fault, waited for or not."""
    waits, quick = sum(one.waits for one in files), sum(one.quick for one in files)
    most = max(sum(one.touched_bytes for one in files) / PAGE_BYTES, waits + quick)
    # Of bytes that nobody knows, each fault that waited read what the kernel does at a time.
    size = came_in(files) or waits * SETTING["request"]
    return TouchedPages((waits + quick, most), max(waits, 1.0), max(size, 1.0), mine)


def _jumps(file: FileWaits) -> bool:
    """Say whether most of a file's faults are out of order."""
    return 2 * file.jumps > file.waits


def _rows_of(measures: Measures, files: Sequence[FileWaits]) -> Array:
    """Return which rows of the file table some files are, bool."""
    return np.isin(measures.files.rows["path"].astype(str), [one.path for one in files])
