"""Tells an HDF5 file that was closed from one that is still being written."""

from __future__ import annotations

import struct
from pathlib import Path

SIGNATURE = b"\x89HDF\r\n\x1a\n"
HEAD_BYTES = 48


def is_whole_hdf5(path: Path) -> bool:
    """Return whether a file is as long as its superblock says it must be.

    Source: HDF5 File Format Specification 3.0, II.A, superblock versions 0 to 3: the end-of-file address is
        at byte 40 of
    versions 0 and 1 (4 later in 1) and byte 28 of 2 and 3, with offsets of 8 bytes as everybody writes them.
    """
    with path.open("rb") as file:
        head = file.read(HEAD_BYTES + 4)
    if len(head) < HEAD_BYTES + 4 or not head.startswith(SIGNATURE):
        return False
    version = head[8]
    if version > 3 or head[13 if version < 2 else 9] != 8:
        return False
    end = {0: 40, 1: 44}.get(version, 28)
    (length,) = struct.unpack_from("<Q", head, end)
    return bool(path.stat().st_size >= length > 0)
