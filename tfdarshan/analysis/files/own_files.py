"""Files that a job made itself though it wrote none of them by that name: they came by a rename.

A rename is recorded of the old name, so that the new one looks like a file that was never written. Who saves
that way, as TensorFlow does, reads or asks for the new name, and removes it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.directory import parents_of
from tfdarshan.analysis.files.file_table import NO_FILE, FileTable


def own_files(files: FileTable) -> Array:
    """Says which rows of the file table that a job reads or asks for are its own though it wrote none, bool.

    In a folder that it writes to, these are the files that it renames or removes; and those that it only asks
    for with stat(), if it reads nothing there but its own.
    """
    rows = files.rows
    written = ((rows["bytes_written"] > 0) | (rows["writes"] > 0)).to_numpy(bool)
    opened = ((rows["opens"] > 0) | (rows["bytes_read"] > 0)).to_numpy(bool) & ~written
    asked = (rows["stats"] > 0).to_numpy(bool) & ~written & ~opened
    moved = (rows["moves"] > 0).to_numpy(bool) & (opened | asked)
    read, asked = opened & ~moved, asked & ~moved
    own: Array = np.zeros(len(rows), bool)
    if not written.any():
        return own
    folders = parents_of(files.paths.filter(pa.array(written)))
    own[_within(files.paths, moved, folders)] = True
    asked_there = _within(files.paths, asked, folders)
    if len(asked_there):
        there = parents_of(files.paths.take(pa.array(asked_there)))
        also_read = parents_of(files.paths.take(pa.array(_within(files.paths, read, there))))
        own[asked_there] = ~_is_in(there, also_read)
    own[NO_FILE] = False
    return own


def _within(paths: Any, chosen: Array, folders: Any) -> Array:
    """Gives the places of the chosen paths that lie in some folders, not below them."""
    places = np.flatnonzero(chosen)
    found: Array = places[_is_in(parents_of(paths.take(pa.array(places))), folders)]
    return found


def _is_in(folders: Any, some: Any) -> Array:
    values = pc.is_in(folders, some)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    found: Array = values.to_numpy(zero_copy_only=False)
    return found
