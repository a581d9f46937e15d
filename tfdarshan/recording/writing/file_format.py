"""What format a mapped file has, by its first bytes, or its name where they may not be read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from tfdarshan.file_name import exact_name
from tfdarshan.native.spool_reader import EventBatch, Mount, SpoolReader
from tfdarshan.sessions.writing.file_size import LOCAL_TYPES

# So many files of a process are looked at, those that were waited for longest.
MOST_FILES = 16
HEAD_BYTES = 64
LMDB_MAGIC = (0xBEEFC0DE).to_bytes(4, "little")
NAMES = {
    ".mdb": "lmdb", ".lmdb": "lmdb", ".npy": "npy", ".arrow": "arrow", ".feather": "arrow",
    ".safetensors": "safetensors", ".h5": "hdf5", ".hdf5": "hdf5", ".parquet": "parquet", ".gguf": "gguf",
    ".pt": "torch", ".pth": "torch",
}  # fmt: skip
MAGIC = {
    b"\x93NUMPY": "npy", b"ARROW1": "arrow", b"\x89HDF\r\n\x1a\n": "hdf5", b"PAR1": "parquet",
    b"GGUF": "gguf",
}  # fmt: skip
# A message of Arrow's stream format begins so, and goes on with the length of what describes it.
ARROW_MESSAGE = b"\xff\xff\xff\xff"


def formats_of_faults(reader: SpoolReader, faults: EventBatch, mounts: Sequence[Mount]) -> dict[str, str]:
    """Return the formats of the mapped files with most time in page faults, by their paths."""
    files, place = np.unique(faults.file, return_inverse=True)
    waited_ns = np.bincount(place, (faults.end_ns - faults.start_ns).astype(float), len(files))
    paths = reader.paths(files[np.argsort(-waited_ns, kind="stable")][:MOST_FILES])
    return file_formats((path, _file_system(path, mounts)) for path in paths)


def _file_system(path: str, mounts: Sequence[Mount]) -> str:
    above = [one for one in mounts if path.startswith(f"{one.point.rstrip('/')}/")]
    return max(above, key=lambda one: len(one.point)).fs_type if above else ""


def file_formats(files: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the formats of files: lmdb, npy, arrow, arrow_stream, safetensors, hdf5, parquet, gguf, torch.

    Args:
        files: Paths as tables write them, each with its file-system type. What is recognised by neither its
            bytes nor its name is left out.
    """
    # To open a file of FUSE or of a network may drop its cached pages.
    found = {path: _by_bytes(path) if kind in LOCAL_TYPES else "" for path, kind in files}
    named = {path: kind or _by_name(path) for path, kind in found.items()}
    return {path: kind for path, kind in named.items() if kind}


def format_of(head: bytes) -> str:
    """Return the format of a file that begins with these bytes, "" if it is none of those known."""
    for magic, name in MAGIC.items():
        if head.startswith(magic):
            return name
    # LMDB's magic follows the header of a page, which is 16 bytes long, and 24 from LMDB 1.0 on.
    if LMDB_MAGIC in (head[16:20], head[24:28]):
        return "lmdb"
    if head.startswith(ARROW_MESSAGE) and 0 < int.from_bytes(head[4:8], "little") < 1 << 28:
        return "arrow_stream"
    if head[8:10] == b'{"' and 0 < int.from_bytes(head[:8], "little") < 1 << 30:
        return "safetensors"
    return "torch" if head.startswith(b"PK\x03\x04") and b"/data.pkl" in head else ""


def _by_bytes(path: str) -> str:
    name = exact_name(path)
    try:
        if not stat.S_ISREG(Path(name).stat().st_mode):
            return ""
        file = os.open(name, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError):
        return ""
    try:
        return format_of(os.pread(file, HEAD_BYTES, 0))
    except OSError:
        return ""
    finally:
        os.close(file)


def _by_name(path: str) -> str:
    return NAMES.get(Path(path).suffix.lower(), "")
