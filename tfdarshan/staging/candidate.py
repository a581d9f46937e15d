"""Which files can be staged, and how often storage will have to serve each of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from tfdarshan.analysis.files.input_files import mask_of
from tfdarshan.file_name import table_name
from tfdarshan.native.spool_reader import PATHS_OF_NO_FILE
from tfdarshan.sessions.session_directory import BURST_CONTROL
from tfdarshan.staging.file_use import FileUse
from tfdarshan.staging.plan_file import STATE_FOLDER

Array = Any

BEYOND_CAP = PATHS_OF_NO_FILE[1]
PROGRAMS = "programs, settings, libraries, system folders (--slow DIR looks at what is below it)"

DATABASES = "SQLite databases that the job opens for writing: copy them yourself"
JOURNALS = ("-journal", "-wal")


@dataclass(frozen=True)
class LeftOut:
    """Files that are no candidates for one reason."""

    reason: str
    files: int
    bytes_read: int


@dataclass(frozen=True)
class Candidates:
    """Files that can be staged: arrays with one entry each.

    Attributes:
        rows: Their rows in the `FileUse`.
        pass_bytes: Bytes of one pass: what is read from one open to the next.
        passes: Passes in the sessions.
        storage_passes: Of these, as many as storage served.
        left_out: Why other files are none.
    """

    rows: Array
    pass_bytes: Array
    passes: Array
    storage_passes: Array
    left_out: tuple[LeftOut, ...]


def find_candidates(
    use: FileUse, *, slow: str | None = None, fast: str | None = None, by_hand: bool = False
) -> Candidates:
    """Sort out the files that can be staged.

    Args:
        use: What the files were used for.
        slow: Only files below this folder; None for all data files.
        fast: Folder of the fast tier; what is there is none.
        by_hand: Databases, too: what cannot be redirected can be copied and opened by its new name.
    """
    rows, left_out = _selected(use, slow, fast, by_hand=by_hand)
    bytes_read = np.maximum(use.bytes_read[rows], 1).astype(np.float32)
    size = use.size_bytes[rows]
    # A file that stays open is passed over as often as its bytes are read.
    whole = np.where(size > 0, use.bytes_read[rows] / np.maximum(size, 1), 0)
    passes = np.maximum(np.maximum(use.opens[rows], np.floor(whole)), 1).astype(np.float32)
    share = np.minimum(use.storage_bytes[rows] / bytes_read, 1)
    return Candidates(
        rows=rows,
        pass_bytes=bytes_read / passes,
        passes=passes,
        storage_passes=passes * share,
        left_out=left_out,
    )


def _copies(use: FileUse) -> Array:
    """Return which files are copies that the job was led to, or the stager's own."""
    own = mask_of(pc.match_substring(use.paths, f"/{STATE_FOLDER}"))
    return own | _starts(use.paths, tuple(_folder(root) for root in use.copies)) if use.copies else own


def databases(paths: Any) -> Array:
    """Return which files are SQLite's: it asks for their journals, and opens them for writing."""
    named = paths.filter(pc.or_(*(pc.ends_with(paths, ending) for ending in JOURNALS)))
    if not len(named):
        return np.zeros(len(paths), bool)
    return mask_of(pc.is_in(paths, pc.replace_substring_regex(named, f"({'|'.join(JOURNALS)})$", "")))


def _selected(
    use: FileUse, slow: str | None, fast: str | None, *, by_hand: bool
) -> tuple[Array, tuple[LeftOut, ...]]:
    """Return the rows of the candidates, and what the others are."""
    tests: list[tuple[str, Any]] = [
        ("not read", lambda: use.counted_bytes == 0),
        (
            "beyond the profiler's memory cap, so not told apart",
            lambda: mask_of(pc.equal(use.paths, BEYOND_CAP)),
        ),
        ("no file with a path of its own", lambda: ~_starts(use.paths, ("/",))),
    ]
    if fast is not None:
        below = _folder(fast)
        tests.append((f"on the fast tier already, below {fast}", lambda: _starts(use.paths, (below,))))
    tests += [
        ("copies of staged files already", lambda: _copies(use)),
        ("written in the session, so a copy would go stale", lambda: use.bytes_written > 0),
        ("renamed, replaced or deleted in the session", lambda: use.moves > 0),
        (
            "checkpoints in a burst buffer",
            lambda: mask_of(pc.match_substring(use.paths, f"/{BURST_CONTROL}/")),
        ),
    ]
    if not by_hand:
        tests.append((DATABASES, lambda: databases(use.paths)))
    if slow is not None:
        tests.append((f"not below {slow}", lambda: ~_starts(use.paths, (_folder(slow),))))
    else:
        if not use.emulated:
            tests.append(("in memory already, on tmpfs or such", lambda: use.in_memory))
        tests.append((PROGRAMS, lambda: ~use.is_input))
    remaining = use.is_used.copy()
    left_out = []
    for reason, test in tests:
        out = remaining & test()
        remaining &= ~out
        if out.any():
            left_out.append(LeftOut(reason, int(out.sum()), int(use.counted_bytes[out].sum())))
    return np.flatnonzero(remaining), tuple(left_out)


def _folder(path: str) -> str:
    """Return a folder as the tables hold the paths below it."""
    return table_name(os.fsencode(os.path.normpath(path).rstrip(os.sep) + os.sep))


def _starts(paths: Any, prefixes: tuple[str, ...]) -> Array:
    return np.logical_or.reduce([mask_of(pc.starts_with(paths, prefix)) for prefix in prefixes])
