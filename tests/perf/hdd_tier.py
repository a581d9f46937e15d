"""Storage as slow as the papers' hard disk: a loop device whose writes the kernel holds back. Needs root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

# IOR's figure for the hard disk in arXiv 1810.03035.
WRITE_BYTES_PER_S = 163_000_000
LIMITS = Path("/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device")


class NoTierError(Exception):
    """This machine cannot hold a disk's writes back; the message says why."""


@contextmanager
def hdd_tier(folder: Path, size_bytes: int) -> Iterator[Path]:
    """Yield a folder on storage that takes `WRITE_BYTES_PER_S`, and no more room than `size_bytes`.

    Raises:
        NoTierError: There is none to be had here.
    """
    if os.geteuid() != 0 or not LIMITS.exists():
        raise NoTierError("the hdd tier needs root and the blkio controller of cgroup v1")
    image = memory_folder(folder, size_bytes) / f"tfdarshan-hdd-{os.getpid()}.img"
    mount = folder / "hdd"
    mount.mkdir()
    try:
        with image.open("wb") as file:
            file.truncate(size_bytes)
        _run("mkfs.ext4", "-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0", image)
        device = _run("losetup", "--find", "--show", image)
        try:
            _run("mount", "-t", "ext4", device, mount)
            try:
                _limit(device, WRITE_BYTES_PER_S)
                yield mount
            finally:
                _limit(device, 0)
                _run("umount", mount)
        finally:
            _run("losetup", "--detach", device)
    finally:
        image.unlink(missing_ok=True)


def memory_folder(folder: Path, size_bytes: int) -> Path:
    """Return a folder in memory where there is room to spare; else the one given."""
    memory = Path("/dev/shm")
    return memory if shutil.disk_usage(memory).free > 2 * size_bytes else folder


def _limit(device: str, bytes_per_s: int) -> None:
    number = os.stat(device).st_rdev
    LIMITS.write_text(f"{os.major(number)}:{os.minor(number)} {bytes_per_s}\n", encoding="ascii")


def _run(*command: object) -> str:
    ran = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise NoTierError(f"{command[0]} failed: {ran.stderr.strip()}")
    return ran.stdout.strip()
