"""Which files are a job's input: read or asked for, not made by itself, of no program and no burst buffer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from tfdarshan.analysis.calls.intervals import Array
from tfdarshan.analysis.files.directory import parents_of, plain_paths
from tfdarshan.analysis.files.file_table import NO_FILE, FileTable
from tfdarshan.frameworks.all_frameworks import transport_parts
from tfdarshan.sessions.session_directory import BURST_CONTROL

SYSTEM_FOLDERS = (
    "/bin/",
    "/boot/",
    "/etc/",
    "/lib/",
    "/lib32/",
    "/lib64/",
    "/libx32/",
    "/proc/",
    "/sbin/",
    "/sys/",
    "/usr/",
)
PROGRAM_SUFFIXES = (".py", ".pyc", ".so", "/pyvenv.cfg")
# Folders of modules, wherever an interpreter or an environment is, and interpreters.
MODULE_FOLDERS = r"/(site|dist)-packages(/|$)|/__pycache__(/|$)|/lib(64)?/(python|pypy)\d[\d.]*t?(/|$)"
# Settings of programs, such as ~/.keras/keras.json, and the list of fonts that Matplotlib reads when Keras
# imports it.
SETTINGS = r"/\.config/|/\.[^/]+/[^/]+\.(json|ya?ml|toml|ini|cfg|conf)$|/fontlist-v[^/]+\.json$"
PROGRAM_NAMES = rf"{MODULE_FOLDERS}|/bin/(python|pypy)[\d.]*t?$|\.so\.[\d.]+$|{SETTINGS}"
# What such names have in them.
LIKELY_PARTS = ("-packages", "/__pycache__", "/python", "/pypy", ".so.", "/.", "/fontlist-v")


def input_files(files: FileTable, data_folder: str | None = None) -> Array:
    """Return which rows of the file table are input, bool. Row 0, calls on no file, is.

    What was only asked for with stat() has to be a regular file: imports ask for folders, by the component.
    A regular file that answered has a known size, unless the session knows no size at all, as a log may.

    Args:
        files: The files.
        data_folder: What is below it is data, whatever its name, as the files table writes names.
    """
    rows = files.rows
    regular = (rows["size_bytes"] >= 0) | (rows["size_bytes"] < 0).all()
    asked = (rows["bytes_read"] > 0) | (rows["opens"] > 0) | ((rows["stats"] > 0) & regular)
    chosen = (asked & (rows["bytes_written"] == 0) & (rows["writes"] == 0)).to_numpy(bool).copy()
    chosen[NO_FILE] = True
    others = never_input(files.paths)
    if data_folder is not None:
        others &= ~mask_of(pc.starts_with(plain_paths(files.paths), data_folder.rstrip("/") + "/"))
    return chosen & ~others & ~own_files(files)


def never_input(paths: Any) -> Array:
    """Return which paths, a pyarrow array of texts, are programs', a burst buffer's or batches', bool."""
    return program_files(paths) | _contains(paths, f"/{BURST_CONTROL}/") | transport_files(paths)


def transport_files(paths: Any) -> Array:
    """Return which paths carry batches from workers to the training loop, and are not the job's data, bool.

    Args:
        paths: A pyarrow array of texts.
    """
    found = np.zeros(len(paths), bool)
    for part in transport_parts():
        found |= _contains(paths, part)
    return found


def program_files(paths: Any) -> Array:
    """Return which paths are programs', bool: modules, libraries, settings and system files.

    Args:
        paths: A pyarrow array of texts. Of most others a few bytes show that they are data.
    """
    raw = paths.cast(pa.large_binary())
    heads = pa.array(sorted({folder[:4].encode() for folder in SYSTEM_FOLDERS}), pa.large_binary())
    tails = pa.array(sorted({suffix[-2:].encode() for suffix in PROGRAM_SUFFIXES}), pa.large_binary())
    likely = mask_of(pc.is_in(pc.binary_slice(raw, 0, 4), heads))
    likely |= mask_of(pc.is_in(pc.binary_slice(raw, -2), tails))
    text = _as_one_text(raw)
    for part in LIKELY_PARTS:
        if part.encode() in text:
            likely |= _contains(paths, part)
    found: Array = np.zeros(len(likely), bool)
    rows = np.flatnonzero(likely)
    if len(rows):
        some = paths.take(pa.array(rows))
        names = pd.Series(some.to_pylist())
        found[rows] |= names.str.startswith(SYSTEM_FOLDERS).to_numpy(bool)
        found[rows] |= names.str.endswith(PROGRAM_SUFFIXES).to_numpy(bool)
        found[rows] |= mask_of(pc.match_substring_regex(some, PROGRAM_NAMES))
    return found


def _as_one_text(raw: Any) -> bytes:
    """Return texts one after the other: what is not in it is in none of them, and that is quickly seen."""
    chunks = raw.chunks if isinstance(raw, pa.ChunkedArray) else [raw]
    return b"\n".join(_data(chunk) for chunk in chunks)


def _data(texts: Any) -> bytes:
    """Return the bytes of a pyarrow array of large binary values."""
    _, places, data = texts.buffers()
    if data is None or not len(texts):
        return b""
    offsets = np.frombuffer(places, np.int64)[texts.offset : texts.offset + len(texts) + 1]
    return bytes(memoryview(data)[offsets[0] : offsets[-1]])


def _contains(paths: Any, part: str) -> Array:
    return mask_of(pc.match_substring(paths, part))


def mask_of(values: Any) -> Array:
    """Return a pyarrow array of truths as bool; null is False."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    return values.fill_null(False).to_numpy(zero_copy_only=False).copy()


def own_files(files: FileTable) -> Array:
    """Return which rows of the file table that a job reads or asks for are its own, unwritten, bool.

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
        own[asked_there] = ~mask_of(pc.is_in(there, also_read))
    own[NO_FILE] = False
    return own


def _within(paths: Any, chosen: Array, folders: Any) -> Array:
    """Return the places of the chosen paths that lie in some folders, not below them."""
    places = np.flatnonzero(chosen)
    return places[mask_of(pc.is_in(parents_of(paths.take(pa.array(places))), folders))]
