"""Touches pages of a mapped file in a session, and prints what the session and an oracle say of it, as JSON.

`python touched_pages.py LIBRARY FILE ORDER THREADS LOGDIR [UID] [refuse]`: as another user once all is
imported, and with a system call filter that refuses perf_event_open.
"""

import ctypes
import json
import os
import platform
import struct
import sys
from pathlib import Path

import numpy as np

import tfdarshan
from tfdarshan.analysis.files.mapped_reads import mapped_reads

PAGE = 4096
CACHESTAT = 451
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}.get(platform.machine())
SET_DUMPABLE, SET_NO_NEW_PRIVILEGES, SET_SECCOMP, FILTER = 4, 38, 22, 2
CANNOT_REFUSE = 77
FAR_PAGES = 64  # beyond what one fault maps or reads ahead


class Touched(ctypes.Structure):
    """Of touch.c."""

    _fields_ = [("ns", ctypes.c_int64), ("faults", ctypes.c_int64)]


def offsets_of(order, size):
    """Return the offsets that are touched, in order; one is never touched twice."""
    pages = np.arange(size // PAGE, dtype=np.int64)
    if order == "strided":
        pages = pages[::FAR_PAGES]
    if order == "random":
        pages = np.random.default_rng(1).permutation(pages[FAR_PAGES // 2 :: FAR_PAGES])
    return pages * PAGE


def come_bytes(handle):
    """Return what of a file is in the page cache, or was evicted, by cachestat(2); None if not told."""
    whole, found = (ctypes.c_uint64 * 2)(0, 0), (ctypes.c_uint64 * 5)()
    failed = ctypes.CDLL(None).syscall(CACHESTAT, handle, whole, found, 0)
    cached, _, _, evicted, _ = found
    return None if failed else (cached + evicted) * PAGE


def import_all(path, logdir):
    """Record and read a session: what that imports another user may have no access to."""
    with tfdarshan.profile(logdir, mapped=True) as session:
        np.memmap(path, np.uint8, "r")
    mapped_reads(session.session.processes)


def become(user):
    """Give up root, and what came with it."""
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    # The kernel hides what a process shows of itself from one that changed its user.
    ctypes.CDLL(None).prctl(SET_DUMPABLE, 1, 0, 0, 0)


def refuse_perf():
    """Have the kernel answer perf_event_open with EPERM, as the filters of containers do."""
    rows = ((0x20, 0, 0, 0), (0x15, 0, 1, PERF_EVENT_OPEN), (0x06, 0, 0, 0x50001), (0x06, 0, 0, 0x7FFF0000))
    program = ctypes.create_string_buffer(b"".join(struct.pack("<HBBI", *row) for row in rows))
    head = ctypes.create_string_buffer(struct.pack("<HxxxxxxQ", len(rows), ctypes.addressof(program)))
    libc = ctypes.CDLL(None)
    if libc.prctl(SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) or libc.prctl(SET_SECCOMP, FILTER, head, 0, 0):
        sys.exit(CANNOT_REFUSE)


def main(library, path, order, threads, logdir, user="0", refuse=""):
    """Run it."""
    touch = ctypes.CDLL(library).touch_pages
    touch.argtypes = [
        ctypes.c_int,
        ctypes.c_int64,
        ctypes.c_void_p,
        ctypes.c_int64,
        ctypes.c_int,
        ctypes.c_void_p,
    ]
    size = Path(path).stat().st_size
    offsets = offsets_of(order, size)
    if int(user):
        import_all(path, Path(logdir) / "before")
        become(int(user))
    if refuse:
        refuse_perf()
    handle, touched = os.open(path, os.O_RDONLY), Touched()
    before = come_bytes(handle)
    with tfdarshan.profile(logdir, mapped=True) as session:
        failed = touch(handle, size, offsets.ctypes.data, len(offsets), int(threads), ctypes.byref(touched))
        after = come_bytes(handle)
    reads = mapped_reads(session.session.processes)
    [file] = [one for one in reads.slowest if one.path == str(path)]
    print(
        json.dumps(
            {
                "failed": failed,
                "touch_s": touched.ns / 1e9,
                "faults": touched.faults,
                "came_in": None if before is None or after is None else after - before,
                "seen_s": file.wait_s,
                "seen_faults": file.faults,
                "seen_bytes": file.bytes_in,
                "share": reads.sampled_share,
                "notes": reads.notes,
                "mapping": session.session.meta[0]["mapping"],
            }
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
